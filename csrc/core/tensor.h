// Tensor: a counted handle to TensorImpl (storage, offset, sizes, strides, dtype, flags, autograd bookkeeping).
// Construction helpers are in core/factory.h, element copies in core/copy.h.
#pragma once

#include <cstdint>

#include "core/device.h"
#include "core/dims.h"
#include "core/dtype.h"
#include "core/error.h"
#include "core/intrusive.h"
#include "core/storage.h"

namespace flambeau {

inline constexpr std::int64_t kMaxDims = 64;

// Autograd state of one tensor (autograd/meta.h). Core code only destroys it.
struct AutogradMeta {
  virtual ~AutogradMeta() = default;
};

// What a tensor consists of in place of strided memory (sparse, quantized, complex32). Its Python implementation is in
// the payload that the bindings keep (bindings/extension.cpp). The storage of such a tensor is of the meta device, so
// that no code which reads strided memory can touch it: ops come to extended_kernel instead of their kernel.
struct Extension : Counted {
  static void destroy(Extension* extension) noexcept { delete extension; }
  virtual ~Extension() = default;
};

class TensorImpl final : public Counted {
 public:
  TensorImpl(Ref<Storage> memory, DType type) : storage(std::move(memory)), dtype(type) {}
  static TensorImpl* create(Ref<Storage> storage, DType dtype);  // pooled
  static void destroy(TensorImpl* impl) noexcept;

  Ref<Storage> storage;
  std::int64_t offset = 0;  // in elements
  std::int64_t numel = 1;
  Dims sizes, strides;
  DType dtype;
  bool contiguous = true;            // row-major without gaps; kept by refresh()
  bool conj = false;                 // lazily conjugated: values are the conjugates of what is stored
  bool neg = false;                  // lazily negated
  bool wrapped_number = false;       // came from a Python number: weak in type promotion
  bool inference = false;            // made in inference mode: no version counter, no autograd
  bool requires_grad = false;        // leaf flag; non-leaves have a grad_fn in `autograd`
  bool untracked_version = false;    // made by .data: in-place use does not advance the shared version
  AutogradMeta* autograd = nullptr;  // owned
  Ref<Extension> extension;          // usually null

  // The Python object of this tensor, if any. Either the object owns us (owns_pyobj false) or, when only C++ still
  // refers to the tensor, we own the object so that identity, attributes and subclass survive.
  void* pyobj = nullptr;
  bool owns_pyobj = false;
  static void (*release_pyobj)(void* pyobj) noexcept;  // set by the bindings

  void set_geometry(IntSpan new_sizes, IntSpan new_strides) {
    sizes.assign(new_sizes);
    strides.assign(new_strides);
    refresh();
  }
  void set_contiguous_sizes(IntSpan new_sizes);
  void refresh() noexcept;  // numel and contiguous from sizes and strides

 private:
  ~TensorImpl();
};

class Tensor {
 public:
  Tensor() noexcept = default;
  explicit Tensor(Ref<TensorImpl> impl) noexcept : impl_(std::move(impl)) {}
  static Tensor adopt(TensorImpl* impl) noexcept { return Tensor(Ref<TensorImpl>::adopt(impl)); }
  static Tensor share(TensorImpl* impl) noexcept { return Tensor(Ref<TensorImpl>::share(impl)); }

  [[nodiscard]] bool defined() const noexcept { return static_cast<bool>(impl_); }
  [[nodiscard]] TensorImpl* impl() const noexcept { return impl_.get(); }
  [[nodiscard]] TensorImpl* release() noexcept { return impl_.release(); }
  [[nodiscard]] bool is(const Tensor& other) const noexcept { return impl_ == other.impl_; }
  void reset() noexcept { impl_.reset(); }

  [[nodiscard]] std::int64_t dim() const noexcept { return impl_->sizes.size(); }
  [[nodiscard]] std::int64_t numel() const noexcept { return impl_->numel; }
  [[nodiscard]] IntSpan sizes() const noexcept { return impl_->sizes; }
  [[nodiscard]] IntSpan strides() const noexcept { return impl_->strides; }
  [[nodiscard]] std::int64_t size(std::int64_t dim) const;  // negative dims count from the end; IndexError
  [[nodiscard]] std::int64_t stride(std::int64_t dim) const;
  [[nodiscard]] std::int64_t offset() const noexcept { return impl_->offset; }
  [[nodiscard]] DType dtype() const noexcept { return impl_->dtype; }
  [[nodiscard]] std::int64_t itemsize() const noexcept { return flambeau::itemsize(impl_->dtype); }
  [[nodiscard]] Device device() const noexcept { return impl_->storage->device(); }
  [[nodiscard]] bool is_meta() const noexcept { return device().type == DeviceType::Meta; }
  // Has no strided memory; its storage says meta, although values exist.
  [[nodiscard]] bool is_extended() const noexcept { return static_cast<bool>(impl_->extension); }
  // The device a user sees.
  [[nodiscard]] Device public_device() const noexcept { return is_extended() ? Device{} : device(); }
  [[nodiscard]] bool is_conj() const noexcept { return impl_->conj; }
  [[nodiscard]] bool is_neg() const noexcept { return impl_->neg; }
  [[nodiscard]] bool is_contiguous() const noexcept { return impl_->contiguous; }
  [[nodiscard]] bool is_contiguous(MemoryFormat format) const noexcept;
  // Dense without overlap in some order of dims.
  [[nodiscard]] bool is_non_overlapping_and_dense() const noexcept;
  [[nodiscard]] Storage* storage() const noexcept { return impl_->storage.get(); }

  // First element; null or meaningless for meta. Check is_meta() first.
  [[nodiscard]] void* data() const noexcept {
    return static_cast<char*>(impl_->storage->data()) + impl_->offset * flambeau::itemsize(impl_->dtype);
  }
  template <class T>
  [[nodiscard]] T* data() const noexcept {
    return static_cast<T*>(data());
  }

 private:
  Ref<TensorImpl> impl_;
};
using TensorSpan = Span<Tensor>;

// -ndim <= dim < ndim (0-d counts as 1-d, as PyTorch wraps) or IndexError in PyTorch's words.
std::int64_t wrap_dim(std::int64_t dim, std::int64_t ndim, const char* op = nullptr);
// Product, with a check that it does not overflow int64.
std::int64_t checked_numel(IntSpan sizes);
Dims contiguous_strides(IntSpan sizes);
Dims channels_last_strides(IntSpan sizes);
// NumPy broadcasting; op is named in the error.
Dims broadcast_shapes(IntSpan a, IntSpan b, const char* op);

}  // namespace flambeau
