// Copies and conversions: clone, contiguous, to, fill, copy.
#include "core/copy.h"
#include "core/factory.h"
#include "core/promotion.h"
#include "kernels/shape.h"

namespace flambeau {
namespace {

Tensor clone_op(const Tensor& input, std::optional<MemoryFormat> format) {
  const MemoryFormat layout = format.value_or(MemoryFormat::Preserve);
  check(layout != MemoryFormat::ChannelsLast || input.dim() == 4, ErrorKind::Runtime,
        "required rank 4 tensor to use channels_last format");
  check(layout != MemoryFormat::ChannelsLast3d || input.dim() == 5, ErrorKind::Runtime,
        "required rank 5 tensor to use channels_last_3d format");
  if (input.is_meta()) return empty_like(input, {}, layout);
  return clone(input, layout);
}

Tensor contiguous_op(const Tensor& input, MemoryFormat format) {
  check(format != MemoryFormat::Preserve, ErrorKind::Runtime,
        "preserve memory format is unsupported by the contiguous operator");
  if (input.is_contiguous(format)) return input;
  return clone_op(input, format);
}

void warn_if_imaginary_is_lost(DType from, DType to) {
  if (!is_complex(from) || is_complex(to) || to == DType::Bool) [[likely]]
    return;
  queue_warning("Casting complex values to real discards the imaginary part. Take .real if that is meant.");
}

Tensor convert_to(const Tensor& input, std::optional<DType> dtype, std::optional<Device> device, bool copy,
                  std::optional<MemoryFormat> format) {
  const DType type = dtype.value_or(input.dtype());
  const Device where = device.value_or(input.device());
  const MemoryFormat layout = format.value_or(MemoryFormat::Preserve);
  const bool same_layout = layout == MemoryFormat::Preserve || suggested_format(input) == layout;
  if (!copy && type == input.dtype() && where == input.device() && same_layout) return input;
  if (where == input.device()) {
    if (type == input.dtype()) return clone_op(input, layout);
    warn_if_imaginary_is_lost(input.dtype(), type);
    const Tensor result = empty_like(input, type, layout);
    if (!result.is_meta()) copy_into(result, input);
    return result;
  }
  check(!input.is_meta(), ErrorKind::NotImplemented, "Cannot copy out of meta tensor; no data!");
  const Tensor shape = empty_like(input, type, layout);
  return empty_strided(shape.sizes(), shape.strides(), type, where);
}

Tensor to(const Tensor& input, std::optional<Device> device, std::optional<DType> dtype, bool, bool copy,
          std::optional<MemoryFormat> format) {
  return convert_to(input, dtype, device, copy, format);
}

Tensor to_dtype_op(const Tensor& input, DType dtype, bool, bool copy, std::optional<MemoryFormat> format) {
  return convert_to(input, dtype, {}, copy, format);
}

Tensor to_other(const Tensor& input, const Tensor& other, bool, bool copy, std::optional<MemoryFormat> format) {
  return convert_to(input, other.dtype(), other.device(), copy, format);
}

// float(), half() ...: the dtype is the registration's context.
constexpr DType kDTypes[kNumDTypes] = {DType::Bool,    DType::UInt8,   DType::Int8,      DType::Int16,
                                       DType::Int32,   DType::Int64,   DType::Float16,   DType::BFloat16,
                                       DType::Float32, DType::Float64, DType::Complex64, DType::Complex128};
const DType* context_of(DType dtype) { return &kDTypes[static_cast<int>(dtype)]; }

Tensor named_dtype(const KernelDef& def, const Tensor& input, std::optional<MemoryFormat> format) {
  return convert_to(input, *static_cast<const DType*>(def.context), {}, false, format);
}

Tensor fill_op(const Tensor& input, const Scalar& value, const Out& out) {
  const Tensor result = out.inplace ? out[0] : output("fill", out, 0, input.sizes(), input.dtype(), input.device());
  check(!value.is_complex() || is_complex(result.dtype()), ErrorKind::Runtime, "value cannot be converted to type ",
        name_of(result.dtype()), " without overflow");
  if (!result.is_meta() && result.numel() != 0) fill(result, value);
  return result;
}

Tensor fill_tensor(const Tensor& input, const Tensor& value, const Out& out) {
  check(value.dim() == 0, ErrorKind::Runtime, "fill_ only supports 0-dimension value tensor but got tensor with ",
        value.dim(), " dimensions.");
  const Tensor result = out.inplace ? out[0] : output("fill", out, 0, input.sizes(), input.dtype(), input.device());
  if (!result.is_meta() && result.numel() != 0) fill(result, item(value));
  return result;
}

Tensor zero_op(const Tensor& input, const Out& out) { return fill_op(input, Scalar(0), out); }

Tensor copy_op(const Tensor& input, const Tensor& src, bool, const Out& out) {
  const Tensor result = out.inplace ? out[0] : output("copy", out, 0, input.sizes(), input.dtype(), input.device());
  const Tensor source = src.sizes() == result.sizes() ? src : expand_to(src, result.sizes(), "copy_");
  if (result.is_meta()) return result;
  check(!src.is_meta(), ErrorKind::NotImplemented, "Cannot copy out of meta tensor; no data!");
  check_no_internal_overlap(result, "copy_");
  if (result.numel() == 0) return result;
  // The same elements in the same places: nothing to do (x.copy_(x)).
  if (source.storage() == result.storage()) { check_no_partial_overlap(result, source, "copy_"); }
  warn_if_imaginary_is_lost(source.dtype(), result.dtype());
  copy_into(result, source);
  return result;
}

const Kernel kernels[] = {
    {"clone", &clone_op},
    {"contiguous", &contiguous_op},
    {"to", &to},
    {"to_dtype", &to_dtype_op},
    {"to_other", &to_other},
    {"bool", &named_dtype, context_of(DType::Bool)},
    {"byte", &named_dtype, context_of(DType::UInt8)},
    {"char", &named_dtype, context_of(DType::Int8)},
    {"short", &named_dtype, context_of(DType::Int16)},
    {"int", &named_dtype, context_of(DType::Int32)},
    {"long", &named_dtype, context_of(DType::Int64)},
    {"half", &named_dtype, context_of(DType::Float16)},
    {"bfloat16", &named_dtype, context_of(DType::BFloat16)},
    {"float", &named_dtype, context_of(DType::Float32)},
    {"double", &named_dtype, context_of(DType::Float64)},
    {"cfloat", &named_dtype, context_of(DType::Complex64)},
    {"cdouble", &named_dtype, context_of(DType::Complex128)},
    {"fill", &fill_op},
    {"fill_tensor", &fill_tensor},
    {"zero", &zero_op},
    {"copy", &copy_op},
};

}  // namespace
}  // namespace flambeau
