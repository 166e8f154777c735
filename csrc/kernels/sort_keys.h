// Sorting keys: every real dtype maps to an unsigned integer of its size whose order is PyTorch's (-0 equals 0, every
// NaN is the largest). Rows are sorted as (key, position) pairs, by insertion when short and by radix otherwise, so the
// order of equal elements is kept.
#pragma once

#include <cstring>

#include "core/dtype.h"
#include "kernels/scratch_buffer.h"

namespace flambeau {

template <class T>
struct KeyType;
template <>
struct KeyType<bool> {
  using type = std::uint8_t;
};
template <>
struct KeyType<std::uint8_t> {
  using type = std::uint8_t;
};
template <>
struct KeyType<std::int8_t> {
  using type = std::uint8_t;
};
template <>
struct KeyType<std::int16_t> {
  using type = std::uint16_t;
};
template <>
struct KeyType<Half> {
  using type = std::uint16_t;
};
template <>
struct KeyType<BFloat16> {
  using type = std::uint16_t;
};
template <>
struct KeyType<std::int32_t> {
  using type = std::uint32_t;
};
template <>
struct KeyType<float> {
  using type = std::uint32_t;
};
template <>
struct KeyType<std::int64_t> {
  using type = std::uint64_t;
};
template <>
struct KeyType<double> {
  using type = std::uint64_t;
};
template <class T>
using Key = typename KeyType<T>::type;

template <class T>
inline Key<T> key_of(T value) {
  using K = Key<T>;
  constexpr K top = static_cast<K>(K(1) << (sizeof(K) * 8 - 1));
  K bits;
  std::memcpy(&bits, &value, sizeof(K));
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::uint8_t>) {
    return bits;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<K>(bits ^ top);
  } else {
    constexpr int mantissa = std::is_same_v<T, double>  ? 52
                             : std::is_same_v<T, float> ? 23
                             : std::is_same_v<T, Half>  ? 10
                                                        : 7;
    constexpr K infinity = static_cast<K>((top >> mantissa) - 1) << mantissa;
    const K magnitude = static_cast<K>(bits & ~top);
    if (magnitude > infinity) return static_cast<K>(~K(0));
    if (magnitude == 0) return top;
    return static_cast<K>(bits & top ? ~bits : bits | top);
  }
}

// Descending order is the ascending order of inverted keys.
template <class T>
inline Key<T> key_of(T value, bool descending) {
  const Key<T> key = key_of(value);
  return descending ? static_cast<Key<T>>(~key) : key;
}

// The element that `key` was made of (descending keys inverted back). Integers only: floats lose NaN bits and -0.
template <class T>
inline T value_of_key(Key<T> key) {
  using K = Key<T>;
  constexpr bool is_unsigned = std::is_same_v<T, bool> || std::is_same_v<T, std::uint8_t>;
  const K bits = is_unsigned ? key : static_cast<K>(key ^ static_cast<K>(K(1) << (sizeof(K) * 8 - 1)));
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

// Sorts one row: fill keys()[0, n), call sort(n), read order(i) and key(i). Keys whose range fits 32 bits are packed
// with their position into one word, (key - smallest) << 32 | position, so that a pass moves one array.
template <class K>
class RowSorter {
 public:
  explicit RowSorter(std::int64_t n) : keys_(n) {}
  K* keys() { return keys_.data(); }
  void sort(std::int64_t n);
  [[nodiscard]] std::uint32_t order(std::int64_t i) const {
    return packed_ ? static_cast<std::uint32_t>(items_[i]) : order_[i];
  }
  [[nodiscard]] K key(std::int64_t i) const {
    return packed_ ? static_cast<K>(static_cast<K>(items_[i] >> 32) + smallest_) : keys_[i];
  }

 private:
  void sort_wide(std::int64_t n);
  ScratchBuffer<K> keys_, other_keys_;
  ScratchBuffer<std::uint64_t> items_, other_items_;
  ScratchBuffer<std::uint32_t> order_, other_order_;
  K smallest_ = 0;
  bool packed_ = true;
};

// Sorts `items` by bits [32, 32 + bits), keeping the order of equal ones; `scratch` has the same size.
void sort_packed(ScratchBuffer<std::uint64_t>& items, ScratchBuffer<std::uint64_t>& scratch, std::int64_t n, int bits);

template <class K>
void RowSorter<K>::sort(std::int64_t n) {
  K low = static_cast<K>(~K(0)), high = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    low = keys_[i] < low ? keys_[i] : low;
    high = keys_[i] > high ? keys_[i] : high;
  }
  smallest_ = low;
  const std::uint64_t range = n == 0 ? 0 : static_cast<std::uint64_t>(static_cast<K>(high - low));
  packed_ = range >> 32 == 0;
  if (!packed_) return sort_wide(n);
  items_.resize(keys_.size());
  for (std::int64_t i = 0; i < n; ++i) {
    const auto offset = static_cast<std::uint64_t>(static_cast<K>(keys_[i] - low));
    items_[i] = offset << 32 | static_cast<std::uint64_t>(i);
  }
  sort_packed(items_, other_items_, n, range == 0 ? 0 : 64 - __builtin_clzll(range));
}

// 64-bit keys of a wide range: keys and positions in arrays of their own, eight bits a pass.
template <class K>
void RowSorter<K>::sort_wide(std::int64_t n) {
  constexpr int passes = sizeof(K);
  other_keys_.resize(keys_.size());
  order_.resize(keys_.size());
  other_order_.resize(keys_.size());
  for (std::int64_t i = 0; i < n; ++i) order_[i] = static_cast<std::uint32_t>(i);
  std::uint32_t counts[passes][256] = {};
  for (std::int64_t i = 0; i < n; ++i) {
    const K key = keys_[i];
    for (int p = 0; p < passes; ++p) ++counts[p][(key >> (8 * p)) & 0xff];
  }
  for (int p = 0; p < passes; ++p) {
    std::uint32_t* count = counts[p];
    // A digit that all keys share needs no pass.
    if (count[(keys_[0] >> (8 * p)) & 0xff] == static_cast<std::uint32_t>(n)) continue;
    std::uint32_t next = 0;
    for (int d = 0; d < 256; ++d) {
      const std::uint32_t here = count[d];
      count[d] = next;
      next += here;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const K key = keys_[i];
      const std::uint32_t at = count[(key >> (8 * p)) & 0xff]++;
      other_keys_[at] = key;
      other_order_[at] = order_[i];
    }
    keys_.swap(other_keys_);
    order_.swap(other_order_);
  }
}

}  // namespace flambeau
