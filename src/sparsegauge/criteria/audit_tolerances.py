"""The tolerances of the auditor: which differences of float64 values are rounding, which are suspicious, and why.

They decide which signals of a search are judged. A violation of a catalogue metric is always confirmed in exact
arithmetic, so none of them decides a verdict there; for a function of the user they bound what float64 can tell.
Numbers of signals, lengths and budgets stay beside the searches.
"""

from __future__ import annotations

from fractions import Fraction

# The search, in float64
NEGLIGIBLE = 1e-12  # change, in units of the largest value met: thousands of rounding errors, as long sums have them
NEGLIGIBLE_WRONG_WAY = 1e-13  # the same in units of the value, of a strict law that seems to hold with equality
SUSPICIOUS = 1e-9  # relative change that rounding errors cannot cause
LIMIT_SUSPICION = 1e-4  # relative change where one is to vanish, of a metric whose suspects exact arithmetic judges
LIMIT_SUSPICION_OF_FUNCTION = 1e-6  # the same of a function, whose suspects are judged by its own noise
LEAST_WRONGNESS = 1e-9  # change of S over the relative change of the energy that rounding does not explain
SMALLEST_RELATIVE_CHANGE = 1e-12  # of the energy: a division by less would only magnify rounding errors

# Functions of the user, whose rounding errors are not known
TIMES_NOISE = 20  # times its measured noise, and once more per coefficient, since rounding errors add up
RELATIVE, ABSOLUTE = 1e-9, 1e-12  # of the value, and of the metric's scale, that a change must exceed in any case
REPEATABLE = 1e-10  # relative difference that two calls with the same array may have
SHRINKING = 0.3  # of a second difference from one step to the next: a kink has at most 0.1, a curve 0.01, noise 1
PRECISIONS = (8, 11, 24)  # significant bits of bfloat16, float16 and float32: coarser values are judged by these

# Limits and continuity
PERSISTENT_SHARE = 1 - Fraction(1, 10**12)  # a change that keeps this share of its size does not vanish in the limit
SCREENING_DISTANCE = Fraction(1, 10**9)  # float64 does not see the 1e-30 beside 1 that exact arithmetic takes
FLOAT_DISTANCES = (1e-6, 1e-9, 1e-12)  # relative; the neighbouring float follows
SMALLEST_JUMP = 1e-7  # relative to the value: less is taken for rounding
TIMES_SCATTER = 100  # a jump must exceed the scatter of the values beside it so many times
CHANGE_THAT_FLOATS_SEE = 1e-9  # relative, from one length to the next; less is not worth slow exact arithmetic
