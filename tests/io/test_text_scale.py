"""Large and wide tables of text: linear time, bounded memory, and the same numbers from every parser."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

import sparsegauge.io.text_numbers as text_numbers
from sparsegauge import InvalidInput
from sparsegauge.io import open_file
from sparsegauge.io.text_layout import SAMPLE_BYTES

pa = pytest.importorskip("pyarrow")
pa_csv = pytest.importorskip("pyarrow.csv")

RNG = np.random.default_rng(20)
MOST_TIMES_ARROW = 5


def joined(values, delimiter=","):
    return delimiter.join(map(repr, values))


def only(path):
    (found,) = open_file(Path(path))
    return found


@pytest.fixture
def without_arrow(monkeypatch):
    monkeypatch.setattr(text_numbers, "_has_arrow", lambda: False)


def processor_seconds(action):
    start = time.process_time()
    result = action()
    return time.process_time() - start, result


@pytest.mark.parametrize("delimiter", [",", ";", "\t", " "])
@pytest.mark.parametrize("block", [1 << 10, 1 << 23])
def test_a_signal_on_one_long_line_is_read_in_pieces(tmp_path, monkeypatch, delimiter, block):
    monkeypatch.setattr(text_numbers, "TEXT_BLOCK_BYTES", block)
    x = RNG.standard_normal(20_000)
    (tmp_path / "x.csv").write_text(
        f"# measured today\n{joined(x.tolist(), delimiter)}{delimiter}\n\n", encoding="utf-8"
    )
    found = only(tmp_path / "x.csv")
    np.testing.assert_array_equal(found.array(), x)
    assert found.labels == ()


@pytest.mark.parametrize("arrow", [True, False])
def test_missing_numbers_and_words_on_a_long_line(tmp_path, monkeypatch, arrow):
    monkeypatch.setattr(text_numbers, "_has_arrow", lambda: arrow)
    fields = [repr(v) for v in RNG.standard_normal(20_000).tolist()]
    fields[7], fields[15_000], fields[15_001] = "", "NA", " +3 "
    (tmp_path / "x.csv").write_text(",".join(fields), encoding="utf-8")
    found = only(tmp_path / "x.csv").array()
    assert np.flatnonzero(np.isnan(found)).tolist() == [7, 15_000]
    assert found[15_001] == 3.0
    fields[17_000] = "word"
    (tmp_path / "x.csv").write_text(",".join(fields), encoding="utf-8")
    with pytest.raises(InvalidInput, match="line 1, field 17001: 'word' is not a number"):
        only(tmp_path / "x.csv").array()


def test_time_grows_linearly_with_the_columns(tmp_path):
    """The quadratic search took 40 times as long for 8 times as many columns."""
    seconds = []
    for columns in (20_000, 160_000):
        path = tmp_path / f"{columns}.csv"
        rows = RNG.standard_normal((2, columns)).round(3).tolist()
        path.write_text("\n".join(map(joined, rows)), encoding="utf-8")
        spent, found = min((processor_seconds(only(path).array) for _ in range(2)), key=lambda pair: pair[0])
        spent += processor_seconds(lambda path=path: only(path))[0]
        np.testing.assert_array_equal(found, rows)
        seconds.append(spent)
    assert seconds[1] < 8 * 2.5 * seconds[0]


def test_a_header_of_more_than_a_sample_is_a_header(tmp_path):
    names = [f"column of the {i}th sensor" for i in range(5000)]
    assert len(joined(names)) > SAMPLE_BYTES
    rows = RNG.standard_normal((3, len(names)))
    (tmp_path / "x.csv").write_text("\n".join([",".join(names), *map(joined, rows.tolist())]), encoding="utf-8")
    found = only(tmp_path / "x.csv")
    np.testing.assert_array_equal(found.array(), rows)
    assert found.labels == tuple(names)


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_wide_tables_without_a_header(tmp_path, rows):
    table = RNG.standard_normal((rows, 30_000))
    (tmp_path / "x.csv").write_text("\n".join(map(joined, table.tolist())), encoding="utf-8")
    np.testing.assert_array_equal(only(tmp_path / "x.csv").array(), table[0] if rows == 1 else table)


WRITTEN = {
    "plain": "1,2\n3,4\n",
    "missing": "1,NA\n,4\nnan,NULL\n5,6\n",
    "spaces": "1,  2\n 3 ,4\n",
    "signs": "+1,-2\n1e3,.5\n",
    "white space": "1  2\n\t3 4\n\n5 6\n",
    "empty lines": "1,2\n\n3,4\n\n\n",
    "words": "day,a,b\nMon,1,2\nTue,3,4\n",
    "quoted": 'day,a,b\n"Mon, 1st",1,"2"\n"Tue",3,4\n',
    "remarks": "1,2\n# half way\n3,4\n",
    "decimal commas": "a;b\n0,5;1,25\n1;-2\n",
    "infinite": "inf,-inf\nInfinity,1e400\n",
    "windows": "a,b\r\n1,2\r\n3,4\r\n",
    "old Macintosh": "a,b\r1,2\r3,4\r",
}


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_every_parser_finds_the_same_numbers(tmp_path, monkeypatch, written):
    path = tmp_path / "x.csv"
    path.write_bytes(written.encode())
    fast = only(path).array()
    monkeypatch.setattr(text_numbers, "_has_arrow", lambda: False)
    without = only(path).array()

    def stumble(*_):
        raise ValueError

    monkeypatch.setattr(text_numbers, "_with_numpy", stumble)
    with_care = only(path).array()
    np.testing.assert_array_equal(fast, without)
    np.testing.assert_array_equal(fast, with_care)


@pytest.mark.parametrize("field", ["nan(1)", "0x10", "1_0", "1,5", "1e", "--1", "١"])
def test_what_one_parser_would_take_no_parser_takes(tmp_path, monkeypatch, field):
    (tmp_path / "x.csv").write_text(f"a;b\n1;2\n3;4\n5;{field}\n" + "1.5;2.5\n" * 9, encoding="utf-8")
    results = []
    for arrow in (True, False):
        monkeypatch.setattr(text_numbers, "_has_arrow", lambda arrow=arrow: arrow)
        try:
            results.append(only(tmp_path / "x.csv").array().tolist())
        except InvalidInput as error:
            results.append(str(error))
    assert results[0] == results[1]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["3 columns", "3 columns and dates", "white space"])
def test_a_table_of_millions_takes_at_most_five_times_as_long_as_pyarrow(tmp_path, kind):
    table = RNG.standard_normal((1_000_000, 3)).tolist()
    path = tmp_path / "x.csv"
    before, delimiter = ("2026-01-01,", ",") if "dates" in kind else ("", " " if kind == "white space" else ",")
    path.write_text("\n".join(before + joined(row, delimiter) for row in table), encoding="utf-8")
    options = pa_csv.ParseOptions(delimiter=delimiter)
    names = pa_csv.ReadOptions(autogenerate_column_names=True)
    pairs = [
        (
            processor_seconds(lambda: pa_csv.read_csv(path, parse_options=options, read_options=names))[0],
            processor_seconds(only(path).array),
        )
        for _ in range(3)
    ]
    np.testing.assert_array_equal(pairs[0][1][1], table)
    assert min(ours for _, (ours, _) in pairs) < MOST_TIMES_ARROW * min(arrow for arrow, _ in pairs)


@pytest.mark.slow
def test_a_line_of_a_hundred_megabytes_and_a_million_columns(tmp_path):
    x = RNG.standard_normal(5_200_000)
    path = tmp_path / "line.csv"
    path.write_text(joined(x.tolist()), encoding="utf-8")
    assert path.stat().st_size > 100_000_000
    as_column = tmp_path / "column.csv"
    as_column.write_text(joined(x.tolist(), "\n"), encoding="utf-8")
    ours, found = processor_seconds(lambda: only(path).array())
    arrow, _ = processor_seconds(lambda: pa_csv.read_csv(as_column))
    np.testing.assert_array_equal(found, x)
    assert ours < MOST_TIMES_ARROW * arrow
    wide = x[:2_000_000].round(3).reshape(2, -1)
    path.write_text("\n".join(map(joined, wide.tolist())), encoding="utf-8")
    spent, found = processor_seconds(lambda: only(path).array())
    np.testing.assert_array_equal(found, wide)
    assert spent < MOST_TIMES_ARROW * arrow * 10  # pyarrow itself takes minutes for a million columns
