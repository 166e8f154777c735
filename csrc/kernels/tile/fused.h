// x * y + z for elements as Vec has it for vectors: rounded once where the level has the instruction.
#pragma once

#include "simd/vec.h"

namespace flambeau::FLAMBEAU_ISA {

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
[[gnu::always_inline]] inline Vec<T> fused(Vec<T> x, Vec<T> y, Vec<T> z) {
  return fma(x, y, z);
}

}  // namespace flambeau::FLAMBEAU_ISA
