// Elementary functions on Vec<float> and Vec<double>, within 1 to 2 ulp. One algorithm for both types, with polynomials
// of the degree each needs (Chebyshev fits made in 300-bit arithmetic; highest power first).
#pragma once

#include "simd/vec.h"

namespace flambeau::FLAMBEAU_ISA {

template <class T>
struct Constants;
template <>
struct Constants<float> {
  static constexpr int kMantissa = 23;
  static constexpr std::int32_t kOneBits = 0x3f800000, kSqrtHalfBits = 0x3f3504f3;
  static constexpr float kMagic = 0x1.8p23F, kMinNormal = 0x1p-126F, kSubnormalScale = 0x1p23F;
  static constexpr float kMax = 0x1.fffffep127F, kInf = __builtin_inff(), kNan = __builtin_nanf("");
  static constexpr float kExpLow = -104.5F, kExpHigh = 89.5F;
  static constexpr float kLn2High = 0x1.62e4p-1F, kLn2Low = 0x1.7f7d1cp-20F;
  static constexpr float kLog10Of2High = 0x1.344p-2F, kLog10Of2Low = 0x1.3509f6p-18F;
  static constexpr float kPio2[4] = {0x1.92p+0F, 0x1.fb4p-12F, 0x1.444p-24F, 0x1.68c234p-39F};
  static constexpr float kTrigLimit = 8192.0F;
  static constexpr float kExp[] = {1.3926376e-3F, 8.36333308e-3F, 4.16665535e-2F, 1.66665761e-1F, 5.0e-1F};
  static constexpr float kLog[] = {2.33309641e-1F, 2.85508026e-1F, 4.0000122e-1F, 6.66666666e-1F};
  static constexpr float kSin[] = {-1.95868828e-4F, 8.3327436e-3F, -1.66666646e-1F};
  static constexpr float kCos[] = {2.45469318e-5F, -1.38882984e-3F, 4.16666646e-2F};
};
template <>
struct Constants<double> {
  static constexpr int kMantissa = 52;
  static constexpr std::int64_t kOneBits = 0x3ff0000000000000, kSqrtHalfBits = 0x3fe6a09e667f3bcd;
  static constexpr double kMagic = 0x1.8p52, kMinNormal = 0x1p-1022, kSubnormalScale = 0x1p52;
  static constexpr double kMax = 0x1.fffffffffffffp1023, kInf = __builtin_inf(), kNan = __builtin_nan("");
  static constexpr double kExpLow = -746.0, kExpHigh = 710.5;
  static constexpr double kLn2High = 0x1.62e42fefap-1, kLn2Low = 0x1.cf79abc9e3b39p-40;
  static constexpr double kLog10Of2High = 0x1.34413509fp-2, kLog10Of2Low = 0x1.e7fbcc47c4acdp-40;
  static constexpr double kPio2[4] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69, 0.0};
  static constexpr double kTrigLimit = 1e5;
  static constexpr double kExp[] = {2.09148825634850695e-9,
                                    2.51054909069866954e-8,
                                    2.75572731719410277e-7,
                                    2.75572547404054151e-6,
                                    2.48015873259201617e-5,
                                    1.98412698753421422e-4,
                                    1.38888888888836415e-3,
                                    8.33333333332598557e-3,
                                    4.16666666666666698e-2,
                                    1.66666666666666711e-1,
                                    5.0e-1};
  static constexpr double kLog[] = {1.46170375487916502e-1, 1.53316740301678618e-1, 1.81828905566956035e-1,
                                    2.22222111151441615e-1, 2.85714286260958915e-1, 3.9999999999899239e-1,
                                    6.6666666666666697e-1};
  static constexpr double kSin[] = {1.59175674789067995e-10, -2.50511240313820815e-8, 2.75573160649867715e-6,
                                    -1.98412698366860081e-4, 8.33333333333090042e-3,  -1.66666666666666646e-1};
  static constexpr double kCos[] = {-1.13822809577026328e-11, 2.0876141380294957e-9,   -2.75573172482293661e-7,
                                    2.48015872987202923e-5,   -1.38888888888873672e-3, 4.16666666666666654e-2};
};

// Difference of bit patterns. Those of negative numbers leave the range of signed lanes; unsigned ones wrap.
template <class T>
struct UnsignedLanes;
template <>
struct UnsignedLanes<float> {
  typedef std::uint32_t Raw __attribute__((vector_size(FLAMBEAU_VEC_BYTES)));
};
template <>
struct UnsignedLanes<double> {
  typedef std::uint64_t Raw __attribute__((vector_size(FLAMBEAU_VEC_BYTES)));
};
template <class T>
[[gnu::always_inline]] inline typename Vec<T>::Mask wrapping_minus(typename Vec<T>::Mask a, typename Vec<T>::Mask b) {
  using Unsigned = typename UnsignedLanes<T>::Raw;
  return (typename Vec<T>::Mask)((Unsigned)a - (Unsigned)b);
}

template <class T, int N>
[[gnu::always_inline]] inline Vec<T> poly(Vec<T> x, const T (&coefficients)[N]) {
  Vec<T> sum(coefficients[0]);
  for (int i = 1; i < N; ++i) sum = fma(sum, x, Vec<T>(coefficients[i]));
  return sum;
}

// Nearest integer for |x| < 2^22 (2^51), ties to even.
template <class T>
[[gnu::always_inline]] inline Vec<T> round_small(Vec<T> x) {
  const Vec<T> magic(Constants<T>::kMagic);
  return x + magic - magic;
}
// 2^n for an integral n inside the exponent range.
template <class T>
[[gnu::always_inline]] inline Vec<T> pow2(Vec<T> n) {
  return from_bits<T>((bits(n + Vec<T>(Constants<T>::kMagic)) << Constants<T>::kMantissa) + Constants<T>::kOneBits);
}

// exp(r) - 1 for |r| <= ln(2) / 2.
template <class T>
[[gnu::always_inline]] inline Vec<T> expm1_reduced(Vec<T> r) {
  return fma(r * r, poly(r, Constants<T>::kExp), r);
}

// x = n ln2 + r; the product n * ln2_high is exact.
template <class T>
[[gnu::always_inline]] inline Vec<T> reduce_ln2(Vec<T> x, Vec<T>& n) {
  n = round_small(x * Vec<T>(T(1.442695040888963407)));
  return fma(n, Vec<T>(-Constants<T>::kLn2Low), fma(n, Vec<T>(-Constants<T>::kLn2High), x));
}

// y * 2^n, where n may leave the exponent range by a factor of two.
template <class T>
[[gnu::always_inline]] inline Vec<T> scale(Vec<T> y, Vec<T> n) {
#if FLAMBEAU_VEC_BYTES == 64
  return scalef(y, n);
#else
  const Vec<T> half = round_small(n * Vec<T>(T(0.5)));
  return y * pow2(half) * pow2(n - half);
#endif
}

template <class T>
[[gnu::always_inline]] inline Vec<T> exp(Vec<T> x) {
  x = min(Vec<T>(Constants<T>::kExpHigh), max(Vec<T>(Constants<T>::kExpLow), x));  // keeps NaN
  Vec<T> n;
  const Vec<T> r = reduce_ln2(x, n);
  return scale(Vec<T>(T(1)) + expm1_reduced(r), n);
}

template <class T>
[[gnu::always_inline]] inline Vec<T> exp2(Vec<T> x) {
  constexpr T kLimit = sizeof(T) == 4 ? T(151) : T(1076);
  x = min(Vec<T>(kLimit), max(Vec<T>(-kLimit), x));
  const Vec<T> n = round_small(x);
  return scale(Vec<T>(T(1)) + expm1_reduced((x - n) * Vec<T>(T(0.693147180559945309))), n);
}

template <class T>
[[gnu::always_inline]] inline Vec<T> expm1(Vec<T> x) {
  const Vec<T> tiny = x;
  x = min(Vec<T>(Constants<T>::kExpHigh), max(Vec<T>(sizeof(T) == 4 ? T(-20) : T(-40)), x));
  Vec<T> n;
  const Vec<T> r = reduce_ln2(x, n);
  // 2 (2^(n-1) (e^r - 1) + (2^(n-1) - 1/2)): 2^(n-1) stays finite, and n = 0 gives e^r - 1 exactly.
  const Vec<T> s = pow2(n - Vec<T>(T(1)));
  const Vec<T> half = fma(s, expm1_reduced(r), s - Vec<T>(T(0.5)));
  return select(tiny == Vec<T>(T(0)), tiny, half + half);
}

// x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); returns log(1 + f).
template <class T>
[[gnu::always_inline]] inline Vec<T> log_parts(Vec<T> x, Vec<T>& e) {
  using C = Constants<T>;
  using Mask = typename Vec<T>::Mask;
  const Mask subnormal = x < Vec<T>(C::kMinNormal);
  x = select(subnormal, x * Vec<T>(C::kSubnormalScale), x);
  const Mask offset = wrapping_minus<T>(bits(x), Mask{} + C::kSqrtHalfBits);
  const Mask exponent = offset >> C::kMantissa;  // arithmetic shift
  const Vec<T> f = from_bits<T>(wrapping_minus<T>(bits(x), exponent << C::kMantissa)) - Vec<T>(T(1));
  e = from_bits<T>(exponent + bits(Vec<T>(C::kMagic))) - Vec<T>(C::kMagic);
  e = select(subnormal, e - Vec<T>(T(C::kMantissa)), e);
  const Vec<T> s = f / (Vec<T>(T(2)) + f), z = s * s;
  const Vec<T> half_square = Vec<T>(T(0.5)) * f * f;
  return f - (half_square - s * (half_square + z * poly(z, C::kLog)));
}

template <class T>
[[gnu::always_inline]] inline Vec<T> log_special(Vec<T> x, Vec<T> y) {
  using C = Constants<T>;
  y = select(x == Vec<T>(C::kInf), x, y);
  y = select(x == Vec<T>(T(0)), Vec<T>(-C::kInf), y);
  return select(x >= Vec<T>(T(0)), y, Vec<T>(C::kNan));
}
template <class T>
[[gnu::always_inline]] inline Vec<T> log(Vec<T> x) {
  Vec<T> e;
  const Vec<T> y = log_parts(x, e);
  return log_special(x, fma(e, Vec<T>(Constants<T>::kLn2High), fma(e, Vec<T>(Constants<T>::kLn2Low), y)));
}
template <class T>
[[gnu::always_inline]] inline Vec<T> log2(Vec<T> x) {
  Vec<T> e;
  const Vec<T> y = log_parts(x, e);
  return log_special(x, fma(y, Vec<T>(T(1.442695040888963407)), e));
}
template <class T>
[[gnu::always_inline]] inline Vec<T> log10(Vec<T> x) {
  Vec<T> e;
  const Vec<T> y = log_parts(x, e) * Vec<T>(T(0.434294481903251828));
  return log_special(x, fma(e, Vec<T>(Constants<T>::kLog10Of2High), fma(e, Vec<T>(Constants<T>::kLog10Of2Low), y)));
}
// log(u) corrected by what rounding u = 1 + x lost.
template <class T>
[[gnu::always_inline]] inline Vec<T> log1p(Vec<T> x) {
  const Vec<T> one(T(1)), u = one + x;
  const Vec<T> lost = (x - (u - one)) / u;
  const Vec<T> y = log(u) + select(u < Vec<T>(Constants<T>::kInf), lost, Vec<T>(T(0)));
  return select(u == one, x, select(u == Vec<T>(T(0)), Vec<T>(-Constants<T>::kInf), y));
}

// exp without subnormal results (the lowest is about 1e-38) and infinite a little early, for where that makes no
// difference: one scaling step less.
template <class T>
[[gnu::always_inline]] inline Vec<T> exp_normal(Vec<T> x) {
#if FLAMBEAU_VEC_BYTES == 64
  return exp(x);  // scaling is one instruction here
#else
  constexpr T kLow = sizeof(T) == 4 ? T(-87.3) : T(-708.3), kHigh = sizeof(T) == 4 ? T(89) : T(710);
  x = min(Vec<T>(kHigh), max(Vec<T>(kLow), x));
  Vec<T> n;
  const Vec<T> r = reduce_ln2(x, n);
  return (Vec<T>(T(1)) + expm1_reduced(r)) * pow2(n);  // 2^128 is the bit pattern of infinity
#endif
}
template <class T>
[[gnu::always_inline]] inline Vec<T> sigmoid(Vec<T> x) {
  return Vec<T>(T(1)) / (Vec<T>(T(1)) + exp_normal(-x));
}

template <class T>
[[gnu::always_inline]] inline Vec<T> tanh(Vec<T> x) {
  const Vec<T> t = expm1(min(Vec<T>(sizeof(T) == 4 ? T(20) : T(44)), abs(x) + abs(x)));
  return copysign(t / (t + Vec<T>(T(2))), x);
}

// Lanes with |x| beyond the range of the reduction are left to the caller (trig_limit).
template <class T>
struct SinCos {
  Vec<T> sin, cos;
};
template <class T>
[[gnu::always_inline]] inline SinCos<T> sincos(Vec<T> x) {
  using C = Constants<T>;
  const Vec<T> magic(C::kMagic), shifted = fma(x, Vec<T>(T(0.636619772367581343)), magic), k = shifted - magic;
  Vec<T> r = fma(k, Vec<T>(-C::kPio2[0]), x);
  r = fma(k, Vec<T>(-C::kPio2[1]), r);
  r = fma(k, Vec<T>(-C::kPio2[2]), r);
  if constexpr (C::kPio2[3] != 0) r = fma(k, Vec<T>(-C::kPio2[3]), r);
  const Vec<T> z = r * r;
  const Vec<T> s = select(r == Vec<T>(T(0)), r, fma(r * z, poly(z, C::kSin), r));
  const Vec<T> c = fma(z * z, poly(z, C::kCos), fma(z, Vec<T>(T(-0.5)), Vec<T>(T(1))));
  const typename Vec<T>::Mask quadrant = bits(shifted);
  const typename Vec<T>::Mask swap = (quadrant & 1) != 0;
  constexpr int kTop = sizeof(T) * 8 - 2;
  return {from_bits<T>(bits(select(swap, c, s)) ^ ((quadrant & 2) << kTop)),
          from_bits<T>(bits(select(swap, s, c)) ^ (((quadrant + 1) & 2) << kTop))};
}

// float only: an odd polynomial in the middle, 1 - exp(-t (1 + R(t))) outside.
[[gnu::always_inline]] inline Vec<float> erf(Vec<float> x) {
  constexpr float kSmall[] = {8.33471862e-5F, -8.13470933e-4F, 5.20036859e-3F, -2.68591515e-2F,
                              1.12836915e-1F, -3.76126335e-1F, 1.28379167e-1F};
  constexpr float kLarge[] = {-1.04606568e-6F, 3.43885088e-5F, -4.98825008e-4F, 4.30378931e-3F,
                              -2.51395503e-2F, 1.07855653e-1F, 6.34148184e-1F,  1.28902798e-1F};
  const Vec<float> t = min(Vec<float>(4.0F), abs(x));
  const Vec<float> small = fma(x, poly(x * x, kSmall), x);
  Vec<float> n;
  const Vec<float> r = reduce_ln2(-fma(t, poly(t, kLarge), t), n);
  const Vec<float> large = Vec<float>(1.0F) - (Vec<float>(1.0F) + expm1_reduced(r)) * pow2(n);
  return select(t < Vec<float>(0.927F), small, copysign(large, x));
}

}  // namespace flambeau::FLAMBEAU_ISA
