// Value: one argument or result of an op. Arguments are borrowed (lists point at the caller's memory), results are
// owned.
#pragma once

#include <cstdint>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "core/dims.h"
#include "core/generator.h"
#include "core/scalar.h"
#include "core/tensor.h"

namespace flambeau {

// One per argument type a schema can spell.
enum class Tag : std::uint8_t {
  None,
  Tensor,
  TensorList,
  Int,
  IntList,
  Float,
  FloatList,
  Bool,
  BoolList,
  Scalar,
  ScalarList,
  Str,
  DType,
  Device,
  MemoryFormat,
  Generator,
};
const char* name_of(Tag tag);

class Value {
 public:
  Value() noexcept : tag_(Tag::None) {}
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  Value(Value&& other) noexcept { move_from(other); }
  Value& operator=(Value&& other) noexcept {
    if (this != &other) {
      clear();
      move_from(other);
    }
    return *this;
  }
  ~Value() { clear(); }

  [[nodiscard]] Tag tag() const noexcept { return tag_; }
  [[nodiscard]] bool is_none() const noexcept { return tag_ == Tag::None; }

  // Owning setters
  void set(Tensor tensor) noexcept {
    clear();
    tag_ = Tag::Tensor;
    owns_ = true;
    payload_.impl = tensor.release();
  }
  void set(std::vector<Tensor> tensors);                // TensorList, owned
  void set_int_list(std::vector<std::int64_t> values);  // IntList, owned
  void set(std::int64_t value) noexcept {
    clear();
    tag_ = Tag::Int;
    payload_.i = value;
  }
  void set(double value) noexcept {
    clear();
    tag_ = Tag::Float;
    payload_.d = value;
  }
  void set(bool value) noexcept {
    clear();
    tag_ = Tag::Bool;
    payload_.b = value;
  }
  void set(const Scalar& value) noexcept {
    clear();
    tag_ = Tag::Scalar;
    payload_.scalar = value;
  }
  void set(DType value) noexcept {
    clear();
    tag_ = Tag::DType;
    payload_.dtype = value;
  }
  void set(Device value) noexcept {
    clear();
    tag_ = Tag::Device;
    payload_.device = value;
  }
  void set(MemoryFormat value) noexcept {
    clear();
    tag_ = Tag::MemoryFormat;
    payload_.format = value;
  }
  void set(Generator* value) noexcept {
    clear();
    tag_ = Tag::Generator;
    payload_.generator = value;
  }
  // Borrowing setters: what is pointed at has to outlive the Value. A null impl is an undefined Tensor.
  void borrow(TensorImpl* impl) noexcept {
    clear();
    tag_ = Tag::Tensor;
    payload_.impl = impl;
  }
  void borrow(TensorSpan tensors) noexcept { borrow_list(Tag::TensorList, tensors.data(), tensors.size()); }
  void borrow(IntSpan values) noexcept { borrow_list(Tag::IntList, values.data(), values.size()); }
  void borrow(Span<double> values) noexcept { borrow_list(Tag::FloatList, values.data(), values.size()); }
  void borrow(Span<bool> values) noexcept { borrow_list(Tag::BoolList, values.data(), values.size()); }
  void borrow(Span<Scalar> values) noexcept { borrow_list(Tag::ScalarList, values.data(), values.size()); }
  void borrow(std::string_view text) noexcept {
    borrow_list(Tag::Str, text.data(), static_cast<std::int64_t>(text.size()));
  }
  // The same value without ownership; `other` has to outlive this.
  void alias(const Value& other) noexcept {
    clear();
    std::memcpy(static_cast<void*>(&payload_), static_cast<const void*>(&other.payload_), sizeof(payload_));
    tag_ = other.tag_;
  }
  // A Value that owns copies of what this one borrows.
  [[nodiscard]] Value own() const;
  void clear() noexcept {
    if (owns_) clear_slow();
    tag_ = Tag::None;
    owns_ = false;
  }

  // Getters; the tag has to match.
  [[nodiscard]] const Tensor& tensor() const noexcept {  // Tensor is exactly one TensorImpl*
    return *reinterpret_cast<const Tensor*>(&payload_.impl);
  }
  [[nodiscard]] TensorImpl* impl() const noexcept { return tag_ == Tag::Tensor ? payload_.impl : nullptr; }
  [[nodiscard]] Tensor take_tensor() noexcept;  // moves an owned tensor out, shares a borrowed one
  [[nodiscard]] TensorSpan tensors() const noexcept { return list<Tensor>(); }
  [[nodiscard]] std::int64_t integer() const noexcept { return payload_.i; }
  [[nodiscard]] IntSpan ints() const noexcept { return list<std::int64_t>(); }
  [[nodiscard]] double floating() const noexcept { return payload_.d; }
  [[nodiscard]] Span<double> floats() const noexcept { return list<double>(); }
  [[nodiscard]] bool boolean() const noexcept { return payload_.b; }
  [[nodiscard]] Span<bool> bools() const noexcept { return list<bool>(); }
  [[nodiscard]] const Scalar& scalar() const noexcept { return payload_.scalar; }
  [[nodiscard]] Span<Scalar> scalars() const noexcept { return list<Scalar>(); }
  [[nodiscard]] std::string_view str() const noexcept {
    return {static_cast<const char*>(payload_.list.data), static_cast<std::size_t>(payload_.list.size)};
  }
  [[nodiscard]] DType dtype() const noexcept { return payload_.dtype; }
  [[nodiscard]] Device device() const noexcept { return payload_.device; }
  [[nodiscard]] MemoryFormat memory_format() const noexcept { return payload_.format; }
  [[nodiscard]] Generator* generator() const noexcept { return payload_.generator; }

 private:
  struct List {
    const void* data;
    std::int64_t size;
  };
  union Payload {
    Payload() {}
    TensorImpl* impl;
    std::int64_t i;
    double d;
    bool b;
    Scalar scalar;
    List list;
    DType dtype;
    Device device;
    MemoryFormat format;
    Generator* generator;
  };
  void borrow_list(Tag tag, const void* data, std::int64_t size) noexcept {
    clear();
    tag_ = tag;
    payload_.list = {data, size};
  }
  template <class T>
  [[nodiscard]] Span<T> list() const noexcept {
    return Span<T>(static_cast<const T*>(payload_.list.data), payload_.list.size);
  }
  void move_from(Value& other) noexcept {
    std::memcpy(static_cast<void*>(this), static_cast<const void*>(&other), sizeof(Value));
    other.tag_ = Tag::None;
    other.owns_ = false;
  }
  void clear_slow() noexcept;
  Payload payload_;
  Tag tag_;
  bool owns_ = false;
};

}  // namespace flambeau
