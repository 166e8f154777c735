// Views that change what the bits mean: another dtype, complex as pairs of reals, lazily conjugated or negated. And the
// geometry of a tensor itself: resize_, set_.
#include "core/op.h"
#include "core/copy.h"
#include "core/determinism.h"
#include "core/factory.h"
#include "kernels/shape.h"

namespace flambeau {
namespace {

Tensor with_dtype(const Tensor& input, DType dtype, IntSpan sizes, IntSpan strides, std::int64_t offset) {
  Tensor result = alias(input, sizes, strides, offset);
  result.impl()->dtype = dtype;
  result.impl()->conj = result.impl()->neg = false;
  return result;
}

Tensor view_dtype(const Tensor& input, DType dtype) {
  const std::int64_t from = input.itemsize(), to = itemsize(dtype), n = input.dim();
  check(!input.is_conj(), ErrorKind::Runtime,
        "torch.Tensor.view is not supported for conjugate view tensors when converting to a different dtype.");
  check(!input.is_neg(), ErrorKind::Runtime,
        "torch.Tensor.view is not supported for tensors with negative bit set when converting to a different dtype.");
  if (from == to) return with_dtype(input, dtype, input.sizes(), input.strides(), input.offset());
  check(n != 0, ErrorKind::Runtime, "self.dim() cannot be 0 to view ", torch_name_of(input.dtype()), " as ",
        torch_name_of(dtype), " (different element sizes)");
  Dims sizes(input.sizes()), strides(input.strides());
  const std::int64_t ratio = from > to ? from / to : to / from;
  if (from > to) {
    check(strides.back() == 1, ErrorKind::Runtime, "self.stride(-1) must be 1 to view ", torch_name_of(input.dtype()),
          " as ", torch_name_of(dtype), " (different element sizes), but got ", strides.back());
    for (std::int64_t d = 0; d + 1 < n; ++d) strides[d] = checked_mul(strides[d], ratio, "view");
    sizes.back() = checked_mul(sizes.back(), ratio, "view");
    return with_dtype(input, dtype, sizes, strides, input.offset() * ratio);
  }
  check(sizes.back() % ratio == 0, ErrorKind::Runtime, "self.size(-1) must be divisible by ", ratio, " to view ",
        torch_name_of(input.dtype()), " as ", torch_name_of(dtype), " (different element sizes), but got ",
        sizes.back());
  check(input.offset() % ratio == 0, ErrorKind::Runtime, "self.storage_offset() must be divisible by ", ratio,
        " to view ", torch_name_of(input.dtype()), " as ", torch_name_of(dtype), " (different element sizes), but got ",
        input.offset());
  for (std::int64_t d = 0; d < n; ++d) {
    const bool last = d + 1 == n;
    check(last ? strides[d] == 1 : strides[d] % ratio == 0, ErrorKind::Runtime, "self.stride(", d, ") must be ",
          last ? "1" : "divisible by the ratio of the element sizes", " to view ", torch_name_of(input.dtype()), " as ",
          torch_name_of(dtype), " (different element sizes), but got ", strides[d]);
    if (!last) strides[d] /= ratio;
  }
  sizes.back() /= ratio;
  return with_dtype(input, dtype, sizes, strides, input.offset() / ratio);
}

Tensor view_as_real(const Tensor& input) {
  check(is_complex(input.dtype()), ErrorKind::Runtime,
        "view_as_real: view_as_real is only supported for complex tensors");
  check(!input.is_conj(), ErrorKind::Runtime,
        "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the "
        "conjugate tensor so you can view it as real, use self.resolve_conj(); however, be warned that the resulting "
        "tensor "
        "will NOT alias the original.");
  Dims sizes(input.sizes()), strides(input.strides());
  for (std::int64_t& stride : strides) stride *= 2;
  sizes.push_back(2);
  strides.push_back(1);
  Tensor result = with_dtype(input, to_real(input.dtype()), sizes, strides, input.offset() * 2);
  result.impl()->neg = input.is_neg();
  return result;
}

Tensor view_as_complex(const Tensor& input) {
  const DType dtype = input.dtype();
  check(is_floating(dtype) && dtype != DType::BFloat16, ErrorKind::Runtime,
        "view_as_complex: view_as_complex is only supported for half, float and double tensors, but got a tensor of "
        "scalar type: ",
        torch_name_of(dtype));
  check(input.dim() != 0, ErrorKind::Runtime, "view_as_complex: Input tensor must have one or more dimensions");
  Dims sizes(input.sizes()), strides(input.strides());
  check(sizes.back() == 2, ErrorKind::Runtime, "view_as_complex: Tensor must have a last dimension of size 2");
  check(strides.back() == 1, ErrorKind::Runtime, "view_as_complex: Tensor must have a last dimension with stride 1",
        ". Call contiguous() first.");
  check(input.offset() % 2 == 0, ErrorKind::Runtime,
        "view_as_complex: Tensor must have a storage_offset divisible by 2");
  sizes.resize(sizes.size() - 1);
  strides.resize(strides.size() - 1);
  for (std::int64_t& stride : strides) {
    check(stride % 2 == 0, ErrorKind::Runtime,
          "view_as_complex: Tensor must have a stride divisible by 2 for all but last dimension");
    stride /= 2;
  }
  if (dtype == DType::Float16) return call_extended("view_as_complex", {input});
  Tensor result = with_dtype(input, to_complex(dtype), sizes, strides, input.offset() / 2);
  result.impl()->neg = input.is_neg();
  return result;
}

// Real or imaginary part. The imaginary part of a lazy conjugate is a lazily negated view.
Tensor part(const Tensor& input, bool imaginary) {
  Dims strides(input.strides());
  for (std::int64_t& stride : strides) stride *= 2;
  Tensor result =
      with_dtype(input, to_real(input.dtype()), input.sizes(), strides, input.offset() * 2 + (imaginary ? 1 : 0));
  result.impl()->neg = input.is_neg() != (imaginary && input.is_conj());
  return result;
}

Tensor real(const Tensor& input) { return is_complex(input.dtype()) ? part(input, false) : input; }
Tensor imag(const Tensor& input) {
  check(is_complex(input.dtype()), ErrorKind::Runtime, "imag is not implemented for tensors with non-complex dtypes.");
  return part(input, true);
}

Tensor conj_view(const Tensor& input) {
  if (!is_complex(input.dtype())) return input;
  Tensor result = alias(input);
  result.impl()->conj = !input.is_conj();
  return result;
}

Tensor neg_view(const Tensor& input) {
  check(input.dtype() != DType::Bool, ErrorKind::Runtime, "_neg_view: expected a number dtype, got bool.");
  Tensor result = alias(input);
  result.impl()->neg = !input.is_neg();
  return result;
}

Tensor resolve_conj(const Tensor& input) { return input.is_conj() ? resolve(input) : input; }
Tensor resolve_neg(const Tensor& input) { return input.is_neg() ? resolve(input) : input; }

Tensor resize(const Tensor& input, IntSpan size, MemoryFormat format, const Out& out) {
  check_sizes_nonnegative(size, "resize_");
  checked_numel(size);
  const Tensor& target = out.inplace ? out[0] : input;
  const std::int64_t held = target.storage()->bytes() / target.itemsize() - target.offset();
  resize_tensor(target, size);
  determinism::uninitialized(target, held);
  if (format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d) {
    check(size.size() == (format == MemoryFormat::ChannelsLast ? 4 : 5), ErrorKind::Runtime,
          "required rank 4 (5) tensor to use channels_last (channels_last_3d) format");
    const Dims strides = channels_last_strides(size);
    target.impl()->set_geometry(Dims(size), strides);
  }
  return target;
}

// Makes input an alias of source's storage.
Tensor set_source(const Tensor& input, const Tensor& source, std::int64_t storage_offset, std::optional<IntSpan> size,
                  std::optional<IntSpan> stride, const Out& out) {
  check(input.dtype() == source.dtype(), ErrorKind::Runtime, "set_: expected source of dtype ", name_of(input.dtype()),
        ", got ", name_of(source.dtype()), ".");
  check(input.device() == source.device(), ErrorKind::Runtime, "set_: expected source on ", input.device(), ", got ",
        source.device(), ".");
  const Tensor& target = out.inplace ? out[0] : input;
  const Dims sizes = size ? Dims(*size) : Dims(source.sizes());
  const Dims strides = stride && !stride->empty() ? Dims(*stride)
                       : size                     ? contiguous_strides(sizes)
                                                  : Dims(source.strides());
  const std::int64_t offset = size ? storage_offset : source.offset();
  check_in_storage(source, sizes, strides, offset, source.dtype(), "set_");
  TensorImpl* impl = target.impl();
  impl->storage = source.impl()->storage;
  impl->offset = offset;
  impl->set_geometry(sizes, strides);
  return target;
}

const Kernel kernels[] = {
    {"view_dtype", &view_dtype},
    {"view_as_real", &view_as_real},
    {"view_as_complex", &view_as_complex},
    {"real", &real},
    {"imag", &imag},
    {"conj", &conj_view},
    {"neg_view", &neg_view},
    {"resolve_conj", &resolve_conj},
    {"resolve_neg", &resolve_neg},
    {"resize", &resize},
    {"set_source", &set_source},
};

}  // namespace
}  // namespace flambeau
