// Tensors of given sizes: empty, zeros, ones, full, their _like and new_ forms, and eye.
#include "kernels/create.h"

#include "core/copy.h"
#include "core/determinism.h"

namespace flambeau {
namespace {

using OptDType = std::optional<DType>;
using OptDevice = std::optional<Device>;
using OptFormat = std::optional<MemoryFormat>;

void fill_if_real(const Tensor& tensor, const Scalar& value) {
  if (!tensor.is_meta() && tensor.numel() != 0) fill(tensor, value);
}

void check_rank(IntSpan size, MemoryFormat format) {
  if (format == MemoryFormat::ChannelsLast) {
    check(size.size() == 4, ErrorKind::Runtime, "required rank 4 tensor to use channels_last format");
  } else if (format == MemoryFormat::ChannelsLast3d) {
    check(size.size() == 5, ErrorKind::Runtime, "required rank 5 tensor to use channels_last_3d format");
  }
}

Tensor empty_op(IntSpan size, OptDType dtype, OptDevice device, OptFormat format, const Out& out) {
  if (out.given()) return destination("empty", size, dtype, device, out);
  check_sizes_nonnegative(size, "empty");
  const MemoryFormat layout = format.value_or(MemoryFormat::Contiguous);
  check_rank(size, layout);
  return determinism::uninitialized(empty(size, dtype.value_or(default_dtype()), device.value_or(Device{}), layout));
}

Tensor zeros_op(IntSpan size, OptDType dtype, OptDevice device, const Out& out) {
  Tensor result = destination("zeros", size, dtype, device, out);
  fill_if_real(result, Scalar(0));
  return result;
}

Tensor ones_op(IntSpan size, OptDType dtype, OptDevice device, const Out& out) {
  Tensor result = destination("ones", size, dtype, device, out);
  fill_if_real(result, Scalar(1));
  return result;
}

Tensor full_op(IntSpan size, const Scalar& fill_value, OptDType dtype, OptDevice device, const Out& out) {
  if (!dtype && !out.given()) dtype = fill_value.natural_dtype(default_dtype());
  Tensor result = destination("full", size, dtype, device, out);
  fill_if_real(result, fill_value);
  return result;
}

Tensor empty_strided_op(IntSpan size, IntSpan stride, OptDType dtype, OptDevice device) {
  check(size.size() == stride.size(), ErrorKind::Runtime, "empty_strided: dimensionality of sizes (", size.size(),
        ") must match dimensionality of strides (", stride.size(), ")");
  check_sizes_nonnegative(size, "empty_strided");
  for (const std::int64_t s : stride) {
    check(s >= 0, ErrorKind::Runtime, "empty_strided: negative strides are not allowed; got strides: ", stride);
  }
  max_position(size, stride, "empty_strided");
  return determinism::uninitialized(
      empty_strided(size, stride, dtype.value_or(default_dtype()), device.value_or(Device{})));
}

// Sizes as given, memory in the order of physical_layout (a permutation, slowest dim first).
Tensor empty_permuted(IntSpan size, IntSpan physical_layout, OptDType dtype, OptDevice device) {
  const std::int64_t n = size.size();
  check(physical_layout.size() == n, ErrorKind::Runtime,
        "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = ", n,
        " is not equal to len(physical_layout) = ", physical_layout.size());
  check_sizes_nonnegative(size, "empty_permuted");
  Dims strides = Dims::filled(n, 0);
  std::uint64_t seen = 0;
  std::int64_t stride = 1;
  for (std::int64_t i = n - 1; i >= 0; --i) {
    const std::int64_t d = physical_layout[i];
    check(d >= 0 && d < n, ErrorKind::Runtime, "empty_permuted: Dimension out of range (expected to be between 0 and ",
          n - 1, ", but got ", d, " at index ", i, ")");
    check((seen >> d & 1U) == 0, ErrorKind::Runtime, "empty_permuted: Duplicate dim not allowed in physical_layout ",
          physical_layout);
    seen |= std::uint64_t{1} << d;
    strides[d] = stride;
    stride = checked_mul(stride, std::max<std::int64_t>(size[d], 1), "empty_permuted");
  }
  return determinism::uninitialized(
      empty_strided(size, strides, dtype.value_or(default_dtype()), device.value_or(Device{})));
}

Tensor like(const Tensor& input, OptDType dtype, OptDevice device, OptFormat format) {
  const MemoryFormat layout = format.value_or(MemoryFormat::Preserve);
  check_rank(input.sizes(), layout);
  if (!device || *device == input.device()) return empty_like(input, dtype, layout);
  return empty(input.sizes(), dtype.value_or(input.dtype()), *device,
               layout == MemoryFormat::Preserve ? MemoryFormat::Contiguous : layout);
}

Tensor empty_like_op(const Tensor& input, OptDType dtype, OptDevice device, OptFormat format) {
  return determinism::uninitialized(like(input, dtype, device, format));
}
Tensor zeros_like_op(const Tensor& input, OptDType dtype, OptDevice device, OptFormat format) {
  Tensor result = like(input, dtype, device, format);
  fill_if_real(result, Scalar(0));
  return result;
}
Tensor ones_like_op(const Tensor& input, OptDType dtype, OptDevice device, OptFormat format) {
  Tensor result = like(input, dtype, device, format);
  fill_if_real(result, Scalar(1));
  return result;
}
Tensor full_like_op(const Tensor& input, const Scalar& fill_value, OptDType dtype, OptDevice device, OptFormat format) {
  Tensor result = like(input, dtype, device, format);
  fill_if_real(result, fill_value);
  return result;
}

Tensor new_tensor(const char* op, const Tensor& input, IntSpan size, OptDType dtype, OptDevice device) {
  check_sizes_nonnegative(size, op);
  return empty(size, dtype.value_or(input.dtype()), device.value_or(input.device()));
}
Tensor new_empty(const Tensor& input, IntSpan size, OptDType dtype, OptDevice device) {
  return determinism::uninitialized(new_tensor("new_empty", input, size, dtype, device));
}
Tensor new_zeros(const Tensor& input, IntSpan size, OptDType dtype, OptDevice device) {
  Tensor result = new_tensor("new_zeros", input, size, dtype, device);
  fill_if_real(result, Scalar(0));
  return result;
}
Tensor new_ones(const Tensor& input, IntSpan size, OptDType dtype, OptDevice device) {
  Tensor result = new_tensor("new_ones", input, size, dtype, device);
  fill_if_real(result, Scalar(1));
  return result;
}
Tensor new_full(const Tensor& input, IntSpan size, const Scalar& fill_value, OptDType dtype, OptDevice device) {
  Tensor result = new_tensor("new_full", input, size, dtype, device);
  fill_if_real(result, fill_value);
  return result;
}
Tensor new_empty_strided(const Tensor& input, IntSpan size, IntSpan stride, OptDType dtype, OptDevice device) {
  return empty_strided_op(size, stride, dtype.value_or(input.dtype()), device.value_or(input.device()));
}

Tensor scalar_tensor_op(const Scalar& s, OptDType dtype, OptDevice device) {
  return scalar_tensor(s, dtype.value_or(default_dtype()), device.value_or(Device{}));
}

Tensor eye(std::int64_t n, std::optional<std::int64_t> m, OptDType dtype, OptDevice device, const Out& out) {
  const std::int64_t columns = m.value_or(n);
  check(n >= 0, ErrorKind::Runtime, "eye: n must be greater or equal to 0, got ", n);
  check(columns >= 0, ErrorKind::Runtime, "eye: m must be greater or equal to 0, got ", columns);
  Tensor result = destination("eye", {n, columns}, dtype, device, out);
  if (!result.is_meta() && result.numel() != 0) {
    fill(result, Scalar(0));
    const std::int64_t length = std::min(n, columns), stride = result.strides()[0] + result.strides()[1];
    fill(alias(result, {length}, {stride}, result.offset()), Scalar(1));
  }
  return result;
}

const Kernel kernels[] = {
    {"empty", &empty_op},
    {"zeros", &zeros_op},
    {"ones", &ones_op},
    {"full", &full_op},
    {"empty_strided", &empty_strided_op},
    {"empty_permuted", &empty_permuted},
    {"empty_like", &empty_like_op},
    {"zeros_like", &zeros_like_op},
    {"ones_like", &ones_like_op},
    {"full_like", &full_like_op},
    {"new_empty", &new_empty},
    {"new_zeros", &new_zeros},
    {"new_ones", &new_ones},
    {"new_full", &new_full},
    {"new_empty_strided", &new_empty_strided},
    {"scalar_tensor", &scalar_tensor_op},
    {"eye", &eye},
};

}  // namespace
}  // namespace flambeau
