"""The tolerances of the kernels: what counts as rounding, as zero, as exact or as dependent, and why.

Settings of single algorithms (steps, sizes of blocks, numbers of passes) stay beside the algorithms. float64 has a
relative rounding error of 1.1e-16 per operation, its largest number is 1.8e308 and its smallest normal one 2.2e-308.
"""

# Overflow and underflow
TINY, HUGE = 1e-290, 1e290  # rows whose maximum lies outside are handed over: their scale or sum may overflow
SMALLEST_NUMERATOR = 1e-280  # a smaller one lost digits to underflow
SMALLEST_CENTRE = 1e-290  # the inverse of a smaller one may overflow, and nothing can cancel
SMALLEST_REST = 1e-200  # a smaller one may have lost digits to underflow, and is computed from logarithms instead
SMALLEST_SUM = 1e-300  # instead of a sum that underflowed, so that a division gives a number
SMALLEST_ROOT = 1e-150  # of a factor: the square of a smaller one may underflow

# S_p: relative errors
ROUNDING = 2.2e-16  # of one operation, twice the largest, in bounds of the error
TRUSTED = 2e-13  # the largest bound of the relative error of an even order that is accepted without sorting
REAL_ORDER_BUDGET = 1e-14  # of the polynomials that replace powers, together, in units of S_p
POLYNOMIAL_ROUNDING = 1e-15  # of one polynomial: no degree gives a smaller error

# Linear algebra
PIVOT_ROUNDING = 2.3e-16  # times the order of the matrix and its diagonal: a smaller pivot is rounding
FIRST_JITTER, LAST_JITTER = 1e-15, 1e-2  # added to the diagonal, in units of its mean, until the matrix has a factor

# Columns of unit length
SMALLEST_SQUARE = 1e-10  # of the part outside the span: a difference of squares cannot tell less from zero
VANISHING = 1e-9  # of a squared length: what is less after a projection is rounding
PARALLEL = 1e-11  # 1 - cos^2 of two vectors that are compared again by their difference
DEPENDENT = 1e-7  # a diagonal of the triangular factor, in units of its largest: it is the root of a difference
EXACT_FIT = 1e-9  # residual in units of |y|, as `EXACT` of recovery/tolerances.py

# Lattices
IN_KERNEL = 1e-4  # |scale F z|^2 in units of |z|^2 of what is in the kernel; others are balanced, at about 1
IMAGE_ROUNDING = 1e-11  # |F z| in units of |z|: what is larger is no zero, however small the scale

# Inference
SMALLEST_EVIDENCE_GAIN = 1e-9  # of a changed support, in log evidence: less is rounding
LEAST_NOISE_FOR_CHANGES = 1e-8  # |noise|^2 / |y|^2: with more, some dozens of rank-one changes keep 7 digits of x
SMALLEST_CAVITY = 1e-14  # 1 - variance x precision: a difference of numbers near 1 cannot tell less from zero
LEAST_MAGNITUDE = 1e-6  # in units of the noise: weights are computed as if no coefficient were smaller
LEAST_WEIGHT = 1e-6  # of a slab, so that it can grow again; a slab with less keeps its size
