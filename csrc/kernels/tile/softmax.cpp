// Softmax inner loops: see kernels/softmax.h. float16 and bfloat16 are read and written at the edges only.
#include "kernels/softmax.h"

#include <cmath>

#include "kernels/level_table.h"
#include "kernels/tile/lane_math.h"
#include "kernels/tile/reduce.h"
#include "kernels/tile/sweep.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

constexpr std::int64_t kColumns = 1024;
constexpr std::int64_t kRowsOfBlock = 32;  // rows of a column block that are passed over twice while in cache

template <class T>
struct MaxOp {
  using In = T;
  using Lane = typename LaneOf<T>::type;
  static Lane lane_identity() { return -static_cast<Lane>(__builtin_inf()); }
  template <class X>
  static X map(X x) {
    return x;
  }
  template <class X>
  static X fold(X a, X b) {
    return ((b > a) | (b != b)) ? b : a;
  }
};
template <class Op>
typename Op::Lane fold_all(const typename Op::In* x, std::int64_t n) {
  typename Op::Lane total = fold_block<Op>(x, n < kRowBlock ? n : kRowBlock);
  for (std::int64_t i = kRowBlock; i < n; i += kRowBlock) {
    total = Op::fold(total, fold_block<Op>(x + i, n - i < kRowBlock ? n - i : kRowBlock));
  }
  return total;
}

// Largest element, or 0 if that is infinite: exp(x - 0) then gives the right limits.
template <class L>
inline L finite_shift(L maximum) {
  return std::isinf(maximum) ? L(0) : maximum;
}

// sum(exp(x - shift)), blockwise in double; stores the exponentials if `out` is given.
template <class T, bool kStore>
double sum_exp(const T* x, T* out, std::int64_t n, typename LaneOf<T>::type shift) {
  using L = typename LaneOf<T>::type;
  double total = 0;
  for (std::int64_t start = 0; start < n; start += kRowBlock) {
    const std::int64_t m = n - start < kRowBlock ? n - start : kRowBlock;
    const T* p = x + start;
    V<L> acc[4] = {};
    L rest = 0;
    std::int64_t i = 0;
    constexpr int w = kWidth<L>;
    const auto step = [&](int r, std::int64_t at) {
      const V<L> e = exp<L>(load<L>(p + at) - shift);
      if constexpr (kStore) store_vec<T, L>(out + start + at, e);
      acc[r] += e;
    };
    for (; i + 4 * w <= m; i += 4 * w) {
      for (int r = 0; r < 4; ++r) step(r, i + r * w);
    }
    for (; i + w <= m; i += w) step(0, i);
    for (; i < m; ++i) {
      const L e = exp_one<L>(load_one<L>(p[i]) - shift);
      if constexpr (kStore) out[start + i] = store_one<T>(e);
      rest += e;
    }
    const V<L> folded = (acc[0] + acc[1]) + (acc[2] + acc[3]);
    total += static_cast<double>(rest) + static_cast<double>(sum_lanes<L>(folded));
  }
  return total;
}

template <class T>
void softmax_rows(const void* in, void* out, std::int64_t n, std::int64_t count, bool log) noexcept {
  using L = typename LaneOf<T>::type;
  for (std::int64_t row = 0; row < count; ++row) {
    const T* x = static_cast<const T*>(in) + row * n;
    T* y = static_cast<T*>(out) + row * n;
    const L maximum = fold_all<MaxOp<T>>(x, n);
    if (log) {
      const double total = sum_exp<T, false>(x, nullptr, n, maximum);
      const L logarithm = static_cast<L>(std::log(total));
      sweep<L>(n, [&](std::int64_t i, auto vector) {
        if constexpr (decltype(vector)::value) {
          store_vec<T, L>(y + i, load<L>(x + i) - maximum - logarithm);
        } else {
          y[i] = store_one<T>(load_one<L>(x[i]) - maximum - logarithm);
        }
      });
    } else if constexpr (std::is_same_v<T, L>) {
      const L scale = static_cast<L>(1 / sum_exp<T, true>(x, y, n, maximum));
      sweep<L>(n, [&](std::int64_t i, auto vector) {
        if constexpr (decltype(vector)::value) {
          store(y + i, V<L>(load<L>(y + i) * scale));
        } else {
          y[i] *= scale;
        }
      });
    } else {
      const L scale = static_cast<L>(1 / sum_exp<T, false>(x, nullptr, n, maximum));
      sweep<L>(n, [&](std::int64_t i, auto vector) {
        if constexpr (decltype(vector)::value) {
          store_vec<T, L>(y + i, exp<L>(load<L>(x + i) - maximum) * scale);
        } else {
          y[i] = store_one<T>(exp_one<L>(load_one<L>(x[i]) - maximum) * scale);
        }
      });
    }
  }
}

template <class T>
void logsumexp_rows(const void* in, void* out, std::int64_t n, std::int64_t count) noexcept {
  using L = typename LaneOf<T>::type;
  for (std::int64_t row = 0; row < count; ++row) {
    const T* x = static_cast<const T*>(in) + row * n;
    L result = -static_cast<L>(__builtin_inf());
    if (n > 0) {
      const L shift = finite_shift(fold_all<MaxOp<T>>(x, n));
      result = static_cast<L>(std::log(sum_exp<T, false>(x, nullptr, n, shift))) + shift;
    }
    static_cast<T*>(out)[row] = store_one<T>(result);
  }
}

// Column maxima and sums in one reading: blocks of rows, with the sum rescaled when a block raises the maximum.
template <class T>
void column_statistics(const T* x, std::int64_t n, std::int64_t stride, std::int64_t k,
                       typename LaneOf<T>::type* maximum, double* total) {
  using L = typename LaneOf<T>::type;
  alignas(64) L block_max[kColumns], sums[kColumns];
  for (std::int64_t j = 0; j < k; ++j) {
    maximum[j] = MaxOp<T>::lane_identity();
    total[j] = 0;
  }
  for (std::int64_t start = 0; start < n; start += kRowsOfBlock) {
    const std::int64_t rows = n - start < kRowsOfBlock ? n - start : kRowsOfBlock;
    const T* block = x + start * stride;
    for (std::int64_t j = 0; j < k; ++j) {
      block_max[j] = maximum[j];
      sums[j] = 0;
    }
    for (std::int64_t r = 0; r < rows; ++r) fold_rows<MaxOp<T>, 1>(block + r * stride, stride, k, block_max);
    for (std::int64_t r = 0; r < rows; ++r) {
      const T* row = block + r * stride;
      sweep<L>(k, [&](std::int64_t j, auto vector) {
        if constexpr (decltype(vector)::value) {
          store(sums + j, V<L>(load<L>(sums + j) + exp<L>(load<L>(row + j) - load<L>(block_max + j))));
        } else {
          sums[j] += exp_one<L>(load_one<L>(row[j]) - block_max[j]);
        }
      });
    }
    for (std::int64_t j = 0; j < k; ++j) {
      const double kept = total[j] == 0 ? 0 : total[j] * static_cast<double>(exp_one<L>(maximum[j] - block_max[j]));
      total[j] = kept + static_cast<double>(sums[j]);
      maximum[j] = block_max[j];
    }
    // A column of -inf so far has sum NaN (inf - inf): count it as nothing unless it stays so to the end.
    for (std::int64_t j = 0; j < k; ++j) {
      if (maximum[j] == MaxOp<T>::lane_identity() && start + rows < n) total[j] = 0;
    }
  }
}

template <class T>
void softmax_columns(const void* in, void* out, std::int64_t n, std::int64_t stride, std::int64_t k,
                     bool log) noexcept {
  using L = typename LaneOf<T>::type;
  const T* x = static_cast<const T*>(in);
  T* y = static_cast<T*>(out);
  alignas(64) L maximum[kColumns], factor[kColumns];
  alignas(64) double total[kColumns];
  column_statistics(x, n, stride, k, maximum, total);
  for (std::int64_t j = 0; j < k; ++j) factor[j] = static_cast<L>(log ? std::log(total[j]) : 1 / total[j]);
  for (std::int64_t i = 0; i < n; ++i, x += stride, y += stride) {
    sweep<L>(k, [&](std::int64_t j, auto vector) {
      if constexpr (decltype(vector)::value) {
        const V<L> shifted = load<L>(x + j) - load<L>(maximum + j), f = load<L>(factor + j);
        store_vec<T, L>(y + j, log ? shifted - f : exp<L>(shifted) * f);
      } else {
        const L shifted = load_one<L>(x[j]) - maximum[j];
        y[j] = store_one<T>(log ? shifted - factor[j] : exp_one<L>(shifted) * factor[j]);
      }
    });
  }
}

// sum(dy * y) or, for log_softmax, sum(dy), over one row.
template <class T, bool kLog>
double backward_sum(const T* grad, const T* result, std::int64_t n) {
  using L = typename LaneOf<T>::type;
  double total = 0;
  for (std::int64_t start = 0; start < n; start += kRowBlock) {
    const std::int64_t m = n - start < kRowBlock ? n - start : kRowBlock;
    const T *g = grad + start, *y = result + start;
    constexpr int w = kWidth<L>;
    V<L> acc[4] = {};
    L rest = 0;
    std::int64_t i = 0;
    const auto step = [&](int r, std::int64_t at) {
      V<L> value = load<L>(g + at);
      if constexpr (!kLog) value *= load<L>(y + at);
      acc[r] += value;
    };
    for (; i + 4 * w <= m; i += 4 * w) {
      for (int r = 0; r < 4; ++r) step(r, i + r * w);
    }
    for (; i + w <= m; i += w) step(0, i);
    for (; i < m; ++i) {
      L value = load_one<L>(g[i]);
      if constexpr (!kLog) value *= load_one<L>(y[i]);
      rest += value;
    }
    const V<L> folded = (acc[0] + acc[1]) + (acc[2] + acc[3]);
    total += static_cast<double>(rest) + static_cast<double>(sum_lanes<L>(folded));
  }
  return total;
}

template <class L, class X>
inline X backward_value(X grad, X result, X total, bool log) {
  if constexpr (std::is_same_v<X, L>) {
    return log ? grad - exp_one<L>(result) * total : result * (grad - total);
  } else {
    return log ? grad - exp<L>(result) * total : result * (grad - total);
  }
}

template <class T>
void softmax_rows_backward(const void* grad, const void* result, void* out, std::int64_t n, std::int64_t count,
                           bool log) noexcept {
  using L = typename LaneOf<T>::type;
  for (std::int64_t row = 0; row < count; ++row) {
    const T* g = static_cast<const T*>(grad) + row * n;
    const T* y = static_cast<const T*>(result) + row * n;
    T* dx = static_cast<T*>(out) + row * n;
    const L total = static_cast<L>(log ? backward_sum<T, true>(g, y, n) : backward_sum<T, false>(g, y, n));
    sweep<L>(n, [&](std::int64_t i, auto vector) {
      if constexpr (decltype(vector)::value) {
        store_vec<T, L>(dx + i, backward_value<L>(load<L>(g + i), load<L>(y + i), splat(total), log));
      } else {
        dx[i] = store_one<T>(backward_value<L>(load_one<L>(g[i]), load_one<L>(y[i]), total, log));
      }
    });
  }
}

template <class T>
void softmax_columns_backward(const void* grad, const void* result, void* out, std::int64_t n, std::int64_t stride,
                              std::int64_t k, bool log) noexcept {
  using L = typename LaneOf<T>::type;
  const T* g = static_cast<const T*>(grad);
  const T* y = static_cast<const T*>(result);
  T* dx = static_cast<T*>(out);
  alignas(64) L sums[kColumns] = {}, part[kColumns];
  for (std::int64_t start = 0; start < n; start += kColumnRows) {
    const std::int64_t rows = n - start < kColumnRows ? n - start : kColumnRows;
    for (std::int64_t j = 0; j < k; ++j) part[j] = 0;
    for (std::int64_t i = start; i < start + rows; ++i) {
      for (std::int64_t j = 0; j < k; ++j) {
        const L value = load_one<L>(g[i * stride + j]);
        part[j] += log ? value : value * load_one<L>(y[i * stride + j]);
      }
    }
    for (std::int64_t j = 0; j < k; ++j) sums[j] += part[j];
  }
  for (std::int64_t i = 0; i < n; ++i) {
    const T* grad_row = g + i * stride;
    const T* row = y + i * stride;
    T* to = dx + i * stride;
    sweep<L>(k, [&](std::int64_t j, auto vector) {
      if constexpr (decltype(vector)::value) {
        store_vec<T, L>(to + j, backward_value<L>(load<L>(grad_row + j), load<L>(row + j), load<L>(sums + j), log));
      } else {
        to[j] = store_one<T>(backward_value<L>(load_one<L>(grad_row[j]), load_one<L>(row[j]), sums[j], log));
      }
    });
  }
}

template <class T>
void add() {
  static constexpr SoftmaxTable table{&softmax_rows<T>, &softmax_columns<T>, &softmax_rows_backward<T>,
                                      &softmax_columns_backward<T>, &logsumexp_rows<T>};
  add_table(TableId::Softmax, dtype_of<T>, &table, kLevel);
}

[[maybe_unused]] const bool added = [] {
  add<Half>();
  add<BFloat16>();
  add<float>();
  add<double>();
  return true;
}();

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
