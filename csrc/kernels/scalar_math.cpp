// Scalar tiles over libm, in float64 where float32 has vector code (tile/binary_math.cpp, tile/unary_more.cpp).
#include <cmath>
#include <limits>

#include "kernels/scalar_tiles.h"

namespace flambeau {
namespace {

using namespace scalar_tiles;

const Map2<&::hypot, double> hypot_entry("hypot");
const Map2<&::pow, double> pow_entry("pow");
const Map2<&::fmod, double> fmod_entry("fmod");
const Map2<&::nextafter, double> nextafter_entry("nextafter");
const Map2<&::copysignf, float> copysign_f32("copysign");
const Map2<&::copysign, double> copysign_f64("copysign");

// Python's modulo: the sign of the divisor.
double remainder_floating(double a, double b) {
  const double mod = std::fmod(a, b);
  return mod != 0 && (b < 0) != (mod < 0) ? mod + b : mod;
}
const Map2<&remainder_floating, double> remainder_entry("remainder");

// Floor of the exact quotient, as Python computes it: by way of the remainder, not by floor(a / b).
double floor_divide_floating(double a, double b) {
  if (b == 0) return a / b;
  const double mod = std::fmod(a, b);
  double quotient = (a - mod) / b;
  if (mod != 0 && (b < 0) != (mod < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}
const Map2<&floor_divide_floating, double> floor_divide_entry("div_floor");

// params: {nan, +inf, -inf}, for complex numbers; the real ones have vector code.
template <class T>
T nan_to_num(T x, const void* params) {
  const double* p = static_cast<const double*>(params);
  if (std::isnan(x)) return static_cast<T>(p[0]);
  if (std::isinf(x)) return static_cast<T>(x > 0 ? p[1] : p[2]);
  return x;
}
template <class T>
Complex<T> nan_to_num_complex(Complex<T> z, const void* params) {
  return {nan_to_num(z.re, params), nan_to_num(z.im, params)};
}
const Map1p<&nan_to_num_complex<float>, c64> nan_to_num_c64("nan_to_num");
const Map1p<&nan_to_num_complex<double>, c128> nan_to_num_c128("nan_to_num");

template <class T>
T mantissa(T x) {
  int exponent = 0;
  return std::frexp(x, &exponent);
}
template <class T>
std::int32_t exponent_of(T x) {
  int exponent = 0;
  if (std::isfinite(x)) std::frexp(x, &exponent);
  return exponent;
}
const Map1<&mantissa<float>, float> mantissa_f32("frexp_mantissa");
const Map1<&mantissa<double>, double> mantissa_f64("frexp_mantissa");
const Map1<&exponent_of<float>, float, std::int32_t> exponent_f32("frexp_exponent");
const Map1<&exponent_of<double>, double, std::int32_t> exponent_f64("frexp_exponent");

// 0 log y is 0, even for y = 0; NaN stays.
double xlog1py(double x, double y) { return std::isnan(y) ? y : x == 0 ? 0.0 : x * std::log1p(y); }
const Map2<&xlog1py, double> xlog1py_entry("xlog1py");

// 0 below zero, `values` at zero, 1 above; NaN, which is not above, gives 0.
template <class T>
T heaviside(T x, T values) {
  return x == 0 ? values : static_cast<T>(x > 0);
}
bool heaviside_bool(bool x, bool values) { return x || values; }
const Map2<&heaviside<float>, float> heaviside_f32("heaviside");
const Map2<&heaviside<double>, double> heaviside_f64("heaviside");
const Map2<&heaviside<std::int64_t>, std::int64_t> heaviside_i64("heaviside");
const Map2<&heaviside_bool, bool> heaviside_b("heaviside");

}  // namespace
}  // namespace flambeau
