// Scalar tiles over libm: inverse trigonometric and hyperbolic functions, powers, remainders, in float32 and float64.
#include <cmath>
#include <limits>

#include "kernels/scalar_tiles.h"

namespace flambeau {
namespace {

using namespace scalar_tiles;

template <float (*F)(float), double (*D)(double)>
struct Libm {
  explicit Libm(const char* name) noexcept {
    Map1<F, float>{name};
    Map1<D, double>{name};
  }
};
const Libm<&::asinf, &::asin> asin_entry("asin");
const Libm<&::acosf, &::acos> acos_entry("acos");
const Libm<&::atanf, &::atan> atan_entry("atan");
const Libm<&::sinhf, &::sinh> sinh_entry("sinh");
const Libm<&::coshf, &::cosh> cosh_entry("cosh");
const Libm<&::asinhf, &::asinh> asinh_entry("asinh");
const Libm<&::acoshf, &::acosh> acosh_entry("acosh");
const Libm<&::atanhf, &::atanh> atanh_entry("atanh");
const Libm<&::erfcf, &::erfc> erfc_entry("erfc");
const Map1<&::erf, double> erf_entry("erf");

template <float (*F)(float, float), double (*D)(double, double)>
struct Libm2 {
  explicit Libm2(const char* name) noexcept {
    Map2<F, float>{name};
    Map2<D, double>{name};
  }
};
const Libm2<&::atan2f, &::atan2> atan2_entry("atan2");
const Libm2<&::hypotf, &::hypot> hypot_entry("hypot");
const Libm2<&::powf, &::pow> pow_entry("pow");
const Libm2<&::fmodf, &::fmod> fmod_entry("fmod");
const Libm2<&::nextafterf, &::nextafter> nextafter_entry("nextafter");
const Libm2<&::copysignf, &::copysign> copysign_entry("copysign");

// Python's modulo: the sign of the divisor.
template <class T>
T remainder_floating(T a, T b) {
  const T mod = std::fmod(a, b);
  return mod != 0 && (b < 0) != (mod < 0) ? mod + b : mod;
}
const Map2<&remainder_floating<float>, float> remainder_f32("remainder");
const Map2<&remainder_floating<double>, double> remainder_f64("remainder");

// Floor of the exact quotient, as Python computes it: by way of the remainder, not by floor(a / b).
template <class T>
T floor_divide_floating(T a, T b) {
  if (b == 0) return a / b;
  const T mod = std::fmod(a, b);
  T quotient = (a - mod) / b;
  if (mod != 0 && (b < 0) != (mod < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(T(0), a / b);
  const T whole = std::floor(quotient);
  return quotient - whole > T(0.5) ? whole + 1 : whole;
}
const Map2<&floor_divide_floating<float>, float> floor_divide_f32("div_floor");
const Map2<&floor_divide_floating<double>, double> floor_divide_f64("div_floor");

template <class T>
T sinc(T x) {
  constexpr double kPi = 3.14159265358979323846;
  if (x == 0) return 1;
  const T product = static_cast<T>(kPi) * x;
  return std::sin(product) / product;
}
const Map1<&sinc<double>, double> sinc_entry("sinc");

template <class T>
T angle(T x) {
  return std::isnan(x) ? x : x < 0 ? static_cast<T>(3.14159265358979323846) : T(0);
}
const Map1<&angle<float>, float> angle_f32("angle");
const Map1<&angle<double>, double> angle_f64("angle");

// params: {10^|decimals|, decimals < 0}
template <class T>
T round_decimals(T x, const void* params) {
  const double* p = static_cast<const double*>(params);
  const T ten = static_cast<T>(p[0]);
  return p[1] != 0 ? std::nearbyint(x / ten) * ten : std::nearbyint(x * ten) / ten;
}
const Map1p<&round_decimals<float>, float> round_f32("round_decimals");
const Map1p<&round_decimals<double>, double> round_f64("round_decimals");

// params: {nan, +inf, -inf}
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
const Map1p<&nan_to_num<float>, float> nan_to_num_f32("nan_to_num");
const Map1p<&nan_to_num<double>, double> nan_to_num_f64("nan_to_num");
const Map1p<&nan_to_num_complex<float>, c64> nan_to_num_c64("nan_to_num");
const Map1p<&nan_to_num_complex<double>, c128> nan_to_num_c128("nan_to_num");

// params: {eps}, negative for none
double logit(double x, const void* params) {
  const double eps = *static_cast<const double*>(params);
  if (eps >= 0) x = x < eps ? eps : x > 1 - eps ? 1 - eps : x;
  return std::log(x / (1 - x));
}
const Map1p<&logit, double> logit_entry("logit");

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

// log(exp(a) + exp(b)) from the larger one, so that nothing overflows; equal infinities stay what they are.
double logaddexp(double a, double b) {
  if (std::isinf(a) && a == b) return a;
  const double high = a > b || std::isnan(a) ? a : b;
  return high + std::log1p(std::exp(-std::fabs(a - b)));
}
double logaddexp2(double a, double b) {
  if (std::isinf(a) && a == b) return a;
  const double high = a > b || std::isnan(a) ? a : b;
  return high + std::log1p(std::exp2(-std::fabs(a - b))) * 1.44269504088896340736;
}
const Map2<&logaddexp, double> logaddexp_entry("logaddexp");
const Map2<&logaddexp2, double> logaddexp2_entry("logaddexp2");

// 0 log y is 0, even for y = 0; NaN stays.
double xlogy(double x, double y) { return std::isnan(y) ? y : x == 0 ? 0.0 : x * std::log(y); }
double xlog1py(double x, double y) { return std::isnan(y) ? y : x == 0 ? 0.0 : x * std::log1p(y); }
const Map2<&xlogy, double> xlogy_entry("xlogy");
const Map2<&xlog1py, double> xlog1py_entry("xlog1py");

// 0 below zero, `values` at zero, 1 above; NaN gives 1 - as PyTorch compares.
template <class T>
T heaviside(T x, T values) {
  return x == 0 ? values : static_cast<T>(!(x < 0));
}
bool heaviside_bool(bool x, bool values) { return x || values; }
const Map2<&heaviside<float>, float> heaviside_f32("heaviside");
const Map2<&heaviside<double>, double> heaviside_f64("heaviside");
const Map2<&heaviside<std::int64_t>, std::int64_t> heaviside_i64("heaviside");
const Map2<&heaviside_bool, bool> heaviside_b("heaviside");

}  // namespace
}  // namespace flambeau
