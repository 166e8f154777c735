// erf, erfc, log gamma and pow of Vec<double>, within 1 to 4 ulp. Polynomials are Chebyshev fits made in 200-bit
// arithmetic, highest power first.
#pragma once

#include "simd/math.h"

namespace flambeau::FLAMBEAU_ISA {

// A long polynomial as two of half the length in x^2, which the processor runs side by side.
template <int N>
[[gnu::always_inline]] inline Vec<double> poly_pair(Vec<double> x, const double (&coefficients)[N]) {
  const Vec<double> square = x * x;
  Vec<double> first(coefficients[0]), second(coefficients[1]);
#pragma GCC unroll 32
  for (int i = 2; i + 1 < N; i += 2) {
    first = fma(first, square, Vec<double>(coefficients[i]));
    second = fma(second, square, Vec<double>(coefficients[i + 1]));
  }
  if constexpr (N % 2 == 0) return fma(first, x, second);
  return fma(second, x, fma(first, square, Vec<double>(coefficients[N - 1])));
}

// exp(-x^2) erfcx(x) for x >= 0: erfcx(x) (1 + 2 x) is a polynomial in (x - 3) / (x + 3), as M. M. Shepherd and
// J. G. Laframboise found ("Chebyshev approximation of (1 + 2x) exp(x^2) erfc x", 1981).
struct ErfcParts {
  Vec<double> tail, bell;  // erfc(x), exp(-x^2)
};
[[gnu::always_inline]] inline ErfcParts erfc_positive(Vec<double> x) {
  constexpr double kErfc[] = {
      -4.30108775426581735e-9, -8.70855078043142085e-9, 3.30939647679923062e-8,  9.25506490453012841e-8,
      -1.31135972398923476e-7, -6.05978073937786891e-7, 3.48758099660940861e-7,  3.46476791397870953e-6,
      -7.27306277418468065e-7, -2.00970053775790863e-5, 4.94798820449212094e-6,  1.25098267147272891e-4,
      -1.0515943865902943e-4,  -7.79832060407033918e-4, 1.88869030220122558e-3,  2.52939179092522611e-3,
      -2.37705149131881843e-2, 6.83080273456290049e-2,  -1.19273663415584374e-1, 1.29645158702710955e-1,
      -4.75622943534452294e-2, -1.35621106124580726e-1, 1.25300805826972961};
  using V = Vec<double>;
  x = min(V(28.0), x);
  const V sum = x + V(3.0), line = fma(V(2.0), x, V(1.0));
  const V inverse = V(1.0) / (sum * line);  // one division for both quotients
  const V scaled = poly_pair((x - V(3.0)) * (inverse * line), kErfc) * (inverse * sum);
  // exp(-x^2) needs all digits of x^2: the square of the upper half of x is exact.
  const V high = from_bits<double>(bits(x) & ~std::int64_t(0x7ffffff)), rest = (x - high) * (x + high);
  V n;
  const V r = reduce_ln2(-high * high, n);
  const V bell = scale(V(1.0) + expm1_reduced(r - rest), n);
  return {scaled * bell, bell};
}
// |x| < 0.89
[[gnu::always_inline]] inline Vec<double> erf_small(Vec<double> x) {
  constexpr double kErf[] = {6.52469952613366362e-11, -1.16662171749841068e-9, 1.47262744581772011e-8,
                             -1.6358989870976771e-7,  1.6461719807038863e-6,   -1.49256347118392886e-5,
                             1.20553325562003147e-4,  -8.54832701568321589e-4, 5.22397762535109934e-3,
                             -2.68661706451248893e-2, 1.12837916709551025e-1,  -3.76126389031837538e-1,
                             1.28379167095512586e-1};
  return fma(x, poly_pair(min(Vec<double>(0.8), x * x), kErf), x);
}
[[gnu::always_inline]] inline Vec<double> erf(Vec<double> x) {
  using V = Vec<double>;
  const V size = abs(x), large = V(1.0) - erfc_positive(size).tail;
  return select(size < V(0.89), erf_small(x), copysign(large, x));
}
[[gnu::always_inline]] inline Vec<double> erfc(Vec<double> x) {
  using V = Vec<double>;
  const V size = abs(x), tail = erfc_positive(size).tail;
  return select(size < V(0.5), V(1.0) - erf_small(x), select(x < V(0.0), V(2.0) - tail, tail));
}

// log gamma of 0 < x < 2^1000: Stirling's series from 8 on; below, a shift to y = 2 + t in [1.5, 2.5) and t Q(t).
[[gnu::always_inline]] inline Vec<double> lgamma_positive(Vec<double> x) {
  constexpr double kGamma[] = {2.74754035826897989e-7,  -5.8112781480108419e-7,  9.2428508835237629e-7,
                               -1.97431065333705843e-6, 4.38285459288209887e-6,  -9.45628852854908772e-6,
                               2.05060196900709575e-5,  -4.49237275616095886e-5, 9.94576169229863222e-5,
                               -2.23154977463212162e-4, 5.09669519652570786e-4,  -1.19275390099829221e-3,
                               2.89051033086590433e-3,  -7.38555102893554555e-3, 2.05808084277833807e-2,
                               -6.73523010531956318e-2, 3.22467033424113203e-1,  4.22784335098467134e-1};
  // B_2k / (2k (2k - 1)), k = 8 ... 1
  constexpr double kStirling[] = {-2.95506535947712418e-2, 6.41025641025641026e-3,  -1.91752691752691753e-3,
                                  8.41750841750841751e-4,  -5.95238095238095238e-4, 7.93650793650793651e-4,
                                  -2.77777777777777778e-3, 8.33333333333333333e-2};
  using V = Vec<double>;
  const auto far = x >= V(8.0);
  V y = x, product(1.0);
  for (int i = 0; i < 6; ++i) {  // down from below 8
    const auto above = y >= V(2.5);
    const V lower = y - V(1.0);
    product = select(above & ~far, product * lower, product);
    y = select(above, lower, y);
  }
  const auto below = y < V(1.5), tiny = y < V(0.5);
  V divisor = select(below, y, V(1.0));
  divisor = select(tiny, y * (y + V(1.0)), divisor);
  // The shift and its removal cancel exactly below 1.5.
  const V t = min(V(0.5), select(tiny, y, select(below, y - V(1.0), y - V(2.0))));
  const V logarithm = log(select(far, x, select(below, divisor, product)));
  const V near = fma(t, poly_pair(t, kGamma), select(below, -logarithm, logarithm));
  const V inverse = V(1.0) / select(far, x, V(8.0)), series = inverse * poly(inverse * inverse, kStirling);
  const V stirling = fma(x - V(0.5), logarithm, V(0.918938533204672742) - x) + series;
  return select(far, stirling, near);
}

#if FLAMBEAU_VEC_BYTES >= 32
// a^b = 2^(b log2 a) for normal 0 < a < inf and finite b, with the logarithm in two doubles (needs a fused
// multiply-add).
[[gnu::always_inline]] inline Vec<double> pow_positive(Vec<double> a, Vec<double> b) {
  using V = Vec<double>;
  using C = Constants<double>;
  const V::Mask offset = wrapping_minus<double>(bits(a), V::Mask{} + C::kSqrtHalfBits);
  const V::Mask exponent = offset >> C::kMantissa;
  const V f = from_bits<double>(wrapping_minus<double>(bits(a), exponent << C::kMantissa)) - V(1.0);
  const V e = from_bits<double>(exponent + bits(V(C::kMagic))) - V(C::kMagic);
  // s = f / (2 + f) and log(1 + f) = 2 s + 2/3 s^3 + s^5 Q(s^2); the first two terms in two doubles.
  const V sum = V(2.0) + f, sum_low = f - (sum - V(2.0)), inverse = V(1.0) / sum;
  const V s = f * inverse, s_low = fma(-s, sum_low, fma(-s, sum, f)) * inverse;
  const V z = s * s, z_low = fma(s, s, -z) + V(2.0) * s * s_low;
  const V cube = s * z, cube_low = fma(s, z, -cube) + fma(s, z_low, s_low * z);
  constexpr double kThird = 0.66666666666666662966, kThirdLow = 3.7007434154171883e-17;  // 2/3
  const V term = V(kThird) * cube;
  const V term_low = fma(V(kThird), cube, -term) + fma(V(kThird), cube_low, V(kThirdLow) * cube);
  constexpr double kRest[] = {C::kLog[0], C::kLog[1], C::kLog[2], C::kLog[3], C::kLog[4], C::kLog[5]};
  const V twice = s + s, high = twice + term;
  const V low = (twice - high) + term + fma(V(2.0), s_low, term_low) + cube * z * poly(z, kRest);
  constexpr double kLog2e = 1.4426950408889634074, kLog2eLow = 2.0355273740931033e-17;
  const V log2 = high * V(kLog2e);
  const V log2_low = fma(high, V(kLog2e), -log2) + fma(low, V(kLog2e), high * V(kLog2eLow));
  const V whole = e + log2, whole_low = (e - whole) + log2 + log2_low;
  const V product = whole * b, product_low = fma(whole, b, -product) + whole_low * b;
  const V power = min(V(1100.0), max(V(-1100.0), product)), n = round_small(power);
  const V r = (power - n) + select(power == product, product_low, V(0.0));
  return scale(V(1.0) + expm1_reduced(r * V(0.693147180559945309)), n);
}
#endif

}  // namespace flambeau::FLAMBEAU_ISA
