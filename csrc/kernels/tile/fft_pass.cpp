// One pass of the Stockham FFT on split real and imaginary parts, vectorised over independent columns.
//
// outputs: y_re, y_im; inputs: x_re, x_im, twiddle_re, twiddle_im (m * radix values, row p: w^(p k), k < radix).
// With n = radix * m points at stride s (each point is s neighbouring values):
//   y[q + s (radix p + j)] = w^(p j) * sum_k x[q + s (p + k m)] * root^(j k),   root = exp(-2 pi i / radix)
// The inverse transform swaps real and imaginary parts outside.
#include "core/elementwise.h"
#include "kernels/fft.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

constexpr CpuLevel kLevel = FLAMBEAU_VEC_BYTES == 64   ? CpuLevel::Avx512
                            : FLAMBEAU_VEC_BYTES == 32 ? CpuLevel::Avx2
                                                       : CpuLevel::Baseline;

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
// x * y + z, rounded once where the level has the instruction: twiddle products are what costs accuracy.
inline float fused(float x, float y, float z) {
#ifdef __FMA__
  return __builtin_fmaf(x, y, z);
#else
  return x * y + z;
#endif
}
inline double fused(double x, double y, double z) {
#ifdef __FMA__
  return __builtin_fma(x, y, z);
#else
  return x * y + z;
#endif
}
template <class T>
inline Split<T> mul(Split<T> a, T re, T im) {
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
  constexpr T half_sqrt3 = static_cast<T>(0.86602540378443864676);
  const Split<T> sum = add(a[1], a[2]);
  const Split<T> middle = sub(a[0], scale(sum, T(0.5)));
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
  constexpr T c1 = static_cast<T>(0.30901699437494742410), c2 = static_cast<T>(-0.80901699437494742410);
  constexpr T s1 = static_cast<T>(0.95105651629515357212), s2 = static_cast<T>(0.58778525229247312917);
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
template <int kRadix, class T>
inline void butterfly(Split<T>* a) {
  if constexpr (kRadix == 2) butterfly2(a);
  if constexpr (kRadix == 3) butterfly3(a);
  if constexpr (kRadix == 4) butterfly4(a);
  if constexpr (kRadix == 5) butterfly5(a);
}

template <class T, int kRadix>
void pass(void* const* outputs, const void* const* inputs, std::int64_t, const void* params) noexcept {
  const auto& shape = *static_cast<const FftPass*>(params);
  const std::int64_t m = shape.m, s = shape.s;
  auto* __restrict y_re = static_cast<T*>(outputs[0]);
  auto* __restrict y_im = static_cast<T*>(outputs[1]);
  const auto* __restrict x_re = static_cast<const T*>(inputs[0]);
  const auto* __restrict x_im = static_cast<const T*>(inputs[1]);
  const auto* w_re = static_cast<const T*>(inputs[2]);
  const auto* w_im = static_cast<const T*>(inputs[3]);
  for (std::int64_t p = 0; p < m; ++p) {
    T re[kRadix], im[kRadix];
    for (int j = 0; j < kRadix; ++j) {
      re[j] = w_re[p * kRadix + j];
      im[j] = w_im[p * kRadix + j];
    }
    const std::int64_t from = s * p, to = s * kRadix * p;
    for (std::int64_t q = 0; q < s; ++q) {
      Split<T> a[kRadix];
      for (int k = 0; k < kRadix; ++k) a[k] = {x_re[from + q + s * m * k], x_im[from + q + s * m * k]};
      butterfly<kRadix>(a);
      y_re[to + q] = a[0].re;
      y_im[to + q] = a[0].im;
      for (int j = 1; j < kRadix; ++j) {
        const Split<T> turned = mul(a[j], re[j], im[j]);
        y_re[to + q + s * j] = turned.re;
        y_im[to + q + s * j] = turned.im;
      }
    }
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
  TileEntry any{"fft_pass_any", kType, kType, &pass_any<T>, kLevel};
};
const Entries<float> float_entries;
const Entries<double> double_entries;

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
