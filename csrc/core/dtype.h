// Element types: the dtypes, their C++ counterparts, and dispatch from a runtime dtype to a static one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace flambeau {

enum class DType : std::uint8_t {
  Bool,
  UInt8,
  Int8,
  Int16,
  Int32,
  Int64,
  Float16,
  BFloat16,
  Float32,
  Float64,
  Complex64,
  Complex128,
  // Elements that only extended tensors have: no kernel ever sees these.
  Complex32,
  QInt8,
  QUInt8,
  QInt32,
  QUInt4x2,
  QUInt2x4,
  // Names that programs compare with or look up in tables of file formats. No tensor has them.
  UInt16,
  UInt32,
  UInt64,
  Float8E4M3FN,
  Float8E4M3FNUZ,
  Float8E5M2,
  Float8E5M2FNUZ,
  Float8E8M0FNU,
};
inline constexpr int kNumDTypes = 12;      // those with kernels; tables by dtype have this size
inline constexpr int kNumDTypeNames = 26;  // all
constexpr bool has_kernels(DType dtype) { return static_cast<int>(dtype) < kNumDTypes; }

// Plain pair with C layout. std::complex is avoided: kernels compiled per CPU level use no STL templates,
// or the linker might keep the copy built for the highest level. Always inline for the same reason.
template <class T>
struct Complex {
  T re, im;
  Complex() = default;
  constexpr Complex(T real, T imag = T(0)) : re(real), im(imag) {}
  template <class U>
  constexpr explicit Complex(const Complex<U>& z) : re(static_cast<T>(z.re)), im(static_cast<T>(z.im)) {}
  [[gnu::always_inline]] friend constexpr Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  [[gnu::always_inline]] friend constexpr Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  [[gnu::always_inline]] friend constexpr Complex operator-(Complex a) { return {-a.re, -a.im}; }
  [[gnu::always_inline]] friend constexpr Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  [[gnu::always_inline]] friend constexpr Complex operator/(Complex a, Complex b) {
    // Smith's method: no overflow in the squared modulus.
    const T abs_re = b.re < 0 ? -b.re : b.re, abs_im = b.im < 0 ? -b.im : b.im;
    if (abs_re >= abs_im) {
      if (abs_re == T(0) && abs_im == T(0)) return {a.re / abs_re, a.im / abs_im};
      const T ratio = b.im / b.re, scale = T(1) / (b.re + b.im * ratio);
      return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
    }
    const T ratio = b.re / b.im, scale = T(1) / (b.im + b.re * ratio);
    return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
  }
  [[gnu::always_inline]] Complex& operator+=(Complex b) { return *this = *this + b; }
  [[gnu::always_inline]] Complex& operator-=(Complex b) { return *this = *this - b; }
  [[gnu::always_inline]] Complex& operator*=(Complex b) { return *this = *this * b; }
  [[gnu::always_inline]] friend constexpr bool operator==(Complex a, Complex b) { return a.re == b.re && a.im == b.im; }
  [[gnu::always_inline]] friend constexpr bool operator!=(Complex a, Complex b) { return !(a == b); }
};
using c64 = Complex<float>;
using c128 = Complex<double>;

template <class T>
constexpr Complex<T> conj(Complex<T> z) {
  return {z.re, -z.im};
}

// IEEE binary16, stored only; arithmetic is done in float.
struct Half {
  std::uint16_t bits;
  Half() = default;
  [[gnu::always_inline]] explicit Half(float value);
  [[gnu::always_inline]] explicit operator float() const;
};

// Upper half of a binary32, round to nearest even.
struct BFloat16 {
  std::uint16_t bits;
  BFloat16() = default;
  [[gnu::always_inline]] explicit BFloat16(float value) {
    std::uint32_t word;
    std::memcpy(&word, &value, 4);
    if ((word & 0x7fffffffU) > 0x7f800000U) {
      bits = static_cast<std::uint16_t>((word >> 16) | 0x40U);
    } else {
      bits = static_cast<std::uint16_t>((word + 0x7fffU + ((word >> 16) & 1U)) >> 16);
    }
  }
  [[gnu::always_inline]] explicit operator float() const {
    const std::uint32_t word = std::uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &word, 4);
    return value;
  }
};

inline Half::Half(float value) {
  std::uint32_t word;
  std::memcpy(&word, &value, 4);
  const std::uint32_t sign = (word >> 16) & 0x8000U;
  word &= 0x7fffffffU;
  if (word > 0x7f800000U) {
    bits = static_cast<std::uint16_t>(sign | 0x7e00U);
  } else if (word >= 0x477ff000U) {
    bits = static_cast<std::uint16_t>(sign | 0x7c00U);
  } else if (word < 0x38800000U) {
    // Subnormal half: let float addition do the rounding.
    float magnitude;
    std::memcpy(&magnitude, &word, 4);
    magnitude += 0.5F;
    std::memcpy(&word, &magnitude, 4);
    bits = static_cast<std::uint16_t>(sign | (word - 0x3f000000U));
  } else {
    word += 0xc8000fffU + ((word >> 13) & 1U);
    bits = static_cast<std::uint16_t>(sign | (word >> 13));
  }
}

inline Half::operator float() const {
  const std::uint32_t sign = std::uint32_t(bits & 0x8000U) << 16;
  std::uint32_t exponent = (bits >> 10) & 0x1fU, mantissa = bits & 0x3ffU, word;
  if (exponent == 0x1fU) {
    word = sign | 0x7f800000U | (mantissa << 13);
  } else if (exponent != 0) {
    word = sign | ((exponent + 112U) << 23) | (mantissa << 13);
  } else {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
    std::memcpy(&word, &magnitude, 4);
    word |= sign;
  }
  float value;
  std::memcpy(&value, &word, 4);
  return value;
}

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::Bool;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::UInt8;
};
template <>
struct DTypeOf<std::int8_t> {
  static constexpr DType value = DType::Int8;
};
template <>
struct DTypeOf<std::int16_t> {
  static constexpr DType value = DType::Int16;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::Int32;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::Int64;
};
template <>
struct DTypeOf<Half> {
  static constexpr DType value = DType::Float16;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::BFloat16;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::Float32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::Float64;
};
template <>
struct DTypeOf<c64> {
  static constexpr DType value = DType::Complex64;
};
template <>
struct DTypeOf<c128> {
  static constexpr DType value = DType::Complex128;
};
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

constexpr std::int64_t itemsize(DType dtype) {
  constexpr std::int8_t sizes[kNumDTypeNames] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16, 4,
                                                 1, 1, 4, 1, 1, 2, 4, 8, 1, 1, 1, 1,  1};
  return sizes[static_cast<int>(dtype)];
}
constexpr bool is_complex(DType dtype) { return dtype >= DType::Complex64 && dtype <= DType::Complex32; }
constexpr bool is_floating(DType dtype) {
  return (dtype >= DType::Float16 && dtype <= DType::Float64) || dtype >= DType::Float8E4M3FN;
}
constexpr bool is_integral(DType dtype, bool include_bool) {
  return dtype <= DType::Int64 && (include_bool || dtype != DType::Bool);
}
constexpr bool is_reduced_float(DType dtype) { return dtype == DType::Float16 || dtype == DType::BFloat16; }
constexpr bool is_differentiable(DType dtype) { return dtype >= DType::Float16 && dtype <= DType::Complex32; }
// complex -> the real dtype of its parts; others unchanged. Float16 has no complex partner here (complex64).
constexpr DType to_real(DType dtype) {
  switch (dtype) {
    case DType::Complex32: return DType::Float16;
    case DType::Complex64: return DType::Float32;
    case DType::Complex128: return DType::Float64;
    default: return dtype;
  }
}
constexpr DType to_complex(DType dtype) {
  return is_complex(dtype) ? dtype : dtype == DType::Float64 ? DType::Complex128 : DType::Complex64;
}
// The dtype that arithmetic on `dtype` is done in: float16 and bfloat16 compute in float32.
constexpr DType compute_dtype(DType dtype) { return is_reduced_float(dtype) ? DType::Float32 : dtype; }

// "float32"
constexpr const char* name_of(DType dtype) {
  constexpr const char* names[kNumDTypeNames] = {
      "bool",          "uint8",           "int8",        "int16",           "int32",         "int64",     "float16",
      "bfloat16",      "float32",         "float64",     "complex64",       "complex128",    "complex32", "qint8",
      "quint8",        "qint32",          "quint4x2",    "quint2x4",        "uint16",        "uint32",    "uint64",
      "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"};
  return names[static_cast<int>(dtype)];
}
// PyTorch's spelling in messages: "Float", "Double", "ComplexFloat", "Long" ...
constexpr const char* torch_name_of(DType dtype) {
  constexpr const char* names[kNumDTypeNames] = {"Bool",
                                                 "Byte",
                                                 "Char",
                                                 "Short",
                                                 "Int",
                                                 "Long",
                                                 "Half",
                                                 "BFloat16",
                                                 "Float",
                                                 "Double",
                                                 "ComplexFloat",
                                                 "ComplexDouble",
                                                 "ComplexHalf",
                                                 "QInt8",
                                                 "QUInt8",
                                                 "QInt32",
                                                 "QUInt4x2",
                                                 "QUInt2x4",
                                                 "UInt16",
                                                 "UInt32",
                                                 "UInt64",
                                                 "Float8_e4m3fn",
                                                 "Float8_e4m3fnuz",
                                                 "Float8_e5m2",
                                                 "Float8_e5m2fnuz",
                                                 "Float8_e8m0fnu"};
  return names[static_cast<int>(dtype)];
}

template <class T>
struct TypeTag {
  using type = T;
};

// Call fn(TypeTag<T>{}) for the C++ type of dtype. Use as:
//   dispatch_all(dtype, [&](auto tag) { using T = typename decltype(tag)::type; ... });
template <class F>
decltype(auto) dispatch_all(DType dtype, F&& fn) {
  switch (dtype) {
    case DType::Bool: return fn(TypeTag<bool>{});
    case DType::UInt8: return fn(TypeTag<std::uint8_t>{});
    case DType::Int8: return fn(TypeTag<std::int8_t>{});
    case DType::Int16: return fn(TypeTag<std::int16_t>{});
    case DType::Int32: return fn(TypeTag<std::int32_t>{});
    case DType::Int64: return fn(TypeTag<std::int64_t>{});
    case DType::Float16: return fn(TypeTag<Half>{});
    case DType::BFloat16: return fn(TypeTag<BFloat16>{});
    case DType::Float32: return fn(TypeTag<float>{});
    case DType::Float64: return fn(TypeTag<double>{});
    case DType::Complex64: return fn(TypeTag<c64>{});
    default: return fn(TypeTag<c128>{});
  }
}

[[noreturn]] void throw_bad_dtype(const char* op, DType dtype);  // NotImplementedError, PyTorch's wording

template <class F>
decltype(auto) dispatch_floating(const char* op, DType dtype, F&& fn) {  // float32, float64
  switch (dtype) {
    case DType::Float32: return fn(TypeTag<float>{});
    case DType::Float64: return fn(TypeTag<double>{});
    default: throw_bad_dtype(op, dtype);
  }
}
template <class F>
decltype(auto) dispatch_floating_and_complex(const char* op, DType dtype, F&& fn) {
  switch (dtype) {
    case DType::Float32: return fn(TypeTag<float>{});
    case DType::Float64: return fn(TypeTag<double>{});
    case DType::Complex64: return fn(TypeTag<c64>{});
    case DType::Complex128: return fn(TypeTag<c128>{});
    default: throw_bad_dtype(op, dtype);
  }
}
template <class F>
decltype(auto) dispatch_integral(const char* op, DType dtype, F&& fn) {  // without bool
  switch (dtype) {
    case DType::UInt8: return fn(TypeTag<std::uint8_t>{});
    case DType::Int8: return fn(TypeTag<std::int8_t>{});
    case DType::Int16: return fn(TypeTag<std::int16_t>{});
    case DType::Int32: return fn(TypeTag<std::int32_t>{});
    case DType::Int64: return fn(TypeTag<std::int64_t>{});
    default: throw_bad_dtype(op, dtype);
  }
}
// By element size only, for kernels that move values without looking at them (1, 2, 4, 8, 16 bytes).
struct Bytes16 {
  std::uint64_t lo, hi;
};
template <class F>
decltype(auto) dispatch_size(DType dtype, F&& fn) {
  switch (itemsize(dtype)) {
    case 1: return fn(TypeTag<std::uint8_t>{});
    case 2: return fn(TypeTag<std::uint16_t>{});
    case 4: return fn(TypeTag<std::uint32_t>{});
    case 8: return fn(TypeTag<std::uint64_t>{});
    default: return fn(TypeTag<Bytes16>{});
  }
}

// Value conversion between any two element types, as PyTorch does it: complex -> real drops the imaginary part,
// anything -> bool is "!= 0", float -> integer truncates (through int64 for narrow types, so it never traps).
template <class To, class From>
[[gnu::always_inline]] constexpr To convert(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<From, c64> || std::is_same_v<From, c128>) {
    if constexpr (std::is_same_v<To, c64> || std::is_same_v<To, c128>) {
      return To(value);
    } else if constexpr (std::is_same_v<To, bool>) {
      return value.re != 0 || value.im != 0;
    } else {
      return convert<To>(value.re);
    }
  } else if constexpr (std::is_same_v<To, c64>) {
    return c64(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, c128>) {
    return c128(static_cast<double>(value));
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // Through int32 (int64 for int64), out of range is its lowest value: what the hardware's conversions give, without
    // undefined behaviour.
    using Wide = std::conditional_t<sizeof(To) == 8, std::int64_t, std::int32_t>;
    constexpr double limit = sizeof(To) == 8 ? 9223372036854775808.0 : 2147483648.0;
    const double wide = static_cast<double>(value);
    const bool fits = sizeof(To) == 8 ? wide >= -limit && wide < limit : wide > -limit - 1 && wide < limit;
    return static_cast<To>(fits ? static_cast<Wide>(wide)
                                : static_cast<Wide>(std::int64_t(sizeof(To) == 8 ? INT64_MIN : INT32_MIN)));
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace flambeau
