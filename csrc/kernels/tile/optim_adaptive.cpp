// Steps with a rate per element over contiguous runs: Adagrad, Adadelta, RMSprop, Rprop. Order of operations as in
// PyTorch.
#include "kernels/tile/optim_math.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

// out: param, sum. in: grad.   s += g * g;  p -= rate * g / (sqrt(s) + eps)
template <class T, bool kDecay>
void adagrad_loop(void* const* out, const void* const* in, std::int64_t n, const AdagradStep& s) {
  T* __restrict p = static_cast<T*>(out[0]);
  T* __restrict sum = static_cast<T*>(out[1]);
  const T* __restrict g = static_cast<const T*>(in[0]);
  const T sign = s.maximize ? T(-1) : T(1), decay = T(s.weight_decay), eps = T(s.eps), rate = T(-s.rate);
  for (std::int64_t i = 0; i < n; ++i) {
    T grad = sign * g[i];
    if constexpr (kDecay) grad = grad + decay * p[i];
    const T total = sum[i] + grad * grad;
    sum[i] = total;
    p[i] = p[i] + rate * grad / (root(total) + eps);
  }
}
template <class T>
void adagrad_tile(void* const* out, const void* const* in, std::int64_t n, const void* params) noexcept {
  const AdagradStep& s = *static_cast<const AdagradStep*>(params);
  return s.weight_decay != 0 ? adagrad_loop<T, true>(out, in, n, s) : adagrad_loop<T, false>(out, in, n, s);
}

// out: param, square_avg, acc_delta. in: grad.
//   v = rho * v + (1 - rho) * g * g;  d = sqrt(u + eps) / sqrt(v + eps) * g;  u = rho * u + (1 - rho) * d * d;  p -= lr
//   * d
template <class T, bool kDecay>
void adadelta_loop(void* const* out, const void* const* in, std::int64_t n, const AdadeltaStep& s) {
  T* __restrict p = static_cast<T*>(out[0]);
  T* __restrict v = static_cast<T*>(out[1]);
  T* __restrict u = static_cast<T*>(out[2]);
  const T* __restrict g = static_cast<const T*>(in[0]);
  const T sign = s.maximize ? T(-1) : T(1), decay = T(s.weight_decay), eps = T(s.eps), lr = T(-s.lr);
  const T rho = T(s.rho), weight = T(1 - s.rho);
  for (std::int64_t i = 0; i < n; ++i) {
    T grad = sign * g[i];
    if constexpr (kDecay) grad = grad + decay * p[i];
    const T square = v[i] * rho + weight * grad * grad;
    const T delta = root(u[i] + eps) / root(square + eps) * grad;
    v[i] = square;
    u[i] = u[i] * rho + weight * delta * delta;
    p[i] = p[i] + lr * delta;
  }
}
template <class T>
void adadelta_tile(void* const* out, const void* const* in, std::int64_t n, const void* params) noexcept {
  const AdadeltaStep& s = *static_cast<const AdadeltaStep*>(params);
  return s.weight_decay != 0 ? adadelta_loop<T, true>(out, in, n, s) : adadelta_loop<T, false>(out, in, n, s);
}

// out: param, square_avg, grad_avg (centered), momentum buffer (with momentum). in: grad.
//   v = alpha * v + (1 - alpha) * g * g;  a += (1 - alpha) * (g - a);  d = sqrt(v [- a * a]) + eps
//   p -= lr * g / d,  or  b = momentum * b + g / d;  p -= lr * b
template <class T, bool kDecay, bool kCentered, bool kMomentum>
void rmsprop_loop(void* const* out, const void* const* in, std::int64_t n, const RmspropStep& s) {
  T* __restrict p = static_cast<T*>(out[0]);
  T* __restrict v = static_cast<T*>(out[1]);
  T* __restrict a = kCentered ? static_cast<T*>(out[2]) : nullptr;
  T* __restrict b = kMomentum ? static_cast<T*>(out[kCentered ? 3 : 2]) : nullptr;
  const T* __restrict g = static_cast<const T*>(in[0]);
  const T sign = s.maximize ? T(-1) : T(1), decay = T(s.weight_decay), eps = T(s.eps), lr = T(-s.lr);
  const T alpha = T(s.alpha), weight = T(1 - s.alpha), rest = T(1) - weight, momentum = T(s.momentum);
  const bool far = s.alpha <= 0.5;
  for (std::int64_t i = 0; i < n; ++i) {
    T grad = sign * g[i];
    if constexpr (kDecay) grad = grad + decay * p[i];
    const T square = v[i] * alpha + weight * grad * grad;
    v[i] = square;
    T second = square;
    if constexpr (kCentered) {
      const T mean = between(a[i], grad, weight, rest, far);
      a[i] = mean;
      second = square - mean * mean;
    }
    const T denominator = root(second) + eps;
    if constexpr (kMomentum) {
      const T buffer = b[i] * momentum + grad / denominator;
      b[i] = buffer;
      p[i] = p[i] + lr * buffer;
    } else {
      p[i] = p[i] + lr * grad / denominator;
    }
  }
}
template <class T, bool kDecay>
void rmsprop_choose(void* const* out, const void* const* in, std::int64_t n, const RmspropStep& s) {
  if (s.momentum > 0) {
    return s.centered ? rmsprop_loop<T, kDecay, true, true>(out, in, n, s)
                      : rmsprop_loop<T, kDecay, false, true>(out, in, n, s);
  }
  return s.centered ? rmsprop_loop<T, kDecay, true, false>(out, in, n, s)
                    : rmsprop_loop<T, kDecay, false, false>(out, in, n, s);
}
template <class T>
void rmsprop_tile(void* const* out, const void* const* in, std::int64_t n, const void* params) noexcept {
  const RmspropStep& s = *static_cast<const RmspropStep*>(params);
  return s.weight_decay != 0 ? rmsprop_choose<T, true>(out, in, n, s) : rmsprop_choose<T, false>(out, in, n, s);
}

// out: param, prev, step_size. in: grad.
//   The step grows by eta_plus while the sign stays; where it changed it shrinks by eta_minus and is skipped once.
template <class T>
void rprop_tile(void* const* out, const void* const* in, std::int64_t n, const void* params) noexcept {
  const RpropStep& s = *static_cast<const RpropStep*>(params);
  T* __restrict p = static_cast<T*>(out[0]);
  T* __restrict prev = static_cast<T*>(out[1]);
  T* __restrict size = static_cast<T*>(out[2]);
  const T* __restrict g = static_cast<const T*>(in[0]);
  const T sign = s.maximize ? T(-1) : T(1), shrink = T(s.eta_minus), grow = T(s.eta_plus);
  const T smallest = T(s.smallest), largest = T(s.largest);
  for (std::int64_t i = 0; i < n; ++i) {
    T grad = sign * g[i];
    const T agreement = grad * prev[i];
    T step = size[i] * (agreement > 0 ? grow : agreement < 0 ? shrink : T(1));
    step = step < smallest ? smallest : step > largest ? largest : step;
    grad = agreement < 0 ? T(0) : grad;
    size[i] = step;
    prev[i] = grad;
    p[i] = p[i] - (grad > 0 ? step : grad < 0 ? -step : T(0));
  }
}

const TileEntry adagrad32("optim_adagrad", DType::Float32, DType::Float32, &adagrad_tile<float>, kLevel);
const TileEntry adagrad64("optim_adagrad", DType::Float64, DType::Float64, &adagrad_tile<double>, kLevel);
const TileEntry adadelta32("optim_adadelta", DType::Float32, DType::Float32, &adadelta_tile<float>, kLevel);
const TileEntry adadelta64("optim_adadelta", DType::Float64, DType::Float64, &adadelta_tile<double>, kLevel);
const TileEntry rmsprop32("optim_rmsprop", DType::Float32, DType::Float32, &rmsprop_tile<float>, kLevel);
const TileEntry rmsprop64("optim_rmsprop", DType::Float64, DType::Float64, &rmsprop_tile<double>, kLevel);
const TileEntry rprop32("optim_rprop", DType::Float32, DType::Float32, &rprop_tile<float>, kLevel);
const TileEntry rprop64("optim_rprop", DType::Float64, DType::Float64, &rprop_tile<double>, kLevel);

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
