// Uninitialised working memory from the caching allocator, for the time of one call: fresh pages from malloc would cost
// more than most arithmetic on them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/allocator.h"

namespace flambeau {

template <class T>
class Scratch {
 public:
  explicit Scratch(std::int64_t count)
      : bytes_(static_cast<std::size_t>(count) * sizeof(T)),
        data_(bytes_ == 0 ? nullptr : static_cast<T*>(memory::allocate(bytes_))) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  Scratch(Scratch&& other) noexcept : bytes_(other.bytes_), data_(other.data_) {
    other.data_ = nullptr;
    other.bytes_ = 0;
  }
  ~Scratch() {
    if (data_ != nullptr) memory::release(data_, bytes_);
  }
  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  T& operator[](std::int64_t i) { return data_[i]; }
  const T& operator[](std::int64_t i) const { return data_[i]; }

 private:
  std::size_t bytes_;
  T* data_;
};

}  // namespace flambeau
