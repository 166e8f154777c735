// Sums, products, quotients and extrema of two operands.
#include "kernels/tile/functors.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

struct Add {
  template <class T>
  static T call(T a, T b) {
    return add(a, b);
  }
  static bool call(bool a, bool b) { return a | b; }
};
struct Sub {
  template <class T>
  static T call(T a, T b) {
    return sub(a, b);
  }
};
struct Mul {
  template <class T>
  static T call(T a, T b) {
    return mul(a, b);
  }
  static bool call(bool a, bool b) { return a & b; }
};
// a conj(b): what the gradient of a product needs.
struct MulConj {
  template <class T>
  static T call(T a, T b) {
    return mul(a, b);
  }
  static bool call(bool a, bool b) { return a & b; }
  template <class T>
  static Complex<T> call(Complex<T> a, Complex<T> b) {
    return a * Complex<T>(b.re, -b.im);
  }
};
struct Div {
  template <class T>
  static T call(T a, T b) {
    return a / b;
  }
};
// params: the factor, in the tile's dtype
template <class T>
struct AddScaled {
  T alpha;
  explicit AddScaled(const void* params) : alpha(*static_cast<const T*>(params)) {}
  T operator()(T a, T b) const { return add(a, mul(alpha, b)); }
};
// NaN wins in maximum and minimum, loses in fmax and fmin.
struct Maximum {
  template <class T>
  static T call(T a, T b) {
    return (a > b) | (a != a) ? a : b;
  }
};
struct Minimum {
  template <class T>
  static T call(T a, T b) {
    return (a < b) | (a != a) ? a : b;
  }
};
struct Fmax {
  template <class T>
  static T call(T a, T b) {
    return (a > b) | (b != b) ? a : b;
  }
};
struct Fmin {
  template <class T>
  static T call(T a, T b) {
    return (a < b) | (b != b) ? a : b;
  }
};

// C: quotient rounded towards zero; remainder with the sign of the dividend. Integers are in special_math.cpp.
struct TruncDiv {
  template <class T>
  static T call(T a, T b) {
    return trunc1(a / b);
  }
};

const Register2<Add, bool, u8, i8, i16, i32, i64, float, double, c64, c128> add_entry("add");
const Register2<Sub, u8, i8, i16, i32, i64, float, double, c64, c128> sub_entry("sub");
const Register2<Mul, bool, u8, i8, i16, i32, i64, float, double, c64, c128> mul_entry("mul");
const Register2<MulConj, bool, u8, i32, i64, float, double, c64, c128> mul_conj_entry("mul_conj");
const Register2<Div, float, double, c64, c128> div_entry("div");
const Register2p<AddScaled, i64, float, double, c64, c128> add_scaled_entry("add_scaled");
const Register2<Maximum, bool, u8, i8, i16, i32, i64, float, double> maximum_entry("maximum");
const Register2<Minimum, bool, u8, i8, i16, i32, i64, float, double> minimum_entry("minimum");
const Register2<Fmax, float, double> fmax_entry("fmax");
const Register2<Fmin, float, double> fmin_entry("fmin");
const Register2<TruncDiv, float, double> trunc_div_entry("div_trunc");

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
