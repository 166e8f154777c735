// Inverse trigonometric functions, hyperbolic functions and their inverses on vectors, within 2 to 3 ulp.
#pragma once

#include "simd/math.h"

namespace flambeau::FLAMBEAU_ISA {

// (atan(t) / t - 1) / t^2 in t^2 on [0, 1]; (asin(t) / t - 1) / t^2 in t^2 on [0, 1/4].
template <class T>
struct InverseTables;
template <>
struct InverseTables<float> {
  static constexpr float kAtan[] = {-2.38699732e-3F, 1.35077714e-2F,  -3.5871539e-2F, 6.25016944e-2F, -8.65688043e-2F,
                                    1.10337641e-1F,  -1.42785687e-1F, 1.99997393e-1F, -3.33333317e-1F};
  static constexpr float kAsin[] = {3.37007263e-2F, 1.71437168e-2F, 3.11017278e-2F,
                                    4.45993192e-2F, 7.50009476e-2F, 1.66666663e-1F};
};
template <>
struct InverseTables<double> {
  static constexpr double kAtan[] = {
      1.80619546186121522e-5, -1.99961893779013821e-4, 1.04960350849685151e-3, -3.49588597391630952e-3,
      8.36893117845016214e-3, -1.55351524754141761e-2, 2.3696731580048622e-2,  -3.12771890669963848e-2,
      3.74948681253524711e-2, -4.26035663260165213e-2, 4.73774957952777897e-2, -5.25797333428411081e-2,
      5.88150687779365607e-2, -6.66656469928910421e-2, 7.69229897103321692e-2, -9.09090859089193423e-2,
      1.11111110934908281e-1, -1.42857142853841315e-1, 1.99999999999975322e-1, -3.33333333333333303e-1};
  static constexpr double kAsin[] = {2.87784426125930408e-2, -1.48814093928180666e-2, 1.74193579648848572e-2,
                                     5.45087818772054995e-3, 1.0324318288744112e-2,   1.14789526902573867e-2,
                                     1.39712353011245391e-2, 1.73523912659092279e-2,  2.23721730020055974e-2,
                                     3.03819441370852143e-2, 4.46428571463733809e-2,  7.49999999999842426e-2,
                                     1.66666666666666678e-1};
};

template <class T>
[[gnu::always_inline]] inline Vec<T> constant(double value) {
  return Vec<T>(static_cast<T>(value));
}
// pi/2 in two parts.
template <class T>
[[gnu::always_inline]] inline Vec<T> half_pi_low() {
  return constant<T>(sizeof(T) == 4 ? -4.37113883e-8 : 6.123233995736766e-17);
}

template <class T>
[[gnu::always_inline]] inline Vec<T> atan_unit(Vec<T> t) {  // 0 <= t <= 1
  const Vec<T> z = t * t;
  return fma(t * z, poly(z, InverseTables<T>::kAtan), t);
}
template <class T>
[[gnu::always_inline]] inline Vec<T> atan(Vec<T> x) {
  const Vec<T> a = abs(x);
  const auto steep = a > constant<T>(1);
  const Vec<T> y = atan_unit(select(steep, constant<T>(1) / a, a));
  return copysign(select(steep, constant<T>(1.57079632679489661923) - (y - half_pi_low<T>()), y), x);
}
template <class T>
[[gnu::always_inline]] inline Vec<T> atan2(Vec<T> y, Vec<T> x) {
  const Vec<T> a = abs(y), b = abs(x), inf(Constants<T>::kInf);
  const Vec<T> low = min(a, b), high = max(a, b);
  Vec<T> t = low / high;
  t = select(high == constant<T>(0), constant<T>(0), t);
  t = select(low == inf, constant<T>(1), t);
  Vec<T> angle = atan_unit(t);
  angle = select(a > b, constant<T>(1.57079632679489661923) - (angle - half_pi_low<T>()), angle);
  const auto left = bits(x) < 0;  // sign bit, so that -0 counts
  angle = select(left, constant<T>(3.14159265358979323846) - (angle - (half_pi_low<T>() + half_pi_low<T>())), angle);
  const auto nan = (x != x) | (y != y);
  return select(nan, x + y, copysign(angle, y));
}

// asin of |x| <= 1/2, and the piece 2 asin(sqrt((1 - |x|) / 2)) that serves beyond.
template <class T>
[[gnu::always_inline]] inline Vec<T> asin_core(Vec<T> t, Vec<T> z) {
  return fma(t * z, poly(z, InverseTables<T>::kAsin), t);
}
template <class T>
[[gnu::always_inline]] inline Vec<T> asin(Vec<T> x) {
  const Vec<T> a = abs(x);
  const auto outer = a > constant<T>(0.5);
  const Vec<T> z = select(outer, (constant<T>(1) - a) * constant<T>(0.5), a * a);
  const Vec<T> y = asin_core(select(outer, sqrt(z), a), z);
  return copysign(select(outer, constant<T>(1.57079632679489661923) - (y + y - half_pi_low<T>()), y), x);
}
template <class T>
[[gnu::always_inline]] inline Vec<T> acos(Vec<T> x) {
  const Vec<T> a = abs(x);
  const auto outer = a > constant<T>(0.5);
  const Vec<T> z = select(outer, (constant<T>(1) - a) * constant<T>(0.5), a * a);
  const Vec<T> y = asin_core(select(outer, sqrt(z), a), z);
  const Vec<T> inner = constant<T>(1.57079632679489661923) - (copysign(y, x) - half_pi_low<T>());
  const auto negative = x < constant<T>(0);
  const Vec<T> beyond =
      select(negative, constant<T>(3.14159265358979323846) - (y + y - (half_pi_low<T>() + half_pi_low<T>())), y + y);
  return select(outer, beyond, inner);
}

// e^x / 2 without overflow up to the limit of cosh.
template <class T>
[[gnu::always_inline]] inline Vec<T> half_exp(Vec<T> x) {
  x = min(constant<T>(sizeof(T) == 4 ? 90.5 : 711.0), x);
  Vec<T> n;
  const Vec<T> r = reduce_ln2(x, n);
  return scale(constant<T>(1) + expm1_reduced(r), n - constant<T>(1));
}
template <class T>
[[gnu::always_inline]] inline Vec<T> cosh(Vec<T> x) {
  const Vec<T> half = half_exp(abs(x));
  return half + constant<T>(0.25) / half;
}
template <class T>
[[gnu::always_inline]] inline Vec<T> sinh(Vec<T> x) {
  const Vec<T> a = abs(x), e = expm1(min(constant<T>(1), a)), half = half_exp(a);
  const Vec<T> small = constant<T>(0.5) * (e + e / (e + constant<T>(1)));
  return copysign(select(a < constant<T>(1), small, half - constant<T>(0.25) / half), x);
}
template <class T>
[[gnu::always_inline]] inline Vec<T> asinh(Vec<T> x) {
  const Vec<T> a = abs(x), square = a * a, one = constant<T>(1);
  const Vec<T> near = log1p(a + square / (one + sqrt(one + square)));
  const Vec<T> far = log(a) + constant<T>(0.693147180559945309);
  return copysign(select(a > constant<T>(sizeof(T) == 4 ? 1e9 : 1e18), far, near), x);
}
template <class T>
[[gnu::always_inline]] inline Vec<T> acosh(Vec<T> x) {
  const Vec<T> t = x - constant<T>(1);
  const Vec<T> near = log1p(t + sqrt(t + t + t * t)), far = log(x) + constant<T>(0.693147180559945309);
  const Vec<T> y = select(x > constant<T>(sizeof(T) == 4 ? 1e9 : 1e18), far, near);
  return select(x >= constant<T>(1), y, Vec<T>(Constants<T>::kNan));
}
template <class T>
[[gnu::always_inline]] inline Vec<T> atanh(Vec<T> x) {
  const Vec<T> a = abs(x);
  return copysign(constant<T>(0.5) * log1p((a + a) / (constant<T>(1) - a)), x);
}

// float only: x P(w), w = -log(1 - x^2); one polynomial in w, one in sqrt(w) for the tails.
[[gnu::always_inline]] inline Vec<float> erfinv(Vec<float> x) {
  constexpr float kCentral[] = {-8.93192597e-9F, 2.33359672e-8F,  4.68131348e-7F,  -3.46398527e-6F, -4.97241969e-6F,
                                2.18349386e-4F,  -1.25272639e-3F, -4.17739288e-3F, 2.46640279e-1F,  1.50140936F};
  constexpr float kTail[] = {9.71274757e-5F, -2.8790023e-4F,  -3.23471541e-5F, 1.45719104e-3F, -3.60904139e-3F,
                             5.69825065e-3F, -7.63491629e-3F, 9.44384161e-3F,  1.00167481F,    2.83297683F};
  const Vec<float> one(1.0F), w = -log((one - x) * (one + x));
  const Vec<float> central = poly(w - Vec<float>(2.5F), kCentral);
  const Vec<float> tail = poly(sqrt(max(Vec<float>(5.0F), w)) - Vec<float>(3.0F), kTail);
  const Vec<float> y = x * select(w < Vec<float>(5.0F), central, tail);
  return select(abs(x) == one, x * Vec<float>(Constants<float>::kInf), y);
}

}  // namespace flambeau::FLAMBEAU_ISA
