// A vector that keeps its first N elements inline.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace flambeau {

template <class T, int N>
class InlineVec {
 public:
  InlineVec() noexcept = default;
  explicit InlineVec(std::size_t size) { resize(size); }
  InlineVec(InlineVec&& other) noexcept { steal(other); }
  InlineVec& operator=(InlineVec&& other) noexcept {
    if (this != &other) {
      clear();
      free_heap();
      steal(other);
    }
    return *this;
  }
  InlineVec(const InlineVec& other) {
    reserve(other.size_);
    for (const T& item : other) push_back(item);
  }
  InlineVec& operator=(const InlineVec& other) {
    if (this != &other) {
      clear();
      reserve(other.size_);
      for (const T& item : other) push_back(item);
    }
    return *this;
  }
  ~InlineVec() {
    clear();
    free_heap();
  }
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    T* fresh = std::allocator<T>().allocate(capacity);
    for (std::size_t i = 0; i < size_; ++i) {
      new (fresh + i) T(std::move(begin()[i]));
      begin()[i].~T();
    }
    free_heap();
    heap_ = fresh;
    capacity_ = capacity;
  }
  void resize(std::size_t size) {
    reserve(size);
    while (size_ > size) pop_back();
    while (size_ < size) new (begin() + size_++) T();
  }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) reserve(capacity_ * 2);
    return *new (begin() + size_++) T(std::forward<Args>(args)...);
  }
  void push_back(T value) { emplace_back(std::move(value)); }
  void pop_back() noexcept { begin()[--size_].~T(); }
  void clear() noexcept {
    while (size_ != 0) pop_back();
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  T* data() noexcept { return begin(); }
  [[nodiscard]] const T* data() const noexcept { return begin(); }
  T* begin() noexcept { return heap_ != nullptr ? heap_ : reinterpret_cast<T*>(inline_); }
  T* end() noexcept { return begin() + size_; }
  [[nodiscard]] const T* begin() const noexcept {
    return heap_ != nullptr ? heap_ : reinterpret_cast<const T*>(inline_);
  }
  [[nodiscard]] const T* end() const noexcept { return begin() + size_; }
  T& operator[](std::size_t i) noexcept { return begin()[i]; }
  const T& operator[](std::size_t i) const noexcept { return begin()[i]; }
  T& back() noexcept { return begin()[size_ - 1]; }

 private:
  void free_heap() noexcept {
    if (heap_ != nullptr) std::allocator<T>().deallocate(heap_, capacity_);
    heap_ = nullptr;
    capacity_ = N;
  }
  void steal(InlineVec& other) noexcept {
    if (other.heap_ != nullptr) {
      heap_ = std::exchange(other.heap_, nullptr);
      size_ = std::exchange(other.size_, 0);
      capacity_ = std::exchange(other.capacity_, N);
    } else {
      for (T& item : other) emplace_back(std::move(item));
      other.clear();
    }
  }
  T* heap_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = N;
  alignas(T) unsigned char inline_[sizeof(T) * N];
};

}  // namespace flambeau
