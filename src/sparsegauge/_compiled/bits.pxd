cdef extern from "bits.h":
    double log2_part(double x) noexcept nogil
    double near_one_part(double x) noexcept nogil
    double times_power_of_two(double x, double rounded) noexcept nogil
    double power_of_two(double rounded) noexcept nogil
    double scale_to_unit(double x) noexcept nogil
    int exponent(double x) noexcept nogil
    double to_nearest(double x) noexcept nogil
    unsigned long long as_word(unsigned long long x) noexcept nogil
    int processor_level() noexcept nogil
    double ldexp(double x, int power) noexcept nogil
