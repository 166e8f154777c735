// Tile loops. A functor with a static call(), or one built from the params pointer, is turned into a TileFn.
// Simple scalar functors are left to GCC's vectoriser: `ivdep` is true because outputs equal inputs or are disjoint.
#pragma once

#include "core/tile.h"
#include "simd/vec.h"

namespace flambeau::FLAMBEAU_ISA {

template <class T>
[[gnu::always_inline]] inline T at(const void* const* in, int k, std::int64_t i) {
  return static_cast<const T*>(in[k])[i];
}

template <class T>
struct Identity {
  using type = T;
};

// Functors: struct Add { template <class T> static T call(T a, T b); }; the result type is the output's.
template <class F, class T>
void loop1(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  using R = decltype(F::call(T()));
  R* y = static_cast<R*>(out[0]);
  const T* a = static_cast<const T*>(in[0]);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = F::call(a[i]);
}
template <class F, class T>
void loop2(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  using R = decltype(F::call(T(), T()));
  R* y = static_cast<R*>(out[0]);
  const T* a = static_cast<const T*>(in[0]);
  const T* b = static_cast<const T*>(in[1]);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = F::call(a[i], b[i]);
}
// With params: struct F { explicit F(const void* params); T operator()(...) const; }, one functor type per T.
template <class F, class T>
void loop1p(void* const* out, const void* const* in, std::int64_t n, const void* params) noexcept {
  const F f(params);
  using R = decltype(f(T()));
  R* y = static_cast<R*>(out[0]);
  const T* a = static_cast<const T*>(in[0]);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = f(a[i]);
}
template <class F, class T>
void loop2p(void* const* out, const void* const* in, std::int64_t n, const void* params) noexcept {
  const F f(params);
  using R = decltype(f(T(), T()));
  R* y = static_cast<R*>(out[0]);
  const T* a = static_cast<const T*>(in[0]);
  const T* b = static_cast<const T*>(in[1]);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = f(a[i], b[i]);
}
template <class F, class T>
void loop3p(void* const* out, const void* const* in, std::int64_t n, const void* params) noexcept {
  const F f(params);
  T* y = static_cast<T*>(out[0]);
  const T* a = static_cast<const T*>(in[0]);
  const T* b = static_cast<const T*>(in[1]);
  const T* c = static_cast<const T*>(in[2]);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = f(a[i], b[i], c[i]);
}

// Vec functors: struct Exp { template <class T> static Vec<T> call(Vec<T> x); };
template <class F, class T>
void vec1(void* const* out, const void* const* in, std::int64_t n, const void*) noexcept {
  T* y = static_cast<T*>(out[0]);
  const T* a = static_cast<const T*>(in[0]);
  constexpr int step = Vec<T>::size;
  std::int64_t i = 0;
  for (; i + step <= n; i += step) F::call(Vec<T>::load(a + i)).store(y + i);
  if (i < n) F::call(Vec<T>::load_part(a + i, n - i)).store_part(y + i, n - i);
}
template <class F, class T>
void vec1p(void* const* out, const void* const* in, std::int64_t n, const void* params) noexcept {
  const F f(params);
  T* y = static_cast<T*>(out[0]);
  const T* a = static_cast<const T*>(in[0]);
  constexpr int step = Vec<T>::size;
  std::int64_t i = 0;
  for (; i + step <= n; i += step) f(Vec<T>::load(a + i)).store(y + i);
  if (i < n) f(Vec<T>::load_part(a + i, n - i)).store_part(y + i, n - i);
}
template <class F, class T>
void vec2p(void* const* out, const void* const* in, std::int64_t n, const void* params) noexcept {
  const F f(params);
  T* y = static_cast<T*>(out[0]);
  const T* a = static_cast<const T*>(in[0]);
  const T* b = static_cast<const T*>(in[1]);
  constexpr int step = Vec<T>::size;
  std::int64_t i = 0;
  for (; i + step <= n; i += step) f(Vec<T>::load(a + i), Vec<T>::load(b + i)).store(y + i);
  if (i < n) f(Vec<T>::load_part(a + i, n - i), Vec<T>::load_part(b + i, n - i)).store_part(y + i, n - i);
}

// Registration of one functor for several element types.
template <class F, class... Ts>
struct Register1 {
  [[gnu::always_inline]] explicit Register1(const char* name) noexcept {
    (TileEntry(name, DTypeOf<Ts>::value, DTypeOf<decltype(F::call(Ts()))>::value, &loop1<F, Ts>, kLevel), ...);
  }
};
template <class F, class... Ts>
struct Register2 {
  [[gnu::always_inline]] explicit Register2(const char* name) noexcept {
    (TileEntry(name, DTypeOf<Ts>::value, DTypeOf<decltype(F::call(Ts(), Ts()))>::value, &loop2<F, Ts>, kLevel), ...);
  }
};
template <class F, class... Ts>
struct RegisterVec1 {
  [[gnu::always_inline]] explicit RegisterVec1(const char* name) noexcept {
    (TileEntry(name, DTypeOf<Ts>::value, DTypeOf<Ts>::value, &vec1<F, Ts>, kLevel), ...);
  }
};
template <template <class> class F, class... Ts>
struct Register1p {
  [[gnu::always_inline]] explicit Register1p(const char* name) noexcept {
    (TileEntry(name, DTypeOf<Ts>::value, DTypeOf<Ts>::value, &loop1p<F<Ts>, Ts>, kLevel), ...);
  }
};
template <template <class> class F, class... Ts>
struct Register2p {
  [[gnu::always_inline]] explicit Register2p(const char* name) noexcept {
    (TileEntry(name, DTypeOf<Ts>::value, DTypeOf<Ts>::value, &loop2p<F<Ts>, Ts>, kLevel), ...);
  }
};
template <template <class> class F, class... Ts>
struct Register3p {
  [[gnu::always_inline]] explicit Register3p(const char* name) noexcept {
    (TileEntry(name, DTypeOf<Ts>::value, DTypeOf<Ts>::value, &loop3p<F<Ts>, Ts>, kLevel), ...);
  }
};
template <template <class> class F, class... Ts>
struct RegisterVec1p {
  [[gnu::always_inline]] explicit RegisterVec1p(const char* name) noexcept {
    (TileEntry(name, DTypeOf<Ts>::value, DTypeOf<Ts>::value, &vec1p<F<Ts>, Ts>, kLevel), ...);
  }
};
template <template <class> class F, class... Ts>
struct RegisterVec2p {
  [[gnu::always_inline]] explicit RegisterVec2p(const char* name) noexcept {
    (TileEntry(name, DTypeOf<Ts>::value, DTypeOf<Ts>::value, &vec2p<F<Ts>, Ts>, kLevel), ...);
  }
};

}  // namespace flambeau::FLAMBEAU_ISA
