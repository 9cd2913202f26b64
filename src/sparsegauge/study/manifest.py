"""What a store records about its study, and how it recognises another study."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import importlib
import json
import platform
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import __version__, _compiled
from ..errors import InvalidInput, StaleStudy, StudyWarning
from .axes import Grid, shorten_list
from .disk import write_to_store
from .failures import FAILED
from .journal import FOLDER
from .plan import Study

FORMAT = 1
MANIFEST = "manifest.json"  # the file that makes a directory the store of a study
PART_FOLDERS = ("results", "timings")


@dataclass(frozen=True)
class Manifest:
    """The study, every set of versions that added to the store, and the fingerprint that its parts carry."""

    keys: dict[str, Any]
    versions: tuple[dict[str, str], ...]
    fingerprint: str
    external: dict[str, dict[str, str]] = dataclasses.field(default_factory=dict)

    @functools.cached_property
    def grid(self) -> Grid:
        """The axes and the number of trials; reading it needs none of the modules that the study takes from outside."""
        return Grid.of(self.keys)

    @classmethod
    def read(cls, directory: Path) -> Manifest:
        """Return the manifest of a store, or raise an error that says why there is none."""
        path = directory / MANIFEST
        if path.is_symlink() or not path.is_file():
            raise InvalidInput(f"{directory} is no store of a study: it has no {MANIFEST}")
        try:
            words = json.loads(path.read_text(encoding="utf-8"))
            keys, versions, mark = words["study"], tuple(words["versions"]), str(words["fingerprint"])
            external = dict(words.get("external", {}))
            writer = versions[0]["sparsegauge"]
            _refuse_unknown_keys(dict(keys))
            manifest = cls(dict(keys), versions, mark, external)
            manifest.grid.total  # noqa: B018 (whether the keys describe a grid)
        except InvalidInput as error:
            raise InvalidInput(
                f"{path}, written by sparsegauge {writer}: {error}; read it with that version"
            ) from error
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise InvalidInput(
                f"{path} is damaged ({type(error).__name__}: {error}); delete it and run the study again: "
                "the parts know which study they belong to"
            ) from error
        return manifest

    @classmethod
    def open(cls, directory: Path, study: Study) -> Manifest:
        """Make the manifest, or compare it with the study; note the versions that are about to add to the store."""
        now = versions_here()
        if not (directory / MANIFEST).exists():
            _refuse_other_files(directory)
            manifest = cls(study.to_dict(), (), _fingerprint(study), study.external)
        else:
            manifest = cls.read(directory)
            _refuse_another_study(directory, manifest, study)
        if now in manifest.versions:
            return manifest
        if manifest.versions:
            changes = "; ".join(differences(manifest.versions[-1], now))
            text = f"{directory} was started with other versions, which may round differently: {changes}"
            warnings.warn(text, StudyWarning, stacklevel=6)
        manifest = dataclasses.replace(manifest, versions=(*manifest.versions, now))
        manifest._write(directory)
        return manifest

    def _write(self, directory: Path) -> None:
        words: dict[str, Any] = {"study": self.keys, "versions": self.versions, "fingerprint": self.fingerprint}
        words |= {"external": self.external} if self.external else {}
        write_to_store(directory / MANIFEST, (json.dumps(words, indent=1) + "\n").encode())


def _refuse_unknown_keys(keys: Mapping[str, Any]) -> None:
    """Raise `InvalidInput` for a key that a later version wrote."""
    known = {field.name for field in dataclasses.fields(Study)} | {"solvers"}
    unknown = [key for key in keys if key not in known]
    if unknown:
        raise InvalidInput(f"{unknown[0]} is no key of a study")


def _fingerprint(study: Study) -> str:
    """Return what identifies a study; the package's version belongs to it, since another may compute other values."""
    parts = [FORMAT, __version__, study.to_dict(), *([study.external] if study.external else [])]
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def versions_here() -> dict[str, str]:
    """Return the versions of everything that results may depend on."""
    modules = {name: str(importlib.import_module(name).__version__) for name in ("numpy", "scipy")}
    return {
        "sparsegauge": __version__,
        "variant": _compiled.variant,
        "python": platform.python_version(),
        **modules,
        "machine": platform.machine(),
    }


def _refuse_another_study(directory: Path, manifest: Manifest, study: Study) -> None:
    before = manifest.keys | {"sparsegauge": manifest.versions[0]["sparsegauge"], **manifest.external}
    changes = differences(before, study.to_dict() | {"sparsegauge": __version__, **study.external})
    if changes:
        raise StaleStudy(
            f"{directory} holds results of another study: {'; '.join(changes)}. "
            "Choose another store, or restore the study that this one was started with"
        )


def _refuse_other_files(directory: Path) -> None:
    others = {entry.name for entry in directory.iterdir()} - {"lock", FAILED, FOLDER, *PART_FOLDERS}
    others = {name for name in others if not name.endswith(".tmp")}
    if others:
        raise InvalidInput(f"{directory} holds other files ({min(others)}); a store needs a directory of its own")


def differences(before: Mapping[str, Any], after: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Return what changed, key by key: "repeats: 100 in the store, 50 now"."""
    found = []
    for key in [*before, *(key for key in after if key not in before)]:
        old, new = before.get(key), after.get(key)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            found += differences(old, new, f"{prefix}{key}.")
        elif isinstance(old, list) and isinstance(new, list) and old != new and set(old) != set(new):
            gone, came = [value for value in old if value not in new], [value for value in new if value not in old]
            words = [
                f"{shorten_list(values)} {where} only"
                for values, where in ((gone, "in the store"), (came, "now"))
                if values
            ]
            found.append(f"{prefix}{key}: {', '.join(words)}")
        elif old != new:
            found.append(f"{prefix}{key}: {_shown(old)} in the store, {_shown(new)} now")
    return found


def _shown(value: Any) -> str:
    return "nothing" if value is None else shorten_list(value) if isinstance(value, list) else repr(value)
