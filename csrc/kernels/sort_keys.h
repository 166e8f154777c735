// Sorting keys: every real dtype maps to an unsigned integer of its size whose order is PyTorch's (-0 equals 0, every
// NaN is the largest). Rows are sorted as (key, position) pairs, by insertion when short and by radix otherwise, so the
// order of equal elements is kept.
#pragma once

#include <cstring>
#include <vector>

#include "core/dtype.h"

namespace flambeau {

template <class T> struct KeyType;
template <> struct KeyType<bool> { using type = std::uint8_t; };
template <> struct KeyType<std::uint8_t> { using type = std::uint8_t; };
template <> struct KeyType<std::int8_t> { using type = std::uint8_t; };
template <> struct KeyType<std::int16_t> { using type = std::uint16_t; };
template <> struct KeyType<Half> { using type = std::uint16_t; };
template <> struct KeyType<BFloat16> { using type = std::uint16_t; };
template <> struct KeyType<std::int32_t> { using type = std::uint32_t; };
template <> struct KeyType<float> { using type = std::uint32_t; };
template <> struct KeyType<std::int64_t> { using type = std::uint64_t; };
template <> struct KeyType<double> { using type = std::uint64_t; };
template <class T> using Key = typename KeyType<T>::type;

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
    constexpr int mantissa = std::is_same_v<T, double> ? 52 : std::is_same_v<T, float> ? 23 : std::is_same_v<T, Half> ? 10 : 7;
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

template <class K>
struct SortBuffers {
  std::vector<K> keys, other_keys;
  std::vector<std::uint32_t> order, other_order;
  explicit SortBuffers(std::int64_t n)
      : keys(static_cast<std::size_t>(n)), other_keys(keys.size()), order(keys.size()), other_order(keys.size()) {}

  // Sorts keys[0, n), with order[i] = i before: order becomes the permutation.
  void sort(std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(i);
    if (n <= kShort) {
      insertion(n);
    } else {
      radix(n);
    }
  }

 private:
  static constexpr std::int64_t kShort = 48;
  void insertion(std::int64_t n) {
    K* k = keys.data();
    std::uint32_t* o = order.data();
    for (std::int64_t i = 1; i < n; ++i) {
      const K key = k[i];
      const std::uint32_t position = o[i];
      std::int64_t j = i;
      for (; j > 0 && k[j - 1] > key; --j) {
        k[j] = k[j - 1];
        o[j] = o[j - 1];
      }
      k[j] = key;
      o[j] = position;
    }
  }
  void radix(std::int64_t n) {
    constexpr int passes = sizeof(K);
    std::uint32_t counts[passes][256] = {};
    for (std::int64_t i = 0; i < n; ++i) {
      const K key = keys[static_cast<std::size_t>(i)];
      for (int p = 0; p < passes; ++p) ++counts[p][(key >> (8 * p)) & 0xff];
    }
    for (int p = 0; p < passes; ++p) {
      std::uint32_t* count = counts[p];
      // A digit that all keys share needs no pass: common for integers of a small range.
      if (count[(keys[0] >> (8 * p)) & 0xff] == static_cast<std::uint32_t>(n)) continue;
      std::uint32_t next = 0;
      for (int d = 0; d < 256; ++d) {
        const std::uint32_t here = count[d];
        count[d] = next;
        next += here;
      }
      const K* k = keys.data();
      const std::uint32_t* o = order.data();
      K* to_k = other_keys.data();
      std::uint32_t* to_o = other_order.data();
      for (std::int64_t i = 0; i < n; ++i) {
        const std::uint32_t at = count[(k[i] >> (8 * p)) & 0xff]++;
        to_k[at] = k[i];
        to_o[at] = o[i];
      }
      keys.swap(other_keys);
      order.swap(other_order);
    }
  }
};

}  // namespace flambeau
