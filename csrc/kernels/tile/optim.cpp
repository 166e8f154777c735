// Optimizer steps over contiguous runs, in float32 and float64. Formulas are those of flambeau/optim; the order of
// operations is PyTorch's, so that trajectories agree to rounding.
#include "kernels/tile/optim_math.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

// out: param, exp_avg, exp_avg_sq, max_exp_avg_sq (amsgrad). in: grad.
//   m += (1 - beta1) * (g - m);  v = beta2 * v + (1 - beta2) * g * g;  p -= step_size * m / (sqrt(v) / root2 + eps)
template <class T, int kDecay, bool kAmsgrad>
void adam_loop(void* const* out, const void* const* in, std::int64_t n, const AdamStep& s) {
  T* __restrict p = static_cast<T*>(out[0]);
  T* __restrict m = static_cast<T*>(out[1]);
  T* __restrict v = static_cast<T*>(out[2]);
  T* __restrict top = kAmsgrad ? static_cast<T*>(out[3]) : nullptr;
  const T* __restrict g = static_cast<const T*>(in[0]);
  const T sign = s.maximize ? T(-1) : T(1), weight1 = T(1 - s.beta1), beta2 = T(s.beta2), weight2 = T(1 - s.beta2);
  const T decay = T(s.weight_decay), keep = T(1 - s.lr * s.weight_decay), root2 = T(s.root2), eps = T(s.eps);
  const T step = T(-s.step_size), weight1_rest = T(1) - weight1;
  const bool far = s.beta1 <= 0.5;  // lerp counts from the nearer end
  for (std::int64_t i = 0; i < n; ++i) {
    T grad = sign * g[i], value = p[i];
    if constexpr (kDecay == 1) grad = grad + decay * value;
    if constexpr (kDecay == 2) value = value * keep;
    const T mean = between(m[i], grad, weight1, weight1_rest, far);
    const T square = v[i] * beta2 + weight2 * grad * grad;
    T second = square;
    if constexpr (kAmsgrad) {
      second = larger(top[i], square);
      top[i] = second;
    }
    m[i] = mean;
    v[i] = square;
    p[i] = value + step * mean / (root(second) / root2 + eps);
  }
}
template <class T>
void adam_tile(void* const* out, const void* const* in, std::int64_t n, const void* params) noexcept {
  const AdamStep& s = *static_cast<const AdamStep*>(params);
  const int decay = s.weight_decay == 0 ? 0 : s.decoupled ? 2 : 1;
  if (s.amsgrad) {
    if (decay == 0) return adam_loop<T, 0, true>(out, in, n, s);
    if (decay == 1) return adam_loop<T, 1, true>(out, in, n, s);
    return adam_loop<T, 2, true>(out, in, n, s);
  }
  if (decay == 0) return adam_loop<T, 0, false>(out, in, n, s);
  if (decay == 1) return adam_loop<T, 1, false>(out, in, n, s);
  return adam_loop<T, 2, false>(out, in, n, s);
}

// out: param, momentum buffer (with momentum). in: grad.
//   b = momentum * b + (1 - dampening) * g  (first: b = g);  p -= lr * (nesterov ? g + momentum * b : b)
template <class T, bool kDecay, bool kMomentum>
void sgd_loop(void* const* out, const void* const* in, std::int64_t n, const SgdStep& s) {
  T* __restrict p = static_cast<T*>(out[0]);
  T* __restrict b = kMomentum ? static_cast<T*>(out[1]) : nullptr;
  const T* __restrict g = static_cast<const T*>(in[0]);
  const T sign = s.maximize ? T(-1) : T(1), decay = T(s.weight_decay), momentum = T(s.momentum);
  const T damped = T(1 - s.dampening), lr = T(-s.lr);
  const bool first = s.first, nesterov = s.nesterov;
  for (std::int64_t i = 0; i < n; ++i) {
    T grad = sign * g[i];
    if constexpr (kDecay) grad = grad + decay * p[i];
    if constexpr (kMomentum) {
      const T buffer = first ? grad : b[i] * momentum + damped * grad;
      b[i] = buffer;
      grad = nesterov ? grad + momentum * buffer : buffer;
    }
    p[i] = p[i] + lr * grad;
  }
}
template <class T>
void sgd_tile(void* const* out, const void* const* in, std::int64_t n, const void* params) noexcept {
  const SgdStep& s = *static_cast<const SgdStep*>(params);
  const bool decay = s.weight_decay != 0;
  if (s.momentum != 0) return decay ? sgd_loop<T, true, true>(out, in, n, s) : sgd_loop<T, false, true>(out, in, n, s);
  return decay ? sgd_loop<T, true, false>(out, in, n, s) : sgd_loop<T, false, false>(out, in, n, s);
}

const TileEntry adam32("optim_adam", DType::Float32, DType::Float32, &adam_tile<float>, kLevel);
const TileEntry adam64("optim_adam", DType::Float64, DType::Float64, &adam_tile<double>, kLevel);
const TileEntry sgd32("optim_sgd", DType::Float32, DType::Float32, &sgd_tile<float>, kLevel);
const TileEntry sgd64("optim_sgd", DType::Float64, DType::Float64, &sgd_tile<double>, kLevel);

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
