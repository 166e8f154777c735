// Count, mean and sum of squared deviations, joined blockwise by Chan's formula in double.
#pragma once

#include "kernels/moments.h"
#include "kernels/tile/reduce.h"

namespace flambeau::FLAMBEAU_ISA {

inline void join(Moments& a, double count, double mean, double squares) {
  if (count == 0) return;
  const double total = a.count + count, delta = mean - a.mean;
  a.squares += squares + delta * delta * (a.count * count / total);
  a.mean = a.count == 0 ? mean : a.mean + delta * (count / total);
  a.count = total;
}
// From sums of (x - shift) and (x - shift)^2 over n elements.
inline void join_shifted(Moments& a, double n, double shift, double sum, double squares) {
  const double offset = sum / n, rest = squares - sum * offset;
  join(a, n, shift + offset, rest < 0 ? 0 : rest);
}

template <class T>
struct PlainSum {  // for fold_block
  using In = T;
  using Lane = typename LaneOf<T>::type;
  static Lane lane_identity() { return 0; }
  template <class X>
  static X map(X x) { return x; }
  template <class X>
  static X fold(X a, X b) { return a + b; }
};

template <class T>
void moments_block(const T* x, std::int64_t n, Moments& acc) noexcept {
  using L = typename LaneOf<T>::type;
  constexpr std::int64_t lanes = kLanes<L>, width = kWidth<L>;
  constexpr int regs = kRegs<L>;
  const L shift = fold_block<PlainSum<T>>(x, n) / static_cast<L>(n);
  alignas(64) L sums[lanes] = {}, squares[lanes] = {};
  std::int64_t i = 0;
  if (n >= lanes) {
    V<L> s[regs] = {}, q[regs] = {};
    for (; i + lanes <= n; i += lanes) {
#pragma GCC unroll 16
      for (int r = 0; r < regs; ++r) {
        const V<L> d = load<L>(x + i + r * width) - shift;
        s[r] += d;
        q[r] += d * d;
      }
    }
    for (int r = 0; r < regs; ++r) {
      store(sums + r * width, s[r]);
      store(squares + r * width, q[r]);
    }
  }
  for (std::int64_t t = 0; i < n; ++i, ++t) {
    const L d = load_one<L>(x[i]) - shift;
    sums[t] += d;
    squares[t] += d * d;
  }
  double sum = 0, square = 0;
  const std::int64_t used = n < lanes ? n : lanes;
  for (std::int64_t t = 0; t < used; ++t) {
    sum += static_cast<double>(sums[t]);
    square += static_cast<double>(squares[t]);
  }
  join_shifted(acc, static_cast<double>(n), static_cast<double>(shift), sum, square);
}

// A ReduceKernel's `columns`.
template <class T>
void moments_columns(const void* in, std::int64_t n, std::int64_t stride, std::int64_t k, void* acc, std::int64_t,
                      const ReduceParams&) noexcept {
  using L = typename LaneOf<T>::type;
  constexpr std::int64_t width = kWidth<L>, most = 64;
  auto* a = static_cast<Moments*>(acc);
  alignas(64) L shift[kReduceColumns], sums[kReduceColumns], squares[kReduceColumns];
  for (std::int64_t start = 0; start < n; start += most) {
    const std::int64_t rows = n - start < most ? n - start : most;
    const T* x = static_cast<const T*>(in) + start * stride;
    // The first row of the block stands in for the mean; Chan's correction below takes care of the rest.
    for (std::int64_t j = 0; j < k; ++j) {
      shift[j] = a[j].count > 0 ? static_cast<L>(a[j].mean) : load_one<L>(x[j]);
      sums[j] = squares[j] = 0;
    }
    for (std::int64_t r = 0; r < rows; ++r, x += stride) {
      std::int64_t j = 0;
      for (; j + width <= k; j += width) {
        const V<L> d = load<L>(x + j) - load<L>(shift + j);
        store(sums + j, V<L>(load<L>(sums + j) + d));
        store(squares + j, V<L>(load<L>(squares + j) + d * d));
      }
      for (; j < k; ++j) {
        const L d = load_one<L>(x[j]) - shift[j];
        sums[j] += d;
        squares[j] += d * d;
      }
    }
    for (std::int64_t j = 0; j < k; ++j) {
      join_shifted(a[j], static_cast<double>(rows), static_cast<double>(shift[j]), static_cast<double>(sums[j]),
                   static_cast<double>(squares[j]));
    }
  }
}

}  // namespace flambeau::FLAMBEAU_ISA
