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

namespace flambeau {

inline constexpr std::int64_t kTile = 512;  // elements; 8 KiB at most

// outputs[i] and inputs[i] are contiguous runs of n elements (aligned only to the element). Outputs may be equal to
// inputs, never overlap partly. params is whatever the op passed.
using TileFn = void (*)(void* const* outputs, const void* const* inputs, std::int64_t n, const void* params) noexcept;

struct TileKernel {
  TileFn fn = nullptr;
  DType in = DType::Float32;   // dtype of the tiles read
  DType out = DType::Float32;  // dtype of the tiles written
};

// Per-level registration (csrc/kernels/tile/*.cpp, compiled once per CPU level): the highest level the machine has wins.
//   const TileEntry exp_f32{"exp", DType::Float32, DType::Float32, &exp_tile<float>};
enum class CpuLevel : std::uint8_t { Baseline, Avx2, Avx512 };
struct TileEntry {
  TileEntry(const char* name, DType in, DType out, TileFn fn, CpuLevel level) noexcept;
};
CpuLevel cpu_level() noexcept;  // of this machine, capped by FLAMBEAU_CPU_LEVEL
// Null fn if there is none for that input dtype.
TileKernel find_tile(const char* name, DType in);
// All kernels of one name; look it up once, not per call. Null fn where there is none.
struct TileTable {
  TileKernel by_input[kNumDTypes];
  [[nodiscard]] const TileKernel& operator[](DType in) const { return by_input[static_cast<int>(in)]; }
};
const TileTable& find_tiles(const char* name);

inline constexpr int kMaxOperands = 8;

// One output. Inputs broadcast together; `result` is the dtype of a new output (tiles are converted from kernel.out).
// The new output takes the inputs' memory format as PyTorch does. Returns the output (out[0] if given).
Tensor elementwise(const char* op, std::initializer_list<const Tensor*> inputs, const TileKernel& kernel, DType result,
                   const void* params, const Out& out);
// Several outputs of one shape, e.g. frexp. `outputs` holds defined tensors of the broadcast shape.
void elementwise_into(const char* op, Span<Tensor> outputs, Span<Tensor> inputs, const TileKernel& kernel,
                      const void* params);

}  // namespace flambeau
