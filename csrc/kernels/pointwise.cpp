// The table-driven unary and binary kernels: dtype rules, then the elementwise engine.
#include "kernels/pointwise.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace flambeau {
namespace {

// Preferred stand-ins, widest last.
DType wider(DType dtype) {
  switch (dtype) {
    case DType::Bool: return DType::UInt8;
    case DType::UInt8:
    case DType::Int8:
    case DType::Int16: return DType::Int32;
    case DType::Int32: return DType::Int64;
    case DType::Int64: return DType::Float32;
    case DType::Float16:
    case DType::BFloat16: return DType::Float32;
    case DType::Float32: return DType::Float64;
    case DType::Complex64: return DType::Complex128;
    default: return dtype;
  }
}

}  // namespace

const TileTable* Tiles::resolve_table() const {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<TileTable>> tables;
  const std::scoped_lock lock(mutex);
  std::unique_ptr<TileTable>& slot = tables[name_];
  if (!slot) {
    slot = std::make_unique<TileTable>(find_tiles(name_));
    const TileTable own = *slot;
    for (int i = 0; i < kNumDTypes; ++i) {
      DType candidate = static_cast<DType>(i);
      while (own[candidate].fn == nullptr && wider(candidate) != candidate) candidate = wider(candidate);
      slot->by_input[i] = own[candidate];
    }
  }
  table_.store(slot.get(), std::memory_order_release);
  return slot.get();
}

void check_dtype(const char* op, DType dtype, DTypeSet accepts, const char* refusal) {
  if ((accepts & bit(dtype)) != 0) [[likely]]
    return;
  if (refusal != nullptr) fail(ErrorKind::Runtime, refusal);
  throw_bad_dtype(op, dtype);
}

Tensor unary(const KernelDef& def, const Tensor& input, const Out& out) {
  static constexpr Tiles copy_tiles("copy");
  const UnaryInfo& info = *static_cast<const UnaryInfo*>(def.context);
  const DType dtype = input.dtype();
  check_dtype(info.name, dtype, info.accepts, info.refusal);
  if ((info.copies & bit(dtype)) != 0) {
    return elementwise(def.name, {&input}, copy_tiles[dtype], dtype, nullptr, out);
  }
  DType result = dtype, compute = dtype;
  switch (info.kind) {
    case UnaryInfo::Same: break;
    case UnaryInfo::Float: compute = result = to_float_type(dtype); break;
    case UnaryInfo::ToBool: result = DType::Bool; break;
    case UnaryInfo::Modulus: result = to_real(dtype); break;
  }
  const TileKernel& kernel = info.tiles[compute];
  if (kernel.fn == nullptr) throw_bad_dtype(info.name, dtype);
  return elementwise(def.name, {&input}, kernel, result, nullptr, out);
}

Tensor binary(const KernelDef& def, const Tensor& input, const Tensor& other, const Out& out) {
  const BinaryInfo& info = *static_cast<const BinaryInfo*>(def.context);
  DType compute = same_tensor_dtype(input, other) ? input.dtype() : result_type(input, other);
  check_dtype(info.name, compute, info.accepts, info.refusal);
  if (info.kind == BinaryInfo::Float) compute = to_float_type(compute);
  const TileKernel& kernel = info.tiles[compute];
  if (kernel.fn == nullptr) throw_bad_dtype(info.name, compute);
  return elementwise(def.name, {&input, &other}, kernel, info.kind == BinaryInfo::ToBool ? DType::Bool : compute,
                     nullptr, out);
}

Tensor binary_number_first(const KernelDef& def, const Scalar& input, const Tensor& other, const Out& out) {
  return binary(def, wrapped_number(input), other, out);
}

}  // namespace flambeau
