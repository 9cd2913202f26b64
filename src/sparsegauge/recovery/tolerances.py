"""The tolerances of recovery: what counts as zero, as equal, as exact or as dependent, and why.

Settings of single algorithms (steps, damping, numbers of restarts) stay beside the algorithms. Those of the compiled
kernels are in `_compiled/kernel_tolerances.py`.

float64 has a relative rounding error of 1.1e-16; a sum of N products adds about sqrt(N) of them, and a least-squares
fit multiplies them by the condition number of its columns.
"""

# Residuals, in units of |y|
EXACT = 1e-9  # counts as no residual: rounding of a fit whose columns have a condition number of up to about 1e6
EXPLAINED = 1e-6  # the same for solvers that converge slowly and end before rounding decides
SMALLEST_SQUARED_RESIDUAL = 1e-13  # in units of |y|^2: inner products lose half the digits, and tell no less from zero

# Coefficients, in units of the largest
NOT_ZERO = 1e-6  # counted as a non-zero in `support`, `nonzeros` and a trade-off
NEGLIGIBLE = 1e-7  # the fit is tried again without it: what a search leaves behind, not what a signal holds
NEGLIGIBLE_OF_OPERATOR = 1e-11  # the same after conjugate gradients, which end at rounding
HIDDEN = 1e-6  # error of x up to which it still counts as the same x in a certificate
SAME_MAGNITUDE = 1e-9  # relative difference of magnitudes that are one
SAME_RATIO = 1e-9  # relative difference of a ratio of magnitudes and a fraction of small whole numbers
ROUNDING_OF_DATA = 1e-12  # magnitudes that are zero, and rows that are equal, up to the rounding of their computation
LEAST_SIGNIFICANT = 1e-9  # of a probability: a coefficient with a lower one has no error bar of its own
AT_BOUND = 1e-9  # how far outside its bounds rounding may leave x
ROUNDING_OF_CLIP = 1e-13  # a clip at the bounds that moves x by less changes nothing
UNCHANGED = 1e-9  # relative change of an iterate that counts as none

SAME_NEARLY_WHOLE = 1e-4  # of the smallest: a magnitude this near to a multiple of it is one, before the fit is tried

# Columns, rows and matrices
SMALLEST_SINGULAR_VALUE = 1e-8  # in units of the largest: below it, rounding errors in y spoil what an equation says
DEPENDENT_ANGLE = 1e-7  # sine of an angle, or volume, that inner products cannot tell from zero
DEPENDENT_PROJECTION = 1e-10  # the same between projections, which are computed from the vectors and not their products
DEPENDENT_RESIDUAL = 1e-5  # residual of a unit vector that depends on others, after a greedy search with mixed rows
IN_SPAN = 1e-6  # sine of the angle between a column and the span that holds it
NEARLY_MULTIPLE = 1e-6  # relative difference of sums of rows that may be multiples of each other
INDEPENDENT_ROWS = 1e-3  # ratio of the pivots of their Cholesky factor, which squares the condition number
CLEAR_SQUARE = 1e-6  # squared distance of a unit column from the support: less is looked at more closely
NEGLIGIBLE_ENTRY = 1e-12  # of an operator's column, in units of its largest
NOT_ORTHONORMAL = 1e-6  # relative error of W^H W v from which a transform is called not orthonormal
NOT_MEASURED = 1e-12  # |A 1| in units of |A|: then no measurement tells the constant

# Variances and noise: below these, covariance matrices cannot be factorised
LEAST_NOISE = 1e-5  # norm of the noise in units of |y|, spike and slab
LEAST_JOINT_NOISE = 1e-9  # standard deviation in units of a measurement, joint sparsity
LEAST_VARIANCE = 1e-14  # of a group, in units of the largest
NARROWEST_SITE = 1e-10  # variance of a site of expectation propagation, in units of the signal's mean square
THINNEST_SLAB = 1e-3  # variance of a slab, relative to its mean square
NO_NOISE_VARIANCE = 1e-10  # for |A| = |y| = 1, where y is exact: keeps Cholesky's factorisation going
PRUNED_VARIANCE = 1e-10  # of sparse Bayesian learning, in units of the largest: such a coefficient is zero
FOUND_VARIANCE = 1e-10  # of the error, in units of the signal's: message passing has found the signal
LEAST_PASSED_VARIANCE = 1e-20  # of the error, in the same units: rounding of x leaves no less
LEAST_SHRINKAGE = 1e-12  # posterior variance in units of the one before: less would divide by rounding errors

# Bounds of the noise, and residuals near them
AIM_WITHIN_NOISE = 1 - 1e-9  # share of a bound at which projections aim, so that rounding leaves the result within it
AIM_OF_LAST_STEP = 1 - 1e-6  # the same for the last step of an operator, whose products round more
MISFIT_SLACK = 1 + 1e-6  # by which an answer may exceed what no x can explain
RESIDUAL_SLACK = 1 + 1e-6  # by which a solver may exceed the residual that a trade-off allows
LEAST_RESIDUAL = 1e-6  # in units of |y|: residuals of a trade-off below it are all the same
LAST_BRACKET = 1e-9  # relative width at which a search for the damping ends
HISTOGRAM_MARGIN = 1e-9  # by which the last bin exceeds the largest magnitude, so that it holds it

# Divisors: in place of zero, where the quotient is not used
NO_DIVISOR = 1e-300
LEAST_PROBABILITY = 1e-12

# Linear solves
DESCENT_TOLERANCE = 1e-9  # of coordinate descent within bounds, in units of |y|
PROGRAM_TOLERANCE = 1e-10  # of linear programs and of the Lasso's duality gap, as HiGHS and scikit-learn define them
BOUNDED_TOLERANCE = 1e-14  # of SciPy's bounded least squares: to rounding
FIRST_ACCURACY = 1e-6  # relative residual of conjugate gradients in the first rounds of IRLS
LEAST_COLUMN_NORM = 1e-6  # in units of the root mean square: columns that are shorter are not scaled further
ISOTROPIC = 1e-6  # relative error of A A^H v and a multiple of v
SOLVED = 1e-13  # relative residual of conjugate gradients and LSMR where the point itself depends on it
FOUND_DEVIATION = 1e-7  # tau of message passing in units of the rms of x: the signal is found
LEAST_DAMP = 1e-12  # in units of the first damping: a line search gives up here
