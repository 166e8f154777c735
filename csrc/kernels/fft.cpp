// fft_c2c, fft_r2c, fft_c2r: transforms over any dims, one dim after the other, several lines at a time.
#include <algorithm>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/fft.h"
#include "kernels/fft_plan.h"

namespace flambeau {
namespace {

using fft::Buffer;
using fft::Plan;

constexpr std::int64_t kParallelPoints = 16384;   // points per chunk of work
constexpr std::int64_t kLargestTogether = 16384;  // points per line from which on lines go one by one: cache
constexpr std::int64_t kLargestWidth = 16;        // lanes of the widest vector
constexpr std::int64_t kSplitPoints = 64;         // points of a real spectrum made at a time

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

// Lines [first, first + count) of a tensor, transformed together as `columns` columns; columns without a line read the
// first one and write nothing.
template <class T>
struct Group {
  std::int64_t count, columns, step;
  std::int64_t offsets[kLargestWidth];  // in elements of the tensor
  bool adjacent = false;                // point i of all columns is one run of memory

  Group(const Lines& lines, std::int64_t first, std::int64_t count_, std::int64_t columns_)
      : count(count_), columns(columns_), step(lines.step) {
    adjacent = count == columns && columns == fft_loops<T>().width && step != 1;
    for (std::int64_t c = 0; c < columns; ++c) {
      offsets[c] = lines.offset(first + (c < count ? c : 0));
      adjacent = adjacent && offsets[c] == offsets[0] + c;
    }
  }
  // Complex elements of `base`, from point `from` on.
  void load(const Complex<T>* base, std::int64_t from, std::int64_t n, T* re, T* im) const {
    if (adjacent) return fft_loops<T>().load_across(&base[offsets[0] + from * step].re, step, n, re, im);
    const T* lines[kLargestWidth];
    for (std::int64_t c = 0; c < columns; ++c) lines[c] = &base[offsets[c] + from * step].re;
    fft_loops<T>().load(lines, columns, step, n, re, im);
  }
  void store(Complex<T>* base, std::int64_t from, std::int64_t n, const T* re, const T* im, T scale) const {
    if (adjacent) return fft_loops<T>().store_across(&base[offsets[0] + from * step].re, step, n, re, im, scale);
    if (count == columns) {
      T* lines[kLargestWidth];
      for (std::int64_t c = 0; c < columns; ++c) lines[c] = &base[offsets[c] + from * step].re;
      return fft_loops<T>().store(lines, columns, step, n, re, im, scale);
    }
    for (std::int64_t c = 0; c < count; ++c) {
      Complex<T>* line = base + offsets[c] + from * step;
      for (std::int64_t i = 0; i < n; ++i) line[i * step] = {re[i * columns + c] * scale, im[i * columns + c] * scale};
    }
  }
};

// Each chunk of work has its own.
template <class T>
struct WorkArea {
  Buffer<T> data, scratch;
  explicit WorkArea(std::int64_t values) {
    data.resize(values);
    scratch.resize(values, true);
  }
};

// fn(work area of points * columns values, first line, number of lines, columns) for groups of lines, over threads.
template <class T, class F>
void for_groups(std::int64_t lines, std::int64_t points, F&& fn) {
  const std::int64_t width = lines == 1 || points > kLargestTogether ? 1 : fft_loops<T>().width;
  const std::int64_t groups = (lines + width - 1) / width;
  const std::int64_t grain = std::max<std::int64_t>(1, kParallelPoints / std::max<std::int64_t>(points * width, 1));
  parallel_for(0, groups, grain, [&](std::int64_t begin, std::int64_t end) {
    WorkArea<T> area(points * width);
    for (std::int64_t group = begin; group < end; ++group)
      fn(area, group * width, std::min(width, lines - group * width), width);
  });
}

// fn(first point, points) for the pieces of a line, over threads if it is a long one.
template <class F>
void for_pieces(std::int64_t n, F&& fn) {
  parallel_for(0, n, 2 * kLargestTogether, [&](std::int64_t begin, std::int64_t end) { fn(begin, end - begin); });
}

template <class T>
void transform_dim(const Tensor& output, const Tensor& input, std::int64_t dim, bool forward, T scale) {
  const std::int64_t n = input.sizes()[dim];
  const auto plan = fft::plan_for<T>(n);
  const Lines from(input, dim), to(output, dim);
  for_groups<T>(from.count, n, [&](WorkArea<T>& area, std::int64_t first, std::int64_t count, std::int64_t columns) {
    // Real and imaginary parts change places for the inverse transform.
    const auto re = [&] { return forward ? area.data.re : area.data.im; };
    const auto im = [&] { return forward ? area.data.im : area.data.re; };
    const Group<T> source(from, first, count, columns), target(to, first, count, columns);
    for_pieces(n, [&](std::int64_t at, std::int64_t points) {
      source.load(input.data<Complex<T>>(), at, points, re() + at * columns, im() + at * columns);
    });
    plan->run(area.data, area.scratch, columns);
    for_pieces(n, [&](std::int64_t at, std::int64_t points) {
      target.store(output.data<Complex<T>>(), at, points, re() + at * columns, im() + at * columns, scale);
    });
  });
}

// Real lines of odd length, the non-redundant half of their spectrum.
template <class T>
void odd_to_half(const Tensor& output, const Tensor& input, std::int64_t dim, T scale) {
  const std::int64_t n = input.sizes()[dim], half = output.sizes()[dim];
  const auto plan = fft::plan_for<T>(n);
  const Lines from(input, dim), to(output, dim);
  for_groups<T>(from.count, n, [&](WorkArea<T>& area, std::int64_t first, std::int64_t count, std::int64_t columns) {
    const Group<T> source(from, first, count, columns);
    for (std::int64_t c = 0; c < columns; ++c) {
      const T* line = input.data<T>() + source.offsets[c];
      for (std::int64_t i = 0; i < n; ++i) {
        area.data.re[i * columns + c] = line[i * from.step];
        area.data.im[i * columns + c] = T(0);
      }
    }
    plan->run(area.data, area.scratch, columns);
    std::fill_n(area.data.im, columns, T(0));
    Group<T>(to, first, count, columns).store(output.data<Complex<T>>(), 0, half, area.data.re, area.data.im, scale);
  });
}

// Even length n = 2N: neighbours make N complex values z[i] = x[2i] + i x[2i+1]; the real spectrum comes from theirs.
template <class T>
void even_to_half(const Tensor& output, const Tensor& input, std::int64_t dim, T scale) {
  const std::int64_t n = input.sizes()[dim] / 2;
  const auto plan = fft::plan_for<T>(n);
  const Buffer<double>& turns = plan->half_turns();
  const Lines from(input, dim), to(output, dim);
  for_groups<T>(from.count, n, [&](WorkArea<T>& area, std::int64_t first, std::int64_t count, std::int64_t columns) {
    const Group<T> source(from, first, count, columns), target(to, first, count, columns);
    T *re = area.data.re, *im = area.data.im;
    const T* lines[kLargestWidth];
    for (std::int64_t c = 0; c < columns; ++c) lines[c] = input.data<T>() + source.offsets[c];
    if (from.step == 1 && columns == 1) {
      for_pieces(n, [&](std::int64_t at, std::int64_t points) {
        const T* piece = lines[0] + 2 * at;
        fft_loops<T>().load(&piece, 1, 1, points, re + at, im + at);
      });
    } else if (from.step == 1) {
      fft_loops<T>().load(lines, columns, 1, n, re, im);
    } else {
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t c = 0; c < columns; ++c) {
          re[i * columns + c] = lines[c][2 * i * from.step];
          im[i * columns + c] = lines[c][(2 * i + 1) * from.step];
        }
      }
    }
    plan->run(area.data, area.scratch, columns);
    for_pieces(n + 1, [&](std::int64_t at, std::int64_t points) {
      alignas(64) T part_re[kSplitPoints * kLargestWidth], part_im[kSplitPoints * kLargestWidth];
      for (std::int64_t begin = at; begin < at + points; begin += kSplitPoints) {
        const std::int64_t end = std::min(begin + kSplitPoints, at + points);
        fft_loops<T>().split(area.data.re, area.data.im, columns, turns.re, turns.im, n, begin, end, part_re, part_im);
        target.store(output.data<Complex<T>>(), begin, end - begin, part_re, part_im, scale / 2);
      }
    });
  });
}

// Half spectra of Hermitian lines to an odd number n of real values.
template <class T>
void half_to_odd(const Tensor& output, const Tensor& input, std::int64_t dim, T scale) {
  const std::int64_t n = output.sizes()[dim];
  const auto plan = fft::plan_for<T>(n);
  const Lines from(input, dim), to(output, dim);
  for_groups<T>(from.count, n, [&](WorkArea<T>& area, std::int64_t first, std::int64_t count, std::int64_t columns) {
    const Group<T> source(from, first, count, columns), target(to, first, count, columns);
    // Real and imaginary parts change places: the inverse transform.
    T *re = area.data.im, *im = area.data.re;
    for (std::int64_t c = 0; c < columns; ++c) {
      const auto* line = input.data<Complex<T>>() + source.offsets[c];
      re[c] = line[0].re;
      im[c] = T(0);  // the imaginary part that symmetry makes zero is not read
      for (std::int64_t k = 1; 2 * k < n; ++k) {
        const Complex<T> value = line[k * from.step];
        const std::int64_t at = k * columns + c, mirror = (n - k) * columns + c;
        re[at] = re[mirror] = value.re;
        im[at] = value.im;
        im[mirror] = -value.im;
      }
    }
    plan->run(area.data, area.scratch, columns);
    for (std::int64_t c = 0; c < count; ++c) {
      T* line = output.data<T>() + target.offsets[c];
      for (std::int64_t i = 0; i < n; ++i) line[i * to.step] = area.data.im[i * columns + c] * scale;
    }
  });
}

// Even length n = 2N, the way of even_to_half backwards.
template <class T>
void half_to_even(const Tensor& output, const Tensor& input, std::int64_t dim, T scale) {
  const std::int64_t n = output.sizes()[dim] / 2;
  const auto plan = fft::plan_for<T>(n);
  const Buffer<double>& turns = plan->half_turns();
  const Lines from(input, dim), to(output, dim);
  for_groups<T>(from.count, n, [&](WorkArea<T>& area, std::int64_t first, std::int64_t count, std::int64_t columns) {
    Buffer<T> spectrum;
    spectrum.resize((n + 1) * columns);
    Group<T>(from, first, count, columns).load(input.data<Complex<T>>(), 0, n + 1, spectrum.re, spectrum.im);
    fft_loops<T>().join(spectrum.re, spectrum.im, columns, turns.re, turns.im, n, area.data.re, area.data.im);
    plan->run(area.data, area.scratch, columns);
    const T *re = area.data.im, *im = area.data.re;
    const Group<T> target(to, first, count, columns);
    T* lines[kLargestWidth];
    for (std::int64_t c = 0; c < count; ++c) lines[c] = output.data<T>() + target.offsets[c];
    if (to.step == 1 && count == columns) return fft_loops<T>().store(lines, columns, 1, n, re, im, scale);
    for (std::int64_t c = 0; c < count; ++c) {
      for (std::int64_t i = 0; i < n; ++i) {
        lines[c][2 * i * to.step] = re[i * columns + c] * scale;
        lines[c][(2 * i + 1) * to.step] = im[i * columns + c] * scale;
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
