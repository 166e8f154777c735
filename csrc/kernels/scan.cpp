// Running results along one dim: cumsum, cumprod, cummax, cummin, logcumsumexp.
// Rows are scanned four at a time: a running sum is a chain of dependent additions, and four chains overlap.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/slices.h"

namespace flambeau {
namespace {

constexpr std::int64_t kGrain = 32768;
constexpr std::int64_t kColumns = 256;

template <class T>
struct Accumulator {
  using type = T;
};
template <>
struct Accumulator<float> {
  using type = double;
};
template <>
struct Accumulator<Half> {
  using type = float;
};
template <>
struct Accumulator<BFloat16> {
  using type = float;
};
template <>
struct Accumulator<bool> {
  using type = std::int64_t;
};

// Step: Acc step(Acc acc, Acc x). kRows neighbouring rows.
template <class T, class A, int kRows, class Step>
void scan_rows(const T* x, T* y, std::int64_t n, A start, const Step& step) {
  A acc[kRows];
  for (int r = 0; r < kRows; ++r) acc[r] = start;
  for (std::int64_t i = 0; i < n; ++i) {
    for (int r = 0; r < kRows; ++r) {
      acc[r] = step(acc[r], convert<A>(x[r * n + i]));
      y[r * n + i] = convert<T>(acc[r]);
    }
  }
}
template <class T, class A, class Step>
void scan_columns(const T* x, T* y, std::int64_t n, std::int64_t stride, std::int64_t k, A start, const Step& step) {
  A acc[kColumns];
  for (std::int64_t j = 0; j < k; ++j) acc[j] = start;
  for (std::int64_t i = 0; i < n; ++i, x += stride, y += stride) {
    for (std::int64_t j = 0; j < k; ++j) {
      acc[j] = step(acc[j], convert<A>(x[j]));
      y[j] = convert<T>(acc[j]);
    }
  }
}

template <class T, class A, class Step>
void scan(const Tensor& input, const Tensor& out, std::int64_t dim, A start, const Step& step) {
  const Slices s(input.sizes(), dim);
  const T* x = input.data<T>();
  T* y = out.data<T>();
  const std::int64_t per_slice = std::max<std::int64_t>(1, s.n);
  if (s.inner == 1) {
    constexpr int together = 4;
    const std::int64_t grain = std::max<std::int64_t>(together, kGrain / per_slice / together * together);
    parallel_for(0, s.outer, grain, [&](std::int64_t b, std::int64_t e) {
      for (; b + together <= e; b += together) scan_rows<T, A, together>(x + b * s.n, y + b * s.n, s.n, start, step);
      for (; b < e; ++b) scan_rows<T, A, 1>(x + b * s.n, y + b * s.n, s.n, start, step);
    });
    return;
  }
  const std::int64_t blocks = (s.inner + kColumns - 1) / kColumns;
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain / (per_slice * std::min(s.inner, kColumns)));
  parallel_for(0, s.outer * blocks, grain, [&](std::int64_t b, std::int64_t e) {
    for (std::int64_t i = b; i < e; ++i) {
      const std::int64_t first = i % blocks * kColumns, at = i / blocks * s.n * s.inner + first;
      scan_columns<T, A>(x + at, y + at, s.n, s.inner, std::min(kColumns, s.inner - first), start, step);
    }
  });
}

Tensor cumulative(const Tensor& input, std::int64_t dim, std::optional<DType> dtype, bool product) {
  const DType result = dtype.value_or(is_integral(input.dtype(), true) ? DType::Int64 : input.dtype());
  dim = wrap_dim(dim, input.dim());
  const Tensor x = contiguous(to_dtype(input, result));
  Tensor out = empty(x.sizes(), result, x.device());
  if (x.is_meta() || x.numel() == 0) return out;
  dispatch_all(result, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = typename Accumulator<T>::type;
    if (product) {
      scan<T, A>(x, out, dim, A(1), [](A acc, A value) { return static_cast<A>(acc * value); });
    } else {
      scan<T, A>(x, out, dim, A(0), [](A acc, A value) { return static_cast<A>(acc + value); });
    }
  });
  return out;
}
Tensor cumsum(const Tensor& input, std::int64_t dim, std::optional<DType> dtype) {
  return cumulative(input, dim, dtype, false);
}
Tensor cumprod(const Tensor& input, std::int64_t dim, std::optional<DType> dtype) {
  return cumulative(input, dim, dtype, true);
}

// log(exp(a) + exp(b)) without overflow; equal infinities stay themselves.
template <class A>
A log_add_exp(A a, A b) {
  const A low = a < b ? a : b, high = a < b ? b : a;
  if (std::isnan(a) || std::isnan(b)) return a + b;
  return low == high && std::isinf(low) ? low : high + std::log1p(std::exp(low - high));
}
// high + log(1 + exp(low - high)), high having the larger real part: its imaginary part is kept unwrapped, as in
// PyTorch.
c128 log_add_exp(c128 a, c128 b) {
  if (std::isnan(a.re) || std::isnan(a.im) || std::isnan(b.re) || std::isnan(b.im)) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return {nan, nan};
  }
  const c128 low = a.re < b.re ? a : b, high = a.re < b.re ? b : a;
  if (std::isinf(low.re) && low.re == high.re) {
    if (low.re < 0) return low;
    const std::complex<double> sum =
        std::exp(std::complex<double>(a.re, a.im)) + std::exp(std::complex<double>(b.re, b.im));
    const std::complex<double> result = std::log(sum);
    return {result.real(), result.imag()};
  }
  const double scale = std::exp(low.re - high.re), turn = low.im - high.im;
  const double re = scale * std::cos(turn), im = scale == 0 ? 0 : scale * std::sin(turn);
  return {high.re + 0.5 * std::log1p(re * (2 + re) + im * im), high.im + std::atan2(im, 1 + re)};
}

Tensor logcumsumexp(const Tensor& input, std::int64_t dim) {
  if (is_integral(input.dtype(), true)) throw_bad_dtype("logcumsumexp_out_cpu", input.dtype());
  dim = wrap_dim(dim, input.dim());
  const Tensor x = contiguous(input);
  Tensor out = empty(x.sizes(), x.dtype(), x.device());
  if (x.is_meta() || x.numel() == 0) return out;
  const double lowest = -std::numeric_limits<double>::infinity();
  const auto run = [&]<class T, class A>() {
    scan<T, A>(x, out, dim, A(lowest), [](A acc, A value) { return log_add_exp(acc, value); });
  };
  switch (x.dtype()) {
    case DType::Float16: run.template operator()<Half, float>(); break;
    case DType::BFloat16: run.template operator()<BFloat16, float>(); break;
    case DType::Float32: run.template operator()<float, double>(); break;
    case DType::Float64: run.template operator()<double, double>(); break;
    case DType::Complex64: run.template operator()<c64, c128>(); break;
    default: run.template operator()<c128, c128>(); break;
  }
  return out;
}

template <class T>
bool is_nan(T value) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    const auto wide = convert<float>(value);
    return wide != wide;
  }
}
template <class T>
bool reaches(T value, T best, bool largest) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    const float a = convert<float>(value), b = convert<float>(best);
    return largest ? a >= b : a <= b;
  } else {
    return largest ? value >= best : value <= best;
  }
}

// The last of equal elements counts, and NaN stays once it came, as in PyTorch.
template <class T>
void extreme_slice(const T* x, T* values, std::int64_t* indices, std::int64_t n, std::int64_t stride, bool largest) {
  T best = x[0];
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const T value = x[i * stride];
    if (is_nan(value) || (!is_nan(best) && reaches(value, best, largest))) {
      best = value;
      at = i;
    }
    values[i * stride] = best;
    indices[i * stride] = at;
  }
}

std::tuple<Tensor, Tensor> cumulative_extreme(const char* kernel, const Tensor& input, std::int64_t dim, bool largest) {
  if (is_complex(input.dtype())) throw_bad_dtype(kernel, input.dtype());
  dim = wrap_dim(dim, input.dim());
  const Tensor x = contiguous(input);
  Tensor values = empty(x.sizes(), x.dtype(), x.device()), indices = empty(x.sizes(), DType::Int64, x.device());
  if (x.is_meta() || x.numel() == 0) return {values, indices};
  const Slices s(x.sizes(), dim);
  dispatch_all(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, c64> && !std::is_same_v<T, c128>) {
      parallel_for(0, s.outer * s.inner, std::max<std::int64_t>(1, kGrain / s.n), [&](std::int64_t b, std::int64_t e) {
        for (std::int64_t i = b; i < e; ++i) {
          const std::int64_t at = i / s.inner * s.n * s.inner + i % s.inner;
          extreme_slice(x.data<T>() + at, values.data<T>() + at, indices.data<std::int64_t>() + at, s.n, s.inner,
                        largest);
        }
      });
    }
  });
  return {values, indices};
}
std::tuple<Tensor, Tensor> cummax(const Tensor& input, std::int64_t dim) {
  return cumulative_extreme("cummax_cpu", input, dim, true);
}
std::tuple<Tensor, Tensor> cummin(const Tensor& input, std::int64_t dim) {
  return cumulative_extreme("cummin_cpu", input, dim, false);
}

const Kernel cumsum_kernel("cumsum", &cumsum);
const Kernel cumprod_kernel("cumprod", &cumprod);
const Kernel logcumsumexp_kernel("logcumsumexp", &logcumsumexp);
const Kernel cummax_kernel("cummax", &cummax);
const Kernel cummin_kernel("cummin", &cummin);

}  // namespace
}  // namespace flambeau
