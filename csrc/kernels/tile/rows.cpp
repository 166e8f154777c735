// Inner loops over rows of a table and over index lists: see kernels/row_table.h.
#include "kernels/row_table.h"

#include "kernels/tile/sweep.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

template <class T>
struct LaneOf {
  using type = float;
};
template <>
struct LaneOf<double> {
  using type = double;
};
template <class T>
using Lane = typename LaneOf<T>::type;

constexpr std::int64_t kAhead = 16;  // rows asked for before their turn: they lie anywhere in the table

// kVectors vectors of columns from `column` on, held in registers over the whole bag.
template <class T, int kVectors, bool kFactors>
void sum_columns(const Bag& bag, std::int64_t column, Lane<T> share, T* out) {
  using L = Lane<T>;
  constexpr int w = kWidth<L>;
  const T* table = static_cast<const T*>(bag.table) + column;
  const T* factors = static_cast<const T*>(bag.factors);
  const std::int64_t* rows = bag.rows;
  const std::int64_t stride = bag.stride, padding = bag.padding, count = bag.count;
  const std::int64_t fetching = bag.readable - kAhead < count ? bag.readable - kAhead : count;
  V<L> sums[kVectors] = {};
  const auto add_row = [&](std::int64_t i) [[gnu::always_inline]] {
    if (rows[i] == padding) return;
    const T* row = table + rows[i] * stride;
    const V<L> factor = splat<L>(kFactors ? load_one<L>(factors[i]) : L(1));
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const V<L> value = load<L>(row + v * w);
      sums[v] += kFactors ? value * factor : value;
    }
  };
  std::int64_t i = 0;
  for (; i < fetching; ++i) {
    const T* next = table + rows[i + kAhead] * stride;
#pragma GCC unroll 8
    for (int byte = 0; byte < kVectors * w * static_cast<int>(sizeof(T)); byte += 64)
      __builtin_prefetch(reinterpret_cast<const char*>(next) + byte);
    add_row(i);
  }
  for (; i < count; ++i) add_row(i);
  T* to = out + column;
  if (share == L(1)) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) store_vec<T, L>(to + v * w, sums[v]);
  } else {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) store_vec<T, L>(to + v * w, sums[v] / splat<L>(share));
  }
}

template <class T, bool kFactors>
void sum_bag_of(const Bag& bag, Lane<T> share, T* out) {
  using L = Lane<T>;
  constexpr std::int64_t w = kWidth<L>;
  const T* factors = static_cast<const T*>(bag.factors);
  std::int64_t column = 0;
  for (; column + 8 * w <= bag.width; column += 8 * w) sum_columns<T, 8, kFactors>(bag, column, share, out);
  if (column + 4 * w <= bag.width) {
    sum_columns<T, 4, kFactors>(bag, column, share, out);
    column += 4 * w;
  }
  if (column + 2 * w <= bag.width) {
    sum_columns<T, 2, kFactors>(bag, column, share, out);
    column += 2 * w;
  }
  for (; column + w <= bag.width; column += w) sum_columns<T, 1, kFactors>(bag, column, share, out);
  // The columns left over share one vector's worth of sums.
  const std::int64_t rest = bag.width - column;
  if (rest == 0) return;
  L sums[w] = {};
  for (std::int64_t i = 0; i < bag.count; ++i) {
    if (bag.rows[i] == bag.padding) continue;
    const T* row = static_cast<const T*>(bag.table) + column + bag.rows[i] * bag.stride;
    const L factor = kFactors ? load_one<L>(factors[i]) : L(1);
    for (std::int64_t k = 0; k < rest; ++k) {
      const L value = load_one<L>(row[k]);
      sums[k] += kFactors ? value * factor : value;
    }
  }
  for (std::int64_t k = 0; k < rest; ++k) out[column + k] = store_one<T>(sums[k] / share);
}

template <class T>
void sum_bag(const Bag& bag, void* out) noexcept {
  std::int64_t kept = 0;
  if (bag.mean) {
    for (std::int64_t i = 0; i < bag.count; ++i) kept += bag.rows[i] != bag.padding ? 1 : 0;
  }
  const auto share = static_cast<Lane<T>>(kept == 0 ? 1 : kept);
  if (bag.factors != nullptr)
    sum_bag_of<T, true>(bag, share, static_cast<T*>(out));
  else
    sum_bag_of<T, false>(bag, share, static_cast<T*>(out));
}

template <class T>
void add_rows(void* to, std::int64_t to_stride, const void* from, std::int64_t from_stride, const std::int64_t* index,
              std::int64_t n, std::int64_t width, std::int64_t padding) noexcept {
  const auto* x = static_cast<const T*>(from);
  const std::int64_t bytes = width * static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t i = 0; i < n; ++i, x += from_stride) {
    if (i + kAhead < n) {
      const char* source = reinterpret_cast<const char*>(x + kAhead * from_stride);
      const char* target = reinterpret_cast<const char*>(static_cast<const T*>(to) + index[i + kAhead] * to_stride);
      for (std::int64_t byte = 0; byte < bytes && byte < 512; byte += 64) {
        __builtin_prefetch(source + byte);
        __builtin_prefetch(target + byte, 1);
      }
    }
    if (index[i] == padding) continue;
    T* y = static_cast<T*>(to) + index[i] * to_stride;
    apply<Lane<T>>(width, [&](auto get, auto keep) { keep(y, get(y) + get(x)); });
  }
}

bool in_range(const std::int64_t* index, std::int64_t n, std::int64_t limit) noexcept {
  std::uint64_t outside = 0;  // sign bits: no branch per element, and no unsigned comparison, which few levels have
  for (std::int64_t i = 0; i < n; ++i) {
    const auto value = static_cast<std::uint64_t>(index[i]);
    outside |= value | (static_cast<std::uint64_t>(limit) - 1 - value);
  }
  return static_cast<std::int64_t>(outside) >= 0;
}

bool constant(const std::int64_t* index, std::int64_t n) noexcept {
  std::int64_t differs = 0;
  for (std::int64_t i = 1; i < n; ++i) differs |= index[i] ^ index[0];
  return differs == 0;
}

[[gnu::always_inline]] inline void copy_row(char* to, const char* from, std::int64_t bytes) {
  using Block = V<std::int32_t>;
  constexpr std::int64_t size = sizeof(Block);
  if (bytes < size) {
    for (std::int64_t i = 0; i < bytes; ++i) to[i] = from[i];
    return;
  }
  Block block;
  for (std::int64_t i = 0; i + size <= bytes; i += size) {
    __builtin_memcpy(&block, from + i, size);
    __builtin_memcpy(to + i, &block, size);
  }
  if (bytes % size == 0) return;
  __builtin_memcpy(&block, from + bytes - size, size);  // overlaps what is there already
  __builtin_memcpy(to + bytes - size, &block, size);
}

void copy_rows(void* out, const void* table, std::int64_t stride, const std::int64_t* index, std::int64_t n,
               std::int64_t bytes) noexcept {
  char* to = static_cast<char*>(out);
  const char* from = static_cast<const char*>(table);
  for (std::int64_t i = 0; i < n; ++i, to += bytes) {
    if (i + kAhead < n) {
      const char* next = from + index[i + kAhead] * stride;
      for (std::int64_t byte = 0; byte < bytes && byte < 1024; byte += 64) __builtin_prefetch(next + byte);
    }
    copy_row(to, from + index[i] * stride, bytes);
  }
}

template <class T>
void add_rows_of() {
  static constexpr RowTable table{&sum_bag<T>, &add_rows<T>};
  add_table(TableId::Rows, dtype_of<T>, &table, kLevel);
}

[[maybe_unused]] const bool added = [] {
  add_rows_of<Half>();
  add_rows_of<BFloat16>();
  add_rows_of<float>();
  add_rows_of<double>();
  static constexpr IndexTable indices{&in_range, &constant, &copy_rows};
  add_table(TableId::Rows, DType::Int64, &indices, kLevel);
  return true;
}();

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
