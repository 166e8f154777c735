#include "kernels/reflectors.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/parallel.h"
#include "kernels/lapack.h"

namespace flambeau::linalg {
namespace {

constexpr std::int64_t kBlock = 32;    // reflectors per block
constexpr std::int64_t kColumns = 64;  // columns per task

int as_int(std::int64_t n) { return static_cast<int>(n); }

// Eight partial sums: the compiler keeps the order of a plain one, and cannot vectorise it.
template <class R>
R dot(const R* x, const R* y, std::int64_t n) {
  R sums[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int k = 0; k < 8; ++k) sums[k] += x[i + k] * y[i + k];
  }
  for (; i < n; ++i) sums[0] += x[i] * y[i];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

template <class R>
double norm(const R* x, std::int64_t n) {
  double sums[4] = {};
  std::int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int k = 0; k < 4; ++k) sums[k] += static_cast<double>(x[i + k]) * static_cast<double>(x[i + k]);
  }
  for (; i < n; ++i) sums[0] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  const double total = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  if (total > 1e-280 && total < 1e280) return std::sqrt(total);
  double largest = 0;  // the squares left the range of double
  for (std::int64_t j = 0; j < n; ++j) largest = std::max(largest, std::abs(static_cast<double>(x[j])));
  if (!(largest > 0) || !std::isfinite(largest)) return std::sqrt(total);
  double scaled = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    const double ratio = static_cast<double>(x[j]) / largest;
    scaled += ratio * ratio;
  }
  return largest * std::sqrt(scaled);
}

// x becomes (beta, v) with H x = beta e_1, H = I - tau (1, v)(1, v)^T.
template <class R>
R reflect(R* x, std::int64_t n) {
  const double rest = norm(x + 1, n - 1);
  if (rest == 0) return R(0);
  const auto alpha = static_cast<double>(x[0]);
  const double beta = alpha < 0 ? std::hypot(alpha, rest) : -std::hypot(alpha, rest);
  constexpr R kTiny = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
  if (std::abs(beta) < static_cast<double>(kTiny)) {  // the divisor would have few digits
    for (std::int64_t i = 0; i < n; ++i) x[i] *= R(1) / kTiny;
    const R tau = reflect(x, n);
    x[0] *= kTiny;
    return tau;
  }
  const auto divisor = static_cast<R>(alpha - beta);
  for (std::int64_t i = 1; i < n; ++i) x[i] /= divisor;  // not times the inverse: it may overflow
  x[0] = static_cast<R>(beta);
  return static_cast<R>((beta - alpha) / beta);
}

template <class R>
void factor_panel(R* a, std::int64_t lda, std::int64_t rows, std::int64_t width, R* tau) {
  for (std::int64_t j = 0; j < width; ++j) {
    R* x = a + j * lda + j;
    const std::int64_t n = rows - j;
    tau[j] = reflect(x, n);
    if (tau[j] == R(0)) continue;
    for (std::int64_t c = j + 1; c < width; ++c) {
      R* y = a + c * lda + j;
      const R scale = tau[j] * (y[0] + dot(x + 1, y + 1, n - 1));
      y[0] -= scale;
      for (std::int64_t i = 1; i < n; ++i) y[i] -= scale * x[i];
    }
  }
}

// a points at the block's place on the diagonal.
template <class R>
ReflectorBlock<R> make_block(const R* a, std::int64_t lda, std::int64_t start, std::int64_t rows, std::int64_t width,
                             const R* tau) {
  ReflectorBlock<R> block{start, rows, width, {}, {}};
  block.v.resize(static_cast<std::size_t>(rows * width));
  block.t.resize(static_cast<std::size_t>(width * width));
  R *v = block.v.data(), *t = block.t.data();
  for (std::int64_t j = 0; j < width; ++j) {
    std::fill_n(v + j * rows, j, R(0));
    v[j * rows + j] = R(1);
    std::copy(a + j * lda + j + 1, a + j * lda + rows, v + j * rows + j + 1);
  }
  std::vector<R> gram(static_cast<std::size_t>(width * width));
  lapack::gemm<R>(true, as_int(width), as_int(width), as_int(rows), R(1), v, as_int(rows), v, as_int(rows), R(0),
                  gram.data(), as_int(width));
  // T(0:j, j) = -tau_j T(0:j, 0:j) V(:, 0:j)^T v_j
  for (std::int64_t j = 0; j < width; ++j) {
    std::fill_n(t + j * width, width, R(0));
    t[j * width + j] = tau[j];
    for (std::int64_t k = 0; k < j; ++k) {
      const R factor = -tau[j] * gram[static_cast<std::size_t>(j * width + k)];
      for (std::int64_t i = 0; i <= k; ++i) t[j * width + i] += t[k * width + i] * factor;
    }
  }
  return block;
}

// c = (I - V op(T) V^T) c for the rows of c that the block acts on, from `c` on.
template <class R>
void apply_block(const ReflectorBlock<R>& block, bool transpose, R* c, std::int64_t ldc, std::int64_t columns,
                 std::vector<R>& work) {
  const std::int64_t w = block.width;
  work.resize(static_cast<std::size_t>(2 * w * columns));
  R *first = work.data(), *second = first + w * columns;
  const int width = as_int(w), rows = as_int(block.rows), n = as_int(columns), ld = as_int(ldc);
  lapack::gemm<R>(true, width, n, rows, R(1), block.v.data(), rows, c, ld, R(0), first, width);
  lapack::gemm<R>(transpose, width, n, width, R(1), block.t.data(), width, first, width, R(0), second, width);
  lapack::gemm<R>(false, rows, n, width, R(-1), block.v.data(), rows, second, width, R(1), c, ld);
}

}  // namespace

template <class R>
std::vector<ReflectorBlock<R>> factor(R* a, std::int64_t lda, std::int64_t rows, std::int64_t columns, R* tau) {
  std::vector<ReflectorBlock<R>> blocks;
  const std::int64_t count = std::min(rows, columns);
  for (std::int64_t j = 0; j < count; j += kBlock) {
    const std::int64_t width = std::min(kBlock, count - j);
    R* corner = a + j * lda + j;
    factor_panel(corner, lda, rows - j, width, tau + j);
    blocks.push_back(make_block(corner, lda, j, rows - j, width, tau + j));
    const ReflectorBlock<R>& block = blocks.back();
    parallel_for(j + width, columns, kColumns, [&](std::int64_t begin, std::int64_t end) {
      std::vector<R> work;
      apply_block(block, true, a + begin * lda + j, lda, end - begin, work);
    });
  }
  return blocks;
}

template <class R>
std::vector<ReflectorBlock<R>> blocks_of(const R* a, std::int64_t lda, std::int64_t rows, std::int64_t count,
                                         const R* tau) {
  std::vector<ReflectorBlock<R>> blocks(static_cast<std::size_t>((count + kBlock - 1) / kBlock));
  parallel_for(0, static_cast<std::int64_t>(blocks.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t j = i * kBlock;
      blocks[static_cast<std::size_t>(i)] =
          make_block(a + j * lda + j, lda, j, rows - j, std::min(kBlock, count - j), tau + j);
    }
  });
  return blocks;
}

template <class R>
void apply(const std::vector<ReflectorBlock<R>>& blocks, R* c, std::int64_t ldc, std::int64_t columns, bool identity) {
  parallel_for(0, columns, kColumns, [&](std::int64_t begin, std::int64_t end) {
    std::vector<R> work;
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
      // Columns of the identity that end above the block's rows are zero there.
      if (identity && block->start >= end) continue;
      apply_block(*block, false, c + begin * ldc + block->start, ldc, end - begin, work);
    }
  });
}

template std::vector<ReflectorBlock<float>> factor<float>(float*, std::int64_t, std::int64_t, std::int64_t, float*);
template std::vector<ReflectorBlock<double>> factor<double>(double*, std::int64_t, std::int64_t, std::int64_t, double*);
template std::vector<ReflectorBlock<float>> blocks_of<float>(const float*, std::int64_t, std::int64_t, std::int64_t,
                                                             const float*);
template std::vector<ReflectorBlock<double>> blocks_of<double>(const double*, std::int64_t, std::int64_t, std::int64_t,
                                                               const double*);
template void apply<float>(const std::vector<ReflectorBlock<float>>&, float*, std::int64_t, std::int64_t, bool);
template void apply<double>(const std::vector<ReflectorBlock<double>>&, double*, std::int64_t, std::int64_t, bool);

}  // namespace flambeau::linalg
