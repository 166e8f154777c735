// Uninitialised working memory from the caching allocator: no page faults and no clearing, unlike a fresh std::vector.
#pragma once

#include <utility>

#include "core/allocator.h"

namespace flambeau {

template <class T>
class ScratchBuffer {
 public:
  ScratchBuffer() = default;
  explicit ScratchBuffer(std::int64_t size) { resize(size); }
  ScratchBuffer(ScratchBuffer&& other) noexcept { swap(other); }
  ScratchBuffer& operator=(ScratchBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~ScratchBuffer() { release(); }
  void resize(std::int64_t size) {  // forgets the contents
    if (size == size_) return;
    release();
    data_ = static_cast<T*>(memory::allocate(bytes(size)));
    size_ = size;
  }
  void swap(ScratchBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] std::int64_t size() const noexcept { return size_; }
  T& operator[](std::int64_t i) const noexcept { return data_[i]; }

 private:
  static std::size_t bytes(std::int64_t size) { return static_cast<std::size_t>(size) * sizeof(T); }
  void release() noexcept {
    if (data_ != nullptr) memory::release(data_, bytes(size_));
    data_ = nullptr;
    size_ = 0;
  }
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace flambeau
