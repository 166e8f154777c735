// Steps of Adam's relatives over contiguous runs: Adamax, NAdam, RAdam. Order of operations as in PyTorch.
#include "kernels/tile/optim_math.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

// out: param, exp_avg, exp_inf. in: grad.
//   m += (1 - beta1) * (g - m);  u = max(beta2 * u, |g| + eps);  p -= rate * m / u
template <class T, bool kDecay>
void adamax_loop(void* const* out, const void* const* in, std::int64_t n, const AdamaxStep& s) {
  T* __restrict p = static_cast<T*>(out[0]);
  T* __restrict m = static_cast<T*>(out[1]);
  T* __restrict u = static_cast<T*>(out[2]);
  const T* __restrict g = static_cast<const T*>(in[0]);
  const T sign = s.maximize ? T(-1) : T(1), decay = T(s.weight_decay), beta2 = T(s.beta2), eps = T(s.eps);
  const T weight = T(1 - s.beta1), rest = T(1) - weight, rate = T(-s.rate);
  const bool far = s.beta1 <= 0.5;
  for (std::int64_t i = 0; i < n; ++i) {
    T grad = sign * g[i];
    if constexpr (kDecay) grad = grad + decay * p[i];
    const T mean = between(m[i], grad, weight, rest, far);
    const T top = larger(u[i] * beta2, (grad < 0 ? -grad : grad) + eps);
    m[i] = mean;
    u[i] = top;
    p[i] = p[i] + rate * mean / top;
  }
}
template <class T>
void adamax_tile(void* const* out, const void* const* in, std::int64_t n, const void* params) noexcept {
  const AdamaxStep& s = *static_cast<const AdamaxStep*>(params);
  return s.weight_decay != 0 ? adamax_loop<T, true>(out, in, n, s) : adamax_loop<T, false>(out, in, n, s);
}

// out: param, exp_avg, exp_avg_sq. in: grad.
//   d = sqrt(v / correction2) + eps;  p -= grad_rate * g / d;  p -= average_rate * m / d
template <class T, int kDecay>
void nadam_loop(void* const* out, const void* const* in, std::int64_t n, const NadamStep& s) {
  T* __restrict p = static_cast<T*>(out[0]);
  T* __restrict m = static_cast<T*>(out[1]);
  T* __restrict v = static_cast<T*>(out[2]);
  const T* __restrict g = static_cast<const T*>(in[0]);
  const T sign = s.maximize ? T(-1) : T(1), decay = T(s.weight_decay), keep = T(1 - s.lr * s.weight_decay);
  const T weight = T(1 - s.beta1), rest = T(1) - weight, beta2 = T(s.beta2), weight2 = T(1 - s.beta2);
  const T correction2 = T(s.correction2), eps = T(s.eps), grad_rate = T(-s.grad_rate), mean_rate = T(-s.average_rate);
  const bool far = s.beta1 <= 0.5;
  for (std::int64_t i = 0; i < n; ++i) {
    T grad = sign * g[i], value = p[i];
    if constexpr (kDecay == 1) grad = grad + decay * value;
    if constexpr (kDecay == 2) value = value * keep;
    const T mean = between(m[i], grad, weight, rest, far);
    const T square = v[i] * beta2 + weight2 * grad * grad;
    const T denominator = root(square / correction2) + eps;
    m[i] = mean;
    v[i] = square;
    p[i] = value + grad_rate * grad / denominator + mean_rate * mean / denominator;
  }
}
template <class T>
void nadam_tile(void* const* out, const void* const* in, std::int64_t n, const void* params) noexcept {
  const NadamStep& s = *static_cast<const NadamStep*>(params);
  if (s.weight_decay == 0) return nadam_loop<T, 0>(out, in, n, s);
  return s.decoupled ? nadam_loop<T, 2>(out, in, n, s) : nadam_loop<T, 1>(out, in, n, s);
}

// out: param, exp_avg, exp_avg_sq. in: grad.
//   p -= lr * m / correction1 [* root2 / (sqrt(v) + eps) * rectified]
template <class T, int kDecay, bool kAdaptive>
void radam_loop(void* const* out, const void* const* in, std::int64_t n, const RadamStep& s) {
  T* __restrict p = static_cast<T*>(out[0]);
  T* __restrict m = static_cast<T*>(out[1]);
  T* __restrict v = static_cast<T*>(out[2]);
  const T* __restrict g = static_cast<const T*>(in[0]);
  const T sign = s.maximize ? T(-1) : T(1), decay = T(s.weight_decay), keep = T(1 - s.lr * s.weight_decay);
  const T weight = T(1 - s.beta1), rest = T(1) - weight, beta2 = T(s.beta2), weight2 = T(1 - s.beta2);
  const T correction1 = T(s.correction1), root2 = T(s.root2), eps = T(s.eps), lr = T(s.lr), rectified = T(s.rectified);
  const bool far = s.beta1 <= 0.5;
  for (std::int64_t i = 0; i < n; ++i) {
    T grad = sign * g[i], value = p[i];
    if constexpr (kDecay == 1) grad = grad + decay * value;
    if constexpr (kDecay == 2) value = value * keep;
    const T mean = between(m[i], grad, weight, rest, far);
    const T square = v[i] * beta2 + weight2 * grad * grad;
    T step = mean / correction1 * lr;
    if constexpr (kAdaptive) step = step * (root2 / (root(square) + eps)) * rectified;
    m[i] = mean;
    v[i] = square;
    p[i] = value - step;
  }
}
template <class T, int kDecay>
void radam_choose(void* const* out, const void* const* in, std::int64_t n, const RadamStep& s) {
  return s.rectified != 0 ? radam_loop<T, kDecay, true>(out, in, n, s) : radam_loop<T, kDecay, false>(out, in, n, s);
}
template <class T>
void radam_tile(void* const* out, const void* const* in, std::int64_t n, const void* params) noexcept {
  const RadamStep& s = *static_cast<const RadamStep*>(params);
  if (s.weight_decay == 0) return radam_choose<T, 0>(out, in, n, s);
  return s.decoupled ? radam_choose<T, 2>(out, in, n, s) : radam_choose<T, 1>(out, in, n, s);
}

const TileEntry adamax32("optim_adamax", DType::Float32, DType::Float32, &adamax_tile<float>, kLevel);
const TileEntry adamax64("optim_adamax", DType::Float64, DType::Float64, &adamax_tile<double>, kLevel);
const TileEntry nadam32("optim_nadam", DType::Float32, DType::Float32, &nadam_tile<float>, kLevel);
const TileEntry nadam64("optim_nadam", DType::Float64, DType::Float64, &nadam_tile<double>, kLevel);
const TileEntry radam32("optim_radam", DType::Float32, DType::Float32, &radam_tile<float>, kLevel);
const TileEntry radam64("optim_radam", DType::Float64, DType::Float64, &radam_tile<double>, kLevel);

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
