// Powers. Exponents that are one number get the cheap kernel where there is one, as PyTorch does it.
#include "core/copy.h"
#include "kernels/pointwise.h"

namespace flambeau {
namespace {

// A kernel for x ** exponent with a fixed exponent, or null.
const TileKernel* fixed_power(const Scalar& exponent, DType dtype) {
  static constexpr Tiles copy("copy"), square("square"), cube("cube"), root("sqrt"), inverse("reciprocal"),
      inverse_root("rsqrt");
  if (exponent.is_complex()) return nullptr;
  const double value = exponent.to_double();
  if (value == 1) return &copy[dtype];
  if (dtype != DType::Bool) {
    if (value == 2) return &square[dtype];
    if (value == 3) return &cube[dtype];
  }
  if (!is_floating(dtype)) return nullptr;
  if (value == 0.5) return &root[dtype];
  if (value == -1) return &inverse[dtype];
  if (value == -0.5) return &inverse_root[dtype];
  return nullptr;
}

Tensor power(const char* op, const Tensor& base, const Tensor& exponent, const Out& out) {
  static constexpr Tiles tiles("pow");
  const DType dtype = base.dtype() == exponent.dtype() ? base.dtype() : result_type(base, exponent);
  check_dtype("pow", dtype, kInts | kFloats | kComplexes);
  if (exponent.dim() == 0 && !exponent.is_meta()) {
    const Scalar value = item(exponent);
    const bool whole = (bit(dtype) & kInts) != 0;
    check(!(whole && exponent.impl()->wrapped_number && value.to_double() < 0),
          "pow: Integers to negative integer powers are not allowed.", " Convert the base, e.g. input.float().");
    if (const TileKernel* kernel = fixed_power(value, dtype); kernel != nullptr && kernel->fn != nullptr) {
      return elementwise(op, {&base}, *kernel, dtype, nullptr, out);
    }
  }
  return elementwise(op, {&base, &exponent}, tiles[dtype], dtype, nullptr, out);
}

Tensor pow(const Tensor& input, const Tensor& exponent, const Out& out) { return power("pow", input, exponent, out); }
const Kernel pow_kernel("pow", &pow);
// other ** input
Tensor rpow(const Tensor& input, const Tensor& other, const Out& out) { return power("rpow", other, input, out); }
const Kernel rpow_kernel("rpow", &rpow);
Tensor pow_scalar(const Scalar& input, const Tensor& exponent, const Out& out) {
  const Tensor base = wrapped_number(input);
  return power("pow", base, exponent, out);
}
const Kernel pow_scalar_kernel("pow_scalar", &pow_scalar);

// In complex128 if either is complex, else float64.
Tensor float_power(const Tensor& input, const Tensor& exponent, const Out& out) {
  static constexpr Tiles tiles("pow");
  const bool complex = is_complex(input.dtype()) || is_complex(exponent.dtype());
  const DType dtype = complex ? DType::Complex128 : DType::Float64;
  if (out.given()) {
    check(out[0].dtype() == dtype,
          out.inplace ? "the base given to float_power_ has dtype " : "the output given to float_power has dtype ",
          torch_name_of(out[0].dtype()), " but the operation's result requires dtype ", torch_name_of(dtype));
  }
  return elementwise("float_power", {&input, &exponent}, tiles[dtype], dtype, nullptr, out);
}
const Kernel float_power_kernel("float_power", &float_power);
Tensor float_power_scalar(const Scalar& input, const Tensor& exponent, const Out& out) {
  return float_power(wrapped_number(input), exponent, out);
}
const Kernel float_power_scalar_kernel("float_power_scalar", &float_power_scalar);

}  // namespace
}  // namespace flambeau
