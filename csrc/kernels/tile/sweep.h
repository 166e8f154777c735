// One loop for vectors and the elements that are left over.
#pragma once

#include "kernels/tile/lanes.h"

namespace flambeau::FLAMBEAU_ISA {

template <class T, class L>
inline void store_vec(T* p, V<L> value) {
  if constexpr (std::is_same_v<T, L>) {
    store(p, value);
  } else {
    alignas(64) L lanes[kWidth<L>];
    store(lanes, value);
    for (int i = 0; i < kWidth<L>; ++i) p[i] = store_one<T>(lanes[i]);
  }
}

// fn over vectors, then over the elements that are left: for (i) out[i] = fn(in[i]...)
template <class L, class F>
inline void sweep(std::int64_t n, F&& fn) {
  std::int64_t i = 0;
  for (; i + kWidth<L> <= n; i += kWidth<L>) fn(i, std::true_type{});
  for (; i < n; ++i) fn(i, std::false_type{});
}

// fn(i, load) over a run, where load(p) is a vector or an element at p + i, and keep(p, value) stores it:
//   apply<float>(n, [&](auto load, auto keep) { keep(y, load(x) * 2); });
template <class L, class F>
inline void apply(std::int64_t n, F&& fn) {
  std::int64_t i = 0;
  for (; i + kWidth<L> <= n; i += kWidth<L>) {
    fn([i](const auto* p) { return flambeau::FLAMBEAU_ISA::load<L>(p + i); },
       [i](auto* p, V<L> value) { store_vec<std::remove_reference_t<decltype(*p)>, L>(p + i, value); });
  }
  for (; i < n; ++i) {
    fn([i](const auto* p) { return load_one<L>(p[i]); },
       [i](auto* p, L value) { p[i] = store_one<std::remove_reference_t<decltype(*p)>>(value); });
  }
}

}  // namespace flambeau::FLAMBEAU_ISA
