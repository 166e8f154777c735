// Inverse trigonometric and hyperbolic functions in float32 and float64.
#include "simd/loops.h"
#include "simd/math_inverse.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

struct Atan {
  template <class T>
  static Vec<T> call(Vec<T> x) {
    return atan(x);
  }
};
struct Asin {
  template <class T>
  static Vec<T> call(Vec<T> x) {
    return asin(x);
  }
};
struct Acos {
  template <class T>
  static Vec<T> call(Vec<T> x) {
    return acos(x);
  }
};
struct Sinh {
  template <class T>
  static Vec<T> call(Vec<T> x) {
    return sinh(x);
  }
};
struct Cosh {
  template <class T>
  static Vec<T> call(Vec<T> x) {
    return cosh(x);
  }
};
struct Asinh {
  template <class T>
  static Vec<T> call(Vec<T> x) {
    return asinh(x);
  }
};
struct Acosh {
  template <class T>
  static Vec<T> call(Vec<T> x) {
    return acosh(x);
  }
};
struct Atanh {
  template <class T>
  static Vec<T> call(Vec<T> x) {
    return atanh(x);
  }
};
struct Erfinv {
  static Vec<float> call(Vec<float> x) { return erfinv(x); }
};

const RegisterVec1<Atan, float, double> atan_entry("atan");
const RegisterVec1<Asin, float, double> asin_entry("asin");
const RegisterVec1<Acos, float, double> acos_entry("acos");
const RegisterVec1<Sinh, float, double> sinh_entry("sinh");
const RegisterVec1<Cosh, float, double> cosh_entry("cosh");
const RegisterVec1<Asinh, float, double> asinh_entry("asinh");
const RegisterVec1<Acosh, float, double> acosh_entry("acosh");
const RegisterVec1<Atanh, float, double> atanh_entry("atanh");
const RegisterVec1<Erfinv, float> erfinv_entry("erfinv");

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
