// Discrete Fourier transforms of lines: what the passes and the loops around them are told. The work area of `columns`
// interleaved lines is split into real and imaginary parts: point i of line c lies at i * columns + c.
#pragma once

#include <cstdint>

#include "kernels/level_table.h"

namespace flambeau {

// One Stockham pass (csrc/kernels/tile/fft_pass.cpp).
struct FftPass {
  std::int64_t radix, m, s;  // n = radix * m points, each s values wide
  const void* roots;         // radix real parts, then radix imaginary parts of exp(-2 pi i j / radix)
};

// Loops around the passes (csrc/kernels/tile/fft_lines.cpp). `columns` is 1 or `width`, the lanes of one vector.
template <class T>
struct FftLoops {
  std::int64_t width;
  // Between complex lines (pairs of T), whose points lie `step` complex values apart, and the work area.
  void (*load)(const T* const* lines, std::int64_t columns, std::int64_t step, std::int64_t n, T* re, T* im) noexcept;
  void (*store)(T* const* lines, std::int64_t columns, std::int64_t step, std::int64_t n, const T* re, const T* im,
                T scale) noexcept;
  // The same for `width` lines that are neighbours in memory.
  void (*load_across)(const T* first, std::int64_t step, std::int64_t n, T* re, T* im) noexcept;
  void (*store_across)(T* first, std::int64_t step, std::int64_t n, const T* re, const T* im, T scale) noexcept;
  // Spectrum Z of n complex values z[i] = x[2i] + i x[2i+1] to points [begin, end) of that of the 2n real ones, twice
  // as large; turns = exp(-pi i k / n), k <= n.
  void (*split)(const T* re, const T* im, std::int64_t columns, const double* turn_re, const double* turn_im,
                std::int64_t n, std::int64_t begin, std::int64_t end, T* out_re, T* out_im) noexcept;
  // Backwards: n + 1 points to Z, real and imaginary parts exchanged for the inverse transform.
  void (*join)(const T* re, const T* im, std::int64_t columns, const double* turn_re, const double* turn_im,
               std::int64_t n, T* out_re, T* out_im) noexcept;
};

template <class T>
const FftLoops<T>& fft_loops() noexcept {
  return *static_cast<const FftLoops<T>*>(find_table(TableId::Fft, dtype_of<T>));
}

}  // namespace flambeau
