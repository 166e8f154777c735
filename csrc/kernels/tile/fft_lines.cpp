// Loops around the passes of a transform: lines in and out of the work area, and the step between the spectrum of n
// complex values and that of 2n real ones. See kernels/fft.h.
#include "kernels/fft.h"

#include "kernels/tile/fused.h"
#include "kernels/tile/square.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

template <class T>
constexpr std::int64_t kWidth = Vec<T>::size;

constexpr std::int64_t kPoints = 64;  // points whose lines are transposed a few at a time, while they are in cache

// fn(first point, first line) for the squares that cover the points of all lines but a rest, which starts at the
// result. One cache line has two squares' worth of points, and 16 lines a power of two apart would push each other out
// between them: so a few lines at a time.
template <class T, class F>
[[gnu::always_inline]] inline std::int64_t for_squares(std::int64_t n, F&& fn) {
  constexpr std::int64_t side = SquareRow<T>::size, w = kWidth<T>;
  const std::int64_t whole = n / (side / 2) * (side / 2);
  for (std::int64_t begin = 0; begin < whole; begin += kPoints) {
    const std::int64_t end = begin + kPoints < whole ? begin + kPoints : whole;
    for (std::int64_t line = 0; line < w; line += side) {
      for (std::int64_t i = begin; i < end; i += side / 2) fn(i, line);
    }
  }
  return whole;
}

template <class T>
void load(const T* const* lines, std::int64_t columns, std::int64_t step, std::int64_t n, T* re, T* im) noexcept {
  constexpr std::int64_t w = kWidth<T>;
  constexpr int side = SquareRow<T>::size;
  std::int64_t i = 0;
  if (columns == w && step == 1) {
    i = for_squares<T>(n, [&](std::int64_t at, std::int64_t line) {
      typename SquareRow<T>::Raw rows[side];
#pragma GCC unroll 16
      for (int c = 0; c < side; ++c) __builtin_memcpy(&rows[c], lines[line + c] + 2 * at, sizeof(rows[c]));
      transpose_square<T>(rows);  // real and imaginary parts in turn
#pragma GCC unroll 16
      for (int k = 0; k < side / 2; ++k) {
        __builtin_memcpy(re + (at + k) * w + line, &rows[2 * k], sizeof(rows[0]));
        __builtin_memcpy(im + (at + k) * w + line, &rows[2 * k + 1], sizeof(rows[0]));
      }
    });
  }
  for (; i < n; ++i) {
    for (std::int64_t c = 0; c < columns; ++c) {
      re[i * columns + c] = lines[c][2 * i * step];
      im[i * columns + c] = lines[c][2 * i * step + 1];
    }
  }
}

template <class T>
void store(T* const* lines, std::int64_t columns, std::int64_t step, std::int64_t n, const T* re, const T* im,
           T scale) noexcept {
  constexpr std::int64_t w = kWidth<T>;
  constexpr int side = SquareRow<T>::size;
  std::int64_t i = 0;
  if (columns == w && step == 1) {
    i = for_squares<T>(n, [&](std::int64_t at, std::int64_t line) {
      typename SquareRow<T>::Raw rows[side];
#pragma GCC unroll 16
      for (int k = 0; k < side / 2; ++k) {
        __builtin_memcpy(&rows[2 * k], re + (at + k) * w + line, sizeof(rows[0]));
        __builtin_memcpy(&rows[2 * k + 1], im + (at + k) * w + line, sizeof(rows[0]));
        rows[2 * k] *= scale;
        rows[2 * k + 1] *= scale;
      }
      transpose_square<T>(rows);
#pragma GCC unroll 16
      for (int c = 0; c < side; ++c) __builtin_memcpy(lines[line + c] + 2 * at, &rows[c], sizeof(rows[c]));
    });
  }
  for (; i < n; ++i) {
    for (std::int64_t c = 0; c < columns; ++c) {
      lines[c][2 * i * step] = re[i * columns + c] * scale;
      lines[c][2 * i * step + 1] = im[i * columns + c] * scale;
    }
  }
}

template <class T>
void load_across(const T* first, std::int64_t step, std::int64_t n, T* re, T* im) noexcept {
  constexpr std::int64_t w = kWidth<T>;
  for (std::int64_t i = 0; i < n; ++i, first += 2 * step) {
    const Vec<T> a = Vec<T>::load(first), b = Vec<T>::load(first + w);
    separate<0>(a, b).store(re + i * w);
    separate<1>(a, b).store(im + i * w);
  }
}

template <class T>
void store_across(T* first, std::int64_t step, std::int64_t n, const T* re, const T* im, T scale) noexcept {
  constexpr std::int64_t w = kWidth<T>;
  const Vec<T> factor(scale);
  for (std::int64_t i = 0; i < n; ++i, first += 2 * step) {
    const Vec<T> a = Vec<T>::load(re + i * w) * factor, b = Vec<T>::load(im + i * w) * factor;
    interleave<0>(a, b).store(first);
    interleave<w / 2>(a, b).store(first + w);
  }
}

// 2 X[k] = Z[k] + conj(Z[n-k]) - i turn (Z[k] - conj(Z[n-k])), where V is a vector of columns or one column.
template <class T, class V, class Get, class Put>
[[gnu::always_inline]] inline void split_points(const T* re, const T* im, std::int64_t columns, const double* turn_re,
                                                const double* turn_im, std::int64_t n, std::int64_t begin,
                                                std::int64_t end, T* out_re, T* out_im, Get get, Put put) {
  for (std::int64_t k = begin; k < end; ++k) {
    const std::int64_t at = (k == n ? 0 : k) * columns, mirror = (k == 0 ? 0 : n - k) * columns;
    const V a_re = get(re + at), a_im = get(im + at), b_re = get(re + mirror), b_im = get(im + mirror);
    const V odd_re = a_im + b_im, odd_im = b_re - a_re, w_re(static_cast<T>(turn_re[k])),
            w_im(static_cast<T>(turn_im[k]));
    const bool real = k == 0 || k == n;
    put(out_re + (k - begin) * columns, fused(w_re, odd_re, fused(-w_im, odd_im, a_re + b_re)));
    put(out_im + (k - begin) * columns, real ? V(T(0)) : fused(w_re, odd_im, fused(w_im, odd_re, a_im - b_im)));
  }
}

// Short transforms have few roundings of their own, so that those of this step would show: in double, rounded once.
constexpr std::int64_t kExact = 64;

template <class T>
void split_exact(const T* re, const T* im, std::int64_t columns, const double* turn_re, const double* turn_im,
                 std::int64_t n, std::int64_t begin, std::int64_t end, T* out_re, T* out_im) {
  for (std::int64_t k = begin; k < end; ++k) {
    const std::int64_t at = (k == n ? 0 : k) * columns, mirror = (k == 0 ? 0 : n - k) * columns;
    const double w_re = turn_re[k], w_im = turn_im[k], keep = k == 0 || k == n ? 0 : 1;
    T *y_re = out_re + (k - begin) * columns, *y_im = out_im + (k - begin) * columns;
#pragma GCC ivdep
    for (std::int64_t c = 0; c < columns; ++c) {
      const double a_re = re[at + c], a_im = im[at + c], b_re = re[mirror + c], b_im = im[mirror + c];
      const double odd_re = a_im + b_im, odd_im = b_re - a_re;
      y_re[c] = static_cast<T>(a_re + b_re + w_re * odd_re - w_im * odd_im);
      y_im[c] = static_cast<T>((a_im - b_im + w_re * odd_im + w_im * odd_re) * keep);
    }
  }
}

template <class T>
void join_exact(const T* re, const T* im, std::int64_t columns, const double* turn_re, const double* turn_im,
                std::int64_t n, T* out_re, T* out_im) {
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t at = k * columns, mirror = (n - k) * columns;
    const double w_re = turn_re[k], w_im = turn_im[k];
#pragma GCC ivdep
    for (std::int64_t c = 0; c < columns; ++c) {
      const double a_re = re[at + c], b_re = re[mirror + c];
      const double a_im = k == 0 ? 0 : im[at + c], b_im = k == 0 ? 0 : im[mirror + c];
      const double odd_re = a_re - b_re, odd_im = a_im + b_im;
      out_im[at + c] = static_cast<T>(a_re + b_re - w_re * odd_im + w_im * odd_re);
      out_re[at + c] = static_cast<T>(a_im - b_im + w_re * odd_re + w_im * odd_im);
    }
  }
}

template <class T>
void split(const T* re, const T* im, std::int64_t columns, const double* turn_re, const double* turn_im, std::int64_t n,
           std::int64_t begin, std::int64_t end, T* out_re, T* out_im) noexcept {
  if (n <= kExact) return split_exact(re, im, columns, turn_re, turn_im, n, begin, end, out_re, out_im);
  if (columns == kWidth<T>) {
    split_points<T, Vec<T>>(
        re, im, columns, turn_re, turn_im, n, begin, end, out_re, out_im, [](const T* p) { return Vec<T>::load(p); },
        [](T* p, Vec<T> value) { value.store(p); });
  } else {
    split_points<T, T>(
        re, im, columns, turn_re, turn_im, n, begin, end, out_re, out_im, [](const T* p) { return *p; },
        [](T* p, T value) { *p = value; });
  }
}

// Z[k] = X[k] + conj(X[n-k]) + i conj(turn) (X[k] - conj(X[n-k])).
template <class T, class V, class Get, class Put>
[[gnu::always_inline]] inline void join_points(const T* re, const T* im, std::int64_t columns, const double* turn_re,
                                               const double* turn_im, std::int64_t n, T* out_re, T* out_im, Get get,
                                               Put put) {
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t at = k * columns, mirror = (n - k) * columns;
    const V a_re = get(re + at), b_re = get(re + mirror);
    // Symmetry makes the imaginary parts of both ends zero: they are not read.
    const V a_im = k == 0 ? V(T(0)) : get(im + at), b_im = k == 0 ? V(T(0)) : get(im + mirror);
    const V odd_re = a_re - b_re, odd_im = a_im + b_im, w_re(static_cast<T>(turn_re[k])),
            w_im(static_cast<T>(turn_im[k]));
    put(out_im + at, fused(-w_re, odd_im, fused(w_im, odd_re, a_re + b_re)));
    put(out_re + at, fused(w_re, odd_re, fused(w_im, odd_im, a_im - b_im)));
  }
}

template <class T>
void join(const T* re, const T* im, std::int64_t columns, const double* turn_re, const double* turn_im, std::int64_t n,
          T* out_re, T* out_im) noexcept {
  if (n <= kExact) return join_exact(re, im, columns, turn_re, turn_im, n, out_re, out_im);
  if (columns == kWidth<T>) {
    join_points<T, Vec<T>>(
        re, im, columns, turn_re, turn_im, n, out_re, out_im, [](const T* p) { return Vec<T>::load(p); },
        [](T* p, Vec<T> value) { value.store(p); });
  } else {
    join_points<T, T>(
        re, im, columns, turn_re, turn_im, n, out_re, out_im, [](const T* p) { return *p; },
        [](T* p, T value) { *p = value; });
  }
}

template <class T>
void add_loops() {
  static constexpr FftLoops<T> table{kWidth<T>,        &load<T>,  &store<T>, &load_across<T>,
                                     &store_across<T>, &split<T>, &join<T>};
  add_table(TableId::Fft, dtype_of<T>, &table, kLevel);
}

[[maybe_unused]] const bool added = [] {
  add_loops<float>();
  add_loops<double>();
  return true;
}();

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
