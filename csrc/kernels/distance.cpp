// cdist: distances between the rows of two matrices (or batches of them), directly or by a matrix product.
//   cdist_rows        (sum over k of |x1[i, k] - x2[j, k]|^p)^(1/p)
//   cdist_rows_grad   its gradient in x1
//   pdist_rows        the pairs i < j of one matrix
//   cdist_euclidean   sqrt(|x1[i]|^2 + |x2[j]|^2 - 2 x1[i] . x2[j]): fewer operations, but it cancels for near rows
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/copy.h"
#include "core/elementwise.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/distance_tile.h"
#include "kernels/gemm.h"
#include "kernels/scratch.h"

namespace flambeau {
namespace {

template <class T>
const DistanceTile<T>* g_tile = nullptr;
int g_level = -1;

struct Shape {
  std::int64_t batch = 1, m, n, d;
};

Shape shape_of(const char* op, const Tensor& x1, const Tensor& x2) {
  check(x1.dtype() == x2.dtype(), op, ": expected x1 and x2 of the same dtype, got ", name_of(x1.dtype()), " and ",
        name_of(x2.dtype()), ". Convert one of them.");
  const std::int64_t dims = x1.dim();
  check(dims >= 2 && x2.dim() == dims && x1.sizes()[dims - 1] == x2.sizes()[dims - 1] &&
            x1.sizes().subspan(0, dims - 2) == x2.sizes().subspan(0, dims - 2),
        op, ": expected x1 (*, m, d) and x2 (*, n, d) with equal leading sizes, got ", x1.sizes(), " and ", x2.sizes());
  Shape s{1, x1.sizes()[dims - 2], x2.sizes()[dims - 2], x1.sizes()[dims - 1]};
  for (std::int64_t i = 0; i < dims - 2; ++i) s.batch *= x1.sizes()[i];
  return s;
}

Tensor empty_result(const Tensor& x1, const Shape& s, DType dtype) {
  Dims sizes(x1.sizes());
  sizes[sizes.size() - 2] = s.m;
  sizes[sizes.size() - 1] = s.n;
  return empty(sizes, dtype, x1.device());
}

constexpr double kWork = 131072;  // differences per task
std::int64_t grain_of(double work) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(kWork / std::max(1.0, work)));
}
double work_of(std::int64_t rows, const Shape& s) {
  return static_cast<double>(rows) * static_cast<double>(s.n) * static_cast<double>(std::max<std::int64_t>(1, s.d));
}

Distance kind_of(double p) {
  if (p == 0) return Distance::Count;
  if (p == 1) return Distance::Sum;
  if (p == 2) return Distance::Euclidean;
  if (p == std::numeric_limits<double>::infinity()) return Distance::Largest;
  return p == std::floor(p) && p < 64 ? Distance::Whole : Distance::Real;
}

template <class T>
void run_rows(const Shape& s, Distance kind, const T* x1, const T* x2, T* out, double p) {
  const DistanceTile<T>& tile = *g_tile<T>;
  const std::int64_t padded = (s.n + tile.width - 1) / tile.width * tile.width,
                     groups = (s.m + kDistanceRows - 1) / kDistanceRows;
  parallel_for(0, s.batch, grain_of(work_of(s.m, s)), [&](std::int64_t begin, std::int64_t end) {
    Scratch<T> panels(padded * s.d);
    for (std::int64_t b = begin; b < end; ++b) {
      tile.pack(panels.data(), x2 + b * s.n * s.d, s.n, s.d);
      parallel_for(0, groups, grain_of(work_of(kDistanceRows, s)), [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t group = from; group < to; ++group) {
          const std::int64_t i = group * kDistanceRows, rows = std::min(kDistanceRows, s.m - i);
          tile.rows(kind, out + (b * s.m + i) * s.n, s.n, x1 + (b * s.m + i) * s.d, rows, panels.data(), s.n, s.d, p);
        }
      });
    }
  });
}

Tensor cdist_rows(const Tensor& x1, const Tensor& x2, double p) {
  const Shape s = shape_of("cdist", x1, x2);
  check(p >= 0, "cdist only supports non-negative p values, got ", p);
  const Distance kind = kind_of(p);
  const DType dtype = x1.dtype(), compute = kind == Distance::Real ? DType::Float64 : compute_dtype(dtype);
  Tensor result = empty_result(x1, s, compute);
  if (!result.is_meta() && result.numel() != 0) {
    const Tensor a = contiguous(to_dtype(x1, compute)), b = contiguous(to_dtype(x2, compute));
    dispatch_floating("cdist", compute, [&](auto tag) {
      using T = typename decltype(tag)::type;
      run_rows(s, kind, a.data<T>(), b.data<T>(), result.data<T>(), p);
    });
  }
  return dtype == compute ? result : result.is_meta() ? empty_result(x1, s, dtype) : to_dtype(result, dtype);
}

// The pairs i < j of cdist_rows(x, x, p), row by row.
template <class T>
void run_pairs(std::int64_t n, std::int64_t d, Distance kind, const T* x, T* out, double p) {
  const DistanceTile<T>& tile = *g_tile<T>;
  Scratch<T> panels((n + tile.width - 1) / tile.width * tile.width * d);
  tile.pack(panels.data(), x, n, d);
  const std::int64_t groups = (n + kDistanceRows - 1) / kDistanceRows;
  parallel_for(0, groups, grain_of(work_of(kDistanceRows, {1, n, n, d})), [&](std::int64_t begin, std::int64_t end) {
    Scratch<T> lines(kDistanceRows * n);
    for (std::int64_t group = begin; group < end; ++group) {
      const std::int64_t first = group * kDistanceRows, rows = std::min(kDistanceRows, n - first);
      const std::int64_t from = first / tile.width * tile.width, count = n - from;
      tile.rows(kind, lines.data(), count, x + first * d, rows, panels.data() + from * d, count, d, p);
      for (std::int64_t i = first; i < first + rows; ++i) {
        const T* line = lines.data() + (i - first) * count - from;
        std::copy(line + i + 1, line + n, out + i * (2 * n - i - 1) / 2);
      }
    }
  });
}

Tensor pdist_rows(const Tensor& input, double p) {
  check(input.dim() == 2 && p >= 0, "pdist: expected a matrix and a non-negative p, got shape ", input.sizes(), " and ",
        p);
  const std::int64_t n = input.sizes()[0], d = input.sizes()[1];
  const Distance kind = kind_of(p);
  const DType dtype = input.dtype(), compute = kind == Distance::Real ? DType::Float64 : compute_dtype(dtype);
  Tensor result = empty({n < 2 ? 0 : n * (n - 1) / 2}, input.is_meta() ? dtype : compute, input.device());
  if (result.is_meta() || result.numel() == 0) return to_dtype(result, dtype);
  const Tensor x = contiguous(to_dtype(input, compute));
  dispatch_floating("pdist", compute, [&](auto tag) {
    using T = typename decltype(tag)::type;
    run_pairs(n, d, kind, x.data<T>(), result.data<T>(), p);
  });
  return dtype == compute ? result : to_dtype(result, dtype);
}

// Of sum(grad * cdist_rows(x1, x2, p)) by x1; distance is that cdist_rows.
Tensor cdist_rows_grad(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p, const Tensor& distance) {
  const Shape s = shape_of("cdist", x1, x2);
  check(grad.sizes() == distance.sizes() && grad.numel() == s.batch * s.m * s.n && grad.dtype() == x1.dtype() &&
            distance.dtype() == x1.dtype(),
        "cdist_rows_grad: expected grad and distance of shape (*, ", s.m, ", ", s.n, "), got ", grad.sizes(), " and ",
        distance.sizes());
  const Distance kind = kind_of(p);
  const DType dtype = x1.dtype(), compute = kind == Distance::Real ? DType::Float64 : compute_dtype(dtype);
  Tensor result = empty(x1.sizes(), x1.is_meta() ? dtype : compute, x1.device());
  if (result.is_meta() || result.numel() == 0) return result;
  const auto ready = [&](const Tensor& t) { return contiguous(to_dtype(t, compute)); };
  const Tensor a = ready(x1), b = ready(x2), g = ready(grad), far = ready(distance);
  dispatch_floating("cdist", compute, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(0, s.batch * s.m, grain_of(work_of(1, s)), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        g_tile<T>->slope(kind, result.data<T>() + i * s.d, a.data<T>() + i * s.d, b.data<T>() + i / s.m * s.n * s.d,
                         g.data<T>() + i * s.n, far.data<T>() + i * s.n, s.n, s.d, p);
      }
    });
  });
  return dtype == compute ? result : to_dtype(result, dtype);
}

template <class T>
void square_norms(const T* x, std::int64_t rows, std::int64_t d, T* out) {
  for (std::int64_t i = 0; i < rows; ++i) {
    T lanes[8] = {};
    std::int64_t k = 0;
    for (; k + 8 <= d; k += 8) {
      for (std::int64_t lane = 0; lane < 8; ++lane) lanes[lane] += x[i * d + k + lane] * x[i * d + k + lane];
    }
    for (; k < d; ++k) lanes[k % 8] += x[i * d + k] * x[i * d + k];
    out[i] = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
  }
}

template <class T>
void run_euclidean(const Shape& s, const T* x1, const T* x2, T* out) {
  parallel_for(0, s.batch, grain_of(work_of(s.m, s) / 16), [&](std::int64_t begin, std::int64_t end) {
    Scratch<T> norms(s.m + s.n);
    for (std::int64_t b = begin; b < end; ++b) {
      const T *x = x1 + b * s.m * s.d, *y = x2 + b * s.n * s.d;
      T* target = out + b * s.m * s.n;
      square_norms(x, s.m, s.d, norms.data());
      square_norms(y, s.n, s.d, norms.data() + s.m);
      gemm(Gemm<T>{s.m, s.n, s.d, x, s.d, 1, y, 1, s.d, target, s.n, T(-2), false, norms.data() + s.m});
      parallel_for(0, s.m, std::max<std::int64_t>(1, 32768 / s.n), [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t i = from; i < to; ++i) g_tile<T>->root(target + i * s.n, s.n, norms[i]);
      });
    }
  });
}

Tensor cdist_euclidean(const Tensor& x1, const Tensor& x2) {
  const Shape s = shape_of("cdist", x1, x2);
  const DType dtype = x1.dtype(), compute = compute_dtype(dtype);
  Tensor result = empty_result(x1, s, compute);
  if (!result.is_meta() && result.numel() != 0) {
    const Tensor a = contiguous(to_dtype(x1, compute)), b = contiguous(to_dtype(x2, compute));
    dispatch_floating("cdist", compute, [&](auto tag) {
      using T = typename decltype(tag)::type;
      run_euclidean(s, a.data<T>(), b.data<T>(), result.data<T>());
    });
  }
  return dtype == compute ? result : result.is_meta() ? empty_result(x1, s, dtype) : to_dtype(result, dtype);
}

const Kernel cdist_rows_kernel("cdist_rows", &cdist_rows);
const Kernel pdist_rows_kernel("pdist_rows", &pdist_rows);
const Kernel cdist_rows_grad_kernel("cdist_rows_grad", &cdist_rows_grad);
const Kernel cdist_euclidean_kernel("cdist_euclidean", &cdist_euclidean);

}  // namespace

DistanceTileEntry::DistanceTileEntry(int level, const DistanceTile<float>* f32,
                                     const DistanceTile<double>* f64) noexcept {
  if (level > static_cast<int>(cpu_level()) || level <= g_level) return;
  g_level = level;
  g_tile<float> = f32;
  g_tile<double> = f64;
}

}  // namespace flambeau
