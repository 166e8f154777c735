// Elementwise functions of one tensor. One row per op: result rule, accepted dtypes, tile kernel.
#include <cmath>

#include "core/copy.h"
#include "kernels/pointwise.h"

namespace flambeau {
namespace {

using U = UnaryInfo;
constexpr DTypeSet kNumbers = kInts | kFloats | kComplexes;

constexpr UnaryInfo kInfos[] = {
    {"abs", U::Modulus, kNumbers, Tiles("abs")},
    {"neg", U::Same, kNumbers, Tiles("neg"),
     "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` "
     "or "
     "`logical_not()` operator instead."},
    {"reciprocal", U::Float, kAny, Tiles("reciprocal")},
    {"sqrt", U::Float, kAny, Tiles("sqrt")},
    {"rsqrt", U::Float, kAny, Tiles("rsqrt")},
    {"exp", U::Float, kAny, Tiles("exp")},
    {"exp2", U::Float, kAny, Tiles("exp2")},
    {"expm1", U::Float, kAny, Tiles("expm1")},
    {"log", U::Float, kAny, Tiles("log")},
    {"log2", U::Float, kAny, Tiles("log2")},
    {"log10", U::Float, kAny, Tiles("log10")},
    {"log1p", U::Float, kAny, Tiles("log1p")},
    {"sin", U::Float, kAny, Tiles("sin")},
    {"cos", U::Float, kAny, Tiles("cos")},
    {"tan", U::Float, kAny, Tiles("tan")},
    {"asin", U::Float, kAny, Tiles("asin")},
    {"acos", U::Float, kAny, Tiles("acos")},
    {"atan", U::Float, kAny, Tiles("atan")},
    {"sinh", U::Float, kAny, Tiles("sinh")},
    {"cosh", U::Float, kAny, Tiles("cosh")},
    {"tanh", U::Float, kAny, Tiles("tanh")},
    {"asinh", U::Float, kAny, Tiles("asinh")},
    {"acosh", U::Float, kAny, Tiles("acosh")},
    {"atanh", U::Float, kAny, Tiles("atanh")},
    {"sigmoid", U::Float, kAny, Tiles("sigmoid")},
    {"sinc", U::Float, kAny, Tiles("sinc")},
    {"erf", U::Float, kReal, Tiles("erf")},
    {"erfc", U::Float, kReal, Tiles("erfc")},
    {"erfinv", U::Float, kReal, Tiles("erfinv")},
    {"lgamma", U::Float, kReal, Tiles("lgamma")},
    {"digamma", U::Float, kReal, Tiles("digamma")},
    {"i0", U::Float, kReal, Tiles("i0")},
    {"special_i0e", U::Float, kReal, Tiles("i0e")},
    {"special_i1", U::Float, kReal, Tiles("i1")},
    {"special_i1e", U::Float, kReal, Tiles("i1e")},
    {"special_ndtri", U::Float, kReal, Tiles("ndtri")},
    {"special_ndtr", U::Float, kReal, Tiles("ndtr")},
    {"special_log_ndtr", U::Float, kReal, Tiles("log_ndtr")},
    {"special_erfcx", U::Float, kReal, Tiles("erfcx")},
    {"special_logerfc", U::Float, kReal, Tiles("logerfc")},
    {"special_logerfcx", U::Float, kReal, Tiles("logerfcx")},
    {"special_entr", U::Float, kReal, Tiles("entr")},
    {"special_bessel_j0", U::Float, kReal, Tiles("bessel_j0")},
    {"special_bessel_j1", U::Float, kReal, Tiles("bessel_j1")},
    {"special_bessel_y0", U::Float, kReal, Tiles("bessel_y0")},
    {"special_bessel_y1", U::Float, kReal, Tiles("bessel_y1")},
    {"special_modified_bessel_i0", U::Float, kReal, Tiles("i0")},
    {"special_modified_bessel_i1", U::Float, kReal, Tiles("i1")},
    {"special_modified_bessel_k0", U::Float, kReal, Tiles("bessel_k0")},
    {"special_modified_bessel_k1", U::Float, kReal, Tiles("bessel_k1")},
    {"special_scaled_modified_bessel_k0", U::Float, kReal, Tiles("bessel_k0e")},
    {"special_scaled_modified_bessel_k1", U::Float, kReal, Tiles("bessel_k1e")},
    {"special_spherical_bessel_j0", U::Float, kReal, Tiles("spherical_bessel_j0")},
    {"spherical_bessel_j1", U::Float, kReal, Tiles("spherical_bessel_j1")},
    {"special_airy_ai", U::Float, kReal, Tiles("airy_ai")},
    {"airy_ai_prime", U::Float, kReal, Tiles("airy_ai_prime")},
    {"sign", U::Same, kReal, Tiles("sign"),
     "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.", kBool},
    {"sgn", U::Same, kAny, Tiles("sign"), nullptr, kBool},
    {"floor", U::Same, kInts | kFloats, Tiles("floor"), nullptr, kInts},
    {"ceil", U::Same, kInts | kFloats, Tiles("ceil"), nullptr, kInts},
    {"trunc", U::Same, kInts | kFloats, Tiles("trunc"), nullptr, kInts},
    {"frac", U::Same, kFloats, Tiles("frac")},
    {"signbit", U::ToBool, kReal, Tiles("signbit"), "signbit is not implemented for complex tensors."},
    {"logical_not", U::ToBool, kAny, Tiles("logical_not")},
    {"isnan", U::ToBool, kAny, Tiles("isnan")},
    {"isinf", U::ToBool, kAny, Tiles("isinf")},
    {"isfinite", U::ToBool, kAny, Tiles("isfinite")},
    {"isposinf", U::ToBool, kReal, Tiles("isposinf"), "isposinf does not support complex inputs."},
    {"isneginf", U::ToBool, kReal, Tiles("isneginf"), "isneginf does not support complex inputs."},
    {"bitwise_not", U::Same, kBool | kInts, Tiles("bitwise_not")},
    {"conj_physical", U::Same, kAny, Tiles("conj"), nullptr, kReal},
};

const struct RegisterUnary {
  RegisterUnary() {
    for (const UnaryInfo& info : kInfos) Kernel(info.name, &unary, &info);
  }
} register_unary;

// x^2 with the dtype of pow(x, 2): bool becomes int64.
Tensor square(const Tensor& input, const Out& out) {
  static constexpr Tiles tiles("square");
  const DType dtype = input.dtype() == DType::Bool ? DType::Int64 : input.dtype();
  return elementwise("square", {&input}, tiles[dtype], dtype, nullptr, out);
}
const Kernel square_kernel("square", &square);

// params: {10^|decimals|, decimals < 0}
Tensor round(const Tensor& input, std::int64_t decimals, const Out& out) {
  static constexpr Tiles tiles("round_decimals"), plain("round"), copies("copy");
  const DType dtype = input.dtype();
  check_dtype("round", dtype, kFloats | (decimals == 0 ? kInts : 0));
  if (decimals == 0) {
    const bool whole = (bit(dtype) & kInts) != 0;
    return elementwise("round", {&input}, whole ? copies[dtype] : plain[dtype], dtype, nullptr, out);
  }
  const double params[2] = {std::pow(10.0, std::fabs(static_cast<double>(decimals))), decimals < 0 ? 1.0 : 0.0};
  return elementwise("round", {&input}, tiles[input.dtype()], input.dtype(), params, out);
}
const Kernel round_kernel("round", &round);

// Phase of a complex number; 0 or pi for real ones.
Tensor angle(const Tensor& input, const Out& out) {
  static constexpr Tiles tiles("angle");
  const DType compute = to_float_type(input.dtype());
  return elementwise("angle", {&input}, tiles[compute], to_real(compute), nullptr, out);
}
const Kernel angle_kernel("angle", &angle);

// Infinities become the extremes of the *input's* dtype unless given.
Tensor nan_to_num(const Tensor& input, std::optional<double> nan, std::optional<double> posinf,
                  std::optional<double> neginf, const Out& out) {
  static constexpr Tiles tiles("nan_to_num"), copy_tiles("copy");
  const DType dtype = input.dtype(), real = to_real(dtype);
  if ((bit(dtype) & (kBool | kInts)) != 0) {
    return elementwise("nan_to_num", {&input}, copy_tiles[dtype], dtype, nullptr, out);
  }
  const double highest = real == DType::Float64    ? 1.7976931348623157e308
                         : real == DType::Float32  ? 3.4028234663852886e38
                         : real == DType::BFloat16 ? 3.3895313892515355e38
                                                   : 65504.0;
  const double params[3] = {nan.value_or(0.0), posinf.value_or(highest), neginf.value_or(-highest)};
  return elementwise("nan_to_num", {&input}, tiles[dtype], dtype, params, out);
}
const Kernel nan_to_num_kernel("nan_to_num", &nan_to_num);

// log(x / (1 - x)), x first clamped to [eps, 1 - eps] if eps is given.
Tensor logit(const Tensor& input, std::optional<double> eps, const Out& out) {
  static constexpr Tiles tiles("logit");
  check_dtype("logit", input.dtype(), kReal);
  const DType dtype = to_float_type(input.dtype());
  const double params[1] = {eps.value_or(-1.0)};
  return elementwise("logit", {&input}, tiles[dtype], dtype, params, out);
}
const Kernel logit_kernel("logit", &logit);

Tensor polygamma(std::int64_t n, const Tensor& input, const Out& out) {
  static constexpr Tiles tiles("polygamma");
  check(n >= 0, "polygamma(n, x) does not support negative n.");
  check_dtype("polygamma", input.dtype(), kReal);
  const DType dtype = to_float_type(input.dtype());
  return elementwise("polygamma", {&input}, tiles[dtype], dtype, &n, out);
}
const Kernel polygamma_kernel("polygamma", &polygamma);

// x = mantissa * 2^exponent, 0.5 <= |mantissa| < 1
std::tuple<Tensor, Tensor> frexp(const Tensor& input) {
  static constexpr Tiles mantissa_tiles("frexp_mantissa"), exponent_tiles("frexp_exponent");
  check((bit(input.dtype()) & kFloats) != 0, "torch.frexp() only supports floating-point dtypes");
  return {elementwise("frexp", {&input}, mantissa_tiles[input.dtype()], input.dtype(), nullptr, Out{}),
          elementwise("frexp", {&input}, exponent_tiles[input.dtype()], DType::Int32, nullptr, Out{})};
}
const Kernel frexp_kernel("frexp", &frexp);

}  // namespace
}  // namespace flambeau
