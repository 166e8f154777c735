// Tiles from scalar functions, compiled once: for what does not profit from SIMD. One function per element type; the
// engine converts float32 to float64 where only a float64 kernel exists.
#pragma once

#include "core/tile.h"

namespace flambeau::scalar_tiles {

template <auto F, class R, class T>
void map1(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  R* y = static_cast<R*>(out[0]);
  const T* a = static_cast<const T*>(in[0]);
  for (std::int64_t i = 0; i < n; ++i) y[i] = F(a[i]);
}
template <auto F, class R, class T>
void map2(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  R* y = static_cast<R*>(out[0]);
  const T* a = static_cast<const T*>(in[0]);
  const T* b = static_cast<const T*>(in[1]);
  for (std::int64_t i = 0; i < n; ++i) y[i] = F(a[i], b[i]);
}
template <auto F, class R, class T>
void map1p(void* const* out, const void* const* in, std::int64_t n, const void* params) noexcept {
  R* y = static_cast<R*>(out[0]);
  const T* a = static_cast<const T*>(in[0]);
  for (std::int64_t i = 0; i < n; ++i) y[i] = F(a[i], params);
}
template <auto F, class R, class T>
void map2p(void* const* out, const void* const* in, std::int64_t n, const void* params) noexcept {
  R* y = static_cast<R*>(out[0]);
  const T* a = static_cast<const T*>(in[0]);
  const T* b = static_cast<const T*>(in[1]);
  for (std::int64_t i = 0; i < n; ++i) y[i] = F(a[i], b[i], params);
}

// Register F of one, two arguments (p: and the params pointer) under a name.
template <auto F, class T, class R = T>
struct Map1 {
  explicit Map1(const char* name) noexcept {
    TileEntry(name, DTypeOf<T>::value, DTypeOf<R>::value, &map1<F, R, T>, CpuLevel::Baseline);
  }
};
template <auto F, class T, class R = T>
struct Map2 {
  explicit Map2(const char* name) noexcept {
    TileEntry(name, DTypeOf<T>::value, DTypeOf<R>::value, &map2<F, R, T>, CpuLevel::Baseline);
  }
};
template <auto F, class T, class R = T>
struct Map1p {
  explicit Map1p(const char* name) noexcept {
    TileEntry(name, DTypeOf<T>::value, DTypeOf<R>::value, &map1p<F, R, T>, CpuLevel::Baseline);
  }
};
template <auto F, class T, class R = T>
struct Map2p {
  explicit Map2p(const char* name) noexcept {
    TileEntry(name, DTypeOf<T>::value, DTypeOf<R>::value, &map2p<F, R, T>, CpuLevel::Baseline);
  }
};

}  // namespace flambeau::scalar_tiles
