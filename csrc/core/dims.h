// Sizes and strides: a view of int64 values, and a small vector of them that keeps up to six inline.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <ostream>
#include <vector>

namespace flambeau {

// Not owning. Valid as long as what it looks at.
template <class T>
class Span {
 public:
  constexpr Span() noexcept = default;
  constexpr Span(const T* data, std::int64_t size) noexcept : data_(data), size_(size) {}
  Span(const std::vector<T>& v) noexcept : data_(v.data()), size_(static_cast<std::int64_t>(v.size())) {}
  constexpr Span(std::initializer_list<T> v) noexcept : data_(v.begin()), size_(static_cast<std::int64_t>(v.size())) {}
  [[nodiscard]] constexpr const T* data() const noexcept { return data_; }
  [[nodiscard]] constexpr std::int64_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr const T& operator[](std::int64_t i) const noexcept { return data_[i]; }
  [[nodiscard]] constexpr const T* begin() const noexcept { return data_; }
  [[nodiscard]] constexpr const T* end() const noexcept { return data_ + size_; }
  [[nodiscard]] constexpr const T& back() const noexcept { return data_[size_ - 1]; }
  [[nodiscard]] constexpr Span subspan(std::int64_t from, std::int64_t count) const noexcept {
    return {data_ + from, count};
  }
  friend bool operator==(Span a, Span b) noexcept {
    return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  const T* data_ = nullptr;
  std::int64_t size_ = 0;
};
using IntSpan = Span<std::int64_t>;

// "[2, 3]", as PyTorch prints sizes in messages.
inline std::ostream& operator<<(std::ostream& stream, IntSpan values) {
  stream << '[';
  for (std::int64_t i = 0; i < values.size(); ++i) stream << (i != 0 ? ", " : "") << values[i];
  return stream << ']';
}

class Dims {
 public:
  static constexpr std::int64_t kInline = 6;
  Dims() noexcept = default;
  Dims(IntSpan values) { assign(values); }
  Dims(std::initializer_list<std::int64_t> values) { assign(IntSpan(values)); }
  Dims(const Dims& other) { assign(other); }
  Dims(Dims&& other) noexcept : size_(other.size_), heap_(other.heap_) {
    if (heap_ == nullptr) std::memcpy(inline_, other.inline_, sizeof(inline_));
    other.heap_ = nullptr;
    other.size_ = 0;
  }
  Dims& operator=(const Dims& other) {
    if (this != &other) assign(other);
    return *this;
  }
  Dims& operator=(Dims&& other) noexcept {
    if (this != &other) {
      delete[] heap_;
      size_ = other.size_;
      heap_ = other.heap_;
      if (heap_ == nullptr) std::memcpy(inline_, other.inline_, sizeof(inline_));
      other.heap_ = nullptr;
      other.size_ = 0;
    }
    return *this;
  }
  ~Dims() { delete[] heap_; }
  static Dims filled(std::int64_t size, std::int64_t value) {
    Dims dims;
    dims.resize(size);
    std::fill(dims.begin(), dims.end(), value);
    return dims;
  }
  // New elements are uninitialised.
  void resize(std::int64_t size) {
    if (size > capacity()) {
      auto* fresh = new std::int64_t[static_cast<std::size_t>(size) * 2];
      std::copy(begin(), end(), fresh);
      delete[] heap_;
      heap_ = fresh;
      heap_capacity_ = size * 2;
    }
    size_ = size;
  }
  void assign(IntSpan values) {
    // `values` may point into this object only if nothing is reallocated; callers copy first otherwise.
    resize(values.size());
    if (size_ != 0) std::memmove(data(), values.data(), sizeof(std::int64_t) * static_cast<std::size_t>(size_));
  }
  void push_back(std::int64_t value) {
    resize(size_ + 1);
    data()[size_ - 1] = value;
  }
  void insert(std::int64_t at, std::int64_t value) {
    resize(size_ + 1);
    std::copy_backward(begin() + at, end() - 1, end());
    data()[at] = value;
  }
  void erase(std::int64_t at) {
    std::copy(begin() + at + 1, end(), begin() + at);
    --size_;
  }
  [[nodiscard]] std::int64_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  std::int64_t* data() noexcept { return heap_ != nullptr ? heap_ : inline_; }
  [[nodiscard]] const std::int64_t* data() const noexcept { return heap_ != nullptr ? heap_ : inline_; }
  std::int64_t& operator[](std::int64_t i) noexcept { return data()[i]; }
  std::int64_t operator[](std::int64_t i) const noexcept { return data()[i]; }
  std::int64_t* begin() noexcept { return data(); }
  std::int64_t* end() noexcept { return data() + size_; }
  [[nodiscard]] const std::int64_t* begin() const noexcept { return data(); }
  [[nodiscard]] const std::int64_t* end() const noexcept { return data() + size_; }
  std::int64_t& back() noexcept { return data()[size_ - 1]; }
  operator IntSpan() const noexcept { return {data(), size_}; }
  friend bool operator==(const Dims& a, const Dims& b) noexcept { return IntSpan(a) == IntSpan(b); }
  friend std::ostream& operator<<(std::ostream& stream, const Dims& dims) { return stream << IntSpan(dims); }

 private:
  [[nodiscard]] std::int64_t capacity() const noexcept { return heap_ != nullptr ? heap_capacity_ : kInline; }
  std::int64_t size_ = 0;
  std::int64_t* heap_ = nullptr;
  union {
    std::int64_t inline_[kInline];
  };
  std::int64_t heap_capacity_ = 0;
};

}  // namespace flambeau
