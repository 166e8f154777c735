// Batches of column-major matrices, as LAPACK wants them.
#pragma once

#include <algorithm>
#include <bit>
#include <string>

#include "core/copy.h"
#include "core/factory.h"
#include "core/parallel.h"
#include "kernels/lapack.h"

namespace flambeau::linalg {

inline std::int64_t rows(const Tensor& t) { return t.sizes()[t.dim() - 2]; }
inline std::int64_t columns(const Tensor& t) { return t.sizes()[t.dim() - 1]; }
inline Dims batch_of(const Tensor& t) { return Dims(t.sizes().subspan(0, t.dim() - 2)); }
inline Dims with(Dims batch, std::initializer_list<std::int64_t> last) {
  for (const std::int64_t size : last) batch.push_back(size);
  return batch;
}
inline std::int64_t count(IntSpan batch) { return checked_numel(batch); }

// m x n elements within LAPACK's 32-bit sizes.
void check_extent(const char* op, std::int64_t m, std::int64_t n);
// At least a matrix, float32/64 or complex, of such an extent.
void check_matrix(const char* op, const Tensor& t, const char* name = "A");
void check_square(const char* op, const Tensor& t, const char* name = "A");

// New tensor (batch..., m, n), each matrix column-major.
Tensor column_major(const Dims& batch, std::int64_t m, std::int64_t n, DType dtype, Device device);
Tensor copy_column_major(const Tensor& t);

// fn(TypeTag) of the dtype's element type.
template <class F>
void dispatch(const char* op, DType dtype, F&& fn) {
  dispatch_floating_and_complex(op, dtype, std::forward<F>(fn));
}

// fn(i) for the matrices of a batch; cost: operations per matrix.
template <class F>
void for_batch(std::int64_t batch, double cost, F&& fn) {
  const auto grain = static_cast<std::int64_t>(std::max(1.0, 30000.0 / std::max(1.0, cost)));
  parallel_for(0, batch, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) fn(i);
  });
}

inline int to_int(std::int64_t n) { return static_cast<int>(n); }
inline int leading(std::int64_t m) { return static_cast<int>(std::max<std::int64_t>(1, m)); }

// No inf and no NaN. An exponent of all ones carries into the sign bit; a plain loop of integers, which vectorises.
template <class T>
bool all_finite(const T* x, std::int64_t n) {
  if constexpr (std::is_same_v<T, c64> || std::is_same_v<T, c128>) {
    return all_finite(&x->re, 2 * n);
  } else {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    constexpr int kMantissa = sizeof(T) == 4 ? 23 : 52;
    constexpr Bits kTop = Bits(1) << (8 * sizeof(T) - 1), kExponent = kTop - (Bits(1) << kMantissa);
    Bits any = 0;
    for (std::int64_t i = 0; i < n; ++i) any |= (std::bit_cast<Bits>(x[i]) & kExponent) + (Bits(1) << kMantissa);
    return (any & kTop) == 0;
  }
}

template <class T>
bool has_nan(const T* x, std::int64_t n) {
  if (all_finite(x, n)) return false;
  return std::any_of(x, x + n, [](T value) { return value != value; });
}

// "(Batch element 3): " or nothing, for the first non-zero info; -1 if all are zero.
std::int64_t first_failure(const Tensor& info, std::string& where);

}  // namespace flambeau::linalg
