// The elementwise engine. A tile kernel sees contiguous runs of one dtype and nothing else; this engine deals with
// broadcasting, strides, dtype conversion, lazy conj and neg bits, threads and outputs:
//   - dims are coalesced and ordered by stride; a run that is contiguous and of the kernel's dtype is passed as it is
//   - anything else is gathered (and converted) into a tile of kTile elements in L1, and scattered back the same way
// So float16 runs the float32 kernel, integer inputs of exp run the float kernel, and a broadcast operand is a tile
// filled once. Kernels for one dtype per family are enough.
#pragma once

#include <initializer_list>

#include "core/kernel.h"
#include "core/tensor.h"
#include "core/tile.h"

namespace flambeau {

inline constexpr int kMaxOperands = 8;

// One output. Inputs broadcast together; `result` is the dtype of a new output (tiles are converted from kernel.out).
// The new output takes the inputs' memory format as PyTorch does. Returns the output (out[0] if given).
Tensor elementwise(const char* op, std::initializer_list<const Tensor*> inputs, const TileKernel& kernel, DType result,
                   const void* params, const Out& out);
// Several outputs of one shape, e.g. frexp. `outputs` holds defined tensors of the broadcast shape.
void elementwise_into(const char* op, Span<Tensor> outputs, Span<Tensor> inputs, const TileKernel& kernel,
                      const void* params);

}  // namespace flambeau
