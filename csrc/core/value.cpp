#include "core/value.h"

#include <algorithm>

#include "core/error.h"

namespace flambeau {
namespace {

// Owned lists are heap arrays of at least one element, so that getters need no branch on ownership.
template <class T>
T* copy_list(Span<T> items) {
  auto* fresh = new T[static_cast<std::size_t>(items.size()) + 1];
  for (std::int64_t i = 0; i < items.size(); ++i) fresh[i] = items[i];
  return fresh;
}

}  // namespace

const char* name_of(Tag tag) {
  static constexpr const char* names[] = {"None",    "Tensor", "Tensor[]",      "int",      "int[]",    "float",
                                          "float[]", "bool",   "bool[]",        "Scalar",   "Scalar[]", "str",
                                          "dtype",   "device", "memory_format", "Generator"};
  return names[static_cast<int>(tag)];
}

void Value::set(std::vector<Tensor> tensors) {
  clear();
  auto* fresh = new Tensor[tensors.size() + 1];
  std::move(tensors.begin(), tensors.end(), fresh);
  borrow_list(Tag::TensorList, fresh, static_cast<std::int64_t>(tensors.size()));
  owns_ = true;
}

void Value::set_int_list(std::vector<std::int64_t> values) {
  clear();
  borrow_list(Tag::IntList, copy_list(IntSpan(values)), static_cast<std::int64_t>(values.size()));
  owns_ = true;
}

void Value::clear_slow() noexcept {
  switch (tag_) {
    case Tag::Tensor: {
      if (payload_.impl != nullptr && payload_.impl->drop()) TensorImpl::destroy(payload_.impl);
      break;
    }
    case Tag::TensorList: delete[] static_cast<const Tensor*>(payload_.list.data); break;
    case Tag::IntList: delete[] static_cast<const std::int64_t*>(payload_.list.data); break;
    case Tag::FloatList: delete[] static_cast<const double*>(payload_.list.data); break;
    case Tag::BoolList: delete[] static_cast<const bool*>(payload_.list.data); break;
    case Tag::ScalarList: delete[] static_cast<const Scalar*>(payload_.list.data); break;
    case Tag::Str: delete[] static_cast<const char*>(payload_.list.data); break;
    default: break;
  }
}

Value Value::own() const {
  Value copy;
  switch (tag_) {
    case Tag::Tensor: copy.set(Tensor::share(payload_.impl)); return copy;
    case Tag::TensorList: copy.borrow_list(tag_, copy_list(tensors()), payload_.list.size); break;
    case Tag::IntList: copy.borrow_list(tag_, copy_list(ints()), payload_.list.size); break;
    case Tag::FloatList: copy.borrow_list(tag_, copy_list(floats()), payload_.list.size); break;
    case Tag::BoolList: copy.borrow_list(tag_, copy_list(bools()), payload_.list.size); break;
    case Tag::ScalarList: copy.borrow_list(tag_, copy_list(scalars()), payload_.list.size); break;
    case Tag::Str: {
      const std::string_view text = str();
      copy.borrow_list(tag_, copy_list(Span<char>(text.data(), static_cast<std::int64_t>(text.size()))),
                       payload_.list.size);
      break;
    }
    default:
      std::memcpy(static_cast<void*>(&copy.payload_), static_cast<const void*>(&payload_), sizeof(payload_));
      copy.tag_ = tag_;
      return copy;
  }
  copy.owns_ = true;
  return copy;
}

Tensor Value::take_tensor() noexcept {
  if (tag_ != Tag::Tensor) return {};
  if (!owns_) return Tensor::share(payload_.impl);
  Tensor taken = Tensor::adopt(payload_.impl);
  tag_ = Tag::None;
  owns_ = false;
  return taken;
}

}  // namespace flambeau
