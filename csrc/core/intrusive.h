// Intrusive reference counting: one pointer wide handles, no control block.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace flambeau {

// A counted type derives from Counted and is deleted through its `static void destroy(T*) noexcept`, which lets the
// type use pools and iterative destruction.
class Counted {
 public:
  Counted() = default;
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  [[nodiscard]] std::int64_t use_count() const noexcept { return count_.load(std::memory_order_relaxed); }
  void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  // For weak pointers: false when the last reference is gone already and destruction is under way.
  [[nodiscard]] bool retain_if_alive() const noexcept {
    std::int64_t count = count_.load(std::memory_order_relaxed);
    while (count != 0) {
      if (count_.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel)) return true;
    }
    return false;
  }
  // True when the caller held the last reference and has to destroy the object.
  [[nodiscard]] bool drop() const noexcept { return count_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

 private:
  mutable std::atomic<std::int64_t> count_{1};
};

template <class T>
class Ref {
 public:
  Ref() noexcept = default;
  Ref(std::nullptr_t) noexcept {}
  Ref(const Ref& other) noexcept : ptr_(other.ptr_) {
    if (ptr_ != nullptr) ptr_->retain();
  }
  Ref(Ref&& other) noexcept : ptr_(std::exchange(other.ptr_, nullptr)) {}
  template <class U>
    requires std::is_convertible_v<U*, T*>
  Ref(Ref<U> other) noexcept : ptr_(other.release()) {}
  ~Ref() { reset(); }
  Ref& operator=(Ref other) noexcept {
    std::swap(ptr_, other.ptr_);
    return *this;
  }
  static Ref adopt(T* ptr) noexcept {  // takes over a reference the caller owns
    Ref ref;
    ref.ptr_ = ptr;
    return ref;
  }
  static Ref share(T* ptr) noexcept {  // adds one
    if (ptr != nullptr) ptr->retain();
    return adopt(ptr);
  }
  template <class... Args>
  static Ref make(Args&&... args) {
    return adopt(new T(std::forward<Args>(args)...));
  }
  void reset() noexcept {
    if (T* old = std::exchange(ptr_, nullptr); old != nullptr && old->drop()) T::destroy(old);
  }
  [[nodiscard]] T* release() noexcept { return std::exchange(ptr_, nullptr); }
  [[nodiscard]] T* get() const noexcept { return ptr_; }
  T* operator->() const noexcept { return ptr_; }
  T& operator*() const noexcept { return *ptr_; }
  explicit operator bool() const noexcept { return ptr_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) noexcept { return a.ptr_ == b.ptr_; }

 private:
  T* ptr_ = nullptr;
};

}  // namespace flambeau
