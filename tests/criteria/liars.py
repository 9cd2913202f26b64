"""Functions that break one law each where a careless auditor does not look, and honest functions beside them.

Every liar returns floats. `LIARS` says which law it breaks; the verdict on it must never be "holds".
"""

from __future__ import annotations

import math

import numpy as np

import sparsegauge as sg


def _floats(c):
    return np.asarray(c, float)


def base(c):
    """The Gini index in float64."""
    c = np.sort(_floats(c))
    n = len(c)
    total = float(np.sum(c))
    return float(np.sum((2 * np.arange(1, n + 1) - n - 1) * c) / (n * total)) if total else 0.0


def share(c):
    """1 minus the effective share of coefficients: scale- and clone-invariant, smooth."""
    c = _floats(c)
    return float(1 - c.sum() ** 2 / (len(c) * (c**2).sum())) if c.any() else 0.0


# --- P1: continuity


def counts_above_one(c):
    return int((_floats(c) > 1).sum())


def steps_at_an_odd_place(c):
    return base(c) + 0.01 * float((_floats(c) > 1.3713).any())


def rounds_to_two_digits(c):
    return round(base(c), 2)


def jumps_at_ties(c):
    return base(c) + 0.05 * float(len(np.unique(_floats(c))) < len(c))


def jumps_by_a_thousandth(c):
    return base(c) * (1 + 1e-3 * float(_floats(c).max() >= 2.5))


# --- P2: permutation invariance


def cyclic(c):
    c = _floats(c)
    return float(c @ np.roll(c, 1) / (c @ c))


def ring_without_direction(c):
    c = _floats(c)
    return float(np.abs(np.diff(np.append(c, c[0]))).sum() / c.sum())


def looks_at_two_places(c):
    c = _floats(c)
    return base(c) + (1e-4 * float(c[5] > c[6]) if len(c) > 6 else 0.0)


def weighs_the_middle(c):
    c = _floats(c)
    return base(c) + 1e-6 * float(c[len(c) // 2] / c.sum())


# --- P3: Robin Hood


def order_three(c):
    return sg.gds(_floats(c), 3.0)


def order_one_and_a_half(c):
    return sg.gds(_floats(c), 1.5)


def prefers_triples(c):
    c = _floats(c)
    return base(c) + 0.02 * float(max(np.unique(c, return_counts=True)[1]) > 2)


def ripples(c):
    return base(c) + 0.01 * math.sin(300 * share(c))


# --- P4: scaling


def regularised(c):
    c = _floats(c)
    return float(1 - c.sum() ** 2 / (len(c) * (c**2).sum() + 1e-9))


def changes_beyond_1e12(c):
    return base(c) + 0.3 * float(_floats(c).max() > 1e12)


def logarithmic_in_units(c):
    return base(c) * (1 + 1e-6 * math.log(_floats(c).max()))


def float32_overflow(c):
    with np.errstate(all="ignore"):
        c = np.asarray(_floats(c), np.float32)
        value = float(1 - c.sum() ** 2 / (len(c) * (c**2).sum()))
    return value if math.isfinite(value) else 0.0


# --- P5: rising tide


def forgets_large_sums(c):
    return base(c) if _floats(c).sum() < 50 else base(c) + 0.02


def tide_at_integers(c):
    return base(c) + 0.01 * float(_floats(c).min() >= 1)


# --- P6: cloning


def clones_by_seven(c):
    return base(c) * (1 + 0.01 * float(len(c) % 7 == 0))


def clones_beyond_a_hundred(c):
    return base(c) + 0.01 * float(len(c) > 100)


def unbiased(c):
    n = len(c)
    return base(c) * (n / (n - 1) if n > 1 else 1.0)


def drifts_with_length(c):
    return base(c) * (1 + 1e-7 * len(c))


# --- P7: Bill Gates


def capped_ratio(c):
    c = np.sort(_floats(c))
    return float(min(c[-1] / c[-2], 1e8)) if len(c) > 1 and c[-2] > 0 else 1e8


def capped_at_a_hundred(c):
    c = np.sort(_floats(c))
    return base(np.append(c[:-1], min(c[-1], 100 * c[-2]))) if len(c) > 1 and c[-2] > 0 else base(c)


def falls_after_a_million(c):
    c = np.sort(_floats(c))
    ratio = c[-1] / c[-2] if len(c) > 1 and c[-2] > 0 else 1.0
    return base(c) - 0.1 * max(0.0, math.log10(ratio) - 6)


# --- P8: babies


def counts_pairs(c):
    return base(c) - 0.05 * float(len(c) % 2 == 0)


def stops_at_thirty(c):
    return base(c) - 0.2 * float(len(c) > 30)


# --- P9: saturation


def compounds(c):
    return 1.004 ** len(c)


def compounds_slowly(c):
    return 1.0000001 ** len(c) * (1 - 1e-30)


def alternates(c):
    return 1 + 0.1 * (len(c) % 2)


def jumps_at_multiples_of_seven(c):
    return 1 + 0.1 * float(len(c) % 7 == 3)


def exponential_of_a_mean(c):
    c = _floats(c)
    with np.errstate(over="ignore"):
        return float(np.exp(np.mean(c**2) / np.mean(c) ** 2)) if c.any() else 0.0


# --- P10 and P11: bounds


def rewards_equality(c):
    c = _floats(c)
    return base(c) + 0.02 * float(c.max() == c.min())


def punishes_near_equality(c):
    c = _floats(c)
    return base(c) - 0.1 * float(c.min() < c.max() <= 1.1 * c.min())


def rewards_a_little_dust(c):
    c = _floats(c)
    rest = c.sum() - c.max()
    return base(c) + 0.05 * float(0 < rest <= 1e-2 * c.max())


# --- narrow lies: at one scale, one length, one place


def jumps_far_out(c):
    return base(c) + 0.01 * float(_floats(c).max() > 123.456)


def ignores_small_shares(c):
    c = _floats(c)
    return base(c) + float(np.mean(c <= 1e-5 * c.max())) if c.any() else 0.0


def looks_at_place_fifty(c):
    c = _floats(c)
    return base(c) + (1e-3 if len(c) > 50 and c[50] > c[0] else 0.0)


def order_just_above_two(c):
    return sg.gds(_floats(c), 2.05)


def lies_in_a_narrow_window_of_scales(c):
    return base(c) + 1e-4 * float(3e-5 < _floats(c).max() < 4e-5)


def likes_high_water(c):
    return base(c) + 0.01 * float(_floats(c).min() > 1e4)


def clones_by_seventeen(c):
    return base(c) + 1e-3 * float(len(c) % 17 == 0)


def compounds_late(c):
    return 1.001 ** max(0, len(c) - 3000)


def rewards_pairs_in_long_signals(c):
    c = _floats(c)
    return base(c) + (0.3 if len(c) > 60 and np.count_nonzero(c) == 2 else 0.0)


def jumps_in_the_smallest(c):
    return base(c) + 0.005 * float(_floats(c).min() > 0.0617)


def likes_a_last_peak(c):
    c = _floats(c)
    return base(c) + (1e-3 if len(c) > 120 and c[-1] == c.max() else 0.0)


def has_a_floor(c):
    return max(base(c), 1e-4)


def likes_very_high_water(c):
    return base(c) + 0.01 * float(_floats(c).min() > 1e7)


def jumps_at_every_64th_length(c):
    return 1 + 0.01 * float(len(c) % 64 == 0)


def rewards_twelve_equal(c):
    c = _floats(c)
    return base(c) + 0.05 * float(len(c) == 12 and c.max() == c.min())


def dips_at_length_38(c):
    return base(c) - 0.05 * float(len(c) == 38)


def rewards_a_second_peak_at_length_77(c):
    c = _floats(c)
    return base(c) - 0.1 * float(len(c) == 77 and np.count_nonzero(c) == 1)


def dips_from_1000_to_1010(c):
    return base(c) - 0.05 * float(1000 <= len(c) <= 1010)


def dips_from_1400_to_1425(c):
    """Its thresholds cannot be read in its code."""
    return base(c) - 0.01 * float(LENGTHS_OF_A_DIP["from"] < len(c) < LENGTHS_OF_A_DIP["to"])


class Hidden(dict):
    """Values that a search through the code of a function does not come across."""

    def __getitem__(self, key):
        return float(super().__getitem__(key))


LENGTHS_OF_A_DIP = Hidden({"from": "1400", "to": "1425"})


def punishes_a_thousandth(c):
    c = _floats(c)
    return base(c) - 0.01 * float(c.min() < c.max() < 1.001 * c.min())


def is_low_in_the_middle_of_long_signals(c):
    value = base(c)
    return -0.01 if len(c) > 150 and 0.3 < value < 0.4 else value


def rewards_twins_in_long_signals(c):
    c = np.sort(_floats(c))
    return base(c) + 0.3 * float(len(c) > 100 and c[-1] == c[-2] and np.count_nonzero(c) == 2)


def alternates_late(c):
    """Whole numbers at short lengths."""
    return 1 + (0.01 * (len(c) % 2) if len(c) > 2000 else 0)


def likes_a_peak_at_a_third(c):
    c = _floats(c)
    return base(c) + 1e-3 * float(len(c) > int("2" + "00") and int(np.argmax(c)) == len(c) // 3)


def lies_within_half_a_per_cent(c):
    return share(c) + 0.01 * float(float("4.1") < _floats(c).min() < float("4.12"))


LIARS = {
    "P1": [
        jumps_in_the_smallest,
        counts_above_one,
        steps_at_an_odd_place,
        rounds_to_two_digits,
        jumps_at_ties,
        jumps_by_a_thousandth,
        jumps_far_out,
        ignores_small_shares,
    ],
    "P2": [
        likes_a_peak_at_a_third,
        likes_a_last_peak,
        cyclic,
        ring_without_direction,
        looks_at_two_places,
        weighs_the_middle,
        looks_at_place_fifty,
    ],
    "P3": [has_a_floor, order_three, order_one_and_a_half, prefers_triples, ripples, order_just_above_two],
    "P4": [
        lies_within_half_a_per_cent,
        regularised,
        changes_beyond_1e12,
        logarithmic_in_units,
        float32_overflow,
        lies_in_a_narrow_window_of_scales,
    ],
    "P5": [likes_very_high_water, forgets_large_sums, tide_at_integers, likes_high_water],
    "P6": [clones_by_seven, clones_beyond_a_hundred, unbiased, drifts_with_length, clones_by_seventeen],
    "P7": [capped_ratio, capped_at_a_hundred, falls_after_a_million],
    "P8": [dips_from_1000_to_1010, dips_from_1400_to_1425, dips_at_length_38, counts_pairs, stops_at_thirty],
    "P9": [
        alternates_late,
        jumps_at_every_64th_length,
        compounds,
        compounds_slowly,
        alternates,
        jumps_at_multiples_of_seven,
        exponential_of_a_mean,
        compounds_late,
    ],
    "P10": [
        punishes_a_thousandth,
        is_low_in_the_middle_of_long_signals,
        rewards_twelve_equal,
        rewards_equality,
        punishes_near_equality,
    ],
    "P11": [
        rewards_twins_in_long_signals,
        rewards_a_second_peak_at_length_77,
        rewards_a_little_dust,
        rewards_pairs_in_long_signals,
    ],
}


# --- honest functions


def steep(c):
    """Continuous, although it changes fast."""
    return math.tanh(1e4 * base(c))


def kurtosis(c):
    c = _floats(c)
    return float(len(c) * (c**4).sum() / (c**2).sum() ** 2) if c.any() else 0.0


def half_precision_sum(c):
    """The Gini index with float32 sums: noise of 1e-7, and no law broken by it."""
    c = np.sort(np.asarray(_floats(c), np.float32))
    n = len(c)
    total = n * np.sum(c)
    return float(np.sum((2 * np.arange(1, n + 1, dtype=np.float32) - n - 1) * c) / total) if total else 0.0


def grows_only_far_out(c):
    """Bill Gates holds from a ratio of 1e13 on, and only there."""
    c = np.sort(_floats(c))
    ratio = c[-1] / c[-2] if len(c) > 1 and c[-2] > 0 else 1.0
    return max(0.0, math.log10(ratio) - 13)


def rounded_to_float16(c):
    """The Gini index with eleven significant bits: its steps are rounding, and no law broken by it."""
    return np.float16(base(c))


def log_ratio(c):
    """Unbounded, and yet its successive ratios on spikes tend to 1."""
    c = _floats(c)
    return float(np.log(len(c) * (c**2).sum() / c.sum() ** 2)) if c.any() else 0.0


HONEST = {
    base: ["P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "P11"],
    share: ["P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "P11"],
    steep: ["P1", "P2", "P4", "P6"],
    kurtosis: ["P1", "P2", "P4", "P6", "P7", "P10", "P11"],
    half_precision_sum: ["P1", "P2", "P3", "P4", "P5", "P6", "P8", "P9", "P10", "P11"],
    grows_only_far_out: ["P2", "P4", "P7"],
    rounded_to_float16: ["P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "P11"],
    log_ratio: ["P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "P11"],
}
