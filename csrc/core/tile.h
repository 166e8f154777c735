// Tile kernels: inner loops over contiguous runs, compiled once per CPU level and found by name (see elementwise.h).
#pragma once

#include <cstdint>

#include "core/dtype.h"

namespace flambeau {

inline constexpr std::int64_t kTile = 512;  // elements; 8 KiB at most

// outputs[i] and inputs[i] are contiguous runs of n elements (aligned only to the element). Outputs may be equal to
// inputs, never overlap partly. params is whatever the op passed.
using TileFn = void (*)(void* const* outputs, const void* const* inputs, std::int64_t n, const void* params) noexcept;

struct TileKernel {
  TileFn fn = nullptr;
  DType in = DType::Float32;   // dtype of the tiles read
  DType out = DType::Float32;  // dtype of the tiles written
  bool condition = false;      // the first input is bool instead
  [[nodiscard]] DType input(int k) const { return condition && k == 0 ? DType::Bool : in; }
};

// Per-level registration (csrc/kernels/tile/*.cpp, compiled once per CPU level): the highest level the machine has
// wins.
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

}  // namespace flambeau
