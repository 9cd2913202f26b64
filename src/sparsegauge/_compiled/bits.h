/* What Python and C do differently, or only C can do on many numbers at once. The twins in Python are in bits.py. */
#ifndef SPARSEGAUGE_BITS_H
#define SPARSEGAUGE_BITS_H
#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t sg_bits(double x) { uint64_t b; memcpy(&b, &x, 8); return b; }
static inline double sg_number(uint64_t b) { double x; memcpy(&x, &b, 8); return x; }

/* AVX2 can shift and add 64-bit integers, but not turn them into doubles: 2^52 in the upper bits does that instead. */
#define SG_TO_ONE 0x00095F619980C433ull /* the bits of 1 less those of sqrt(1/2) */
static inline double log2_part(double x) {
  return sg_number(((sg_bits(x) + SG_TO_ONE) >> 52) | 0x4330000000000000ull) - 4503599627371519.0;
}
static inline double near_one_part(double x) {
  return sg_number(((sg_bits(x) + SG_TO_ONE) & 0x000FFFFFFFFFFFFFull) + 0x3FE6A09E667F3BCDull);
}
static inline double times_power_of_two(double x, double rounded) {
  return sg_number(sg_bits(x) + (sg_bits(rounded) << 52));
}
static inline double power_of_two(double rounded) { return sg_number((sg_bits(rounded) + 1023) << 52); }

static inline double scale_to_unit(double x) { return sg_number((2045 - (sg_bits(x) >> 52)) << 52); }

static inline int exponent(double x) { int e; frexp(x, &e); return e; }
static inline uint64_t as_word(uint64_t x) { return x; }
static inline double to_nearest(double x) { return rint(x); }

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
static inline int processor_level(void) {
  __builtin_cpu_init();
  if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))) return 1;
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd") ? 4 : 3;
}
#else
static inline int processor_level(void) { return 1; }
#endif
#endif
