// Scalar tiles for complex numbers, computed in complex128 over <complex>; complex64 is converted by the engine.
#include <cmath>
#include <complex>

#include "kernels/scalar_tiles.h"

namespace flambeau {
namespace {

using namespace scalar_tiles;
using Z = std::complex<double>;

Z in(c128 z) { return {z.re, z.im}; }
c128 out(const Z& z) { return {z.real(), z.imag()}; }

template <Z (*F)(const Z&)>
c128 apply(c128 z) {
  return out(F(in(z)));
}
template <Z (*F)(const Z&)>
using Function = Map1<&apply<F>, c128>;

Z exp2(const Z& z) { return std::exp(z * 0.69314718055994530942); }
Z expm1(const Z& z) {
  // Re: expm1(x) cos(y) - 2 sin(y/2)^2 keeps its digits near 0.
  const double half = std::sin(z.imag() / 2), grown = std::expm1(z.real());
  return {grown * std::cos(z.imag()) - 2 * half * half, (grown + 1) * std::sin(z.imag())};
}
Z log2(const Z& z) { return std::log(z) * 1.44269504088896340736; }
Z log1p(const Z& z) {
  const double x = z.real(), y = z.imag();
  // |1 + z|^2 - 1 = x (2 + x) + y^2, without cancellation near 0.
  if (std::fabs(x) < 0.5 && std::fabs(y) < 0.5) return {0.5 * std::log1p(x * (2 + x) + y * y), std::atan2(y, 1 + x)};
  return std::log(Z(1 + x, y));
}
Z rsqrt(const Z& z) { return 1.0 / std::sqrt(z); }
Z sigmoid(const Z& z) { return 1.0 / (1.0 + std::exp(-z)); }
Z silu(const Z& z) { return z / (1.0 + std::exp(-z)); }
Z sinc(const Z& z) {
  if (z == 0.0) return 1.0;
  const Z product = z * 3.14159265358979323846;
  return std::sin(product) / product;
}
Z sgn(const Z& z) {
  const double modulus = std::abs(z);
  return modulus == 0 ? Z(0) : z / modulus;
}

const Function<&std::exp<double>> exp_entry("exp");
const Function<&exp2> exp2_entry("exp2");
const Function<&expm1> expm1_entry("expm1");
const Function<&std::log<double>> log_entry("log");
const Function<&log2> log2_entry("log2");
const Function<&std::log10<double>> log10_entry("log10");
const Function<&log1p> log1p_entry("log1p");
const Function<&std::sqrt<double>> sqrt_entry("sqrt");
const Function<&rsqrt> rsqrt_entry("rsqrt");
const Function<&std::sin<double>> sin_entry("sin");
const Function<&std::cos<double>> cos_entry("cos");
const Function<&std::tan<double>> tan_entry("tan");
const Function<&std::sinh<double>> sinh_entry("sinh");
const Function<&std::cosh<double>> cosh_entry("cosh");
const Function<&std::tanh<double>> tanh_entry("tanh");
const Function<&sigmoid> sigmoid_entry("sigmoid");
const Function<&silu> silu_entry("silu_complex");
const Function<&sinc> sinc_entry("sinc");
const Function<&sgn> sgn_entry("sign");
c128 asin_z(c128 z) { return out(std::asin(in(z))); }
c128 acos_z(c128 z) { return out(std::acos(in(z))); }
c128 atan_z(c128 z) { return out(std::atan(in(z))); }
c128 asinh_z(c128 z) { return out(std::asinh(in(z))); }
c128 acosh_z(c128 z) { return out(std::acosh(in(z))); }
c128 atanh_z(c128 z) { return out(std::atanh(in(z))); }
const Map1<&asin_z, c128> asin_entry("asin");
const Map1<&acos_z, c128> acos_entry("acos");
const Map1<&atan_z, c128> atan_entry("atan");
const Map1<&asinh_z, c128> asinh_entry("asinh");
const Map1<&acosh_z, c128> acosh_entry("acosh");
const Map1<&atanh_z, c128> atanh_entry("atanh");

c128 pow_z(c128 base, c128 exponent) {
  if (exponent.re == 0 && exponent.im == 0) return {1, 0};
  if (base.re == 0 && base.im == 0) {
    return exponent.im == 0 && exponent.re > 0 ? c128{0, 0} : out(std::pow(in(base), in(exponent)));
  }
  return out(exponent.im == 0 ? std::pow(in(base), exponent.re) : std::pow(in(base), in(exponent)));
}
const Map2<&pow_z, c128> pow_entry("pow");
c128 xlogy_z(c128 x, c128 y) {
  if (std::isnan(y.re) || std::isnan(y.im)) return y;
  return x == c128(0) ? c128(0) : x * out(std::log(in(y)));
}
const Map2<&xlogy_z, c128> xlogy_entry("xlogy");
// log(exp(a) + exp(b)) from the one with the larger real part.
c128 logaddexp_z(c128 a, c128 b) {
  const Z x = in(a), y = in(b);
  const bool swap = x.real() < y.real();
  const Z high = swap ? y : x, low = swap ? x : y;
  if (std::isinf(high.real()) && high.real() < 0) return a;
  return out(high + log1p(std::exp(low - high)));
}
const Map2<&logaddexp_z, c128> logaddexp_entry("logaddexp");

template <class T>
T modulus(Complex<T> z) {
  return std::hypot(z.re, z.im);
}
const Map1<&modulus<float>, c64, float> abs_c64("abs");
const Map1<&modulus<double>, c128, double> abs_c128("abs");

// Two real tiles in, one complex out. polar(r, phi) and complex(re, im).
template <class T>
Complex<T> make_complex(T re, T im) {
  return {re, im};
}
template <class T>
Complex<T> make_polar(T r, T phi) {
  return {r * std::cos(phi), r * std::sin(phi)};
}
const Map2<&make_complex<float>, float, c64> complex_c64("complex");
const Map2<&make_complex<double>, double, c128> complex_c128("complex");
const Map2<&make_polar<float>, float, c64> polar_c64("polar");
const Map2<&make_polar<double>, double, c128> polar_c128("polar");

}  // namespace
}  // namespace flambeau
