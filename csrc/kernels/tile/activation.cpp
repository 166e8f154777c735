// Activation functions and their first derivatives, in float32 and float64. Constants come through params.
#include "kernels/tile/functors.h"
#include "simd/math_special.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

template <class T>
[[gnu::always_inline]] inline Vec<T> k(double value) {
  return Vec<T>(static_cast<T>(value));
}
[[gnu::always_inline]] inline double param(const void* params, int i) { return static_cast<const double*>(params)[i]; }

template <class T>
struct Relu {
  explicit Relu(const void*) {}
  T operator()(T x) const { return x <= T(0) ? T(0) : x; }  // NaN stays
};
template <class T>
struct LeakyRelu {
  T slope;
  explicit LeakyRelu(const void* p) : slope(static_cast<T>(param(p, 0))) {}
  T operator()(T x) const { return x > T(0) ? x : x * slope; }
};
// params: threshold, value
template <class T>
struct Threshold {
  T threshold, value;
  explicit Threshold(const void* p) : threshold(static_cast<T>(param(p, 0))), value(static_cast<T>(param(p, 1))) {}
  T operator()(T x) const { return x <= threshold ? value : x; }
};
// grad where x > threshold
template <class T>
struct ThresholdGrad {
  T threshold;
  explicit ThresholdGrad(const void* p) : threshold(static_cast<T>(param(p, 0))) {}
  T operator()(T grad, T x) const { return x <= threshold ? T(0) : grad; }
};
template <class T>
struct LeakyReluGrad {
  T slope;
  explicit LeakyReluGrad(const void* p) : slope(static_cast<T>(param(p, 0))) {}
  T operator()(T grad, T x) const { return x > T(0) ? grad : grad * slope; }
};
template <class T>
struct PRelu {
  explicit PRelu(const void*) {}
  T operator()(T x, T weight) const { return x > T(0) ? x : x * weight; }
};
template <class T>
struct HardSwish {
  explicit HardSwish(const void*) {}
  T operator()(T x) const {
    T gate = x + T(3);
    gate = gate < T(0) ? T(0) : gate > T(6) ? T(6) : gate;
    return x * gate / T(6);
  }
};
template <class T>
struct HardSigmoid {
  explicit HardSigmoid(const void*) {}
  T operator()(T x) const {
    T gate = x + T(3);
    gate = gate < T(0) ? T(0) : gate > T(6) ? T(6) : gate;
    return gate / T(6);
  }
};
template <class T>
struct HardShrink {
  T lambda;
  explicit HardShrink(const void* p) : lambda(static_cast<T>(param(p, 0))) {}
  T operator()(T x) const { return (x >= -lambda) & (x <= lambda) ? T(0) : x; }
};
template <class T>
struct SoftShrink {
  T lambda;
  explicit SoftShrink(const void* p) : lambda(static_cast<T>(param(p, 0))) {}
  T operator()(T x) const { return x > lambda ? x - lambda : x < -lambda ? x + lambda : x != x ? x : T(0); }
};

// params: alpha, scale, input_scale. scale * (x > 0 ? x : alpha * expm1(x * input_scale))
template <class T>
struct Elu {
  Vec<T> negative, positive, input;
  explicit Elu(const void* p)
      : negative(k<T>(param(p, 0) * param(p, 1))), positive(k<T>(param(p, 1))), input(k<T>(param(p, 2))) {}
  Vec<T> operator()(Vec<T> x) const { return select(x <= k<T>(0), expm1(x * input) * negative, x * positive); }
};
// grad, x, with the same params
template <class T>
struct EluGrad {
  Vec<T> negative, positive, input;
  explicit EluGrad(const void* p)
      : negative(k<T>(param(p, 0) * param(p, 1) * param(p, 2))),
        positive(k<T>(param(p, 1))),
        input(k<T>(param(p, 2))) {}
  Vec<T> operator()(Vec<T> grad, Vec<T> x) const {
    return grad * select(x <= k<T>(0), exp(x * input) * negative, positive);
  }
};
// Phi(x) and exp(-x^2 / 2). float32: Phi(-|x|) = t P(t) exp(-x^2 / 2) with t = 1 / (1 + p |x| / sqrt(2)), the form of
// A&S 7.1.26 with P of degree 9 (1e-8 relative): one exponential serves the function and its derivative.
template <class T>
struct Normal {
  Vec<T> cdf, bell;
};
[[gnu::always_inline]] inline Normal<float> normal(Vec<float> x) {
  constexpr float kTail[] = {3.02626972e-2F,  -1.69183207e-1F, 3.39115656e-1F, -3.14699126e-1F, 2.80272364e-1F,
                             -4.15573377e-2F, 1.0883697e-1F,   8.15089725e-2F, 9.30624804e-2F,  9.238053e-2F};
  const Vec<float> one(1.0F), t = one / fma(abs(x), Vec<float>(0.3275911F * 0.70710678118654752F), one);
  const Vec<float> bell = exp_normal(Vec<float>(-0.5F) * x * x), tail = t * poly(t, kTail) * bell;
  return {select(x < Vec<float>(0.0F), tail, one - tail), bell};
}
[[gnu::always_inline]] inline Normal<double> normal(Vec<double> x) {
  const ErfcParts parts = erfc_positive(abs(x) * k<double>(0.70710678118654752440));
  const Vec<double> tail = k<double>(0.5) * parts.tail;
  return {select(x < k<double>(0), tail, k<double>(1) - tail), parts.bell};
}
template <class T>
struct Gelu {
  explicit Gelu(const void*) {}
  // Below -100 Phi is 0 in all but name: the limit keeps -inf from becoming NaN.
  Vec<T> operator()(Vec<T> x) const { return max(k<T>(-100), x) * normal(x).cdf; }
};
template <class T>
struct GeluGrad {
  explicit GeluGrad(const void*) {}
  Vec<T> operator()(Vec<T> grad, Vec<T> x) const {
    const Normal<T> n = normal(x);
    const Vec<T> limited = min(k<T>(100), max(k<T>(-100), x));
    return grad * (n.cdf + limited * n.bell * k<T>(0.39894228040143267794));
  }
};
template <class T>
[[gnu::always_inline]] inline Vec<T> gelu_inner(Vec<T> x) {
  return k<T>(0.79788456080286535588) * (x + k<T>(0.044715) * x * x * x);
}
template <class T>
struct GeluTanh {
  explicit GeluTanh(const void*) {}
  Vec<T> operator()(Vec<T> x) const { return k<T>(0.5) * x * (k<T>(1) + tanh(gelu_inner(x))); }
};
template <class T>
struct GeluTanhGrad {
  explicit GeluTanhGrad(const void*) {}
  Vec<T> operator()(Vec<T> grad, Vec<T> x) const {
    const Vec<T> t = tanh(gelu_inner(x));
    const Vec<T> slope = k<T>(0.79788456080286535588) * (k<T>(1) + k<T>(3 * 0.044715) * x * x);
    return grad * (k<T>(0.5) * (k<T>(1) + t) + k<T>(0.5) * x * (k<T>(1) - t * t) * slope);
  }
};
template <class T>
struct Silu {
  explicit Silu(const void*) {}
  Vec<T> operator()(Vec<T> x) const { return x / (k<T>(1) + exp_normal(-x)); }
};
template <class T>
struct SiluGrad {
  explicit SiluGrad(const void*) {}
  Vec<T> operator()(Vec<T> grad, Vec<T> x) const {
    const Vec<T> s = sigmoid(x);
    return grad * s * (k<T>(1) + x * (k<T>(1) - s));
  }
};
// tanh(log1p(e)) = n / (n + 2) with n = e (e + 2), e = exp(x); beyond 20 it is 1.
template <class T>
[[gnu::always_inline]] inline Vec<T> tanh_softplus(Vec<T> x) {
  const Vec<T> e = exp(min(k<T>(20), x)), n = e * (e + k<T>(2));
  return select(x > k<T>(20), k<T>(1), n / (n + k<T>(2)));
}
template <class T>
struct Mish {
  explicit Mish(const void*) {}
  Vec<T> operator()(Vec<T> x) const { return x * tanh_softplus(x); }
};
template <class T>
struct MishGrad {
  explicit MishGrad(const void*) {}
  Vec<T> operator()(Vec<T> grad, Vec<T> x) const {
    const Vec<T> t = tanh_softplus(x);
    return grad * (t + x * sigmoid(x) * (k<T>(1) - t * t));
  }
};
// params: beta, threshold
template <class T>
struct Softplus {
  Vec<T> beta, threshold;
  explicit Softplus(const void* p) : beta(k<T>(param(p, 0))), threshold(k<T>(param(p, 1))) {}
  Vec<T> operator()(Vec<T> x) const {
    const Vec<T> scaled = x * beta;
    return select(scaled > threshold, x, log1p(exp(scaled)) / beta);
  }
};
template <class T>
struct SoftplusGrad {
  Vec<T> beta, threshold;
  explicit SoftplusGrad(const void* p) : beta(k<T>(param(p, 0))), threshold(k<T>(param(p, 1))) {}
  Vec<T> operator()(Vec<T> grad, Vec<T> x) const {
    const Vec<T> scaled = x * beta;
    return select(scaled > threshold, grad, grad * sigmoid(scaled));
  }
};
template <class T>
struct LogSigmoid {
  explicit LogSigmoid(const void*) {}
  Vec<T> operator()(Vec<T> x) const { return min(k<T>(0), x) - log1p(exp(-abs(x))); }
};
// grad, result
template <class T>
struct SigmoidGrad {
  explicit SigmoidGrad(const void*) {}
  Vec<T> operator()(Vec<T> grad, Vec<T> y) const { return grad * (k<T>(1) - y) * y; }
};
template <class T>
struct TanhGrad {
  explicit TanhGrad(const void*) {}
  Vec<T> operator()(Vec<T> grad, Vec<T> y) const { return grad * (k<T>(1) - y * y); }
};

// grad, x; params: low, high
template <class T>
struct HardTanhGrad {
  T low, high;
  explicit HardTanhGrad(const void* p) : low(static_cast<T>(param(p, 0))), high(static_cast<T>(param(p, 1))) {}
  T operator()(T grad, T x) const { return (x <= low) | (x >= high) ? T(0) : grad; }
};
template <class T>
struct HardSwishGrad {
  explicit HardSwishGrad(const void*) {}
  T operator()(T grad, T x) const {
    const T inner = grad * (x / T(3) + T(0.5)), upper = x < T(3) ? inner : grad;
    return x <= T(-3) ? T(0) : upper;
  }
};
const Register2p<HardTanhGrad, i64, float, double> hardtanh_grad_entry("hardtanh_backward");
const Register2p<HardSwishGrad, float, double> hardswish_grad_entry("hardswish_backward");
const Register1p<Relu, i8, i16, i32, i64, float, double> relu_entry("relu");
const Register1p<LeakyRelu, float, double> leaky_relu_entry("leaky_relu");
const Register1p<Threshold, i64, float, double> threshold_entry("threshold");
const Register2p<ThresholdGrad, i64, float, double> threshold_grad_entry("threshold_backward");
const Register2p<LeakyReluGrad, float, double> leaky_relu_grad_entry("leaky_relu_backward");
const Register2p<PRelu, float, double> prelu_entry("prelu");
const Register1p<HardSwish, float, double> hardswish_entry("hardswish");
const Register1p<HardSigmoid, float, double> hardsigmoid_entry("hardsigmoid");
const Register1p<HardShrink, float, double> hardshrink_entry("hardshrink");
const Register1p<SoftShrink, float, double> softshrink_entry("softshrink");
const RegisterVec1p<Elu, float, double> elu_entry("elu");
const RegisterVec2p<EluGrad, float, double> elu_grad_entry("elu_backward");
const RegisterVec1p<Gelu, float, double> gelu_entry("gelu");
const RegisterVec2p<GeluGrad, float, double> gelu_grad_entry("gelu_backward");
const RegisterVec1p<GeluTanh, float, double> gelu_tanh_entry("gelu_tanh");
const RegisterVec2p<GeluTanhGrad, float, double> gelu_tanh_grad_entry("gelu_tanh_backward");
const RegisterVec1p<Silu, float, double> silu_entry("silu");
const RegisterVec2p<SiluGrad, float, double> silu_grad_entry("silu_backward");
const RegisterVec1p<Mish, float, double> mish_entry("mish");
const RegisterVec2p<MishGrad, float, double> mish_grad_entry("mish_backward");
const RegisterVec1p<Softplus, float, double> softplus_entry("softplus");
const RegisterVec2p<SoftplusGrad, float, double> softplus_grad_entry("softplus_backward");
const RegisterVec1p<LogSigmoid, float, double> logsigmoid_entry("logsigmoid");
const RegisterVec2p<SigmoidGrad, float, double> sigmoid_grad_entry("sigmoid_backward");
const RegisterVec2p<TanhGrad, float, double> tanh_grad_entry("tanh_backward");

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
