// A Python number: bool, int, float or complex, with conversions to element types.
#pragma once

#include <cstdint>
#include <ostream>

#include "core/dtype.h"

namespace flambeau {

class Scalar {
 public:
  enum class Kind : std::uint8_t { Bool, Int, Float, Complex };
  Scalar() : Scalar(std::int64_t{0}) {}
  Scalar(bool value) : kind_(Kind::Bool), int_(value ? 1 : 0) {}
  Scalar(int value) : Scalar(static_cast<std::int64_t>(value)) {}
  Scalar(std::int64_t value) : kind_(Kind::Int), int_(value) {}
  Scalar(double value) : kind_(Kind::Float), re_(value) {}
  Scalar(c128 value) : kind_(Kind::Complex), re_(value.re), im_(value.im) {}
  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is_integral(bool include_bool) const {
    return kind_ == Kind::Int || (include_bool && kind_ == Kind::Bool);
  }
  [[nodiscard]] bool is_bool() const { return kind_ == Kind::Bool; }
  [[nodiscard]] bool is_floating() const { return kind_ == Kind::Float; }
  [[nodiscard]] bool is_complex() const { return kind_ == Kind::Complex; }
  [[nodiscard]] double to_double() const { return kind_ <= Kind::Int ? static_cast<double>(int_) : re_; }
  [[nodiscard]] std::int64_t to_int() const { return kind_ <= Kind::Int ? int_ : convert<std::int64_t>(re_); }
  [[nodiscard]] bool to_bool() const { return kind_ <= Kind::Int ? int_ != 0 : re_ != 0 || imag() != 0; }
  [[nodiscard]] c128 to_complex() const { return {to_double(), imag()}; }
  [[nodiscard]] double imag() const { return kind_ == Kind::Complex ? im_ : 0.0; }
  template <class T>
  [[nodiscard]] T to() const {
    if (kind_ == Kind::Complex) return convert<T>(c128{re_, im_});
    if (kind_ == Kind::Float) return convert<T>(re_);
    return convert<T>(int_);
  }
  [[nodiscard]] bool equals(double value) const { return imag() == 0 && to_double() == value; }
  // The dtype a tensor made of this number has: bool, int64, float32 (the usual default), complex64.
  [[nodiscard]] DType natural_dtype(DType default_float = DType::Float32) const {
    switch (kind_) {
      case Kind::Bool: return DType::Bool;
      case Kind::Int: return DType::Int64;
      case Kind::Float: return default_float;
      default: return flambeau::to_complex(default_float);
    }
  }

 private:
  Kind kind_;
  union {
    std::int64_t int_;
    double re_;
  };
  double im_ = 0;
};

inline std::ostream& operator<<(std::ostream& stream, const Scalar& scalar) {
  switch (scalar.kind()) {
    case Scalar::Kind::Bool: return stream << (scalar.to_bool() ? "True" : "False");
    case Scalar::Kind::Int: return stream << scalar.to_int();
    case Scalar::Kind::Float: return stream << scalar.to_double();
    default: return stream << scalar.to_double() << (scalar.imag() < 0 ? "" : "+") << scalar.imag() << 'j';
  }
}

}  // namespace flambeau
