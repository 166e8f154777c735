// Shape arithmetic behind the view kernels: inferred sizes, strides of a reshaped view, bounds of a geometry.
#include "core/copy.h"
#include "core/factory.h"
#include "kernels/shape.h"

namespace flambeau {

std::int64_t checked_mul(std::int64_t a, std::int64_t b, const char* op) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) [[unlikely]] {
    fail(ErrorKind::Runtime, op, ": expected sizes whose product fits in int64, got ", a, " * ", b, ".");
  }
  return product;
}

void check_sizes_nonnegative(IntSpan sizes, const char* op) {
  for (const std::int64_t size : sizes) {
    if (size < 0) [[unlikely]]
      fail(ErrorKind::Runtime, op, ": expected non-negative sizes, got ", sizes, ".");
  }
  check(sizes.size() <= kMaxDims, ErrorKind::Runtime, op, ": expected at most ", kMaxDims, " dims, got ", sizes.size(),
        ".");
}

Dims infer_size(IntSpan sizes, std::int64_t numel, const char* op) {
  check(sizes.size() <= kMaxDims, ErrorKind::Runtime, op, ": expected at most ", kMaxDims, " dims, got ", sizes.size(),
        ".");
  std::int64_t known = 1, unknown = -1;
  for (std::int64_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == -1) {
      check(unknown < 0, ErrorKind::Runtime, op, ": only one dimension can be inferred, got shape ", sizes, ".");
      unknown = d;
    } else {
      check(sizes[d] >= 0, ErrorKind::Runtime, op, ": invalid shape dimension ", sizes[d], " in shape ", sizes, ".");
      known = checked_mul(known, sizes[d], op);
    }
  }
  Dims result(sizes);
  if (unknown >= 0 && known > 0 && numel % known == 0) {
    result[unknown] = numel / known;
    return result;
  }
  if (unknown >= 0 && known == 0 && numel == 0) {
    fail(ErrorKind::Runtime, op, ": cannot reshape tensor of 0 elements into shape ", sizes,
         " because the unspecified dimension size -1 can be any value and is ambiguous");
  }
  if (unknown >= 0 || known != numel) {
    fail(ErrorKind::Runtime, op, ": shape '", sizes, "' is invalid for input of size ", numel);
  }
  return result;
}

std::optional<Dims> view_strides(IntSpan old_sizes, IntSpan old_strides, IntSpan sizes) {
  const std::int64_t n = sizes.size();
  if (old_sizes.empty()) return Dims::filled(n, 1);
  Dims strides = Dims::filled(n, 1);
  std::int64_t numel = 1;
  for (const std::int64_t size : old_sizes) numel *= size;
  if (numel == 0) {
    if (old_sizes == sizes) return Dims(old_strides);
    for (std::int64_t d = n - 2; d >= 0; --d) strides[d] = std::max<std::int64_t>(sizes[d + 1], 1) * strides[d + 1];
    return strides;
  }
  // Walk both shapes from the back. A run of old dims that is contiguous within itself must be covered exactly by new
  // dims.
  std::int64_t d = n - 1, run_stride = old_strides.back(), run = 1, covered = 1;
  for (std::int64_t old = old_sizes.size() - 1; old >= 0; --old) {
    run *= old_sizes[old];
    const bool ends = old == 0 || (old_sizes[old - 1] != 1 && old_strides[old - 1] != run * run_stride);
    if (!ends) continue;
    while (d >= 0 && (covered < run || sizes[d] == 1)) {
      strides[d] = covered * run_stride;
      covered *= sizes[d];
      --d;
    }
    if (covered != run) return std::nullopt;
    if (old > 0) {
      run_stride = old_strides[old - 1];
      run = 1;
      covered = 1;
    }
  }
  if (d != -1) return std::nullopt;
  return strides;
}

Dims expand_strides(IntSpan sizes, IntSpan strides, IntSpan target, const char* op, Dims& expanded) {
  const std::int64_t n = target.size(), lead = n - sizes.size();
  check(lead >= 0, ErrorKind::Runtime, op, ": the number of sizes provided (", n,
        ") must be greater or equal to the number of dimensions in the tensor (", sizes.size(), "), got ", target,
        " for a tensor of shape ", sizes, ".");
  check(n <= kMaxDims, ErrorKind::Runtime, op, ": expected at most ", kMaxDims, " dims, got ", n, ".");
  expanded.resize(n);
  Dims result = Dims::filled(n, 0);
  std::int64_t numel = 1;
  for (std::int64_t d = n - 1; d >= 0; --d) {
    const std::int64_t own = d >= lead ? sizes[d - lead] : 1;
    std::int64_t stride = d >= lead ? strides[d - lead] : (d == n - 1 ? 1 : expanded[d + 1] * result[d + 1]);
    std::int64_t size = target[d];
    if (size == -1) {
      check(d >= lead, ErrorKind::Runtime, op,
            ": the expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension ", d);
      size = own;
    }
    check(size >= 0, ErrorKind::Runtime, op, ": expected sizes of at least -1, got ", target, ".");
    if (size != own) {
      check(own == 1, ErrorKind::Runtime, op, ": The expanded size of the tensor (", size,
            ") must match the existing size (", own, ") at non-singleton dimension ", d, ".  Target sizes: ", target,
            ".  Tensor sizes: ", sizes);
      stride = 0;
    }
    expanded[d] = size;
    result[d] = stride;
    numel = checked_mul(numel, size, op);
  }
  return result;
}

Dims wrap_distinct_dims(IntSpan dims, std::int64_t ndim, const char* op) {
  Dims result;
  std::uint64_t seen = 0;
  for (const std::int64_t dim : dims) {
    const std::int64_t d = wrap_dim(dim, ndim, op);
    check((seen >> d & 1U) == 0, ErrorKind::Runtime, op, ": repeated dim ", dim, " in ", dims, ".");
    seen |= std::uint64_t{1} << d;
    result.push_back(d);
  }
  return result;
}

std::int64_t max_position(IntSpan sizes, IntSpan strides, const char* op) {
  std::int64_t last = 0;
  for (std::int64_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return -1;
    const std::int64_t reach = checked_mul(sizes[d] - 1, strides[d], op);
    if (__builtin_add_overflow(last, reach, &last)) {
      fail(ErrorKind::Runtime, op, ": expected a geometry within int64, got size ", sizes, " and stride ", strides,
           ".");
    }
  }
  return last;
}

void check_in_storage(const Tensor& tensor, IntSpan sizes, IntSpan strides, std::int64_t offset, DType dtype,
                      const char* op) {
  check(sizes.size() == strides.size(), ErrorKind::Runtime, op, ": mismatch in length of strides and shape, got size ",
        sizes, " and stride ", strides, ".");
  check_sizes_nonnegative(sizes, op);
  for (const std::int64_t stride : strides) {
    check(stride >= 0, ErrorKind::Runtime, op,
          ": Negative strides are not supported at the moment, got strides: ", strides);
  }
  check(offset >= 0, ErrorKind::Runtime, op, ": Tensor: invalid storage offset ", offset);
  checked_numel(sizes);
  const std::int64_t last = max_position(sizes, strides, op);
  if (last < 0) return;
  std::int64_t end = 0, bytes = 0;
  const bool overflow = __builtin_add_overflow(last, offset, &end) || __builtin_add_overflow(end, 1, &end) ||
                        __builtin_mul_overflow(end, itemsize(dtype), &bytes);
  check(!overflow && bytes <= tensor.storage()->bytes(), ErrorKind::Runtime, op, ": setStorage: sizes ", sizes,
        ", strides ", strides, ", storage offset ", offset, ", and itemsize ", itemsize(dtype),
        " are out of bounds for storage of size ", tensor.storage()->bytes());
}

void check_out_apart(const char* op, const Out& out, std::initializer_list<const Tensor*> inputs) {
  if (!out.given() || out.inplace) return;
  const Tensor& target = out[0];
  check_no_internal_overlap(target, op);
  for (const Tensor* input : inputs) {
    if (input->storage() != target.storage() || input->numel() == 0 || target.numel() == 0 || target.is_meta())
      continue;
    const char* a = static_cast<const char*>(target.data());
    const char* b = static_cast<const char*>(input->data());
    const std::int64_t a_bytes = (max_position(target.sizes(), target.strides(), op) + 1) * target.itemsize();
    const std::int64_t b_bytes = (max_position(input->sizes(), input->strides(), op) + 1) * input->itemsize();
    check(a + a_bytes <= b || b + b_bytes <= a, ErrorKind::Runtime,
          "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
          "location. "
          "Please clone() the tensor before performing the operation.");
  }
}

void check_out_dtype(const char* op, const Out& out, DType dtype) {
  check(!out.given() || out[0].dtype() == dtype, ErrorKind::Runtime, op, ": Expected out tensor to have dtype ",
        name_of(dtype), ", but got ", out.given() ? name_of(out[0].dtype()) : "", " instead");
}

MemoryFormat suggested_format(const Tensor& tensor) noexcept {
  const std::int64_t rank = tensor.dim();
  if (rank != 4 && rank != 5) return MemoryFormat::Contiguous;
  const IntSpan sizes = tensor.sizes(), strides = tensor.strides();
  if (strides[1] == 0) return MemoryFormat::Contiguous;
  // Strides must not fall from the channels over the spatial dims, last one first, to the batch.
  std::int64_t least = 0;
  const auto grows = [&](std::int64_t d) {
    if (sizes[d] == 0 || strides[d] < least) return false;
    // (N, 1, 1, 1) and a slice of (N, 1, 1, W): ambiguous, and read as contiguous.
    if (d == 0 && least == strides[1]) return false;
    least = sizes[d] > 1 ? strides[d] * sizes[d] : strides[d];
    return true;
  };
  if (!grows(1)) return MemoryFormat::Contiguous;
  for (std::int64_t d = rank - 1; d >= 2; --d) {
    if (!grows(d)) return MemoryFormat::Contiguous;
  }
  if (!grows(0)) return MemoryFormat::Contiguous;
  return rank == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
}

Tensor view_or_change(const Tensor& input, const Dims& sizes, const Dims& strides, std::int64_t offset,
                      const Out& out) {
  if (!out.inplace) return alias(input, sizes, strides, offset);
  TensorImpl* impl = out[0].impl();
  impl->offset = offset;
  impl->set_geometry(sizes, strides);
  return out[0];
}

}  // namespace flambeau
