"""Tolerances outside recovery, criteria and kernels: what counts as whole, equal, constant or empty, and why.

Recovery, criteria and kernels have a module each: `recovery/tolerances.py`, `criteria/audit_tolerances.py` and
`_compiled/kernel_tolerances.py`. Settings of single algorithms stay beside the algorithms.
"""

from __future__ import annotations

# Numbers that users and files write as decimals
WHOLE = 1e-9  # a quotient this near to a whole number stands for it: 0.3 / 0.1 is 2.9999999999999996
AT_LIMIT = 1e-12  # relative: a value that exceeds a limit by less lies on it
ROUNDED_TIMES = 1e-9  # steps of a column of times differ by as much of the largest time, because it is rounded

# Signals
CONSTANT = 1e-9  # of the largest sample: what is left of a constant signal after its mean is subtracted
EMPTY_SPECTRUM = 1e-9  # of the highest floor: parts of a spectrum with a lower one hold no signal
SMALLEST_SAFE, LARGEST_SAFE = 1e-290, 1e290  # magnitudes between which no transform overflows or loses digits
SMALLEST_FOURTH_POWER, LARGEST_FOURTH_POWER = 1e-60, 1e60  # magnitudes between which squares of squares are safe
ORTHONORMAL = 1e-8  # error of a wavelet's filters that rounding of their tabulated digits explains

# Metrics
TIED = 1e-9  # relative difference of values that rounding alone may part
EQUAL_TO_MEAN = 1e-9  # relative difference of a coefficient and a mean that are equal
EQUAL_SHARES = 1.0 - 1e-12  # ratio of sums of weights that are equal
NO_SPREAD = 1e-14  # of the moments whose difference it is: less is rounding
SMALLEST_RATIO = 1e-250  # of means in a common unit: a smaller one may have lost digits
LEAST_WEIGHT, LARGEST_WEIGHT = 1e-100, 1e100  # the largest weight of a signal: squares of sums stay in float64's range

# Pictures
LEAST_RANGE = 1e-12  # of a scale of colours, so that a map of equal values has a scale
