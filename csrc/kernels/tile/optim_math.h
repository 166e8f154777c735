// Scalar pieces of the optimizer tiles; the loops around them vectorise.
#pragma once

#include "kernels/optim.h"
#include "simd/vec.h"

namespace flambeau::FLAMBEAU_ISA {
namespace {

[[gnu::always_inline]] inline float root(float x) { return __builtin_sqrtf(x); }
[[gnu::always_inline]] inline double root(double x) { return __builtin_sqrt(x); }
template <class T>
[[gnu::always_inline]] inline T larger(T a, T b) {
  return a > b ? a : b;
}

// start + weight * (end - start), from the nearer end, as lerp does it.
template <class T>
[[gnu::always_inline]] inline T between(T start, T end, T weight, T rest, bool far) {
  const T difference = end - start;
  return far ? end - difference * rest : start + weight * difference;
}

}  // namespace
}  // namespace flambeau::FLAMBEAU_ISA
