// exp on vectors and on single elements, by the same steps, so that an element's result does not depend on where it lies.
#pragma once

#include "kernels/tile/lanes.h"

namespace flambeau::FLAMBEAU_ISA {

template <class T> struct IntOf;
template <> struct IntOf<float> { using type = std::int32_t; };
template <> struct IntOf<double> { using type = std::int64_t; };

// Constants per precision. magic: adding it rounds to an integer that then sits in the low bits.
template <class T> struct ExpConstants;
template <> struct ExpConstants<float> {
  static constexpr float low = -104.0F, high = 89.0F, log2e = 1.44269504F, magic = 12582912.0F;
  static constexpr float ln2_high = 0.693359375F, ln2_low = -2.12194440e-4F;
  static constexpr int bias = 127, mantissa = 23;
};
template <> struct ExpConstants<double> {
  static constexpr double low = -746.0, high = 710.0, log2e = 1.4426950408889634, magic = 6755399441055744.0;
  static constexpr double ln2_high = 6.93145751953125e-1, ln2_low = 1.42860682030941723212e-6;
  static constexpr int bias = 1023, mantissa = 52;
};

// exp(r) for |r| <= ln(2) / 2.
template <class X>
inline X exp_polynomial(X r, float) {
  X p = X{} + 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  return p * (r * r) + r + 1.0F;
}
template <class X>
inline X exp_polynomial(X r, double) {
  X p = X{} + 1.0 / 6227020800.0;  // Taylor to the 13th power: 4e-18 at the ends
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  return p * (r * r) + r + 1.0;
}

// X: T or V<T>; I: the integer type of the same shape.
template <class T, class X, class I>
inline X exp_any(X x) {
  using C = ExpConstants<T>;
  X clamped = x > C::low ? x : X{} + C::low;  // NaN too; put back below
  clamped = clamped < C::high ? clamped : X{} + C::high;
  const X shifted = clamped * C::log2e + C::magic;
  const X n = shifted - C::magic;
  X r = clamped - n * C::ln2_high;
  r = r - n * C::ln2_low;
  const X p = exp_polynomial(r, T());
  // 2^n in two halves: the result may be subnormal.
  I whole;
  if constexpr (std::is_same_v<X, T>) {
    whole = static_cast<I>(n);
  } else {
    whole = __builtin_convertvector(n, I);
  }
  const I half = whole >> 1;
  const I first_bits = (half + C::bias) << C::mantissa, second_bits = (whole - half + C::bias) << C::mantissa;
  X first, second;
  std::memcpy(&first, &first_bits, sizeof(X));
  std::memcpy(&second, &second_bits, sizeof(X));
  const X result = p * first * second;
  return x != x ? x : result;
}
template <class T>
inline V<T> exp(V<T> x) { return exp_any<T, V<T>, V<typename IntOf<T>::type>>(x); }
template <class T>
inline T exp_one(T x) { return exp_any<T, T, typename IntOf<T>::type>(x); }

}  // namespace flambeau::FLAMBEAU_ISA
