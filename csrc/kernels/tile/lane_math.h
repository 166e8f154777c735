// exp on this directory's vectors and on single elements, by the same steps, so that an element's result does not
// depend on where it lies.
#pragma once

#include "kernels/tile/lanes.h"
#include "simd/math.h"

namespace flambeau::FLAMBEAU_ISA {

template <class T>
inline V<T> exp(V<T> x) {
  return exp(Vec<T>(x)).v;
}
template <class T>
inline T exp_one(T x) {
  return exp(Vec<T>(x))[0];
}

}  // namespace flambeau::FLAMBEAU_ISA
