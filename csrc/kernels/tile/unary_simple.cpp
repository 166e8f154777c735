// Sign, rounding, squares and roots: one or two instructions per element.
#include "kernels/tile/functors.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

struct Neg {
  template <class T>
  static T call(T x) {
    return sub(T(0), x);
  }
  static float call(float x) { return -x; }
  static double call(double x) { return -x; }
  static c64 call(c64 x) { return -x; }
  static c128 call(c128 x) { return -x; }
};
struct Abs {
  template <class T>
  static T call(T x) {
    return x < 0 ? sub(T(0), x) : x;
  }
  static u8 call(u8 x) { return x; }
  static float call(float x) { return abs1(x); }
  static double call(double x) { return abs1(x); }
};
struct Square {
  template <class T>
  static T call(T x) {
    return mul(x, x);
  }
};
struct Cube {
  template <class T>
  static T call(T x) {
    return mul(mul(x, x), x);
  }
};
struct Reciprocal {
  template <class T>
  static T call(T x) {
    return T(1) / x;
  }
};
struct Sqrt {
  template <class T>
  static T call(T x) {
    return sqrt1(x);
  }
};
struct Rsqrt {
  template <class T>
  static T call(T x) {
    return T(1) / sqrt1(x);
  }
};
struct Sign {
  template <class T>
  static T call(T x) {
    return static_cast<T>((x > T(0)) - (x < T(0)));
  }
};
struct Floor {
  template <class T>
  static T call(T x) {
    return floor1(x);
  }
};
struct Ceil {
  template <class T>
  static T call(T x) {
    return ceil1(x);
  }
};
struct Trunc {
  template <class T>
  static T call(T x) {
    return trunc1(x);
  }
};
struct Round {
  template <class T>
  static T call(T x) {
    return rint1(x);
  }
};
struct Frac {
  template <class T>
  static T call(T x) {
    return x - trunc1(x);
  }
};
struct Copy {
  template <class T>
  static T call(T x) {
    return x;
  }
};
struct Conj {
  template <class T>
  static Complex<T> call(Complex<T> z) {
    return {z.re, -z.im};
  }
};

const Register1<Neg, u8, i8, i16, i32, i64, float, double, c64, c128> neg_entry("neg");
const Register1<Abs, u8, i8, i16, i32, i64, float, double> abs_entry("abs");
const Register1<Square, i32, i64, float, double, c64, c128> square_entry("square");
const Register1<Cube, i32, i64, float, double, c64, c128> cube_entry("cube");
const Register1<Reciprocal, float, double, c64, c128> reciprocal_entry("reciprocal");
const Register1<Sqrt, float, double> sqrt_entry("sqrt");
const Register1<Rsqrt, float, double> rsqrt_entry("rsqrt");
const Register1<Sign, i64, float, double> sign_entry("sign");
const Register1<Floor, float, double> floor_entry("floor");
const Register1<Ceil, float, double> ceil_entry("ceil");
const Register1<Trunc, float, double> trunc_entry("trunc");
const Register1<Round, float, double> round_entry("round");
const Register1<Frac, float, double> frac_entry("frac");
const Register1<Copy, bool, u8, i8, i16, i32, i64, float, double, c64, c128> copy_entry("copy");
const Register1<Conj, c64, c128> conj_entry("conj");

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
