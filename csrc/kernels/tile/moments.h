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
  static X map(X x) {
    return x;
  }
  template <class X>
  static X fold(X a, X b) {
    return a + b;
  }
};

template <class T>
void moments_few(const T* x, std::int64_t n, Moments& acc) noexcept {
  using L = typename LaneOf<T>::type;
  const L shift = fold_few<PlainSum<T>>(x, n) / static_cast<L>(n);
  L sum = 0, square = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const L d = load_one<L>(x[i]) - shift;
    sum += d;
    square += d * d;
  }
  join_shifted(acc, static_cast<double>(n), static_cast<double>(shift), static_cast<double>(sum),
               static_cast<double>(square));
}

template <class T>
void moments_block(const T* x, std::int64_t n, Moments& acc) noexcept {
  using L = typename LaneOf<T>::type;
  constexpr std::int64_t lanes = kLanes<L>, width = kWidth<L>;
  constexpr int regs = kRegs<L>;
  if (n < lanes) return moments_few(x, n, acc);
  const L shift = fold_block<PlainSum<T>>(x, n) / static_cast<L>(n);
  V<L> sums[regs] = {}, squares[regs] = {};
  const auto step = [&](int r, V<L> value) {
    const V<L> d = value - shift;
    sums[r] += d;
    squares[r] += d * d;
  };
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
#pragma GCC unroll 16
    for (int r = 0; r < regs; ++r) step(r, load<L>(x + i + r * width));
  }
  for_tail<L>(
      i, n, [&](int r, std::int64_t at) { step(r, load<L>(x + at)); },
      [&](int r, std::int64_t at, std::int64_t count) {
        alignas(64) L buffer[width];
        for (std::int64_t t = 0; t < width; ++t)
          buffer[t] = t < count ? load_one<L>(x[at + t]) : shift;  // adds nothing
        step(r, load<L>(buffer));
      });
  const auto add = [](auto a, auto b) { return a + b; };
  const L sum = fold_registers<L>(sums, add), square = fold_registers<L>(squares, add);
  join_shifted(acc, static_cast<double>(n), static_cast<double>(shift), static_cast<double>(sum),
               static_cast<double>(square));
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
    // The block's own mean (about), as in moments_block; the rows are still in cache for the second pass.
    for (std::int64_t j = 0; j < k; ++j) shift[j] = sums[j] = squares[j] = 0;
    std::int64_t folded = 0;
    for (; folded + 8 <= rows; folded += 8) fold_rows<PlainSum<T>, 8>(x + folded * stride, stride, k, shift);
    for (; folded < rows; ++folded) fold_rows<PlainSum<T>, 1>(x + folded * stride, stride, k, shift);
    for (std::int64_t j = 0; j < k; ++j) shift[j] /= static_cast<L>(rows);
    constexpr std::int64_t together = 16;  // rows per pass over the columns' sums
    for (std::int64_t r = 0; r < rows; r += together, x += together * stride) {
      const std::int64_t count = rows - r < together ? rows - r : together;
      std::int64_t j = 0;
      for (; j + width <= k; j += width) {
        const V<L> s = load<L>(shift + j);
        V<L> sum = load<L>(sums + j), square = load<L>(squares + j);
        for (std::int64_t q = 0; q < count; ++q) {
          const V<L> d = load<L>(x + q * stride + j) - s;
          sum += d;
          square += d * d;
        }
        store(sums + j, sum);
        store(squares + j, square);
      }
      for (; j < k; ++j) {
        for (std::int64_t q = 0; q < count; ++q) {
          const L d = load_one<L>(x[q * stride + j]) - shift[j];
          sums[j] += d;
          squares[j] += d * d;
        }
      }
    }
    for (std::int64_t j = 0; j < k; ++j) {
      join_shifted(a[j], static_cast<double>(rows), static_cast<double>(shift[j]), static_cast<double>(sums[j]),
                   static_cast<double>(squares[j]));
    }
  }
}

}  // namespace flambeau::FLAMBEAU_ISA
