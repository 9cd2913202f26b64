"""A store loses nothing, keeps nothing twice, and knows a part that is not what it was."""

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xarray as xr

import sparsegauge as sg
from sparsegauge import _compiled
from sparsegauge.errors import StoreInUse, StudyWarning
from sparsegauge.study import manifest, store
from sparsegauge.study.disk import Lock, is_locked
from sparsegauge.study.parts import MEASURED, part_name
from sparsegauge.study.run import run_cell
from sparsegauge.study.store import Store, study_status
from sparsegauge.study.tables import export, timings
from waiting import DEADLINE, read_line

STUDY = sg.Study(
    n=12, distributions=["normal", "binomial"], nonzeros=[2, 3], measurements=[5, 8], orders=[1, 2, 3], signs="random",
    solver=sg.SPSA(iterations=20), repeats=4, seed=1, noise_db=[20, np.inf],
)  # fmt: skip


@pytest.fixture(scope="module")
def units():
    return [(cell, run_cell(STUDY, cell)) for cell in STUDY.cells()]


@pytest.fixture
def filled(tmp_path, units):
    """A finished store with one part for every cell."""
    fill(tmp_path / "store", units)
    return tmp_path / "store"


def add(opened, cell, measured, seconds=0.1, worker="here:1"):
    rows = {name: values.ravel() for name, values in measured.items()}
    return opened.add(np.array([opened.units.number(cell)]), rows, np.array([seconds]), worker)


def fill(path, units, *, parts=True):
    with Store.opened(path, STUDY) as opened:
        for cell, measured in units:
            add(opened, cell, measured)
            if parts:
                opened.flush()


@pytest.fixture(scope="module")
def table(tmp_path_factory, units):
    path = tmp_path_factory.mktemp("whole") / "store"
    fill(path, units, parts=False)
    return sg.load_study(path)


def same(one, other):
    pd.testing.assert_frame_equal(one, other, check_exact=True)


def parts_of(path):
    return sorted((path / "results").glob("part-*.parquet"))


def test_the_table_is_tidy(table):
    axes = ["distributions", "nonzeros", "measurements", "noise_db", "orders", "trial"]
    assert list(table.columns) == [*axes, "mse", "relative_error", "success", "nit"]
    assert len(table) == STUDY.total == len(table.drop_duplicates(axes))
    assert list(table["distributions"].unique()) == ["normal", "binomial"]
    numbers = table.assign(distributions=table["distributions"].cat.codes)[axes]
    same(numbers, numbers.sort_values(axes, ignore_index=True))
    assert dict(table.dtypes.astype(str))["success"] == "bool"


def test_values_are_in_their_rows(table, units):
    for cell, measured in units[::3]:
        rows = table[
            (table["distributions"] == cell.values[0])
            & (table["nonzeros"] == cell.values[1])
            & (table["measurements"] == cell.values[2])
        ]
        for i, level in enumerate(STUDY.noise_db):
            for j, order in enumerate(STUDY.orders):
                here = rows[(rows["noise_db"] == level) & (rows["orders"] == order)].set_index("trial")
                for t in range(cell.trials):
                    for name in MEASURED:
                        assert here.loc[cell.first + t, name] == measured[name][i, j, t]


@pytest.mark.parametrize("seed", range(3))
def test_the_order_in_which_cells_come_and_how_they_are_cut_into_parts_do_not_matter(tmp_path, units, table, seed):
    rng = np.random.default_rng(seed)
    with Store.opened(tmp_path, STUDY) as opened:
        for k in rng.permutation(len(units)):
            add(opened, *units[k])
            if rng.random() < 0.3:
                opened.flush()
    same(sg.load_study(tmp_path), table)


def test_what_is_there_twice_counts_once(filled, units, table):
    with Store.opened(filled, STUDY) as opened:
        assert len(opened.coverage.missing()) == 0
        for cell, measured in units[:3]:
            assert add(opened, cell, measured, 0.2, "here:2") == 0
    assert len(parts_of(filled)) > len(units)
    same(sg.load_study(filled), table)


def test_stores_of_two_machines_can_be_put_together(tmp_path, units, table):
    fill(tmp_path / "one", units[:5])
    fill(tmp_path / "two", units[3:])
    for part in parts_of(tmp_path / "two"):
        shutil.copy(part, tmp_path / "one" / "results")
    same(sg.load_study(tmp_path / "one"), table)


def rewritten(change):
    """A part with other content, under the name that fits it."""

    def apply(part):
        changed = change(pq.read_table(part))
        part.unlink()
        pq.write_table(changed, part)
        part.rename(part.with_name(part_name(part.read_bytes())))

    return apply


def flip_a_bit(part):
    data = bytearray(part.read_bytes())
    data[len(data) // 2] ^= 1
    part.write_bytes(data)


def with_column(name, values):
    return lambda t: t.set_column(t.column_names.index(name), name, pa.array(values(t[name].to_pylist())))


DAMAGES = {
    "truncated": lambda part: os.truncate(part, part.stat().st_size // 2),
    "one byte short": lambda part: os.truncate(part, part.stat().st_size - 1),
    "empty": lambda part: os.truncate(part, 0),
    "garbage": lambda part: part.write_bytes(np.random.default_rng(0).bytes(3000)),
    "one bit": flip_a_bit,
    "another part's content": lambda part: part.write_bytes(parts_of(part.parents[1])[1].read_bytes()),
    "no Parquet, right checksum": lambda part: part.write_bytes(b"x") and part.rename(part.parent / part_name(b"x")),
    "a column less": rewritten(lambda t: t.drop_columns(["nit"])),
    "another type": rewritten(with_column("nit", lambda column: [str(value) for value in column])),
    "another study": rewritten(lambda t: t.replace_schema_metadata({"study": "another"})),
    "no study": rewritten(lambda t: t.replace_schema_metadata(None)),
    "a trial too many": rewritten(with_column("trial", lambda column: [value + 9 for value in column])),
    "an order of its own": rewritten(with_column("orders", lambda column: [value + 0.5 for value in column])),
    "a hole": rewritten(with_column("mse", lambda column: [None, *column[1:]])),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_part_is_named_and_computed_again(filled, table, damage):
    DAMAGES[damage](parts_of(filled)[0])
    status = study_status(filled)
    assert len(status.damaged) == 1
    (name,) = [part.name for part in parts_of(filled) if part.name in status.damaged[0]]
    assert status.total - status.done == 24
    with pytest.warns(StudyWarning, match=name), pytest.warns(StudyWarning, match="not finished"):
        so_far = sg.load_study(filled)
    assert len(so_far) == len(table) - 24
    merged = so_far.merge(table, how="inner")
    assert len(merged) == len(so_far)

    with pytest.warns(StudyWarning, match=f"{name}.*computed again"):
        sg.run_study(STUDY, filled)
    assert study_status(filled).damaged == ()
    assert (filled / "results" / f"{name}.damaged").exists()
    same(sg.load_study(filled), table)


def test_damaged_timings_cost_nothing_but_timings(filled, table):
    part = min((filled / "timings").glob("part-*"))
    os.truncate(part, 100)
    assert part.name in study_status(filled).damaged[0]
    with pytest.warns(StudyWarning, match="timings are lost"):
        sg.run_study(STUDY, filled)
    assert len(timings(filled)) == len(list(STUDY.cells())) - 1
    same(sg.load_study(filled), table)


def test_drafts_are_ignored_and_removed(filled, table):
    drafts = [filled / "results" / ".0123.tmp", filled / "timings" / ".4567.tmp", filled / ".89.tmp"]
    for draft in drafts:
        draft.write_bytes(parts_of(filled)[0].read_bytes()[:500])
    same(sg.load_study(filled), table)
    sg.run_study(STUDY, filled)
    assert not any(draft.exists() for draft in drafts)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"repeats": 5}, "repeats: 4 in the store, 5 now"),
        ({"seed": 2}, "seed: 1 in the store, 2 now"),
        ({"orders": [1, 2, 4]}, "orders: 3.0 in the store only, 4.0 now only"),
        ({"measurements": range(1, 12)}, "measurements: 1, 2, 3, 4, 6 and 4 more now only"),
        ({"noise_db": ()}, "noise_db: 20.0, inf in the store, nothing now"),
        (
            {"distributions": ["binomial", "normal"]},
            "distributions: normal, binomial in the store, binomial, normal now",
        ),
        ({"solver": sg.SPSA(iterations=20, a=1.0)}, "solver.a: 0.5 in the store, 1.0 now"),
        ({"solver": sg.GDSAscent(), "orders": [1]}, "solver.name: 'SPSA' in the store, 'GDSAscent' now"),
    ],
)
def test_a_changed_study_is_refused_with_the_difference(filled, table, change, words):
    keys = {name: getattr(STUDY, name) for name in STUDY.__dataclass_fields__}
    before = {path: path.read_bytes() for path in filled.rglob("*") if path.is_file() and path.name != "lock"}
    with pytest.raises(sg.StaleStudy) as caught:
        sg.run_study(sg.Study(**keys | change), filled)
    assert words in str(caught.value)
    assert before == {path: path.read_bytes() for path in filled.rglob("*") if path.is_file() and path.name != "lock"}
    same(sg.load_study(filled), table)


def test_another_version_of_the_package_may_read_but_not_add(filled, table, monkeypatch):
    monkeypatch.setattr(manifest, "__version__", "99.0")
    with pytest.raises(sg.StaleStudy, match=r"sparsegauge: '.*' in the store, '99.0' now"):
        sg.run_study(STUDY, filled)
    same(sg.load_study(filled), table)


def test_other_versions_of_libraries_are_noted(filled, monkeypatch):
    versions = manifest.versions_here()
    monkeypatch.setattr(manifest, "versions_here", lambda: versions | {"numpy": "99.0"})
    with pytest.warns(StudyWarning, match="numpy: '.*' in the store, '99.0' now"):
        sg.run_study(STUDY, filled)
    sg.run_study(STUDY, filled)  # said once
    noted = json.loads((filled / "manifest.json").read_text())["versions"]
    assert [version["numpy"] for version in noted] == [versions["numpy"], "99.0"]


def test_the_manifest_holds_the_study_and_the_versions(filled):
    words = json.loads((filled / "manifest.json").read_text())
    assert sg.Study.from_dict(words["study"]) == STUDY
    assert words["study"]["seed"] == 1
    assert words["versions"][0]["sparsegauge"] == sg.__version__
    assert words["versions"][0]["variant"] == _compiled.variant
    assert list(words["versions"][0]) == ["sparsegauge", "variant", "python", "numpy", "scipy", "machine"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"study": {}}', '{"study": {}, "versions": [], "fingerprint": ""}'])
def test_a_damaged_manifest_is_an_error_that_says_what_to_do(filled, table, text):
    (filled / "manifest.json").write_text(text)
    for action in (lambda: sg.run_study(STUDY, filled), lambda: sg.load_study(filled)):
        with pytest.raises(sg.InvalidInput, match=r"manifest.json is damaged .* delete it and run the study again"):
            action()
    (filled / "manifest.json").unlink()
    count = len(parts_of(filled))
    sg.run_study(STUDY, filled)  # the parts are known to be this study's
    assert len(parts_of(filled)) == count
    same(sg.load_study(filled), table)


def test_without_a_manifest_parts_of_another_study_are_not_taken(filled):
    (filled / "manifest.json").unlink()
    keys = {name: getattr(STUDY, name) for name in STUDY.__dataclass_fields__}
    with pytest.warns(StudyWarning, match="belongs to another study"):
        sg.run_study(sg.Study(**keys | {"solver": sg.SPSA(iterations=21)}), filled)
    assert set(sg.load_study(filled)["nit"]) == {21}


def test_what_is_no_store_is_not_touched(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(sg.InvalidInput, match=r"holds other files \(thesis.tex\)"):
        sg.run_study(STUDY, tmp_path)
    with pytest.raises(sg.InvalidInput, match="no store of a study"):
        sg.load_study(tmp_path)
    with pytest.raises(sg.InvalidInput, match="no store of a study"):
        study_status(tmp_path / "missing")


# --- one writer


def test_two_writers_are_refused(tmp_path):
    with Lock(tmp_path):
        assert is_locked(tmp_path)
        with pytest.raises(StoreInUse, match=f"process {os.getpid()} on"), Lock(tmp_path):
            pass
    assert not is_locked(tmp_path)
    with Lock(tmp_path):
        pass


def test_another_process_is_refused_until_it_is_killed(tmp_path):
    code = (
        "import signal, sys; from pathlib import Path; from sparsegauge.study.disk import Lock\n"
        "with Lock(Path(sys.argv[1])): print('held', flush=True); signal.pause()"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True) as other:
        assert read_line(other) == "held\n"
        with pytest.raises(StoreInUse, match=f"process {other.pid} on"):
            sg.run_study(STUDY, tmp_path)
        other.kill()
        other.wait(DEADLINE)
    with Lock(tmp_path):
        pass


def test_a_forked_worker_does_not_keep_the_lock(tmp_path):
    code = (
        "import os, signal, sys; from pathlib import Path; from sparsegauge.study.disk import Lock\n"
        "with Lock(Path(sys.argv[1])):\n"
        "    child = os.fork()\n"
        "    if child == 0: signal.pause()\n"
        "    print(child, flush=True); os.kill(os.getpid(), 9)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True) as driver:
        orphan = int(read_line(driver))
        driver.wait(DEADLINE)
        try:
            with Lock(tmp_path):
                os.kill(orphan, 0)  # it is alive, and does not hold the lock
        finally:
            os.kill(orphan, 9)


# --- a disk that refuses


def test_a_file_in_the_place_of_the_store_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "store"):
        with pytest.raises(OSError, match="cannot be a directory to write to") as caught:
            sg.run_study(STUDY, path)
        assert caught.value.filename == str(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_without_permission_is_a_clear_error(tmp_path):
    tmp_path.chmod(0o555)
    with pytest.raises(OSError, match="cannot be written") as caught:
        sg.run_study(STUDY, tmp_path)
    assert str(tmp_path) in caught.value.filename


def test_a_full_and_a_read_only_file_system_are_clear_errors(tmp_path, table):
    """Real ones: a file system of 28 kB that is made read-only, then made larger."""
    (tmp_path / "study.json").write_text(json.dumps(STUDY.to_dict()))
    (tmp_path / "small").mkdir()
    code = (
        "import json, subprocess, sys; import sparsegauge as sg; from sparsegauge.study import store, tables\n"
        "store.SHORTEST_PART_SECONDS = 0.0\n"
        "study = sg.Study.from_dict(json.load(open(sys.argv[1])))\n"
        "def attempt(options):\n"
        "    subprocess.run(['mount', '-o', 'remount,' + options, sys.argv[2]], check=True)\n"
        "    try: print(sg.run_study(study, sys.argv[2] + '/store').done)\n"
        "    except OSError as error: print(f'{error.filename}: {error.strerror}')\n"
        "attempt('size=28k'); print(store.study_status(sys.argv[2] + '/store').done)\n"
        "attempt('ro'); attempt('rw,size=10m'); tables.export(sys.argv[2] + '/store', sys.argv[3])\n"
    )
    space, exported = ["unshare", "--mount", "--map-root-user"], tmp_path / "table.parquet"
    mount = f"mount -t tmpfs -o size=28k none {tmp_path / 'small'}"
    if shutil.which("unshare") is None or subprocess.run([*space, "sh", "-c", mount], capture_output=True).returncode:
        pytest.skip("this machine does not let us mount a file system")
    inside = [sys.executable, "-c", code, str(tmp_path / "study.json"), str(tmp_path / "small"), str(exported)]
    command = [*space, "sh", "-c", mount + ' && exec "$@"', "sh", *inside]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    full, stored, read_only, finished = done.stdout.splitlines()
    assert full.startswith(str(tmp_path / "small" / "store"))
    assert "cannot be written (No space left on device); what is stored is safe" in full
    assert 0 < int(stored) < STUDY.total
    assert "cannot be written (Read-only file system)" in read_only
    assert int(finished) == STUDY.total
    same(pd.read_parquet(exported), table)


@pytest.mark.parametrize("step", ["open", "fsync", "replace"])
def test_whatever_step_of_writing_fails_nothing_half_written_is_left(filled, monkeypatch, step):
    def refuse(*_, **__):
        raise OSError(30, "Read-only file system")

    parts_of(filled)[0].unlink()
    before = len(parts_of(filled))
    place = Path if step == "open" else os
    with monkeypatch.context() as patch:
        patch.setattr(place, step, refuse)
        with pytest.raises(OSError, match=r"cannot be written \(Read-only file system\); what is stored is safe"):
            store.write_to_store(filled / "results" / "part-x.parquet", b"content")
    assert len(parts_of(filled)) == before
    assert not list(filled.rglob("*.tmp"))


def test_a_full_disk_is_a_clear_error_and_what_is_stored_is_safe(tmp_path, table):
    """The kernel itself refuses: files of this process may not grow beyond 2,000 bytes."""
    (tmp_path / "study.json").write_text(json.dumps(STUDY.to_dict()))
    code = (
        "import json, resource, sys; import sparsegauge as sg; from sparsegauge.cli import main\n"
        "from sparsegauge.study import store; store.SHORTEST_PART_SECONDS = 0.0\n"
        "study = sg.Study.from_dict(json.load(open(sys.argv[1])))\n"
        "limit = lambda status: status.done < 72 or resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
        "try: sg.run_study(study, sys.argv[2], progress=limit)\n"
        "except OSError as error: sys.exit(f'{error.filename}: {error.strerror}')"
    )
    path = tmp_path / "store"
    command = [sys.executable, "-c", code, str(tmp_path / "study.json"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "cannot be written (File too large); what is stored is safe" in done.stderr
    assert str(path / "results") in done.stderr
    assert not list(path.rglob("*.tmp"))
    assert 0 < study_status(path).done < STUDY.total
    sg.run_study(STUDY, path)
    same(sg.load_study(path), table)
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


# --- what it comes to


def test_the_dataset_is_the_table_on_its_axes(filled, table):
    dataset = sg.study_dataset(filled)
    axes = ["distributions", "nonzeros", "measurements", "noise_db", "orders"]
    assert list(dataset["mse"].dims) == [*axes, "trial"]
    groups = table.groupby(axes, observed=True)
    for name in ("mse", "relative_error", "nit"):
        assert dataset[f"{name}_mean"].dims == tuple(axes)
        np.testing.assert_array_equal(dataset[name].to_numpy().ravel(), table[name])
        np.testing.assert_allclose(dataset[f"{name}_mean"].to_numpy().ravel(), groups[name].mean().to_numpy())
        expected = groups[name].sem().to_numpy()
        np.testing.assert_allclose(dataset[f"{name}_standard_error"].to_numpy().ravel(), expected, atol=1e-18)
    rate = groups["success"].mean().to_numpy()
    np.testing.assert_allclose(dataset["success_rate"].to_numpy().ravel(), rate)
    expected = np.sqrt(rate * (1 - rate) / (STUDY.repeats - 1))
    np.testing.assert_allclose(dataset["success_rate_standard_error"].to_numpy().ravel(), expected)
    assert (dataset["trials"] == STUDY.repeats).all()
    one = dataset.sel(distributions="binomial", nonzeros=3, measurements=8, noise_db=20, orders=2, trial=1)
    row = table.query("distributions == 'binomial' and nonzeros == 3 and measurements == 8 and noise_db == 20")
    assert float(one["mse"]) == row.query("orders == 2 and trial == 1")["mse"].item()


def test_an_unfinished_study_has_gaps_and_says_so(tmp_path, units):
    fill(tmp_path, units[:-1])
    with pytest.warns(StudyWarning, match=r"not finished: it has 168 of 192 rows"):
        dataset = sg.study_dataset(tmp_path)
    last = dataset.isel(distributions=-1, nonzeros=-1, measurements=-1)
    assert int(last["trials"].sum()) == 0
    assert last["mse_mean"].isnull().all()
    assert last["success"].isnull().all()
    assert int(dataset["mse"].notnull().sum()) == int(dataset["mse_mean"].notnull().sum()) * STUDY.repeats == 168


def test_a_study_without_orders_and_noise_has_no_such_columns(tmp_path):
    study = sg.Study(
        n=12,
        distributions=["normal"],
        nonzeros=[2],
        measurements=[6],
        signs="positive",
        solver=sg.OMP(),
        repeats=3,
        seed=0,
    )
    sg.run_study(study, tmp_path)
    measured = ["mse", "relative_error", "success", "nit"]
    assert list(sg.load_study(tmp_path).columns) == ["distributions", "nonzeros", "measurements", "trial", *measured]
    assert sg.study_dataset(tmp_path)["mse"].dims == ("distributions", "nonzeros", "measurements", "trial")


def test_timings_are_a_table_of_their_own(filled, table):
    found = timings(filled)
    own = ["seconds", "worker", "versions", "session", "finished"]
    assert list(found.columns)[-5:] == own
    assert len(found) == len(list(STUDY.cells()))
    assert not {*own} & {*table.columns, *sg.study_dataset(filled).variables}


def test_exports_hold_the_same(filled, table, tmp_path):
    export(filled, tmp_path / "table.parquet")
    same(pd.read_parquet(tmp_path / "table.parquet"), table)
    export(filled, tmp_path / "table.csv")
    same(pd.read_csv(tmp_path / "table.csv", dtype={"distributions": table["distributions"].dtype}), table)
    export(filled, tmp_path / "table.nc")
    with xr.open_dataset(tmp_path / "table.nc") as read:
        whole = sg.study_dataset(filled)
        assert set(read.variables) == set(whole.variables)
        for name in whole.variables:
            np.testing.assert_array_equal(read[name].to_numpy(), whole[name].to_numpy())
    with pytest.raises(sg.InvalidInput, match=r"\.parquet, \.csv or \.nc"):
        export(filled, tmp_path / "table.xlsx")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store", "table.csv", "table.nc", "table.parquet"]


@pytest.mark.parametrize(("module", "use"), [("pyarrow", "run"), ("pandas", "load"), ("xarray", "dataset")])
def test_a_missing_extra_names_the_pip_command(filled, tmp_path, monkeypatch, module, use):
    monkeypatch.setitem(sys.modules, module, None)
    uses = {
        "run": lambda: sg.run_study(STUDY, tmp_path / "new"),
        "load": lambda: sg.load_study(filled),
        "dataset": lambda: sg.study_dataset(filled),
    }
    with pytest.raises(sg.MissingExtra, match=rf"{module}; pip install 'sparsegauge\[study\]'"):
        uses[use]()
    assert not (tmp_path / "new").exists()
