"""Every metric of the catalogue on a batch of short signals, over numpy.sort of the same batch in the same run."""

import numpy as np

import sparsegauge as sg

from .timing import Row, compare

ALGEBRAIC, TRANSCENDENTAL = 3, 8
# At their default parameters these take logarithms, tanh or real powers.
WITH_FUNCTIONS = {
    "neg_lp", "neg_tanh", "neg_log", "h_g", "neg_h_s", "h_s", "neg_h_s_prime", "h_s_prime", "negentropy", "box_cox",
    "gm_am", "pq_index", "atkinson", "theil",
}  # fmt: skip
OTHER_PARAMETERS = [
    ("neg_lp", {"p": 0.3}), ("neg_tanh", {"b": 0.5}), ("neg_lp_neg", {"p": -0.5}), ("pq_mean", {"p": 0.3, "q": 3.5}),
    ("ggi", {"a": 0.7}), ("fggi", {"p": 1.5}), ("pfgi2", {"p": 0.7}), ("atkinson", {"epsilon": 1.5}),
]  # fmt: skip


def batch(rng: np.random.Generator) -> list[Row]:
    """20,000 signals of 100 coefficients."""
    x = rng.standard_normal((20_000, 100))
    cases = [(name, {}, TRANSCENDENTAL if name in WITH_FUNCTIONS else ALGEBRAIC) for name in sg.METRICS]
    cases += [(name, parameters, TRANSCENDENTAL) for name, parameters in OTHER_PARAMETERS]
    rows = []
    for name, parameters, limit in cases:
        case = ", ".join([name, *(f"{key} = {value:g}" for key, value in parameters.items())])
        ours, sort = (lambda n=name, p=parameters: sg.measure(x, n, **p)), (lambda: np.sort(x, axis=-1))
        rows.append(compare(case, ours, sort, limit, repeats=15))
    return rows


if __name__ == "__main__":
    from .timing import table

    print(table(batch(np.random.default_rng(0)), "over numpy.sort"))
