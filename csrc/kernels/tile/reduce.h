// Inner loops of reductions, as templates over an Op:
//   Scalar ops (integers, bool, complex): In, Acc, identity(), step(acc, x, params), merge(acc, other)
//   Lane ops (floating): additionally Lane, lane_identity(), map(x) and fold(a, b) over vectors and scalars alike, and
//   flush(acc, lane) which adds a block's folded lanes to the accumulator.
// A float32 sum runs at most 4096 elements (rows) or 128 rows (columns) in float before it goes to a double.
#pragma once

#include "kernels/reduce.h"
#include "kernels/tile/lanes.h"

namespace flambeau::FLAMBEAU_ISA {

constexpr std::int64_t kRowBlock = 4096;
constexpr std::int64_t kColumnRows = 128;

template <class Op>
void reduce_init(void* acc, std::int64_t k) noexcept {
  auto* a = static_cast<typename Op::Acc*>(acc);
  for (std::int64_t j = 0; j < k; ++j) a[j] = Op::identity();
}
template <class Op>
void reduce_merge(void* acc, const void* other, std::int64_t k) noexcept {
  auto* a = static_cast<typename Op::Acc*>(acc);
  const auto* b = static_cast<const typename Op::Acc*>(other);
  for (std::int64_t j = 0; j < k; ++j) Op::merge(a[j], b[j]);
}
template <class Op>
void reduce_finish(const void* acc, std::int64_t k, void* out, void*, const ReduceParams& params) noexcept {
  const auto* a = static_cast<const typename Op::Acc*>(acc);
  auto* o = static_cast<typename Op::Result*>(out);
  for (std::int64_t j = 0; j < k; ++j) o[j] = Op::finish(a[j], params);
}

template <class Op>
void scalar_rows(const void* in, std::int64_t n, std::int64_t stride, std::int64_t k, std::int64_t k_stride, void* acc,
                 std::int64_t, const ReduceParams& params) noexcept {
  auto* a = static_cast<typename Op::Acc*>(acc);
  const auto* x = static_cast<const typename Op::In*>(in);
  for (std::int64_t j = 0; j < k; ++j, x += k_stride) {
    typename Op::Acc total = a[j];
    if (stride == 1) {
      for (std::int64_t i = 0; i < n; ++i) Op::step(total, x[i], params);
    } else {
      for (std::int64_t i = 0; i < n; ++i) Op::step(total, x[i * stride], params);
    }
    a[j] = total;
  }
}
template <class Op>
void scalar_columns(const void* in, std::int64_t n, std::int64_t stride, std::int64_t k, void* acc, std::int64_t,
                    const ReduceParams& params) noexcept {
  auto* a = static_cast<typename Op::Acc*>(acc);
  const auto* x = static_cast<const typename Op::In*>(in);
  for (std::int64_t i = 0; i < n; ++i, x += stride) {
    for (std::int64_t j = 0; j < k; ++j) Op::step(a[j], x[j], params);
  }
}

// fn(register, offset) for the whole vectors that are left at i, then part(register, offset, count) for the rest.
template <class L, class Whole, class Part>
inline void for_tail(std::int64_t i, std::int64_t n, Whole&& whole, Part&& part) {
  constexpr std::int64_t width = kWidth<L>;
#pragma GCC unroll 16
  for (int r = 0; r < kRegs<L>; ++r) {
    if (i + width <= n) {
      whole(r, i);
      i += width;
    } else {
      if (i < n) part(r, i, n - i);
      return;
    }
  }
}

// Fewer than kLanes elements: eight running lanes.
template <class Op>
inline typename Op::Lane fold_few(const typename Op::In* x, std::int64_t n) noexcept {
  using L = typename Op::Lane;
  constexpr int small = 8;
  if (n < small) {  // one after another, the order PyTorch adds so few in
    L total = Op::lane_identity();
    for (std::int64_t i = 0; i < n; ++i)
      total = i == 0 ? Op::map(load_one<L>(x[0])) : Op::fold(total, Op::map(load_one<L>(x[i])));
    return total;
  }
  L few[small];
  for (int s = 0; s < small; ++s) few[s] = Op::lane_identity();
  std::int64_t i = 0;
  for (; i + small <= n; i += small) {
    for (int s = 0; s < small; ++s) few[s] = Op::fold(few[s], Op::map(load_one<L>(x[i + s])));
  }
  for (int s = 0; i < n; ++i, ++s) few[s] = Op::fold(few[s], Op::map(load_one<L>(x[i])));
  for (int half = small / 2; half > 0; half /= 2) {
    for (int s = 0; s < half; ++s) few[s] = Op::fold(few[s], few[s + half]);
  }
  return few[0];
}

// One block of n <= kRowBlock neighbouring elements, folded to one lane value.
template <class Op>
typename Op::Lane fold_block(const typename Op::In* x, std::int64_t n) noexcept {
  using L = typename Op::Lane;
  constexpr std::int64_t lanes = kLanes<L>, width = kWidth<L>;
  constexpr int regs = kRegs<L>;
  if (n < lanes) return fold_few<Op>(x, n);
  V<L> acc[regs];
#pragma GCC unroll 16
  for (int r = 0; r < regs; ++r) acc[r] = Op::map(load<L>(x + r * width));
  std::int64_t i = lanes;
  for (; i + lanes <= n; i += lanes) {
#pragma GCC unroll 16
    for (int r = 0; r < regs; ++r) acc[r] = Op::fold(acc[r], Op::map(load<L>(x + i + r * width)));
  }
  for_tail<L>(
      i, n, [&](int r, std::int64_t at) { acc[r] = Op::fold(acc[r], Op::map(load<L>(x + at))); },
      [&](int r, std::int64_t at, std::int64_t count) {
        alignas(64) L buffer[width];
        store(buffer, acc[r]);
        for (std::int64_t t = 0; t < count; ++t) buffer[t] = Op::fold(buffer[t], Op::map(load_one<L>(x[at + t])));
        acc[r] = load<L>(buffer);
      });
  return fold_registers<L>(acc, [](auto a, auto b) { return Op::fold(a, b); });
}

template <class Op>
void lane_rows(const void* in, std::int64_t n, std::int64_t stride, std::int64_t k, std::int64_t k_stride, void* acc,
               std::int64_t, const ReduceParams&) noexcept {
  using L = typename Op::Lane;
  auto* a = static_cast<typename Op::Acc*>(acc);
  const auto* x = static_cast<const typename Op::In*>(in);
  for (std::int64_t j = 0; j < k; ++j, x += k_stride) {
    if (stride == 1) {
      for (std::int64_t i = 0; i < n; i += kRowBlock) {
        Op::flush(a[j], fold_block<Op>(x + i, n - i < kRowBlock ? n - i : kRowBlock));
      }
      continue;
    }
    for (std::int64_t i = 0; i < n;) {
      const std::int64_t stop = n - i < kColumnRows ? n : i + kColumnRows;
      L total = Op::map(load_one<L>(x[i * stride]));
      for (++i; i < stop; ++i) total = Op::fold(total, Op::map(load_one<L>(x[i * stride])));
      Op::flush(a[j], total);
    }
  }
}

// tile[j] = fold over `count` (1 or 8) rows; the eight are folded pairwise.
template <class Op, int kCount>
void fold_rows(const typename Op::In* x, std::int64_t stride, std::int64_t k, typename Op::Lane* tile) noexcept {
  using L = typename Op::Lane;
  constexpr std::int64_t width = kWidth<L>;
  const auto sum = [&]<class T>(auto&& get) {
    if constexpr (kCount == 1) {
      return T(Op::map(get(0)));
    } else {
      const T a = Op::fold(Op::map(get(0)), Op::map(get(1))), b = Op::fold(Op::map(get(2)), Op::map(get(3)));
      const T c = Op::fold(Op::map(get(4)), Op::map(get(5))), d = Op::fold(Op::map(get(6)), Op::map(get(7)));
      return T(Op::fold(Op::fold(a, b), Op::fold(c, d)));
    }
  };
  std::int64_t j = 0;
  for (; j + width <= k; j += width) {
    const V<L> value = sum.template operator()<V<L>>([&](std::int64_t r) { return load<L>(x + r * stride + j); });
    store(tile + j, V<L>(Op::fold(load<L>(tile + j), value)));
  }
  for (; j < k; ++j) {
    tile[j] =
        Op::fold(tile[j], sum.template operator()<L>([&](std::int64_t r) { return load_one<L>(x[r * stride + j]); }));
  }
}

template <class Op>
void lane_columns(const void* in, std::int64_t n, std::int64_t stride, std::int64_t k, void* acc, std::int64_t,
                  const ReduceParams&) noexcept {
  using L = typename Op::Lane;
  auto* a = static_cast<typename Op::Acc*>(acc);
  const auto* x = static_cast<const typename Op::In*>(in);
  alignas(64) L tile[kReduceColumns];
  for (std::int64_t i = 0; i < n; i += kColumnRows) {
    const std::int64_t rows = n - i < kColumnRows ? n - i : kColumnRows;
    for (std::int64_t j = 0; j < k; ++j) tile[j] = Op::lane_identity();
    std::int64_t r = 0;
    for (; r + 8 <= rows; r += 8) fold_rows<Op, 8>(x + (i + r) * stride, stride, k, tile);
    for (; r < rows; ++r) fold_rows<Op, 1>(x + (i + r) * stride, stride, k, tile);
    for (std::int64_t j = 0; j < k; ++j) Op::flush(a[j], tile[j]);
  }
}

template <class Op>
const ReduceKernel* scalar_kernel() {
  static constexpr ReduceKernel kernel{sizeof(typename Op::Acc), &reduce_init<Op>,  &scalar_rows<Op>,
                                       &scalar_columns<Op>,      &reduce_merge<Op>, &reduce_finish<Op>};
  return &kernel;
}
template <class Op>
const ReduceKernel* lane_kernel() {
  static constexpr ReduceKernel kernel{sizeof(typename Op::Acc), &reduce_init<Op>,  &lane_rows<Op>,
                                       &lane_columns<Op>,        &reduce_merge<Op>, &reduce_finish<Op>};
  return &kernel;
}

// The accumulating type of a sum, the lane type of a floating element, and what the elements of a bool tensor are read
// as.
template <class T>
struct Wide {
  using type = std::int64_t;
};
template <>
struct Wide<Half> {
  using type = double;
};
template <>
struct Wide<BFloat16> {
  using type = double;
};
template <>
struct Wide<float> {
  using type = double;
};
template <>
struct Wide<double> {
  using type = double;
};
template <>
struct Wide<c64> {
  using type = c128;
};
template <>
struct Wide<c128> {
  using type = c128;
};
template <class T>
struct LaneOf {
  using type = T;
};
template <>
struct LaneOf<Half> {
  using type = float;
};
template <>
struct LaneOf<BFloat16> {
  using type = float;
};

}  // namespace flambeau::FLAMBEAU_ISA
