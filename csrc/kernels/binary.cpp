// Elementwise functions of two tensors. One row per op, then the ones with rules of their own.
#include "kernels/pointwise.h"

#include "core/op.h"
#include "core/copy.h"

namespace flambeau {
namespace {

using B = BinaryInfo;
constexpr DTypeSet kIntegral = kBool | kInts;

constexpr BinaryInfo kInfos[] = {
    {"mul", B::Same, kAny, Tiles("mul")},
    {"mul_conj", B::Same, kAny, Tiles("mul_conj")},
    {"maximum", B::Same, kReal, Tiles("maximum"), "maximum not implemented for complex tensors."},
    {"minimum", B::Same, kReal, Tiles("minimum"), "minimum not implemented for complex tensors."},
    {"atan2", B::Float, kReal, Tiles("atan2")},
    {"hypot", B::Same, kFloats, Tiles("hypot")},
    {"copysign", B::Float, kReal, Tiles("copysign")},
    {"nextafter", B::Same, kFloats, Tiles("nextafter")},
    {"logaddexp", B::Float, kFloats | kComplexes, Tiles("logaddexp")},
    {"logaddexp2", B::Float, kFloats, Tiles("logaddexp2")},
    {"xlogy", B::Float, kReal, Tiles("xlogy"), nullptr, "xlogy_number"},
    {"special_xlog1py", B::Float, kReal, Tiles("xlog1py"), nullptr, "special_xlog1py_number"},
    {"special_zeta", B::Float, kReal, Tiles("zeta"), nullptr, "special_zeta_number"},
    {"special_iv", B::Float, kReal, Tiles("iv"), nullptr, "special_iv_number"},
    {"special_ive", B::Float, kReal, Tiles("ive"), nullptr, "special_ive_number"},
    {"igamma", B::Same, kFloats, Tiles("igamma")},
    {"igammac", B::Same, kFloats, Tiles("igammac")},
    {"gcd", B::Same, kInts, Tiles("gcd")},
    {"lcm", B::Same, kInts, Tiles("lcm")},
    {"bitwise_and", B::Same, kIntegral, Tiles("bitwise_and"), nullptr, "bitwise_and_number"},
    {"bitwise_or", B::Same, kIntegral, Tiles("bitwise_or"), nullptr, "bitwise_or_number"},
    {"bitwise_xor", B::Same, kIntegral, Tiles("bitwise_xor"), nullptr, "bitwise_xor_number"},
    {"bitwise_left_shift", B::Same, kInts, Tiles("bitwise_left_shift"), nullptr, "bitwise_left_shift_number"},
    {"bitwise_right_shift", B::Same, kInts, Tiles("bitwise_right_shift"), nullptr, "bitwise_right_shift_number"},
    {"eq", B::ToBool, kAny, Tiles("eq")},
    {"ne", B::ToBool, kAny, Tiles("ne")},
    {"lt", B::ToBool, kReal, Tiles("lt")},
    {"le", B::ToBool, kReal, Tiles("le")},
    {"gt", B::ToBool, kReal, Tiles("gt")},
    {"ge", B::ToBool, kReal, Tiles("ge")},
    {"logical_and", B::ToBool, kAny, Tiles("logical_and")},
    {"logical_or", B::ToBool, kAny, Tiles("logical_or")},
    {"logical_xor", B::ToBool, kAny, Tiles("logical_xor")},
    {"special_chebyshev_polynomial_t", B::Float, kReal, Tiles("chebyshev_t"), nullptr,
     "special_chebyshev_polynomial_t_number"},
    {"special_chebyshev_polynomial_u", B::Float, kReal, Tiles("chebyshev_u"), nullptr,
     "special_chebyshev_polynomial_u_number"},
    {"special_chebyshev_polynomial_v", B::Float, kReal, Tiles("chebyshev_v"), nullptr,
     "special_chebyshev_polynomial_v_number"},
    {"special_chebyshev_polynomial_w", B::Float, kReal, Tiles("chebyshev_w"), nullptr,
     "special_chebyshev_polynomial_w_number"},
    {"special_shifted_chebyshev_polynomial_t", B::Float, kReal, Tiles("shifted_chebyshev_t"), nullptr,
     "special_shifted_chebyshev_polynomial_t_number"},
    {"special_shifted_chebyshev_polynomial_u", B::Float, kReal, Tiles("shifted_chebyshev_u"), nullptr,
     "special_shifted_chebyshev_polynomial_u_number"},
    {"special_shifted_chebyshev_polynomial_v", B::Float, kReal, Tiles("shifted_chebyshev_v"), nullptr,
     "special_shifted_chebyshev_polynomial_v_number"},
    {"special_shifted_chebyshev_polynomial_w", B::Float, kReal, Tiles("shifted_chebyshev_w"), nullptr,
     "special_shifted_chebyshev_polynomial_w_number"},
    {"special_hermite_polynomial_h", B::Float, kReal, Tiles("hermite_h"), nullptr,
     "special_hermite_polynomial_h_number"},
    {"special_hermite_polynomial_he", B::Float, kReal, Tiles("hermite_he"), nullptr,
     "special_hermite_polynomial_he_number"},
    {"special_laguerre_polynomial_l", B::Float, kReal, Tiles("laguerre_l"), nullptr,
     "special_laguerre_polynomial_l_number"},
    {"special_legendre_polynomial_p", B::Float, kReal, Tiles("legendre_p"), nullptr,
     "special_legendre_polynomial_p_number"},
};

const struct RegisterBinary {
  RegisterBinary() {
    for (const BinaryInfo& info : kInfos) {
      Kernel(info.name, &binary, &info);
      if (info.number_first != nullptr) Kernel(info.number_first, &binary_number_first, &info);
    }
  }
} register_binary;

// PyTorch's rules for the factor of add and sub.
void check_alpha(const char* op, const Scalar& alpha, DType dtype) {
  check(!alpha.is_bool() || dtype == DType::Bool, "Boolean alpha only supported for Boolean results.");
  check(is_floating(dtype) || is_complex(dtype) || alpha.is_integral(true),
        "For integral input tensors, argument alpha must not be a floating point number.");
  check(is_complex(dtype) || !alpha.is_complex(),
        "For non-complex input tensors, argument alpha must not be a complex number.");
  (void)op;
}

Tensor add_scaled(const char* op, const Tensor& input, const Tensor& other, const Scalar& alpha, DType dtype,
                  const Out& out) {
  static constexpr Tiles tiles("add_scaled");
  const TileKernel& kernel = tiles[dtype == DType::Bool ? DType::Int64 : dtype];
  const TileNumber factor(alpha, kernel.in);
  return elementwise(op, {&input, &other}, kernel, dtype, &factor, out);
}

DType joint_dtype(const Tensor& input, const Tensor& other) {
  return same_tensor_dtype(input, other) ? input.dtype() : result_type(input, other);
}

Tensor add(const Tensor& input, const Tensor& other, const Scalar& alpha, const Out& out) {
  static constexpr Tiles tiles("add");
  const DType dtype = joint_dtype(input, other);
  if (alpha.kind() == Scalar::Kind::Int && alpha.to_int() == 1) {
    return elementwise("add", {&input, &other}, tiles[dtype], dtype, nullptr, out);
  }
  check_alpha("add", alpha, dtype);
  return add_scaled("add", input, other, alpha, dtype, out);
}
const Kernel add_kernel("add", &add);

void check_sub_bool(const Tensor& input, const Tensor& other) {
  if (input.dtype() != DType::Bool && other.dtype() != DType::Bool) return;
  check(
      !(input.dtype() == DType::Bool && other.dtype() == DType::Bool),
      "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
      "instead.");
  fail(
      ErrorKind::Runtime,
      "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the "
      "`~` or `logical_not()` operator instead.");
}

Scalar negated(const Scalar& value) {
  switch (value.kind()) {
    case Scalar::Kind::Float: return Scalar(-value.to_double());
    case Scalar::Kind::Complex: return Scalar(-value.to_complex());
    default: return Scalar(-value.to_int());
  }
}

Tensor sub(const Tensor& input, const Tensor& other, const Scalar& alpha, const Out& out) {
  static constexpr Tiles tiles("sub");
  check_sub_bool(input, other);
  const DType dtype = joint_dtype(input, other);
  if (alpha.kind() == Scalar::Kind::Int && alpha.to_int() == 1) {
    return elementwise("sub", {&input, &other}, tiles[dtype], dtype, nullptr, out);
  }
  check_alpha("sub", alpha, dtype);
  return add_scaled("sub", input, other, negated(alpha), dtype, out);
}
const Kernel sub_kernel("sub", &sub);

Tensor rsub(const Tensor& input, const Tensor& other, const Scalar& alpha, const Out& out) {
  return sub(other, input, alpha, out);
}
const Kernel rsub_kernel("rsub", &rsub);

// Fast-path twin of div with the operands exchanged: `2.0 / x`.
Tensor rdiv(const Tensor& input, const Tensor& other, const Out& out) {
  static constexpr Tiles tiles("div");
  const DType dtype = to_float_type(joint_dtype(input, other));
  return elementwise("div", {&other, &input}, tiles[dtype], dtype, nullptr, out);
}
const Kernel rdiv_kernel("rdiv", &rdiv);

// Integer tiles cannot raise: they set a flag.
Tensor divide(const char* op, const Tiles& tiles, const Tensor& input, const Tensor& other, DTypeSet accepts,
              const Out& out) {
  const DType dtype = joint_dtype(input, other);
  check_dtype(op, dtype, accepts);
  int divided_by_zero = 0;
  Tensor result = elementwise(op, {&input, &other}, tiles[dtype], dtype, &divided_by_zero, out);
  check(divided_by_zero == 0, "ZeroDivisionError");
  return result;
}

// Bool operands divide as uint8 would; PyTorch has no kernel for them.
constexpr DTypeSet kDividable = kInts | kFloats;
Tensor div(const Tensor& input, const Tensor& other, std::optional<std::string_view> rounding_mode, const Out& out) {
  static constexpr Tiles true_tiles("div"), floor_tiles("div_floor"), trunc_tiles("div_trunc");
  if (!rounding_mode) {
    const DType dtype = to_float_type(joint_dtype(input, other));
    return elementwise("div", {&input, &other}, true_tiles[dtype], dtype, nullptr, out);
  }
  if (*rounding_mode == "floor") return divide("div_floor", floor_tiles, input, other, kDividable, out);
  check(*rounding_mode == "trunc", ErrorKind::Runtime,
        "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '", *rounding_mode, "'");
  return divide("div_trunc", trunc_tiles, input, other, kDividable, out);
}
const Kernel div_kernel("div", &div);

Tensor floor_divide(const Tensor& input, const Tensor& other, const Out& out) {
  static constexpr Tiles tiles("div_floor");
  return divide("floor_divide", tiles, input, other, kDividable, out);
}
const Kernel floor_divide_kernel("floor_divide", &floor_divide);
Tensor rfloor_divide(const Tensor& input, const Tensor& other, const Out& out) {
  return floor_divide(other, input, out);
}
const Kernel rfloor_divide_kernel("rfloor_divide", &rfloor_divide);

Tensor remainder(const Tensor& input, const Tensor& other, const Out& out) {
  static constexpr Tiles tiles("remainder");
  return divide("remainder", tiles, input, other, kDividable, out);
}
const Kernel remainder_kernel("remainder", &remainder);
Tensor rremainder(const Tensor& input, const Tensor& other, const Out& out) { return remainder(other, input, out); }
Tensor remainder_number(const Scalar& input, const Tensor& other, const Out& out) {
  return remainder(wrapped_number(input), other, out);
}
const Kernel remainder_number_kernel("remainder_number", &remainder_number);
const Kernel rremainder_kernel("rremainder", &rremainder);

Tensor fmod(const Tensor& input, const Tensor& other, const Out& out) {
  static constexpr Tiles tiles("fmod");
  return divide("fmod", tiles, input, other, kDividable, out);
}
const Kernel fmod_kernel("fmod", &fmod);

// The shifts of a number by a tensor, for Python's reflected operators.
Tensor reflected_shift(const KernelDef& def, const Tensor& input, const Tensor& other, const Out& out) {
  return binary(def, other, input, out);
}
constexpr BinaryInfo kLeft{"bitwise_left_shift", B::Same, kInts, Tiles("bitwise_left_shift")};
constexpr BinaryInfo kRight{"bitwise_right_shift", B::Same, kInts, Tiles("bitwise_right_shift")};
const Kernel rlshift_kernel("rlshift", &reflected_shift, &kLeft);
const Kernel rrshift_kernel("rrshift", &reflected_shift, &kRight);

// fmax and fmin ignore NaN; on integers they are maximum and minimum.
Tensor fmax(const Tensor& input, const Tensor& other, const Out& out) {
  static constexpr Tiles floating("fmax"), whole("maximum");
  const DType dtype = joint_dtype(input, other);
  check_dtype("fmax", dtype, kReal, "fmax not implemented for complex tensors.");
  return elementwise("fmax", {&input, &other}, (is_floating(dtype) ? floating : whole)[dtype], dtype, nullptr, out);
}
const Kernel fmax_kernel("fmax", &fmax);
Tensor fmin(const Tensor& input, const Tensor& other, const Out& out) {
  static constexpr Tiles floating("fmin"), whole("minimum");
  const DType dtype = joint_dtype(input, other);
  check_dtype("fmin", dtype, kReal, "fmin not implemented for complex tensors.");
  return elementwise("fmin", {&input, &other}, (is_floating(dtype) ? floating : whole)[dtype], dtype, nullptr, out);
}
const Kernel fmin_kernel("fmin", &fmin);

Tensor heaviside(const Tensor& input, const Tensor& values, const Out& out) {
  static constexpr Tiles tiles("heaviside");
  check(!is_complex(input.dtype()) && !is_complex(values.dtype()),
        "heaviside is not yet implemented for complex tensors.");
  check(input.dtype() == values.dtype(), "heaviside is not yet implemented for tensors with different dtypes.",
        " Convert one, e.g. values.to(input.dtype).");
  return elementwise("heaviside", {&input, &values}, tiles[input.dtype()], input.dtype(), nullptr, out);
}
const Kernel heaviside_kernel("heaviside", &heaviside);

// complex(real, imag) and polar(abs, angle): both float32 or both float64.
Tensor make_complex(const char* op, const Tiles& tiles, const Tensor& a, const Tensor& b, const Out& out) {
  check(
      is_floating(a.dtype()) && is_floating(b.dtype()) && a.dtype() != DType::BFloat16 && b.dtype() != DType::BFloat16,
      "complex, polar: Expected both inputs to be Half, Float or Double tensors but got ", torch_name_of(a.dtype()),
      " and ", torch_name_of(b.dtype()));
  check(a.dtype() == b.dtype(), "complex, polar: Expected object of scalar type ", torch_name_of(a.dtype()),
        " but got scalar type ", torch_name_of(b.dtype()), " for second argument");
  check(!out.given() || out[0].dtype() == to_complex(a.dtype()), "complex, polar: Expected object of scalar type ",
        torch_name_of(to_complex(a.dtype())), " but got scalar type ", out.given() ? torch_name_of(out[0].dtype()) : "",
        " for argument 'out'");
  return elementwise(op, {&a, &b}, tiles[a.dtype()], to_complex(a.dtype()), nullptr, out);
}
Tensor complex(const Tensor& real, const Tensor& imag, const Out& out) {
  static constexpr Tiles tiles("complex");
  if (real.dtype() == DType::Float16 && imag.dtype() == DType::Float16) return call_extended("complex", {real, imag});
  return make_complex("complex", tiles, real, imag, out);
}
Tensor polar(const Tensor& abs, const Tensor& angle, const Out& out) {
  static constexpr Tiles tiles("polar");
  return make_complex("polar", tiles, abs, angle, out);
}
const Kernel complex_kernel("complex", &complex);
const Kernel polar_kernel("polar", &polar);

}  // namespace
}  // namespace flambeau
