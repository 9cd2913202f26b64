"""Checks of arguments: every array, axis, order and policy that a caller passes is checked here, once."""

from .checks import (
    Choice,
    OrderParameter,
    Parameter,
    Switch,
    as_rng,
    check_choice,
    check_count,
    check_number,
    check_order,
    check_orders,
)
from .libraries import Library, advise_on_conversion, library_of
from .reductions import check_axes, gather_signals, merge_axes, over_signals
from .signal_rows import (
    Array,
    Indices,
    Signals,
    as_finite_array,
    as_signals,
    check_axis,
    is_sparse,
    restore_like,
)

__all__ = [
    "Array",
    "Choice",
    "Indices",
    "Library",
    "OrderParameter",
    "Parameter",
    "Signals",
    "Switch",
    "advise_on_conversion",
    "as_finite_array",
    "as_rng",
    "as_signals",
    "check_axes",
    "check_axis",
    "check_choice",
    "check_count",
    "check_number",
    "check_order",
    "check_orders",
    "gather_signals",
    "is_sparse",
    "library_of",
    "merge_axes",
    "over_signals",
    "restore_like",
]
