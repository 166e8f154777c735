#include "core/factory.h"

#include <atomic>
#include <mutex>

#include "core/copy.h"
#include "core/promotion.h"

namespace flambeau {
namespace {

std::atomic<DType> default_float{DType::Float32};
thread_local std::vector<std::string> warnings;

std::int64_t checked_bytes(std::int64_t numel, DType dtype) {
  std::int64_t bytes;
  check(!__builtin_mul_overflow(numel, itemsize(dtype), &bytes), ErrorKind::Runtime,
        "Storage size calculation overflowed: ", numel, " elements of ", name_of(dtype));
  return bytes;
}

Tensor make(IntSpan sizes, IntSpan strides, std::int64_t storage_elements, DType dtype, Device device) {
  TensorImpl* impl = TensorImpl::create(Storage::allocate(checked_bytes(storage_elements, dtype), device), dtype);
  impl->set_geometry(sizes, strides);
  return Tensor::adopt(impl);
}

void check_rank(IntSpan sizes) {
  check(sizes.size() <= kMaxDims, ErrorKind::Runtime, "expected at most ", kMaxDims, " dimensions, got ", sizes.size());
}

// The order of dims that PyTorch's preserve_format gives the copy of a dense tensor: the input's own strides.
// For others: dims sorted by stride, then packed.
Dims preserved_strides(const Tensor& input) {
  if (input.is_non_overlapping_and_dense()) return Dims(input.strides());
  const std::int64_t rank = input.dim();
  Dims order;
  for (std::int64_t d = rank - 1; d >= 0; --d) order.push_back(d);
  // Insertion sort by PyTorch's comparison: strides first, broadcast (0) dims do not move, sizes break ties.
  auto should_swap = [&](std::int64_t a, std::int64_t b) {  // a is inner to b in `order` now
    const std::int64_t sa = input.strides()[a], sb = input.strides()[b];
    if (sa == 0 || sb == 0) return 0;
    if (sa != sb) return sa < sb ? -1 : 1;
    return input.sizes()[a] > input.sizes()[b] ? 1 : 0;
  };
  for (std::int64_t i = 1; i < rank; ++i) {
    std::int64_t j = i;
    for (std::int64_t k = i - 1; k >= 0; --k) {
      const int order_of = should_swap(order[k], order[j]);
      if (order_of > 0) {
        std::swap(order[k], order[j]);
        j = k;
      } else if (order_of < 0) {
        break;
      }
    }
  }
  Dims strides;
  strides.resize(rank);
  std::int64_t running = 1;
  for (std::int64_t d : order) {
    strides[d] = running;
    running *= std::max<std::int64_t>(input.sizes()[d], 1);
  }
  return strides;
}

}  // namespace

Tensor empty(IntSpan sizes, DType dtype, Device device, MemoryFormat format) {
  check_rank(sizes);
  const std::int64_t numel = checked_numel(sizes);
  if (format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d) {
    const std::int64_t rank = format == MemoryFormat::ChannelsLast ? 4 : 5;
    check(sizes.size() == rank, ErrorKind::Runtime, "required rank ", rank, " tensor to use ",
          rank == 4 ? "channels_last" : "channels_last_3d", " format, got sizes ", sizes);
    return make(sizes, channels_last_strides(sizes), numel, dtype, device);
  }
  TensorImpl* impl = TensorImpl::create(Storage::allocate(checked_bytes(numel, dtype), device), dtype);
  impl->set_contiguous_sizes(sizes);
  return Tensor::adopt(impl);
}

Tensor empty_strided(IntSpan sizes, IntSpan strides, DType dtype, Device device) {
  check_rank(sizes);
  check(sizes.size() == strides.size(), ErrorKind::Runtime,
        "empty_strided: expected as many strides as sizes, got sizes ", sizes, " and strides ", strides);
  const std::int64_t numel = checked_numel(sizes);
  std::int64_t extent = numel == 0 ? 0 : 1;
  for (std::int64_t i = 0; i < sizes.size(); ++i) {
    check(strides[i] >= 0, ErrorKind::Runtime, "empty_strided: expected non-negative strides, got ", strides);
    std::int64_t reach;
    if (numel == 0) continue;
    check(!__builtin_mul_overflow(sizes[i] - 1, strides[i], &reach) && !__builtin_add_overflow(extent, reach, &extent),
          ErrorKind::Runtime, "Storage size calculation overflowed with sizes=", sizes, " and strides=", strides);
  }
  return make(sizes, strides, extent, dtype, device);
}

Tensor empty_like(const Tensor& input, std::optional<DType> dtype, MemoryFormat format) {
  const DType type = dtype.value_or(input.dtype());
  // A contiguous tensor may still have a format in the strides of its size-1 dims: (N, 1, H, W) as channels-last.
  const bool plain = input.is_contiguous() && (input.dim() < 4 || input.strides()[1] != 1 || input.numel() == 0);
  if (format != MemoryFormat::Preserve || plain) {
    return empty(input.sizes(), type, input.device(),
                 format == MemoryFormat::Preserve ? MemoryFormat::Contiguous : format);
  }
  return make(input.sizes(), preserved_strides(input), input.numel(), type, input.device());
}

Tensor zeros(IntSpan sizes, DType dtype, Device device) {
  Tensor result = empty(sizes, dtype, device);
  if (!result.is_meta()) std::memset(result.data(), 0, static_cast<std::size_t>(result.numel() * itemsize(dtype)));
  return result;
}

Tensor full(IntSpan sizes, const Scalar& value, DType dtype, Device device) {
  Tensor result = empty(sizes, dtype, device);
  if (!result.is_meta()) fill(result, value);
  return result;
}

Tensor scalar_tensor(const Scalar& value, DType dtype, Device device) {
  Tensor result = empty({}, dtype, device);
  if (!result.is_meta()) {
    dispatch_all(dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      *result.data<T>() = value.to<T>();
    });
  }
  return result;
}

Tensor wrapped_number(const Scalar& value) {
  DType dtype = DType::Float64;
  switch (value.kind()) {
    case Scalar::Kind::Bool: dtype = DType::Bool; break;
    case Scalar::Kind::Int: dtype = DType::Int64; break;
    case Scalar::Kind::Float: break;
    case Scalar::Kind::Complex: dtype = DType::Complex128; break;
  }
  Tensor result = scalar_tensor(value, dtype);
  result.impl()->wrapped_number = true;
  return result;
}

Tensor alias(const Tensor& input, IntSpan sizes, IntSpan strides, std::int64_t offset) {
  check_rank(sizes);
  TensorImpl* impl = TensorImpl::create(Ref<Storage>(input.impl()->storage), input.dtype());
  impl->offset = offset;
  impl->conj = input.is_conj();
  impl->neg = input.is_neg();
  impl->extension = input.impl()->extension;
  impl->untracked_version = input.impl()->untracked_version;  // views of .data are not tracked either
  impl->set_geometry(sizes, strides);
  return Tensor::adopt(impl);
}

Tensor alias(const Tensor& input) { return alias(input, input.sizes(), input.strides(), input.offset()); }

bool can_cast(DType from, DType to) {
  if (is_complex(from) && !is_complex(to)) return false;
  if (is_floating(from) && is_integral(to, true)) return false;
  return from == DType::Bool || to != DType::Bool;
}

void resize_tensor(const Tensor& tensor, IntSpan sizes) {
  check_rank(sizes);
  const std::int64_t numel = checked_numel(sizes);
  const std::int64_t bytes = checked_bytes(numel + tensor.offset(), tensor.dtype());
  if (bytes > tensor.storage()->bytes()) tensor.storage()->resize(bytes);
  tensor.impl()->set_contiguous_sizes(sizes);
}

Tensor output(const char* op, const Out& out, std::int64_t i, IntSpan sizes, DType dtype, Device device,
              MemoryFormat format) {
  if (!out.given()) return empty(sizes, dtype, device, format);
  const Tensor& given = out[i];
  if (!can_cast(dtype, given.dtype())) {
    fail(ErrorKind::Runtime, op, ": result type ", torch_name_of(dtype), " can't be cast to the desired output type ",
         torch_name_of(given.dtype()));
  }
  if (out.inplace) {
    check(given.sizes() == sizes, ErrorKind::Runtime, op, ": output with shape ", given.sizes(),
          " doesn't match the broadcast shape ", sizes);
  } else {
    check(given.device() == device, ErrorKind::Runtime, op, ": expected out on device ", device, ", got ",
          given.device());
    if (!(given.sizes() == sizes)) {
      if (given.numel() != 0) {
        queue_warning(concat("An output with one or more elements was resized since it had shape ", given.sizes(),
                             ", which does not match the required output shape ", sizes,
                             ". This behavior is deprecated, and in a future PyTorch release outputs will not be "
                             "resized unless they have zero elements. You can explicitly reuse an out tensor t by "
                             "resizing it, inplace, to zero elements with t.resize_(0)."));
      }
      resize_tensor(given, sizes);
      if (format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d)
        given.impl()->set_geometry(sizes, channels_last_strides(sizes));
    }
  }
  return given;
}

void queue_warning(std::string message) { warnings.push_back(std::move(message)); }
bool warnings_pending() noexcept { return !warnings.empty(); }
std::vector<std::string> take_queued_warnings() { return std::exchange(warnings, {}); }

DType default_dtype() noexcept { return default_float.load(std::memory_order_relaxed); }
void set_default_dtype(DType dtype) {
  check(is_floating(dtype), ErrorKind::Type, "only floating-point types are supported as the default type, got ",
        name_of(dtype));
  default_float.store(dtype, std::memory_order_relaxed);
}

}  // namespace flambeau
