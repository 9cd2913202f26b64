"""Arrays that are not contiguous float64 rows give the same bits as their copies that are, and keep every check."""

import tracemalloc

import numpy as np
import pytest

import sparsegauge as sg

ORDERS = (1, 1.5, 2, 3, 4, 6)


def large(shape=(700, 300)):
    """Enough numbers for the conversion block by block."""
    return np.random.default_rng(0).standard_normal(shape)


VIEWS = {
    "float32": lambda x: x.astype(np.float32),
    "float16": lambda x: x.astype(np.float16),
    "whole numbers": lambda x: (100 * x).astype(np.int16),
    "every second number": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "backwards": lambda x: x[..., ::-1],
    "transposed": lambda x: x.T,
    "the other byte order": lambda x: x.byteswap().view(x.dtype.newbyteorder()),
    "read-only": lambda x: np.broadcast_to(x, x.shape),
    "complex": lambda x: x + 2j * x[::-1],
    "single complex": lambda x: (x + 2j * x[::-1]).astype(np.complex64),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_the_bits_are_those_of_a_contiguous_copy(view, order):
    x = view(large())
    plain = np.abs(x.astype(np.complex128)) if x.dtype.kind == "c" else np.ascontiguousarray(x, np.float64)
    assert np.array_equal(sg.gds(x, order), sg.gds(plain, order))
    assert np.array_equal(sg.hoyer(x), sg.hoyer(plain))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_table_equals_its_rows(view, order):
    x = view(large())
    some = [0, 1, len(x) // 2, len(x) - 1]
    assert np.array_equal(sg.gds(x, order)[some], [sg.gds(x[r], order) for r in some])


@pytest.mark.parametrize("view", [VIEWS["float32"], VIEWS["every second number"], VIEWS["complex"]])
def test_one_long_row(view):
    x = view(large(200_000))
    plain = np.abs(x) if x.dtype.kind == "c" else np.ascontiguousarray(x, np.float64)
    assert sg.gds(x, 2) == sg.gds(plain, 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("order", [2, 3])
def test_missing_numbers_and_zeros_in_a_large_table(dtype, order):
    x = large().astype(dtype)
    x[3, 4], x[5] = np.nan, 0
    found = sg.gds(x, order, zero=7.0)
    assert np.isnan(found[3])
    assert found[5] == 7
    assert np.isfinite(np.delete(found, 3)).all()
    with pytest.raises(sg.InvalidInput, match="1 NaN"):
        sg.gds(x, order, nan_policy="raise")
    x[9, 9] = np.inf
    with pytest.raises(sg.InvalidInput, match="infinite"):
        sg.gds(x, order)


@pytest.mark.parametrize("view", [VIEWS["float32"], VIEWS["every second number"], VIEWS["complex"]])
@pytest.mark.parametrize("shape", [(4_000, 1_000), (4_000_000,)])
def test_no_copy_of_the_whole_input(view, shape):
    x = view(large(shape))
    sg.gds(x[:2] if x.ndim > 1 else x[:70_000], 2)
    tracemalloc.start()
    sg.gds(x, 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < x.size  # bytes: an eighth of a float64 copy
