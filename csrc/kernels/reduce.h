// The reduction engine. An op names a ReduceKernel (inner loops for one input dtype, compiled per CPU level in
// tile/reduce*.cpp); the engine deals with dims, strides, threads and partial results:
//   - reduced dims are ordered and coalesced, kept dims coalesced in result order
//   - "rows": the innermost run belongs to one result; "columns": neighbouring elements belong to neighbouring results
//   - work is cut by size alone; partial accumulators are merged in a fixed order, so results do not depend on threads
// Results are always written row-major into fresh memory of the kernel's output dtype.
#pragma once

#include <bitset>
#include <optional>

#include "core/kernel.h"
#include "core/tensor.h"
#include "core/tile.h"

namespace flambeau {

enum class ReduceId : std::uint8_t {
  Sum,
  NanSum,
  Prod,
  Max,
  Min,
  ArgMax,
  ArgMin,
  Any,
  All,
  CountNonzero,
  Norm0,
  Norm1,
  Norm2,
  NormP,
  NormInf,
  NormNegInf,
  Var,
};
inline constexpr int kReduceIds = 17;
inline constexpr std::int64_t kReduceColumns = 1024;  // most columns (or rows) of one call

struct ReduceParams {
  double p = 2;           // order of the norm
  double divisor = 0;     // mean: what the sum is divided by; 0 for none
  double correction = 1;  // variance
  bool root = false;      // standard deviation
};

// acc: an array of the kernel's accumulators. n elements are reduced into each of k accumulators.
struct ReduceKernel {
  std::int64_t acc_size;
  void (*init)(void* acc, std::int64_t k) noexcept;
  // acc[j] takes in[j * k_stride + i * stride] for i < n. `base` is the position of i = 0 within the reduced dim.
  void (*rows)(const void* in, std::int64_t n, std::int64_t stride, std::int64_t k, std::int64_t k_stride, void* acc,
               std::int64_t base, const ReduceParams& params) noexcept;
  // acc[j] takes in[i * stride + j], k <= kReduceColumns.
  void (*columns)(const void* in, std::int64_t n, std::int64_t stride, std::int64_t k, void* acc, std::int64_t base,
                  const ReduceParams& params) noexcept;
  void (*merge)(void* acc, const void* other, std::int64_t k) noexcept;  // `other` comes after `acc`
  void (*finish)(const void* acc, std::int64_t k, void* out, void* out2, const ReduceParams& params) noexcept;
};

// Per-level registration, called from the tile files' static initialisers: the highest level the machine has wins.
struct ReduceEntry {
  ReduceEntry(ReduceId id, DType in, const ReduceKernel* kernel, CpuLevel level) noexcept;
};
const ReduceKernel* find_reduce(ReduceId id, DType in);  // null if there is none

using DimMask = std::bitset<kMaxDims>;
// None: every dim. An empty list: every dim too, unless `empty_is_none`. IndexError and "appears multiple times".
DimMask reduced_dims(std::optional<IntSpan> dims, std::int64_t ndim, bool empty_is_none = false);
Dims reduced_sizes(IntSpan sizes, const DimMask& mask, bool keepdim);
std::int64_t reduced_count(IntSpan sizes, const DimMask& mask);

// Reduces the masked dims of `input` (not meta) into `out` and, for kernels with two results, the int64 `out2`.
// `out` is row-major and of the dtype that the kernel writes.
// For kernels that give positions the mask holds one dim.
void run_reduce(const ReduceKernel& kernel, const Tensor& input, const DimMask& mask, const Tensor& out,
                const Tensor& out2, const ReduceParams& params);

// Allocates the result and runs: the usual case of one result.
Tensor reduce(const char* op, ReduceId id, const Tensor& input, const DimMask& mask, bool keepdim, DType result,
              const ReduceParams& params = {});

}  // namespace flambeau
