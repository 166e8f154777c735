// fft_c2c, fft_r2c, fft_c2r: transforms over any dims, one dim after the other, several lines at a time.
#include "kernels/fft.h"

#include <algorithm>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/fft_plan.h"

namespace flambeau {
namespace {

using fft::Buffer;
using fft::Plan;

constexpr std::int64_t kColumns = 8;             // lines transformed together
constexpr std::int64_t kParallelPoints = 16384;  // points per chunk of work

// The lines of a tensor along one dim.
struct Lines {
  Dims sizes, strides;  // of the other dims
  std::int64_t count = 1, step;

  Lines(const Tensor& tensor, std::int64_t dim) : step(tensor.strides()[dim]) {
    for (std::int64_t d = 0; d < tensor.dim(); ++d) {
      if (d == dim) continue;
      sizes.push_back(tensor.sizes()[d]);
      strides.push_back(tensor.strides()[d]);
      count *= tensor.sizes()[d];
    }
  }
  [[nodiscard]] std::int64_t offset(std::int64_t line) const {
    std::int64_t at = 0;
    for (std::int64_t d = sizes.size() - 1; d >= 0; --d) {
      at += line % sizes[d] * strides[d];
      line /= sizes[d];
    }
    return at;
  }
};

// fn(first line, number of lines) for groups of lines, over threads.
template <class F>
void for_groups(std::int64_t lines, std::int64_t points, F&& fn) {
  const std::int64_t groups = (lines + kColumns - 1) / kColumns;
  const std::int64_t grain = std::max<std::int64_t>(1, kParallelPoints / std::max<std::int64_t>(points * kColumns, 1));
  parallel_for(0, groups, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t group = begin; group < end; ++group) {
      const std::int64_t from = group * kColumns;
      fn(from, std::min(kColumns, lines - from));
    }
  });
}

template <class T>
void transform_dim(const Tensor& output, const Tensor& input, std::int64_t dim, bool forward, T scale) {
  const std::int64_t n = input.sizes()[dim];
  const auto plan = fft::plan_for<T>(n);
  const Lines from(input, dim), to(output, dim);
  for_groups(from.count, n, [&](std::int64_t first, std::int64_t columns) {
    thread_local Buffer<T> data, scratch;
    data.resize(n * columns);
    auto& re = forward ? data.re : data.im;
    auto& im = forward ? data.im : data.re;
    for (std::int64_t c = 0; c < columns; ++c) {
      const auto* source = input.data<Complex<T>>() + from.offset(first + c);
      for (std::int64_t i = 0; i < n; ++i) {
        re[static_cast<std::size_t>(i * columns + c)] = source[i * from.step].re;
        im[static_cast<std::size_t>(i * columns + c)] = source[i * from.step].im;
      }
    }
    plan->run(data, scratch, columns);
    for (std::int64_t c = 0; c < columns; ++c) {
      auto* target = output.data<Complex<T>>() + to.offset(first + c);
      for (std::int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i * columns + c);
        target[i * to.step] = {re[at] * scale, im[at] * scale};
      }
    }
  });
}

// Real lines of odd length, the non-redundant half of their spectrum.
template <class T>
void odd_to_half(const Tensor& output, const Tensor& input, std::int64_t dim, T scale) {
  const std::int64_t n = input.sizes()[dim], half = output.sizes()[dim];
  const auto plan = fft::plan_for<T>(n);
  const Lines from(input, dim), to(output, dim);
  for_groups(from.count, n, [&](std::int64_t first, std::int64_t columns) {
    thread_local Buffer<T> data, scratch;
    data.resize(n * columns);
    for (std::int64_t c = 0; c < columns; ++c) {
      const T* source = input.data<T>() + from.offset(first + c);
      for (std::int64_t i = 0; i < n; ++i) {
        data.re[static_cast<std::size_t>(i * columns + c)] = source[i * from.step];
        data.im[static_cast<std::size_t>(i * columns + c)] = T(0);
      }
    }
    plan->run(data, scratch, columns);
    for (std::int64_t c = 0; c < columns; ++c) {
      auto* target = output.data<Complex<T>>() + to.offset(first + c);
      for (std::int64_t k = 0; k < half; ++k) {
        const auto at = static_cast<std::size_t>(k * columns + c);
        target[k * to.step] = {data.re[at] * scale, k == 0 ? T(0) : data.im[at] * scale};
      }
    }
  });
}

// Even length n = 2N: neighbours make N complex values z[i] = x[2i] + i x[2i+1] with spectrum Z, and
//   2 X[k] = Z[k] + conj(Z[N-k]) - i exp(-2 pi i k / n) (Z[k] - conj(Z[N-k]))
template <class T>
void even_to_half(const Tensor& output, const Tensor& input, std::int64_t dim, T scale) {
  const std::int64_t n = input.sizes()[dim] / 2;
  const auto plan = fft::plan_for<T>(n);
  const Buffer<double>& turns = plan->half_turns();
  const Lines from(input, dim), to(output, dim);
  const double halved = static_cast<double>(scale) / 2;
  for_groups(from.count, n, [&](std::int64_t first, std::int64_t columns) {
    thread_local Buffer<T> data, scratch;
    data.resize(n * columns);
    for (std::int64_t c = 0; c < columns; ++c) {
      const T* source = input.data<T>() + from.offset(first + c);
      for (std::int64_t i = 0; i < n; ++i) {
        data.re[static_cast<std::size_t>(i * columns + c)] = source[2 * i * from.step];
        data.im[static_cast<std::size_t>(i * columns + c)] = source[(2 * i + 1) * from.step];
      }
    }
    plan->run(data, scratch, columns);
    for (std::int64_t c = 0; c < columns; ++c) {
      auto* target = output.data<Complex<T>>() + to.offset(first + c);
      for (std::int64_t k = 0; k <= n; ++k) {
        const auto at = static_cast<std::size_t>((k == n ? 0 : k) * columns + c);
        const auto mirror = static_cast<std::size_t>((k == 0 ? 0 : n - k) * columns + c);
        const double re = data.re[at], im = data.im[at], mirror_re = data.re[mirror], mirror_im = data.im[mirror];
        const double odd_re = im + mirror_im, odd_im = mirror_re - re;
        const double w_re = turns.re[static_cast<std::size_t>(k)], w_im = turns.im[static_cast<std::size_t>(k)];
        const bool real = k == 0 || k == n;
        target[k * to.step] = {static_cast<T>((re + mirror_re + w_re * odd_re - w_im * odd_im) * halved),
                               real ? T(0) : static_cast<T>((im - mirror_im + w_re * odd_im + w_im * odd_re) * halved)};
      }
    }
  });
}

// Half spectra of Hermitian lines to an odd number n of real values.
template <class T>
void half_to_odd(const Tensor& output, const Tensor& input, std::int64_t dim, T scale) {
  const std::int64_t n = output.sizes()[dim];
  const auto plan = fft::plan_for<T>(n);
  const Lines from(input, dim), to(output, dim);
  for_groups(from.count, n, [&](std::int64_t first, std::int64_t columns) {
    thread_local Buffer<T> data, scratch;
    data.resize(n * columns);
    // Real and imaginary parts change places: the inverse transform.
    for (std::int64_t c = 0; c < columns; ++c) {
      const auto* source = input.data<Complex<T>>() + from.offset(first + c);
      data.im[static_cast<std::size_t>(c)] = source[0].re;
      data.re[static_cast<std::size_t>(c)] = T(0);  // the imaginary part that symmetry makes zero is not read
      for (std::int64_t k = 1; 2 * k < n; ++k) {
        const Complex<T> value = source[k * from.step];
        const auto at = static_cast<std::size_t>(k * columns + c);
        const auto mirror = static_cast<std::size_t>((n - k) * columns + c);
        data.im[at] = data.im[mirror] = value.re;
        data.re[at] = value.im;
        data.re[mirror] = -value.im;
      }
    }
    plan->run(data, scratch, columns);
    for (std::int64_t c = 0; c < columns; ++c) {
      T* target = output.data<T>() + to.offset(first + c);
      for (std::int64_t i = 0; i < n; ++i)
        target[i * to.step] = data.im[static_cast<std::size_t>(i * columns + c)] * scale;
    }
  });
}

// Even length n = 2N, the way of even_to_half backwards: z[i] = x[2i] + i x[2i+1] is the inverse transform of
//   Z[k] = X[k] + conj(X[N-k]) + i exp(2 pi i k / n) (X[k] - conj(X[N-k]))
template <class T>
void half_to_even(const Tensor& output, const Tensor& input, std::int64_t dim, T scale) {
  const std::int64_t n = output.sizes()[dim] / 2;
  const auto plan = fft::plan_for<T>(n);
  const Buffer<double>& turns = plan->half_turns();
  const Lines from(input, dim), to(output, dim);
  for_groups(from.count, n, [&](std::int64_t first, std::int64_t columns) {
    thread_local Buffer<T> data, scratch;
    data.resize(n * columns);
    for (std::int64_t c = 0; c < columns; ++c) {
      const auto* source = input.data<Complex<T>>() + from.offset(first + c);
      for (std::int64_t k = 0; k < n; ++k) {
        c128 a(source[k * from.step]), b(source[(n - k) * from.step]);
        if (k == 0) a.im = b.im = 0;  // symmetry makes them zero; not read
        const double odd_re = a.re - b.re, odd_im = a.im + b.im;
        const double w_re = turns.re[static_cast<std::size_t>(k)], w_im = -turns.im[static_cast<std::size_t>(k)];
        const auto at = static_cast<std::size_t>(k * columns + c);
        // Swapped for the inverse transform.
        data.im[at] = static_cast<T>(a.re + b.re - (w_re * odd_im + w_im * odd_re));
        data.re[at] = static_cast<T>(a.im - b.im + (w_re * odd_re - w_im * odd_im));
      }
    }
    plan->run(data, scratch, columns);
    for (std::int64_t c = 0; c < columns; ++c) {
      T* target = output.data<T>() + to.offset(first + c);
      for (std::int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i * columns + c);
        target[2 * i * to.step] = data.im[at] * scale;
        target[(2 * i + 1) * to.step] = data.re[at] * scale;
      }
    }
  });
}

Dims checked_dims(const Tensor& input, IntSpan dim, const char* op) {
  Dims dims;
  for (std::int64_t d : dim) {
    const std::int64_t wrapped = wrap_dim(d, input.dim());
    check(std::find(dims.begin(), dims.end(), wrapped) == dims.end(), ErrorKind::Runtime, op,
          ": FFT dims must be unique, got ", dim);
    dims.push_back(wrapped);
  }
  for (std::int64_t d : dims) {
    check(input.dim() > 0 && input.sizes()[d] > 0, ErrorKind::Runtime, op, ": Invalid number of data points (",
          input.dim() > 0 ? input.sizes()[d] : 0, ") specified");
  }
  return dims;
}

template <class F>
void dispatch_complex(const char* op, DType dtype, F&& fn) {
  if (dtype == DType::Complex64) return fn(TypeTag<float>{});
  if (dtype == DType::Complex128) return fn(TypeTag<double>{});
  throw_bad_dtype(op, dtype);
}

Tensor fft_c2c(const Tensor& input, IntSpan dim, double scale, bool forward) {
  check(is_complex(input.dtype()), ErrorKind::Runtime, "fft_c2c: expected a complex input, got ",
        name_of(input.dtype()));
  const Dims dims = checked_dims(input, dim, "fft_c2c");
  const Tensor result = empty(input.sizes(), input.dtype(), input.device());
  if (result.is_meta() || result.numel() == 0) return result;
  if (dims.empty()) {
    copy_into(result, input);
    return result;
  }
  dispatch_complex("fft_c2c", input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    // The last dim first; from then on in place.
    for (std::int64_t i = dims.size() - 1; i >= 0; --i) {
      const bool first = i == dims.size() - 1;
      transform_dim<T>(result, first ? input : result, dims[i], forward, first ? static_cast<T>(scale) : T(1));
    }
  });
  return result;
}

Tensor fft_r2c(const Tensor& input, std::int64_t dim, double scale) {
  check(is_floating(input.dtype()), ErrorKind::Runtime, "fft_r2c: expected a real floating-point input, got ",
        name_of(input.dtype()));
  const std::int64_t d = checked_dims(input, IntSpan(&dim, 1), "fft_r2c")[0];
  Dims sizes(input.sizes());
  sizes[d] = sizes[d] / 2 + 1;
  const Tensor result = empty(sizes, to_complex(input.dtype()), input.device());
  if (result.is_meta() || result.numel() == 0) return result;
  dispatch_complex("fft_r2c", result.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto transform = input.sizes()[d] % 2 == 0 ? &even_to_half<T> : &odd_to_half<T>;
    transform(result, to_dtype(input, to_real(result.dtype())), d,
              static_cast<T>(scale));  // half types compute in float
  });
  return result;
}

Tensor fft_c2r(const Tensor& input, std::int64_t dim, std::int64_t n, double scale) {
  check(is_complex(input.dtype()), ErrorKind::Runtime, "fft_c2r: expected a complex input, got ",
        name_of(input.dtype()));
  const std::int64_t d = checked_dims(input, IntSpan(&dim, 1), "fft_c2r")[0];
  check(n > 0, ErrorKind::Runtime, "fft_c2r: Invalid number of data points (", n, ") specified");
  check(input.sizes()[d] >= n / 2 + 1, ErrorKind::Runtime, "fft_c2r: expected at least ", n / 2 + 1, " points in dim ",
        d, ", got ", input.sizes()[d]);
  Dims sizes(input.sizes());
  sizes[d] = n;
  const Tensor result = empty(sizes, to_real(input.dtype()), input.device());
  if (result.is_meta() || result.numel() == 0) return result;
  dispatch_complex("fft_c2r", input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto transform = n % 2 == 0 ? &half_to_even<T> : &half_to_odd<T>;
    transform(result, input, d, static_cast<T>(scale));
  });
  return result;
}

const Kernel fft_c2c_kernel("fft_c2c", &fft_c2c);
const Kernel fft_r2c_kernel("fft_r2c", &fft_r2c);
const Kernel fft_c2r_kernel("fft_c2r", &fft_c2r);

}  // namespace
}  // namespace flambeau
