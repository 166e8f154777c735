// x[...] and x[...] = value. Ints, slices, None and Ellipsis become views, one op each; tensors, lists and masks become
// one index or index_put_ call on what those views left. Everything goes through call_op, so gradients and views just
// work.
#include "bindings/indexing.h"

#include "bindings/parse.h"
#include "bindings/tensor_data.h"
#include "core/copy.h"
#include "core/factory.h"
#include "core/inline_vec.h"

namespace flambeau::python {
namespace {

const OpDef& required(const char* name) {
  const OpDef* def = find_op(name);
  internal_assert(def != nullptr, name);
  return *def;
}

Tensor run(const OpDef& def, Value* arguments) {
  Value result;
  call_op(def, arguments, &result);
  return result.take_tensor();
}

Tensor select(const Tensor& input, std::int64_t dim, std::int64_t index) {
  static const OpDef& def = required("select");
  Value arguments[3];
  arguments[0].borrow(input.impl());
  arguments[1].set(dim);
  arguments[2].set(index);
  return run(def, arguments);
}

Tensor slice(const Tensor& input, std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step) {
  static const OpDef& def = required("slice");
  Value arguments[5];
  arguments[0].borrow(input.impl());
  arguments[1].set(dim);
  arguments[2].set(start);
  arguments[3].set(end);
  arguments[4].set(step);
  return run(def, arguments);
}

Tensor unsqueeze(const Tensor& input, std::int64_t dim) {
  static const OpDef& def = required("unsqueeze");
  Value arguments[2];
  arguments[0].borrow(input.impl());
  arguments[1].set(dim);
  return run(def, arguments);
}

Tensor alias_of(const Tensor& input) {
  static const OpDef& def = required("alias");
  Value arguments[1];
  arguments[0].borrow(input.impl());
  return run(def, arguments);
}

Tensor view_as(const Tensor& input, IntSpan sizes) {
  static const OpDef& def = required("reshape");
  Value arguments[2];
  arguments[0].borrow(input.impl());
  arguments[1].borrow(sizes);
  return run(def, arguments);
}

struct Item {
  enum class Kind : std::uint8_t { Int, Slice, None, Ellipsis, Tensor } kind;
  std::int64_t start = 0, stop = 0, step = 1;  // Int: start
  Tensor tensor;
  // How many dims of the tensor it uses up.
  [[nodiscard]] std::int64_t covers() const {
    if (kind == Kind::Int || kind == Kind::Slice) return 1;
    if (kind != Kind::Tensor) return 0;
    return tensor.dtype() == DType::Bool || tensor.dtype() == DType::UInt8 ? tensor.dim() : 1;
  }
};

std::int64_t to_index(PyObject* object) {
  int too_big = 0;
  const std::int64_t value = PyLong_AsLongLongAndOverflow(object, &too_big);
  check(too_big == 0, ErrorKind::Value, "Overflow when unpacking long long");
  return value;
}

void set_slice(Item& item, PyObject* object) {
  item.kind = Item::Kind::Slice;
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(object, &start, &stop, &step) < 0) throw_python();
  check(step > 0, ErrorKind::Value, "step must be greater than zero");
  item.start = start;
  item.stop = stop;
  item.step = step;
}

void set_tensor(Item& item, Tensor tensor) {
  // A 0-d integer tensor is an index like any int; 0-d masks add a dim, as the index kernel does.
  const bool number =
      tensor.dim() == 0 && is_integral(tensor.dtype(), false) && tensor.dtype() != DType::UInt8 && !tensor.is_meta();
  if (number) {
    item.kind = Item::Kind::Int;
    item.start = flambeau::item(tensor).to_int();
  } else {
    item.kind = Item::Kind::Tensor;
    item.tensor = std::move(tensor);
  }
}

[[noreturn]] void bad_index(PyObject* object) {
  fail(ErrorKind::Index,
       "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got ",
       Py_TYPE(object)->tp_name, ")");
}

void classify(PyObject* object, Item& item) {
  if (PyLong_CheckExact(object)) {
    item.kind = Item::Kind::Int;
    item.start = to_index(object);
  } else if (PySlice_Check(object)) {
    set_slice(item, object);
  } else if (object == Py_None) {
    item.kind = Item::Kind::None;
  } else if (object == Py_Ellipsis) {
    item.kind = Item::Kind::Ellipsis;
  } else if (is_tensor(object)) {
    set_tensor(item, tensor_of(object));
  } else if (PyBool_Check(object)) {
    item.kind = Item::Kind::Tensor;
    item.tensor = scalar_tensor(Scalar(object == Py_True), DType::Bool);
  } else if (PyLong_Check(object)) {
    item.kind = Item::Kind::Int;
    item.start = to_index(object);
  } else if (is_numpy_array(object)) {
    set_tensor(item, tensor_from_numpy(object));
  } else if (PyFloat_Check(object) || PyDict_Check(object) || PyAnySet_Check(object)) {
    bad_index(object);
  } else if (PyIndex_Check(object) != 0) {
    const Object number(checked(PyNumber_Index(object)));
    item.kind = Item::Kind::Int;
    item.start = to_index(number.get());
  } else if (PySequence_Check(object) != 0) {
    set_tensor(item, tensor_from_data(object, {}, DType::Int64));
  } else {
    bad_index(object);
  }
}

// PyTorch takes a short list that holds anything but numbers for a tuple.
bool list_means_tuple(PyObject* index) {
  if (!PyList_Check(index) || PyList_GET_SIZE(index) >= 32) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(index); ++i) {
    PyObject* item = PyList_GET_ITEM(index, i);
    if (is_tensor(item) || PySlice_Check(item) || item == Py_None || item == Py_Ellipsis || PyList_Check(item) ||
        PyTuple_Check(item) || is_numpy_array(item)) {
      return true;
    }
  }
  return false;
}

using Items = InlineVec<Item, 4>;

std::int64_t dims_named_by(PyObject* object) {
  if (object == Py_None || object == Py_Ellipsis || PyBool_Check(object)) return 0;
  if (!is_tensor(object)) return 1;
  const Tensor& tensor = tensor_of(object);
  return tensor.dtype() == DType::Bool || tensor.dtype() == DType::UInt8 ? tensor.dim() : 1;
}

Items items_of(PyObject* index, std::int64_t rank) {
  Items items;
  if (!PyTuple_Check(index) && !list_means_tuple(index)) {
    classify(index, items.emplace_back());
    return items;
  }
  // The list may change while its items are converted.
  const Object tuple(checked(PySequence_Tuple(index)));
  std::int64_t named = 0;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple.get()); ++i)
    named += dims_named_by(PyTuple_GET_ITEM(tuple.get(), i));
  check(named <= rank, ErrorKind::Index, "too many indices for tensor of dimension ", rank);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple.get()); ++i)
    classify(PyTuple_GET_ITEM(tuple.get(), i), items.emplace_back());
  return items;
}

// What the views left, and the tensors that index it (undefined: a whole dim).
struct Applied {
  Tensor view;
  std::vector<Tensor> indices;
};

void check_int(std::int64_t index, std::int64_t dim, std::int64_t real_dim, const Tensor& tensor) {
  if (tensor.dim() == 0) {
    fail(ErrorKind::Index,
         "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
         "0-dim tensor to a number");
  }
  const std::int64_t size = tensor.sizes()[dim];
  if (index < -size || index >= size) [[unlikely]] {
    fail(ErrorKind::Index, "index ", index, " is out of bounds for dimension ", real_dim, " with size ", size);
  }
}

Applied apply(const Tensor& self, const Items& items) {
  std::int64_t specified = 0;
  bool ellipsis = false;
  for (const Item& item : items) specified += item.covers();
  if (items.size() == 1 && self.dim() == 0 && specified == 1) {
    if (items[0].kind == Item::Kind::Int) check_int(0, 0, 0, self);
    check(items[0].kind != Item::Kind::Slice, ErrorKind::Index, "slice() cannot be applied to a 0-dim tensor.");
  }
  check(specified <= self.dim(), ErrorKind::Index, "too many indices for tensor of dimension ", self.dim());
  check(self.dim() - specified + static_cast<std::int64_t>(items.size()) <= kMaxDims, ErrorKind::Index,
        "too many indices: at most ", kMaxDims, " dimensions are supported");
  Applied applied{self, {}};
  std::int64_t dim = 0, real_dim = 0, indexed = 0;
  for (const Item& item : items) {
    switch (item.kind) {
      case Item::Kind::Int:
        check_int(item.start, dim, real_dim, applied.view);
        applied.view = select(applied.view, dim, item.start);
        ++real_dim;
        break;
      case Item::Kind::Slice: {
        const std::int64_t size = applied.view.sizes()[dim];
        if (item.start != 0 || item.stop < size || item.step != 1)
          applied.view = slice(applied.view, dim, item.start, item.stop, item.step);
        ++dim;
        ++real_dim;
        break;
      }
      case Item::Kind::None:
        applied.view = unsqueeze(applied.view, dim);
        ++dim;
        break;
      case Item::Kind::Ellipsis:
        // A second one stands for no dims.
        if (ellipsis) break;
        ellipsis = true;
        dim += self.dim() - specified;
        real_dim += self.dim() - specified;
        break;
      case Item::Kind::Tensor: {
        for (; indexed < dim; ++indexed) applied.indices.emplace_back();
        applied.indices.push_back(item.tensor);
        const std::int64_t covers = item.covers();
        indexed += covers;
        dim += covers;
        real_dim += covers;
        break;
      }
    }
  }
  return applied;
}

Tensor index(const Tensor& input, const std::vector<Tensor>& indices) {
  static const OpDef& def = required("index");
  Value arguments[2];
  arguments[0].borrow(input.impl());
  arguments[1].borrow(TensorSpan(indices));
  return run(def, arguments);
}

Tensor get(const Tensor& self, PyObject* key) {
  if (PyLong_CheckExact(key)) {
    const std::int64_t at = to_index(key);
    check_int(at, 0, 0, self);
    return select(self, 0, at);
  }
  const Applied applied = apply(self, items_of(key, self.dim()));
  if (!applied.indices.empty()) return index(applied.view, applied.indices);
  return applied.view.is(self) ? alias_of(self) : applied.view;
}

// ---- assignment

bool number_of(PyObject* object, Scalar& value) {
  if (is_tensor(object)) return false;
  if (PyLong_Check(object) && !PyBool_Check(object)) {
    value = Scalar(to_index(object));
    return true;
  }
  return is_number(object) && to_scalar(object, value);
}

void check_number(const Scalar& value, DType dtype) {
  check(!value.is_complex() || is_complex(dtype), ErrorKind::Runtime, "value cannot be converted to type ",
        name_of(dtype), " without overflow");
}

// Leading dims of size 1 that the destination lacks are dropped.
Tensor without_leading_ones(const Tensor& value, std::int64_t dims) {
  std::int64_t lead = 0;
  while (value.dim() - lead > dims && value.sizes()[lead] == 1) ++lead;
  return lead == 0 ? value : view_as(value, value.sizes().subspan(lead, value.dim() - lead));
}

void fill_with(const Tensor& target, const Scalar& value) {
  static const OpDef& def = required("fill_");
  check_number(value, target.dtype());
  Value arguments[2];
  arguments[0].borrow(target.impl());
  arguments[1].set(value);
  run(def, arguments);
}

void copy_from(const Tensor& target, const Tensor& value) {
  static const OpDef& def = required("copy_");
  const Tensor source = without_leading_ones(value, target.dim());
  Value arguments[3];
  arguments[0].borrow(target.impl());
  arguments[1].borrow(source.impl());
  arguments[2].set(false);
  run(def, arguments);
}

void put(const Tensor& target, const std::vector<Tensor>& indices, const Tensor& value) {
  static const OpDef& def = required("index_put_");
  Tensor source = value;
  if (value.dim() > 0) {
    std::int64_t lead = 0;
    while (lead < value.dim() && value.sizes()[lead] == 1) ++lead;
    if (lead != 0) source = view_as(value, value.sizes().subspan(lead, value.dim() - lead));
  }
  Value arguments[4];
  arguments[0].borrow(target.impl());
  arguments[1].borrow(TensorSpan(indices));
  arguments[2].borrow(source.impl());
  arguments[3].set(false);
  run(def, arguments);
}

void assign(const Tensor& self, PyObject* key, PyObject* object) {
  Scalar number;
  const bool is_scalar = number_of(object, number);
  if (!is_scalar && !is_tensor(object)) {
    fail(ErrorKind::Type, "can't assign a ", Py_TYPE(object)->tp_name, " to a torch.", torch_name_of(self.dtype()),
         "Tensor");
  }
  const Applied applied = apply(self, items_of(key, self.dim()));
  if (applied.indices.empty()) {
    if (is_scalar)
      fill_with(applied.view, number);
    else
      copy_from(applied.view, tensor_of(object));
    return;
  }
  if (is_scalar) {
    check_number(number, self.dtype());
    put(applied.view, applied.indices, scalar_tensor(number, self.dtype(), self.device()));
  } else {
    put(applied.view, applied.indices, tensor_of(object));
  }
}

// A subclass with __torch_function__ sees TensorBase.__getitem__ or __setitem__.
PyObject* overridden(const char* method, PyObject* by, PyObject* arguments) {
  const Object function(checked(PyObject_GetAttrString(reinterpret_cast<PyObject*>(tensor_base_type), method)));
  const Object types(checked(PyTuple_Pack(1, Py_TYPE(by))));
  return PyObject_CallMethod(reinterpret_cast<PyObject*>(Py_TYPE(by)), "__torch_function__", "OOO", function.get(),
                             types.get(), arguments);
}

bool is_plain(PyObject* self) {
  return Py_TYPE(self) == tensor_type || Py_TYPE(self) == parameter_type || !has_torch_function(self);
}

// What takes over x[index] or x[index] = value: the tensor, an index tensor or the value; null if nothing does.
PyObject* overriding(PyObject* self, PyObject* index, PyObject* value) {
  const auto takes_over = [](PyObject* object) {
    return !PyLong_CheckExact(object) && !PySlice_Check(object) && is_tensor(object) && !is_plain(object);
  };
  if (!is_plain(self)) [[unlikely]]
    return self;
  if (PyTuple_CheckExact(index)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(index); ++i) {
      if (takes_over(PyTuple_GET_ITEM(index, i))) [[unlikely]]
        return PyTuple_GET_ITEM(index, i);
    }
  } else if (takes_over(index)) [[unlikely]] {
    return index;
  }
  return value != nullptr && takes_over(value) ? value : nullptr;
}

}  // namespace

PyObject* tensor_subscript(PyObject* self, PyObject* index) {
  return guarded([&]() -> PyObject* {
    if (PyObject* by = overriding(self, index, nullptr); by != nullptr) [[unlikely]] {
      const Object arguments(checked(PyTuple_Pack(2, self, index)));
      return overridden("__getitem__", by, arguments.get());
    }
    return wrap(get(tensor_of(self), index));
  });
}

int tensor_assign_subscript(PyObject* self, PyObject* index, PyObject* value) {
  return guarded(
      [&] {
        check(value != nullptr, ErrorKind::Type, "Tensor does not support deleting items");
        if (PyObject* by = overriding(self, index, value); by != nullptr) [[unlikely]] {
          const Object arguments(checked(PyTuple_Pack(3, self, index, value)));
          const Object result(checked(overridden("__setitem__", by, arguments.get())));
          return 0;
        }
        assign(tensor_of(self), index, value);
        if (warnings_pending()) [[unlikely]]
          emit_queued_warnings();
        return 0;
      },
      -1);
}

}  // namespace flambeau::python
