// Comparisons, classification and logic: results are bool.
#include "kernels/tile/functors.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

struct Eq {
  template <class T>
  static bool call(T a, T b) {
    return a == b;
  }
};
struct Ne {
  template <class T>
  static bool call(T a, T b) {
    return a != b;
  }
};
struct Lt {
  template <class T>
  static bool call(T a, T b) {
    return a < b;
  }
};
struct Le {
  template <class T>
  static bool call(T a, T b) {
    return a <= b;
  }
};
struct Gt {
  template <class T>
  static bool call(T a, T b) {
    return a > b;
  }
};
struct Ge {
  template <class T>
  static bool call(T a, T b) {
    return a >= b;
  }
};

template <class T>
[[gnu::always_inline]] inline bool truth(T x) {
  return x != T(0);
}
struct And {
  template <class T>
  static bool call(T a, T b) {
    return truth(a) & truth(b);
  }
};
struct Or {
  template <class T>
  static bool call(T a, T b) {
    return truth(a) | truth(b);
  }
};
struct Xor {
  template <class T>
  static bool call(T a, T b) {
    return truth(a) != truth(b);
  }
};
struct Not {
  template <class T>
  static bool call(T a) {
    return !truth(a);
  }
};

template <class T>
[[gnu::always_inline]] inline bool nan1(T x) {
  return x != x;
}
template <class T>
[[gnu::always_inline]] inline bool inf1(T x) {
  return abs1(x) == T(__builtin_inf());
}
struct IsNan {
  template <class T>
  static bool call(T x) {
    return nan1(x);
  }
  template <class T>
  static bool call(Complex<T> z) {
    return nan1(z.re) | nan1(z.im);
  }
};
struct IsInf {
  template <class T>
  static bool call(T x) {
    return inf1(x);
  }
  template <class T>
  static bool call(Complex<T> z) {
    return inf1(z.re) | inf1(z.im);
  }
};
struct IsFinite {
  template <class T>
  static bool call(T x) {
    return abs1(x) < T(__builtin_inf());
  }
  template <class T>
  static bool call(Complex<T> z) {
    return call(z.re) & call(z.im);
  }
};
struct IsPosInf {
  template <class T>
  static bool call(T x) {
    return x == T(__builtin_inf());
  }
};
struct IsNegInf {
  template <class T>
  static bool call(T x) {
    return x == -T(__builtin_inf());
  }
};
struct SignBit {
  static bool call(i64 x) { return x < 0; }
  static bool call(float x) { return __builtin_signbitf(x) != 0; }
  static bool call(double x) { return __builtin_signbit(x) != 0; }
};

const Register2<Eq, bool, u8, i8, i16, i32, i64, float, double, c64, c128> eq_entry("eq");
const Register2<Ne, bool, u8, i8, i16, i32, i64, float, double, c64, c128> ne_entry("ne");
const Register2<Lt, bool, u8, i8, i16, i32, i64, float, double> lt_entry("lt");
const Register2<Le, bool, u8, i8, i16, i32, i64, float, double> le_entry("le");
const Register2<Gt, bool, u8, i8, i16, i32, i64, float, double> gt_entry("gt");
const Register2<Ge, bool, u8, i8, i16, i32, i64, float, double> ge_entry("ge");
const Register2<And, bool, i64, float, double, c64, c128> and_entry("logical_and");
const Register2<Or, bool, i64, float, double, c64, c128> or_entry("logical_or");
const Register2<Xor, bool, i64, float, double, c64, c128> xor_entry("logical_xor");
const Register1<Not, bool, u8, i64, float, double, c64, c128> not_entry("logical_not");
const Register1<IsNan, float, double, c64, c128> isnan_entry("isnan");
const Register1<IsInf, float, double, c64, c128> isinf_entry("isinf");
const Register1<IsFinite, float, double, c64, c128> isfinite_entry("isfinite");
const Register1<IsPosInf, float, double> isposinf_entry("isposinf");
const Register1<IsNegInf, float, double> isneginf_entry("isneginf");
const Register1<SignBit, i64, float, double> signbit_entry("signbit");

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
