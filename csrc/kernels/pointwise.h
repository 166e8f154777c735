// What the elementwise op families share: sets of accepted dtypes, the choice of a tile kernel, and constants for it.
#pragma once

#include <atomic>
#include <cstring>

#include "core/elementwise.h"
#include "core/error.h"
#include "core/factory.h"
#include "core/promotion.h"
#include "core/scalar.h"

namespace flambeau {

using DTypeSet = unsigned;  // one bit per dtype
constexpr DTypeSet bit(DType dtype) { return 1U << static_cast<int>(dtype); }
inline constexpr DTypeSet kBool = bit(DType::Bool);
inline constexpr DTypeSet kInts =
    bit(DType::UInt8) | bit(DType::Int8) | bit(DType::Int16) | bit(DType::Int32) | bit(DType::Int64);
inline constexpr DTypeSet kFloats =
    bit(DType::Float16) | bit(DType::BFloat16) | bit(DType::Float32) | bit(DType::Float64);
inline constexpr DTypeSet kComplexes = bit(DType::Complex64) | bit(DType::Complex128);
inline constexpr DTypeSet kReal = kBool | kInts | kFloats;
inline constexpr DTypeSet kAny = kReal | kComplexes;

// One dtype on both sides, which is the result's. Two Python numbers are not of their own dtype but of the default one.
inline bool same_tensor_dtype(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && !a.impl()->wrapped_number;
}

// The tile kernels of one name, with a wider one standing in where a dtype has none of its own.
class Tiles {
 public:
  explicit constexpr Tiles(const char* name) : name_(name) {}
  // fn is null if no kernel can serve the dtype.
  [[nodiscard]] const TileKernel& operator[](DType dtype) const {
    const TileTable* table = table_.load(std::memory_order_acquire);
    if (table == nullptr) [[unlikely]]
      table = resolve_table();
    return (*table)[dtype];
  }

 private:
  [[nodiscard]] const TileTable* resolve_table() const;
  const char* name_;
  mutable std::atomic<const TileTable*> table_{nullptr};
};

// A number in the dtype of a tile, for the params pointer.
struct TileNumber {
  alignas(16) char bytes[32];
  TileNumber(const Scalar& value, DType dtype) { put(0, value, dtype); }
  TileNumber(const Scalar& first, const Scalar& second, DType dtype) {
    put(0, first, dtype);
    put(itemsize(dtype), second, dtype);
  }

 private:
  void put(std::int64_t offset, const Scalar& value, DType dtype) {
    dispatch_all(dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T typed = value.to<T>();
      std::memcpy(bytes + offset, &typed, sizeof(T));
    });
  }
};

// Contexts of the table-driven kernels (KernelDef::context).
struct UnaryInfo {
  enum Kind : std::uint8_t { Same, Float, ToBool, Modulus };  // Modulus: real dtype for complex inputs
  const char* name;
  Kind kind;
  DTypeSet accepts;
  Tiles tiles;
  const char* refusal = nullptr;  // PyTorch's words for a dtype outside `accepts`; null: "... not implemented for ..."
  DTypeSet copies = 0;            // dtypes whose values the op leaves alone
};
Tensor unary(const KernelDef& def, const Tensor& input, const Out& out);

struct BinaryInfo {
  enum Kind : std::uint8_t { Same, Float, ToBool };
  const char* name;
  Kind kind;
  DTypeSet accepts;
  Tiles tiles;
  const char* refusal = nullptr;
  const char* number_first = nullptr;  // kernel name of the form whose first argument is a number
};
Tensor binary(const KernelDef& def, const Tensor& input, const Tensor& other, const Out& out);
Tensor binary_number_first(const KernelDef& def, const Scalar& input, const Tensor& other, const Out& out);

// Raises for a dtype outside `accepts`.
void check_dtype(const char* op, DType dtype, DTypeSet accepts, const char* refusal = nullptr);

}  // namespace flambeau
