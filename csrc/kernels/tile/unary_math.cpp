// Exponentials, logarithms and trigonometric functions, in float32 and float64.
#include "simd/loops.h"
#include "simd/math.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

struct Exp {
  template <class T>
  static Vec<T> call(Vec<T> x) {
    return exp(x);
  }
};
struct Exp2 {
  template <class T>
  static Vec<T> call(Vec<T> x) {
    return exp2(x);
  }
};
struct Expm1 {
  template <class T>
  static Vec<T> call(Vec<T> x) {
    return expm1(x);
  }
};
struct Log {
  template <class T>
  static Vec<T> call(Vec<T> x) {
    return log(x);
  }
};
struct Log2 {
  template <class T>
  static Vec<T> call(Vec<T> x) {
    return log2(x);
  }
};
struct Log10 {
  template <class T>
  static Vec<T> call(Vec<T> x) {
    return log10(x);
  }
};
struct Log1p {
  template <class T>
  static Vec<T> call(Vec<T> x) {
    return log1p(x);
  }
};
struct Tanh {
  template <class T>
  static Vec<T> call(Vec<T> x) {
    return tanh(x);
  }
};
struct Sigmoid {
  template <class T>
  static Vec<T> call(Vec<T> x) {
    return sigmoid(x);
  }
};
struct Erf {
  static Vec<float> call(Vec<float> x) { return erf(x); }
};

enum class Trig { Sin, Cos, Tan };
[[gnu::always_inline]] inline float libm(Trig which, float x) {
  return which == Trig::Sin ? __builtin_sinf(x) : which == Trig::Cos ? __builtin_cosf(x) : __builtin_tanf(x);
}
[[gnu::always_inline]] inline double libm(Trig which, double x) {
  return which == Trig::Sin ? __builtin_sin(x) : which == Trig::Cos ? __builtin_cos(x) : __builtin_tan(x);
}
template <Trig kWhich>
struct TrigOp {
  template <class T>
  static Vec<T> call(Vec<T> x) {
    const SinCos<T> both = sincos(x);
    Vec<T> y = kWhich == Trig::Sin ? both.sin : kWhich == Trig::Cos ? both.cos : both.sin / both.cos;
    const typename Vec<T>::Mask far = ~(abs(x) <= Vec<T>(Constants<T>::kTrigLimit));  // NaN and infinity too
    if (any(far)) [[unlikely]] {
      for (int i = 0; i < Vec<T>::size; ++i) {
        if (far[i] != 0) y.v[i] = libm(kWhich, x.v[i]);
      }
    }
    return y;
  }
};

const RegisterVec1<Exp, float, double> exp_entry("exp");
const RegisterVec1<Exp2, float, double> exp2_entry("exp2");
const RegisterVec1<Expm1, float, double> expm1_entry("expm1");
const RegisterVec1<Log, float, double> log_entry("log");
const RegisterVec1<Log2, float, double> log2_entry("log2");
const RegisterVec1<Log10, float, double> log10_entry("log10");
const RegisterVec1<Log1p, float, double> log1p_entry("log1p");
const RegisterVec1<Tanh, float, double> tanh_entry("tanh");
const RegisterVec1<Sigmoid, float, double> sigmoid_entry("sigmoid");
const RegisterVec1<Erf, float> erf_entry("erf");
const RegisterVec1<TrigOp<Trig::Sin>, float, double> sin_entry("sin");
const RegisterVec1<TrigOp<Trig::Cos>, float, double> cos_entry("cos");
const RegisterVec1<TrigOp<Trig::Tan>, float, double> tan_entry("tan");

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
