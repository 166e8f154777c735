// Copies between tensors of any layout and dtype, fills, and the overlap checks of in-place operations.
#include "core/copy.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "core/factory.h"
#include "core/parallel.h"
#include "core/strided_loop.h"
#include "core/transpose.h"

namespace flambeau {
namespace {

constexpr std::int64_t kGrain = 65536;
constexpr std::int64_t kBlock = 32;

// dst[i + j * dst_stride] = src[i * src_stride + j] (in elements) for a block that fits L1.
template <class T>
void transpose_block(T* dst, std::int64_t dst_stride, const T* src, std::int64_t src_stride, std::int64_t n,
                     std::int64_t m) noexcept {
  if (n == kBlock && m == kBlock) {
    // Through a buffer: both sides then move whole cache lines.
    alignas(64) T buffer[kBlock * kBlock];
    for (std::int64_t i = 0; i < kBlock; ++i) {
      for (std::int64_t j = 0; j < kBlock; ++j) buffer[j * kBlock + i] = src[i * src_stride + j];
    }
    for (std::int64_t j = 0; j < kBlock; ++j)
      std::memcpy(dst + j * dst_stride, buffer + j * kBlock, sizeof(T) * kBlock);
    return;
  }
  for (std::int64_t j = 0; j < m; ++j) {
    for (std::int64_t i = 0; i < n; ++i) dst[i + j * dst_stride] = src[i * src_stride + j];
  }
}

// Loop dim 0 is contiguous in dst, dim `d` is contiguous in src. False: not such a loop.
bool copy_transposed(const StridedLoop& loop, char* dst, const char* src, std::int64_t size) {
  if (loop.ndim < 2 || loop.strides[0][0] != size || loop.sizes[0] < 4) return false;
  if (loop.strides[1][0] == size || loop.strides[1][0] == 0 || loop.strides[1][0] % size != 0) return false;
  int d = 1;
  while (d < loop.ndim && loop.strides[1][d] != size) ++d;
  if (d == loop.ndim || loop.sizes[d] < 4 || loop.strides[0][d] % size != 0) return false;
  // The remaining dims, with dim d and dim 0 cut into blocks, in one linear range.
  const std::int64_t n = loop.sizes[0], m = loop.sizes[d];
  const std::int64_t n_blocks = (n + kBlock - 1) / kBlock, m_blocks = (m + kBlock - 1) / kBlock;
  std::int64_t outer = 1;
  for (int i = 1; i < loop.ndim; ++i) outer *= i == d ? 1 : loop.sizes[i];
  const std::int64_t dst_step = loop.strides[0][d], src_step = loop.strides[1][0];
  const std::int64_t per_chunk = kGrain / (kBlock * kBlock);
  static const TileFn transpose4 = find_tile("transpose", DType::Int32).fn;
  parallel_for(0, outer * n_blocks * m_blocks, per_chunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; ++at) {
      const std::int64_t i = at % n_blocks * kBlock, j = at / n_blocks % m_blocks * kBlock;
      std::int64_t rest = at / (n_blocks * m_blocks);
      char* to = dst + i * size + j * dst_step;
      const char* from = src + i * src_step + j * size;
      for (int k = 1; k < loop.ndim; ++k) {
        if (k == d) continue;
        to += rest % loop.sizes[k] * loop.strides[0][k];
        from += rest % loop.sizes[k] * loop.strides[1][k];
        rest /= loop.sizes[k];
      }
      if (size == 4) {
        const TransposeBlock params{dst_step / size, src_step / size, std::min(kBlock, n - i), std::min(kBlock, m - j)};
        void* target = to;
        const void* source = from;
        transpose4(&target, &source, 0, &params);
        continue;
      }
      const auto block = [&](auto tag) {
        using T = typename decltype(tag)::type;
        transpose_block<T>(reinterpret_cast<T*>(to), dst_step / size, reinterpret_cast<const T*>(from), src_step / size,
                           std::min(kBlock, n - i), std::min(kBlock, m - j));
      };
      switch (size) {
        case 1: block(TypeTag<std::uint8_t>{}); break;
        case 2: block(TypeTag<std::uint16_t>{}); break;
        case 8: block(TypeTag<std::uint64_t>{}); break;
        default: block(TypeTag<Bytes16>{});
      }
    }
  });
  return true;
}

// Values whose lazy bits differ on the two sides pass through a tile.
void copy_with_bits(const StridedLoop& loop, char* const* bases, DType from, DType to, bool conj, bool neg) {
  const CastFn load = cast_fn(from, to), store = cast_fn(to, to);
  const std::int64_t size = itemsize(to);
  parallel_for(0, loop.numel, kGrain, [&](std::int64_t begin, std::int64_t end) {
    alignas(64) char tile[kTile * 16];
    loop.for_rows(bases, begin, end, [&](char* const* row, std::int64_t n) {
      for (std::int64_t done = 0; done < n; done += kTile) {
        const std::int64_t count = std::min(kTile, n - done);
        load(tile, size, row[1] + done * loop.strides[1][0], loop.strides[1][0], count);
        if (conj) apply_conj(tile, to, count);
        if (neg) apply_neg(tile, to, count);
        store(row[0] + done * loop.strides[0][0], loop.strides[0][0], tile, size, count);
      }
    });
  });
}

// Rows contiguous on both sides and not worth a call of the general code each.
bool copy_short_rows(const StridedLoop& loop, char* const* bases, std::int64_t size) {
  const std::int64_t row_bytes = loop.sizes[0] * size;
  if (loop.ndim < 2 || loop.strides[0][0] != size || loop.strides[1][0] != size || row_bytes > 4096) return false;
  // One linear index over all rows.
  const std::int64_t rows = loop.numel / loop.sizes[0], inner = loop.sizes[1];
  const std::int64_t dst_step = loop.strides[0][1], src_step = loop.strides[1][1];
  const auto length = static_cast<std::size_t>(row_bytes);
  parallel_for(0, rows, std::max<std::int64_t>(1, kGrain / loop.sizes[0]), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end;) {
      char* dst = bases[0];
      const char* src = bases[1];
      std::int64_t rest = at;
      for (int d = 1; d < loop.ndim; ++d) {
        dst += rest % loop.sizes[d] * loop.strides[0][d];
        src += rest % loop.sizes[d] * loop.strides[1][d];
        rest /= loop.sizes[d];
      }
      const std::int64_t count = std::min(end - at, inner - at % inner);
      for (std::int64_t i = 0; i < count; ++i, dst += dst_step, src += src_step) std::memcpy(dst, src, length);
      at += count;
    }
  });
  return true;
}

bool overflows(const Scalar& value, double lowest, double highest) {
  const double number = value.to_double();
  return std::isnan(number) || number < lowest || number > highest;
}

}  // namespace

void copy_into(const Tensor& dst, const Tensor& src) {
  if (dst.is(src)) return;
  if (dst.sizes() != src.sizes()) {
    const Dims shape = broadcast_shapes(dst.sizes(), src.sizes(), "copy_");
    check(IntSpan(shape) == dst.sizes(), "output with shape ", dst.sizes(), " doesn't match the broadcast shape ",
          shape);
  }
  if (dst.is_meta() || src.is_meta() || dst.numel() == 0) return;
  const DType from = src.dtype(), to = dst.dtype();
  const bool conj = is_complex(from) && is_complex(to) && src.is_conj() != dst.is_conj();
  const bool neg = src.is_neg() != dst.is_neg();
  char* bases[2] = {static_cast<char*>(dst.data()), static_cast<char*>(src.data())};
  if (from == to && !conj && !neg) {
    if (bases[0] == bases[1] && dst.sizes() == src.sizes() && dst.strides() == src.strides()) return;
    if (dst.is_contiguous() && src.is_contiguous() && dst.sizes() == src.sizes() && (dst.storage() != src.storage())) {
      const std::int64_t size = itemsize(to);
      parallel_for(0, dst.numel(), kGrain * 4, [&](std::int64_t begin, std::int64_t end) {
        std::memcpy(bases[0] + begin * size, bases[1] + begin * size, static_cast<std::size_t>((end - begin) * size));
      });
      return;
    }
  }
  check_no_internal_overlap(dst, "copy_");
  check_no_partial_overlap(dst, src, "copy_");
  StridedLoop loop(dst.sizes());
  loop.add(dst);
  loop.add(src);
  loop.sort();
  loop.coalesce();
  if (conj || neg) {
    copy_with_bits(loop, bases, from, to, conj, neg);
    return;
  }
  if (from == to && copy_transposed(loop, bases[0], bases[1], itemsize(to))) return;
  if (from == to && dst.storage() != src.storage() && copy_short_rows(loop, bases, itemsize(to))) return;
  const CastFn cast = cast_fn(from, to);
  const std::int64_t dst_stride = loop.strides[0][0], src_stride = loop.strides[1][0];
  parallel_for(0, loop.numel, kGrain, [&](std::int64_t begin, std::int64_t end) {
    loop.for_rows(bases, begin, end,
                  [&](char* const* row, std::int64_t n) { cast(row[0], dst_stride, row[1], src_stride, n); });
  });
}

void check_fits(const Scalar& value, DType dtype) {
  if (dtype == DType::Bool) return;
  bool bad = value.imag() != 0 && !is_complex(dtype);
  const char* name = "";
  const auto integer = [&](auto tag, const char* type) {
    using T = typename decltype(tag)::type;
    name = type;
    // Negative numbers wrap into unsigned types, as -1 -> 255.
    const double highest = static_cast<double>(std::numeric_limits<T>::max());
    const double lowest = std::is_signed_v<T> ? static_cast<double>(std::numeric_limits<T>::min()) : -highest;
    if (!(value.is_integral(true) && sizeof(T) == 8)) bad = bad || overflows(value, lowest, highest);
  };
  const auto floating = [&](double highest, const char* type) {
    name = type;
    const auto too_big = [&](double number) { return std::isfinite(number) && std::fabs(number) > highest; };
    bad = bad || too_big(value.to_double()) || too_big(value.imag());
  };
  switch (dtype) {
    case DType::UInt8: integer(TypeTag<std::uint8_t>{}, "uint8_t"); break;
    case DType::Int8: integer(TypeTag<std::int8_t>{}, "int8_t"); break;
    case DType::Int16: integer(TypeTag<std::int16_t>{}, "int16_t"); break;
    case DType::Int32: integer(TypeTag<std::int32_t>{}, "int"); break;
    case DType::Int64: integer(TypeTag<std::int64_t>{}, "int64_t"); break;
    case DType::Float16: floating(65504.0, "at::Half"); break;
    case DType::BFloat16: floating(3.3895313892515355e38, "at::BFloat16"); break;
    case DType::Float32: floating(static_cast<double>(std::numeric_limits<float>::max()), "float"); break;
    case DType::Complex64:
      floating(static_cast<double>(std::numeric_limits<float>::max()), "c10::complex<float>");
      break;
    case DType::Float64: name = "double"; break;
    default: break;
  }
  check(!bad, "value cannot be converted to type ", name, " without overflow");
}

void fill(const Tensor& dst, const Scalar& value) {
  check_fits(value, dst.dtype());
  if (dst.is_meta() || dst.numel() == 0) return;
  // Expanded tensors may be filled: every write is of the same value.
  alignas(16) char element[16];
  dispatch_all(dst.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T typed = value.to<T>();
    std::memcpy(element, &typed, sizeof(T));
  });
  if (dst.is_conj()) apply_conj(element, dst.dtype(), 1);
  if (dst.is_neg()) apply_neg(element, dst.dtype(), 1);
  const CastFn store = cast_fn(dst.dtype(), dst.dtype());
  StridedLoop loop(dst.sizes());
  loop.add(dst);
  loop.sort();
  loop.coalesce();
  char* base = static_cast<char*>(dst.data());
  parallel_for(0, loop.numel, kGrain, [&](std::int64_t begin, std::int64_t end) {
    loop.for_rows(&base, begin, end,
                  [&](char* const* row, std::int64_t n) { store(row[0], loop.strides[0][0], element, 0, n); });
  });
}

Tensor clone(const Tensor& input, MemoryFormat format) {
  Tensor result = empty_like(input, {}, format);
  copy_into(result, input);
  return result;
}

Tensor contiguous(const Tensor& input) {
  if (input.is_contiguous() && !input.is_conj() && !input.is_neg()) return input;
  Tensor result = empty(input.sizes(), input.dtype(), input.device());
  copy_into(result, input);
  return result;
}

Tensor contiguous(const Tensor& input, MemoryFormat format) {
  if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve) return contiguous(input);
  if (input.is_contiguous(format) && !input.is_conj() && !input.is_neg()) return input;
  Tensor result = empty(input.sizes(), input.dtype(), input.device(), format);
  copy_into(result, input);
  return result;
}

Tensor to_dtype(const Tensor& input, DType dtype) {
  if (input.dtype() == dtype) return input;
  Tensor result = empty_like(input, dtype);
  copy_into(result, input);
  return result;
}

Tensor resolve(const Tensor& input) { return input.is_conj() || input.is_neg() ? clone(input) : input; }

Tensor expand_to(const Tensor& input, IntSpan sizes, const char* op) {
  const std::int64_t have = input.dim(), want = sizes.size();
  check(want >= have, op, "(", torch_name_of(input.dtype()), "Tensor{", input.sizes(), "}, size=", sizes,
        "): the number of sizes provided (", want,
        ") must be greater or equal to the number of dimensions in the tensor (", have, ")");
  Dims new_sizes(sizes), strides = Dims::filled(want, 0);
  for (std::int64_t i = 0; i < want; ++i) {
    const std::int64_t dim = i - (want - have);
    if (dim < 0) {
      check(sizes[i] >= 0, "The expanded size of the tensor (", sizes[i],
            ") isn't allowed in a leading, non-existing dimension ", i);
      continue;
    }
    const std::int64_t size = input.sizes()[dim];
    if (new_sizes[i] == -1) new_sizes[i] = size;
    check(size == 1 || size == new_sizes[i], "The expanded size of the tensor (", sizes[i],
          ") must match the existing size (", size, ") at non-singleton dimension ", i, ".  Target sizes: ", sizes,
          ".  Tensor sizes: ", input.sizes());
    strides[i] = size == 1 && new_sizes[i] != 1 ? 0 : input.strides()[dim];
  }
  // A fresh leading dim has the stride that PyTorch gives it: that of a dense dim when its size is 1.
  for (std::int64_t i = want - have - 1; i >= 0; --i) {
    if (new_sizes[i] == 1) strides[i] = i + 1 < want ? new_sizes[i + 1] * strides[i + 1] : 1;
  }
  return alias(input, new_sizes, strides, input.offset());
}

Scalar item(const Tensor& input) {
  check(input.numel() == 1, "a Tensor with ", input.numel(), " elements cannot be converted to Scalar");
  check(!input.is_meta(), "Tensor.item() cannot be called on meta tensors");
  return dispatch_all(input.dtype(), [&](auto tag) -> Scalar {
    using T = typename decltype(tag)::type;
    T value = *input.data<T>();
    if (input.is_conj()) apply_conj(&value, input.dtype(), 1);
    if (input.is_neg()) apply_neg(&value, input.dtype(), 1);
    if constexpr (std::is_same_v<T, bool>) {
      return Scalar(value);
    } else if constexpr (std::is_integral_v<T>) {
      return Scalar(static_cast<std::int64_t>(value));
    } else if constexpr (std::is_same_v<T, c64> || std::is_same_v<T, c128>) {
      return Scalar(c128(value));
    } else {
      return Scalar(convert<double>(value));
    }
  });
}

void check_no_internal_overlap(const Tensor& dst, const char*) {
  if (dst.is_contiguous()) return;
  for (std::int64_t i = 0; i < dst.dim(); ++i) {
    check(dst.strides()[i] != 0 || dst.sizes()[i] <= 1,
          "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
          "Please clone() the tensor before performing the operation.");
  }
}

void check_no_partial_overlap(const Tensor& dst, const Tensor& src, const char*) {
  if (dst.storage() != src.storage() || dst.is(src) || dst.numel() == 0 || src.numel() == 0 || dst.is_meta()) return;
  // Gaps make exact answers costly: like PyTorch, only dense tensors are judged.
  if (!dst.is_non_overlapping_and_dense() || !src.is_non_overlapping_and_dense()) return;
  const char* dst_begin = static_cast<const char*>(dst.data());
  const char* src_begin = static_cast<const char*>(src.data());
  const char* dst_end = dst_begin + dst.numel() * dst.itemsize();
  const char* src_end = src_begin + src.numel() * src.itemsize();
  if (dst_begin == src_begin && dst_end == src_end && dst.strides() == src.strides()) return;
  check(!(dst_begin < src_end && src_begin < dst_end),
        "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
        "location. Please clone() the tensor before performing the operation.");
}

}  // namespace flambeau
