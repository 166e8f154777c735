// One pass of the Stockham FFT on split real and imaginary parts, vectorised over independent columns.
//
// outputs: y_re, y_im; inputs: x_re, x_im, twiddle_re, twiddle_im (m * radix values, row p: w^(p k), k < radix).
// With n = radix * m points at stride s (each point is s neighbouring values):
//   y[q + s (radix p + j)] = w^(p j) * sum_k x[q + s (p + k m)] * root^(j k),   root = exp(-2 pi i / radix)
// The inverse transform swaps real and imaginary parts outside.
#include "core/elementwise.h"
#include "kernels/fft.h"
#include "kernels/tile/fused.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

template <class V>
struct ElementOf {
  using type = V;
};
template <class T>
struct ElementOf<Vec<T>> {
  using type = T;
};
template <class V>
using Element = typename ElementOf<V>::type;

template <class T>
struct Split {
  T re, im;
};
template <class T>
inline Split<T> add(Split<T> a, Split<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
inline Split<T> sub(Split<T> a, Split<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
inline Split<T> times_minus_i(Split<T> a) {
  return {a.im, -a.re};
}
template <class T>
inline Split<T> scale(Split<T> a, T s) {
  return {a.re * s, a.im * s};
}
// Fused: twiddle products are what costs accuracy.
template <class V>
inline Split<V> mul(Split<V> a, V re, V im) {
  return {fused(a.re, re, -(a.im * im)), fused(a.re, im, a.im * re)};
}

template <class T>
inline void butterfly2(Split<T>* a) {
  const Split<T> sum = add(a[0], a[1]);
  a[1] = sub(a[0], a[1]);
  a[0] = sum;
}
template <class T>
inline void butterfly3(Split<T>* a) {
  const T half_sqrt3(Element<T>(0.86602540378443864676));
  const Split<T> sum = add(a[1], a[2]);
  const Split<T> middle = sub(a[0], scale(sum, T(Element<T>(0.5))));
  const Split<T> turn = times_minus_i(scale(sub(a[1], a[2]), half_sqrt3));
  a[0] = add(a[0], sum);
  a[1] = add(middle, turn);
  a[2] = sub(middle, turn);
}
template <class T>
inline void butterfly4(Split<T>* a) {
  const Split<T> even = add(a[0], a[2]), odd = add(a[1], a[3]);
  const Split<T> left = sub(a[0], a[2]), right = times_minus_i(sub(a[1], a[3]));
  a[0] = add(even, odd);
  a[1] = add(left, right);
  a[2] = sub(even, odd);
  a[3] = sub(left, right);
}
template <class T>
inline void butterfly5(Split<T>* a) {
  const T c1(Element<T>(0.30901699437494742410)), c2(Element<T>(-0.80901699437494742410));
  const T s1(Element<T>(0.95105651629515357212)), s2(Element<T>(0.58778525229247312917));
  const Split<T> p = add(a[1], a[4]), q = add(a[2], a[3]);
  const Split<T> u = sub(a[1], a[4]), v = sub(a[2], a[3]);
  const Split<T> m1 = add(a[0], add(scale(p, c1), scale(q, c2)));
  const Split<T> m2 = add(a[0], add(scale(p, c2), scale(q, c1)));
  const Split<T> t1 = times_minus_i(add(scale(u, s1), scale(v, s2)));
  const Split<T> t2 = times_minus_i(sub(scale(u, s2), scale(v, s1)));
  a[0] = add(a[0], add(p, q));
  a[1] = add(m1, t1);
  a[4] = sub(m1, t1);
  a[2] = add(m2, t2);
  a[3] = sub(m2, t2);
}
// Two of four, on the even and the odd points; the odd ones turned by eighths.
template <class T>
inline void butterfly8(Split<T>* a) {
  const T root_half(Element<T>(0.70710678118654752440));
  Split<T> even[4] = {a[0], a[2], a[4], a[6]}, odd[4] = {a[1], a[3], a[5], a[7]};
  butterfly4(even);
  butterfly4(odd);
  odd[1] = scale(Split<T>{odd[1].re + odd[1].im, odd[1].im - odd[1].re}, root_half);
  odd[2] = times_minus_i(odd[2]);
  odd[3] = scale(Split<T>{odd[3].im - odd[3].re, -(odd[3].re + odd[3].im)}, root_half);
  for (int k = 0; k < 4; ++k) {
    a[k] = add(even[k], odd[k]);
    a[k + 4] = sub(even[k], odd[k]);
  }
}
template <int kRadix, class T>
inline void butterfly(Split<T>* a) {
  if constexpr (kRadix == 2) butterfly2(a);
  if constexpr (kRadix == 3) butterfly3(a);
  if constexpr (kRadix == 4) butterfly4(a);
  if constexpr (kRadix == 5) butterfly5(a);
  if constexpr (kRadix == 8) butterfly8(a);
}

// The points q of one p. V: a vector of columns, or one column. The first p needs no turns.
template <int kRadix, bool kTurns, class V, class T, class Get, class Put>
[[gnu::always_inline]] inline void points(std::int64_t q, std::int64_t s, std::int64_t m, const T* x_re, const T* x_im,
                                          const T* w_re, const T* w_im, T* y_re, T* y_im, Get get, Put put) {
  Split<V> a[kRadix];
#pragma GCC unroll 8
  for (int k = 0; k < kRadix; ++k) a[k] = {get(x_re + q + s * m * k), get(x_im + q + s * m * k)};
  butterfly<kRadix>(a);
#pragma GCC unroll 8
  for (int j = 0; j < kRadix; ++j) {
    if (kTurns && j > 0) a[j] = mul(a[j], V(w_re[j]), V(w_im[j]));
    put(y_re + q + s * j, a[j].re);
    put(y_im + q + s * j, a[j].im);
  }
}

template <int kRadix, bool kTurns, class T>
void block(std::int64_t s, std::int64_t m, const T* x_re, const T* x_im, const T* w_re, const T* w_im,
           T* __restrict y_re, T* __restrict y_im) {
  std::int64_t q = 0;
  for (; q + Vec<T>::size <= s; q += Vec<T>::size) {
    points<kRadix, kTurns, Vec<T>>(
        q, s, m, x_re, x_im, w_re, w_im, y_re, y_im, [](const T* p) { return Vec<T>::load(p); },
        [](T* p, Vec<T> value) { value.store(p); });
  }
  for (; q < s; ++q) {
    points<kRadix, kTurns, T>(
        q, s, m, x_re, x_im, w_re, w_im, y_re, y_im, [](const T* p) { return *p; }, [](T* p, T value) { *p = value; });
  }
}

template <class T, int kRadix>
void pass(void* const* outputs, const void* const* inputs, std::int64_t, const void* params) noexcept {
  const auto& shape = *static_cast<const FftPass*>(params);
  const std::int64_t m = shape.m, s = shape.s;
  auto *y_re = static_cast<T*>(outputs[0]), *y_im = static_cast<T*>(outputs[1]);
  const auto *x_re = static_cast<const T*>(inputs[0]), *x_im = static_cast<const T*>(inputs[1]);
  const auto *w_re = static_cast<const T*>(inputs[2]), *w_im = static_cast<const T*>(inputs[3]);
  block<kRadix, false>(s, m, x_re, x_im, w_re, w_im, y_re, y_im);
  for (std::int64_t p = 1; p < m; ++p) {
    block<kRadix, true>(s, m, x_re + s * p, x_im + s * p, w_re + p * kRadix, w_im + p * kRadix, y_re + s * kRadix * p,
                        y_im + s * kRadix * p);
  }
}

// Any small prime radix, by its definition.
template <class T>
void pass_any(void* const* outputs, const void* const* inputs, std::int64_t, const void* params) noexcept {
  const auto& shape = *static_cast<const FftPass*>(params);
  const std::int64_t m = shape.m, s = shape.s, radix = shape.radix;
  auto* __restrict y_re = static_cast<T*>(outputs[0]);
  auto* __restrict y_im = static_cast<T*>(outputs[1]);
  const auto* __restrict x_re = static_cast<const T*>(inputs[0]);
  const auto* __restrict x_im = static_cast<const T*>(inputs[1]);
  const auto* w_re = static_cast<const T*>(inputs[2]);
  const auto* w_im = static_cast<const T*>(inputs[3]);
  const auto* root_re = static_cast<const T*>(shape.roots);
  const T* root_im = root_re + radix;
  for (std::int64_t p = 0; p < m; ++p) {
    for (std::int64_t j = 0; j < radix; ++j) {
      const std::int64_t to = s * (radix * p + j);
      const T turn_re = w_re[p * radix + j], turn_im = w_im[p * radix + j];
      for (std::int64_t q = 0; q < s; ++q) {
        Split<T> sum{x_re[s * p + q], x_im[s * p + q]};
        for (std::int64_t k = 1; k < radix; ++k) {
          const std::int64_t at = s * (p + k * m) + q, r = j * k % radix;
          sum = add(sum, mul(Split<T>{x_re[at], x_im[at]}, root_re[r], root_im[r]));
        }
        const Split<T> turned = mul(sum, turn_re, turn_im);
        y_re[to + q] = turned.re;
        y_im[to + q] = turned.im;
      }
    }
  }
}

template <class T>
struct Entries {
  static constexpr DType kType = dtype_of<T>;
  TileEntry two{"fft_pass_2", kType, kType, &pass<T, 2>, kLevel};
  TileEntry three{"fft_pass_3", kType, kType, &pass<T, 3>, kLevel};
  TileEntry four{"fft_pass_4", kType, kType, &pass<T, 4>, kLevel};
  TileEntry five{"fft_pass_5", kType, kType, &pass<T, 5>, kLevel};
  TileEntry eight{"fft_pass_8", kType, kType, &pass<T, 8>, kLevel};
  TileEntry any{"fft_pass_any", kType, kType, &pass_any<T>, kLevel};
};
const Entries<float> float_entries;
const Entries<double> double_entries;

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
