// Discrete Fourier transforms of lines: plans by length, and what their passes are told.
#pragma once

#include <cstdint>

namespace flambeau {

// One Stockham pass (csrc/kernels/tile/fft_pass.cpp).
struct FftPass {
  std::int64_t radix, m, s;  // n = radix * m points, each s values wide
  const void* roots;         // radix real parts, then radix imaginary parts of exp(-2 pi i j / radix)
};

}  // namespace flambeau
