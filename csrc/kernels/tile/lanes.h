// Vectors for reductions: a fixed number of lanes on every CPU level, so that sums come out bit-identical on all of
// them. A block is always 256 bytes of the accumulating type, held in as many registers as the level needs. Written
// with the compiler's vector extension; the templates live in the level's namespace, so no level's code is shared.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "core/dtype.h"
#include "simd/vec.h"

namespace flambeau::FLAMBEAU_ISA {

template <class T>
struct VecType {
  typedef T type __attribute__((vector_size(FLAMBEAU_VEC_BYTES)));
  typedef T loose __attribute__((vector_size(FLAMBEAU_VEC_BYTES), aligned(alignof(T)), may_alias));
};
template <class T>
using V = typename VecType<T>::type;
template <class T>
inline constexpr int kWidth = FLAMBEAU_VEC_BYTES / static_cast<int>(sizeof(T));
template <class T>
inline constexpr int kLanes = 256 / static_cast<int>(sizeof(T));
template <class T>
inline constexpr int kRegs = 256 / FLAMBEAU_VEC_BYTES;
// N elements of From, as many as a vector of To has: the source of a widening load.
template <class From, class To>
struct Narrow {
  typedef From type __attribute__((vector_size(sizeof(From) * kWidth<To>), aligned(alignof(From)), may_alias));
};

template <class T>
inline V<T> splat(T value) {
  return V<T>{} + value;
}

inline float half_to_float(std::uint16_t bits) {
  const std::uint32_t magnitude = std::uint32_t(bits & 0x7fffU) << 13;
  std::uint32_t word;
  float value;
  std::memcpy(&value, &magnitude, 4);
  value *= 0x1p112F;  // exact; subnormals become normal
  std::memcpy(&word, &value, 4);
  if ((bits & 0x7c00U) == 0x7c00U) word |= 0x7f800000U;
  word |= std::uint32_t(bits & 0x8000U) << 16;
  std::memcpy(&value, &word, 4);
  return value;
}
inline float bfloat16_to_float(std::uint16_t bits) {
  const std::uint32_t word = std::uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &word, 4);
  return value;
}

// Loads kWidth<L> elements of In as L.
template <class L, class In>
inline V<L> load(const In* p) {
  if constexpr (sizeof(L) == sizeof(In) && !std::is_same_v<In, Half>) {
    return *reinterpret_cast<const typename VecType<L>::loose*>(p);
  } else if constexpr (std::is_same_v<In, BFloat16>) {
    const auto bits = *reinterpret_cast<const typename Narrow<std::uint16_t, float>::type*>(p);
    const V<std::uint32_t> word = __builtin_convertvector(bits, V<std::uint32_t>) << 16;
    return reinterpret_cast<V<float>>(word);
  } else if constexpr (std::is_same_v<In, Half>) {
    const auto bits = *reinterpret_cast<const typename Narrow<std::uint16_t, float>::type*>(p);
    const V<std::uint32_t> wide = __builtin_convertvector(bits, V<std::uint32_t>);
    const V<float> value = reinterpret_cast<V<float>>((wide & 0x7fffU) << 13) * 0x1p112F;
    V<std::uint32_t> word = reinterpret_cast<V<std::uint32_t>>(value);
    const auto special = (wide & 0x7c00U) == 0x7c00U;
    word |= reinterpret_cast<V<std::uint32_t>>(special) & 0x7f800000U;
    return reinterpret_cast<V<float>>(word | ((wide & 0x8000U) << 16));
  } else {
    return __builtin_convertvector(*reinterpret_cast<const typename Narrow<In, L>::type*>(p), V<L>);
  }
}
template <class L>
inline void store(L* p, V<L> value) {
  *reinterpret_cast<typename VecType<L>::loose*>(p) = value;
}

template <int kShift, class T, int... I>
inline V<T> rotate_lanes(V<T> value, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(value, value, ((I + kShift) % kWidth<T>)...);
}
// fold(a, b) over lanes i and i + half, half the width first: the tree is the same on every CPU level.
template <class T, int kHalf = kWidth<T> / 2, class Fold>
inline T fold_lanes(V<T> value, Fold&& fold) {
  if constexpr (kHalf == 0) {
    return value[0];
  } else {
    const V<T> other = rotate_lanes<kHalf, T>(value, std::make_integer_sequence<int, kWidth<T>>{});
    return fold_lanes<T, kHalf / 2>(V<T>(fold(value, other)), fold);
  }
}
template <class T, class Fold>
inline T fold_registers(V<T> (&acc)[kRegs<T>], Fold&& fold) {
  for (int half = kRegs<T> / 2; half > 0; half /= 2) {
    for (int r = 0; r < half; ++r) acc[r] = fold(acc[r], acc[r + half]);
  }
  return fold_lanes<T>(acc[0], fold);
}
template <class T>
inline T sum_lanes(V<T> value) {
  return fold_lanes<T>(value, [](auto a, auto b) { return a + b; });
}

// One element as the accumulating type.
template <class L, class In>
inline L load_one(In value) {
  if constexpr (std::is_same_v<In, Half>) {
    return half_to_float(value.bits);
  } else if constexpr (std::is_same_v<In, BFloat16>) {
    return bfloat16_to_float(value.bits);
  } else {
    return static_cast<L>(value);
  }
}
// float -> 16-bit formats, round to nearest even.
inline std::uint16_t float_to_bfloat16(float value) {
  std::uint32_t word;
  std::memcpy(&word, &value, 4);
  if ((word & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>((word >> 16) | 0x40U);
  return static_cast<std::uint16_t>((word + 0x7fffU + ((word >> 16) & 1U)) >> 16);
}
inline std::uint16_t float_to_half(float value) {
  std::uint32_t word;
  std::memcpy(&word, &value, 4);
  const std::uint32_t sign = (word >> 16) & 0x8000U;
  word &= 0x7fffffffU;
  std::uint32_t subnormal;
  float magnitude;
  std::memcpy(&magnitude, &word, 4);
  magnitude += 0.5F;  // float addition rounds a subnormal half
  std::memcpy(&subnormal, &magnitude, 4);
  std::uint32_t bits = (word + 0xc8000fffU + ((word >> 13) & 1U)) >> 13;
  bits = word < 0x38800000U ? subnormal - 0x3f000000U : bits;
  bits = word >= 0x477ff000U ? 0x7c00U : bits;
  bits = word > 0x7f800000U ? 0x7e00U : bits;
  return static_cast<std::uint16_t>(sign | bits);
}
template <class Out, class L>
inline Out store_one(L value) {
  if constexpr (std::is_same_v<Out, Half>) {
    Half half;
    half.bits = float_to_half(static_cast<float>(value));
    return half;
  } else if constexpr (std::is_same_v<Out, BFloat16>) {
    BFloat16 half;
    half.bits = float_to_bfloat16(static_cast<float>(value));
    return half;
  } else {
    return static_cast<Out>(value);
  }
}

}  // namespace flambeau::FLAMBEAU_ISA
