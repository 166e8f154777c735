#include "core/tensor.h"

#include "core/pool.h"

namespace flambeau {

void (*TensorImpl::release_pyobj)(void*) noexcept = nullptr;

void throw_bad_dtype(const char* op, DType dtype) {
  fail(ErrorKind::NotImplemented, "\"", op, "\" not implemented for '", torch_name_of(dtype), "'");
}

TensorImpl::~TensorImpl() { delete autograd; }

TensorImpl* TensorImpl::create(Ref<Storage> storage, DType dtype) {
  return new (ObjectPool<TensorImpl>::take()) TensorImpl(std::move(storage), dtype);
}

void TensorImpl::destroy(TensorImpl* impl) noexcept {
  if (impl->owns_pyobj) {
    // The Python object goes first; its dealloc sees that nothing is left to own.
    void* object = std::exchange(impl->pyobj, nullptr);
    impl->owns_pyobj = false;
    if (object != nullptr) release_pyobj(object);
  }
  impl->~TensorImpl();
  ObjectPool<TensorImpl>::give(impl);
}

// Sizes beside a zero may be of any size: what their product wraps to has no meaning, and the number of elements is 0.
static std::int64_t wrapping_product(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

void TensorImpl::set_contiguous_sizes(IntSpan new_sizes) {
  sizes.assign(new_sizes);
  strides.resize(new_sizes.size());
  std::int64_t running = 1;
  for (std::int64_t i = sizes.size() - 1; i >= 0; --i) {
    strides[i] = running;
    running = wrapping_product(running, std::max<std::int64_t>(sizes[i], 1));
  }
  numel = 1;
  for (std::int64_t size : sizes) numel = wrapping_product(numel, size);
  contiguous = true;
}

void TensorImpl::refresh() noexcept {
  numel = 1;
  for (std::int64_t size : sizes) numel = wrapping_product(numel, size);
  contiguous = true;
  if (numel == 0) return;
  std::int64_t expected = 1;
  for (std::int64_t i = sizes.size() - 1; i >= 0; --i) {
    if (sizes[i] == 1) continue;
    if (strides[i] != expected) {
      contiguous = false;
      return;
    }
    expected *= sizes[i];
  }
}

std::int64_t Tensor::size(std::int64_t dim) const { return impl_->sizes[wrap_dim(dim, this->dim())]; }
std::int64_t Tensor::stride(std::int64_t dim) const { return impl_->strides[wrap_dim(dim, this->dim())]; }

bool Tensor::is_contiguous(MemoryFormat format) const noexcept {
  if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve) return impl_->contiguous;
  const std::int64_t rank = format == MemoryFormat::ChannelsLast ? 4 : 5;
  if (dim() != rank) return false;
  if (numel() == 0) return true;
  std::int64_t expected = 1;
  // channels, then the spatial dims from the last, then the batch
  auto step = [&](std::int64_t d) {
    const std::int64_t size = impl_->sizes[d];
    if (size != 1 && impl_->strides[d] != expected) return false;
    expected *= size;
    return true;
  };
  if (!step(1)) return false;
  for (std::int64_t d = rank - 1; d >= 2; --d) {
    if (!step(d)) return false;
  }
  return step(0);
}

bool Tensor::is_non_overlapping_and_dense() const noexcept {
  if (impl_->contiguous) return true;
  const std::int64_t rank = dim();
  Dims order;
  for (std::int64_t d = 0; d < rank; ++d) {
    if (impl_->sizes[d] != 1) order.push_back(d);
  }
  std::sort(order.begin(), order.end(),
            [&](std::int64_t a, std::int64_t b) { return impl_->strides[a] < impl_->strides[b]; });
  std::int64_t expected = 1;
  for (std::int64_t d : order) {
    if (impl_->strides[d] != expected) return false;
    expected *= impl_->sizes[d];
  }
  return true;
}

std::int64_t wrap_dim(std::int64_t dim, std::int64_t ndim, const char* op) {
  const std::int64_t range = ndim == 0 ? 1 : ndim;
  if (dim < -range || dim >= range) [[unlikely]] {
    fail(ErrorKind::Index, op != nullptr ? op : "", op != nullptr ? ": " : "",
         "Dimension out of range (expected to be in range of [", -range, ", ", range - 1, "], but got ", dim, ")");
  }
  return dim < 0 ? dim + range : dim;
}

std::int64_t checked_numel(IntSpan sizes) {
  std::int64_t total = 1;
  bool zero = false;
  for (std::int64_t size : sizes) zero |= size == 0;
  for (std::int64_t size : sizes) {
    check(size >= 0, ErrorKind::Runtime, "Trying to create tensor with negative dimension ", size, ": ", sizes);
    if (!zero && __builtin_mul_overflow(total, size, &total)) [[unlikely]] {
      fail(ErrorKind::Runtime, "expected sizes whose product fits 64 bits, got ", sizes);
    }
  }
  return zero ? 0 : total;
}

Dims contiguous_strides(IntSpan sizes) {
  Dims strides;
  strides.resize(sizes.size());
  std::int64_t running = 1;
  for (std::int64_t i = sizes.size() - 1; i >= 0; --i) {
    strides[i] = running;
    // Wraps without undefined behaviour: a tensor without elements may have sizes whose product does not fit.
    running = static_cast<std::int64_t>(static_cast<std::uint64_t>(running) *
                                        static_cast<std::uint64_t>(std::max<std::int64_t>(sizes[i], 1)));
  }
  return strides;
}

Dims channels_last_strides(IntSpan sizes) {
  Dims strides;
  strides.resize(sizes.size());
  std::int64_t running = 1;
  auto step = [&](std::int64_t d) {
    strides[d] = running;
    running *= std::max<std::int64_t>(sizes[d], 1);
  };
  step(1);
  for (std::int64_t d = sizes.size() - 1; d >= 2; --d) step(d);
  step(0);
  return strides;
}

Dims broadcast_shapes(IntSpan a, IntSpan b, const char* op) {
  const std::int64_t rank = std::max(a.size(), b.size());
  Dims shape;
  shape.resize(rank);
  for (std::int64_t i = 1; i <= rank; ++i) {
    const std::int64_t x = i <= a.size() ? a[a.size() - i] : 1;
    const std::int64_t y = i <= b.size() ? b[b.size() - i] : 1;
    if (x != y && x != 1 && y != 1) [[unlikely]] {
      fail(ErrorKind::Shape, op, ": expected broadcastable shapes, got ", a, " and ", b, ". The size of tensor a (", x,
           ") must match the size of tensor b (", y, ") at non-singleton dimension ", rank - i, ".");
    }
    shape[rank - i] = x == 1 ? y : x;
  }
  return shape;
}

}  // namespace flambeau
