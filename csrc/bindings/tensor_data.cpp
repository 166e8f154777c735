// flambeau.tensor and as_tensor: Python data to tensors. Two passes over a nested sequence: infer sizes and dtype,
// fill. Python code may run in between (__len__, __index__), so items are re-read and held while they are used.
#include "autograd/calls.h"
#include "bindings/tensor_data.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "core/copy.h"
#include "core/factory.h"
#include "core/promotion.h"

namespace flambeau::python {
namespace {

PyObject* from_numpy_function = nullptr;

[[noreturn]] void bad_type(PyObject* object) {
  fail(ErrorKind::Type, "new(): invalid data type '", Py_TYPE(object)->tp_name, "'");
}

bool is_text(PyObject* object) { return PyUnicode_Check(object) || PyBytes_Check(object); }

bool is_sequence(PyObject* object) {
  if (PyList_Check(object) || PyTuple_Check(object)) return true;
  if (PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object) || is_text(object)) return false;
  if (is_tensor(object)) return tensor_of(object).dim() != 0;
  return PySequence_Check(object) != 0 && !PyDict_Check(object);
}

// The dtype of a NumPy scalar, by the name of its type.
bool numpy_scalar_dtype(PyObject* object, DType& dtype) {
  const char* name = Py_TYPE(object)->tp_name;
  if (std::strncmp(name, "numpy.", 6) != 0) return false;
  name += 6;
  if (std::strcmp(name, "bool_") == 0) name = "bool";
  if (std::strcmp(name, "longlong") == 0) name = "int64";
  for (int i = 0; i < kNumDTypes; ++i) {
    if (std::strcmp(name, name_of(static_cast<DType>(i))) == 0) {
      dtype = static_cast<DType>(i);
      return true;
    }
  }
  return false;
}

// Calls fn(item) for the items of a sequence; false from fn stops.
template <class F>
void for_items(PyObject* sequence, F&& fn) {
  const Object fast(checked(PySequence_Fast(sequence, "not a sequence")));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.get()); ++i) {
    const Object item = Object::borrow(PySequence_Fast_GET_ITEM(fast.get(), i));
    fn(item.get());
  }
}

Dims infer_sizes(PyObject* data) {
  Dims sizes;
  Object current = Object::borrow(data);
  while (is_sequence(current.get())) {
    const Py_ssize_t length = PySequence_Size(current.get());
    if (length < 0) throw_python();
    sizes.push_back(length);
    check(sizes.size() <= kMaxDims, ErrorKind::Value, "too many dimensions '", Py_TYPE(data)->tp_name, "'");
    if (length == 0) break;
    current = Object(checked(PySequence_GetItem(current.get(), 0)));
  }
  if (is_text(current.get())) bad_type(current.get());
  return sizes;
}

DType infer_dtype(PyObject* object, DType empty_dtype, int depth) {
  if (PyFloat_CheckExact(object)) return default_dtype();
  if (PyBool_Check(object)) return DType::Bool;
  if (PyLong_Check(object)) return DType::Int64;
  if (PyComplex_CheckExact(object)) return to_complex(default_dtype());
  DType dtype;
  if (numpy_scalar_dtype(object, dtype)) return dtype;
  if (PyFloat_Check(object)) return default_dtype();
  if (PyComplex_Check(object)) return to_complex(default_dtype());
  if (is_tensor(object)) return tensor_of(object).dtype();
  if (is_numpy_array(object)) return tensor_from_numpy(object).dtype();
  if (is_text(object)) bad_type(object);
  if (!is_sequence(object)) fail(ErrorKind::Runtime, "Could not infer dtype of ", Py_TYPE(object)->tp_name);
  check(depth <= kMaxDims, ErrorKind::Value, "too many dimensions '", Py_TYPE(object)->tp_name, "'");
  std::optional<DType> common;
  for_items(object, [&](PyObject* item) {
    const DType next = PyFloat_CheckExact(item) ? default_dtype() : infer_dtype(item, empty_dtype, depth + 1);
    common = common && *common != next ? promote_types(*common, next) : next;
  });
  return common.value_or(empty_dtype);
}

[[noreturn]] void overflow(DType dtype) {
  fail(ErrorKind::Runtime, "value cannot be converted to type ", name_of(dtype), " without overflow");
}

template <class T>
T integer_element(std::int64_t value) {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    return value;
  } else {
    // Unsigned types take negative values down to -max, which wrap; PyTorch does so.
    const std::int64_t high = std::numeric_limits<T>::max(),
                       low = std::is_unsigned_v<T> ? -high : std::numeric_limits<T>::min();
    if (value < low || value > high) overflow(dtype_of<T>);
    return static_cast<T>(value);
  }
}

template <class T>
T element_of(PyObject* object);

// Tensors of one element, NumPy scalars and other objects with __float__, __index__ ...
template <class T>
T element_of_other(PyObject* object) {
  if (is_sequence(object))
    fail(ErrorKind::Type, "'", Py_TYPE(object)->tp_name, "' object cannot be interpreted as an integer");
  if (is_text(object)) bad_type(object);
  Scalar value;
  if (is_tensor(object)) {
    check(!tensor_of(object).is_meta() && tensor_of(object).numel() == 1, ErrorKind::Value,
          "only one element tensors can be converted to Python scalars");
    value = item(tensor_of(object));
    const Object number(checked(to_python(value)));
    return element_of<T>(number.get());
  }
  if (is_number(object)) {
    const Object number(checked(PyObject_CallMethod(object, "item", nullptr)));
    if (PyFloat_Check(number.get()) || PyLong_Check(number.get()) || PyComplex_Check(number.get()))
      return element_of<T>(number.get());
  }
  if constexpr (std::is_integral_v<T>) {
    const Object number(checked(PyNumber_Index(object)));
    return element_of<T>(number.get());
  } else {
    const Object number(checked(PyNumber_Float(object)));
    return element_of<T>(number.get());
  }
}

template <class T>
T element_of(PyObject* object) {
  if (PyFloat_Check(object)) {
    const double value = PyFloat_AS_DOUBLE(object);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0)) overflow(dtype_of<T>);
      return integer_element<T>(static_cast<std::int64_t>(value));
    }
    return convert<T>(value);
  }
  if (PyLong_Check(object)) {
    if constexpr (std::is_same_v<T, bool>) {
      const int truth = PyObject_IsTrue(object);
      if (truth < 0) throw_python();
      return truth == 1;
    }
    if constexpr (!std::is_integral_v<T>) {
      const double value = PyLong_AsDouble(object);
      if (value == -1.0 && PyErr_Occurred() != nullptr) throw_python();
      return convert<T>(value);
    }
    int too_big = 0;
    const std::int64_t value = PyLong_AsLongLongAndOverflow(object, &too_big);
    check(too_big == 0, ErrorKind::Value, "Overflow when unpacking long long");
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) return integer_element<T>(value);
    return convert<T>(value);
  }
  if (PyComplex_Check(object)) {
    const c128 value{PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)};
    if constexpr (std::is_same_v<T, c64> || std::is_same_v<T, c128>) return T(value);
    if constexpr (std::is_same_v<T, bool>) return convert<bool>(value);
    fail(ErrorKind::Type, "must be real number, not complex");
  }
  return element_of_other<T>(object);
}

template <class T>
T* fill_from(PyObject* object, const Dims& sizes, std::int64_t dim, T* to) {
  if (dim == sizes.size()) {
    *to = element_of<T>(object);
    return to + 1;
  }
  const Object fast(PySequence_Fast(object, "not a sequence"));
  if (!fast) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) != 0) {
      PyErr_Clear();
      fail(ErrorKind::Type, "not a sequence");
    }
    throw_python();
  }
  const std::int64_t length = PySequence_Fast_GET_SIZE(fast.get());
  check(length == sizes[dim], ErrorKind::Value, "expected sequence of length ", sizes[dim], " at dim ", dim, " (got ",
        length, ")");
  for (std::int64_t i = 0; i < sizes[dim]; ++i) {
    check(i < PySequence_Fast_GET_SIZE(fast.get()), ErrorKind::Value, "sequence changed its length while it was read");
    PyObject* item = PySequence_Fast_GET_ITEM(fast.get(), static_cast<Py_ssize_t>(i));
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      if (dim + 1 == sizes.size() && PyFloat_CheckExact(item)) {
        *to++ = static_cast<T>(PyFloat_AS_DOUBLE(item));
        continue;
      }
    }
    const Object held = Object::borrow(item);
    to = fill_from<T>(held.get(), sizes, dim + 1, to);
  }
  return to;
}

// ---- the two functions

struct Arguments {
  PyObject* data = nullptr;
  std::optional<DType> dtype;
  std::optional<Device> device;
  bool requires_grad = false;
};

bool is_named(PyObject* name, const char* text) { return PyUnicode_CompareWithASCIIString(name, text) == 0; }

void take_keyword(const char* function, PyObject* name, PyObject* value, Arguments& given) {
  if (is_named(name, "data")) {
    check(given.data == nullptr, ErrorKind::Type, function, "() got multiple values for argument 'data'");
    given.data = value;
  } else if (is_named(name, "dtype")) {
    DType dtype;
    if (value == Py_None) return;
    check(to_dtype(value, dtype), ErrorKind::Type, function, "(): argument 'dtype' must be torch.dtype, not ",
          Py_TYPE(value)->tp_name);
    given.dtype = dtype;
  } else if (is_named(name, "device")) {
    Device device;
    if (value == Py_None) return;
    check(to_device(value, device), ErrorKind::Type, function, "(): argument 'device' must be torch.device, not ",
          Py_TYPE(value)->tp_name);
    given.device = device;
  } else if (is_named(name, "requires_grad")) {
    check(PyBool_Check(value), ErrorKind::Type, function, "(): argument 'requires_grad' must be bool, not ",
          Py_TYPE(value)->tp_name);
    given.requires_grad = value == Py_True;
  } else {
    const bool known = is_named(name, "pin_memory") || is_named(name, "layout") || is_named(name, "names");
    check(known, ErrorKind::Type, function, "() got an unexpected keyword argument '", PyUnicode_AsUTF8(name), "'");
  }
}

Arguments parse(const char* function, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames,
                Py_ssize_t positional) {
  Arguments given;
  check(nargs <= positional, ErrorKind::Type, function, "() takes ", positional, " positional argument",
        positional == 1 ? "" : "s", " but ", nargs, " were given");
  if (nargs > 0) given.data = args[0];
  static PyObject* const names[] = {nullptr, PyUnicode_InternFromString("dtype"), PyUnicode_InternFromString("device")};
  for (Py_ssize_t i = 1; i < nargs; ++i) take_keyword(function, names[i], args[i], given);
  for (Py_ssize_t k = 0; kwnames != nullptr && k < PyTuple_GET_SIZE(kwnames); ++k) {
    take_keyword(function, PyTuple_GET_ITEM(kwnames, k), args[nargs + k], given);
  }
  check(given.data != nullptr, ErrorKind::Type, function, "() missing 1 required positional arguments: \"data\"");
  if (!given.device && default_device >= 0) given.device = Device{static_cast<DeviceType>(default_device)};
  return given;
}

Tensor moved(Tensor tensor, std::optional<Device> device) {
  if (!device || *device == tensor.device()) return tensor;
  check(!tensor.is_meta(), ErrorKind::NotImplemented, "Cannot copy out of meta tensor; no data!");
  return empty_strided(tensor.sizes(), tensor.strides(), tensor.dtype(), *device);
}

PyObject* finished(Tensor tensor, const Arguments& given) {
  tensor = moved(std::move(tensor), given.device);
  if (given.requires_grad) {
    check(is_differentiable(tensor.dtype()), ErrorKind::Runtime,
          "Only Tensors of floating point and complex dtype can require gradients");
    tensor.impl()->requires_grad = true;
  }
  return wrap(std::move(tensor));
}

PyObject* tensor(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    const Arguments given = parse("tensor", args, nargs, kwnames, 1);
    if (is_tensor(given.data)) {
      if (PyErr_WarnEx(PyExc_UserWarning,
                       "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
                       "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
                       1) != 0) {
        throw_python();
      }
    }
    if (given.dtype && !has_kernels(*given.dtype)) [[unlikely]] {
      Arguments plain = given;
      plain.dtype = is_complex(*given.dtype) ? std::optional(DType::Complex64) : std::nullopt;
      const Object made(checked(finished(tensor_from_data(given.data, plain.dtype), plain)));
      const Object dtype(to_python(*given.dtype));
      return call_python_op("to_dtype", {made.get(), dtype.get()});
    }
    return finished(tensor_from_data(given.data, given.dtype), given);
  });
}

// Converts without a copy where that is possible: through the op, so that a tensor keeps its history.
PyObject* as_tensor(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    const Arguments given = parse("as_tensor", args, nargs, kwnames, 3);
    const bool array = is_numpy_array(given.data);
    if (!array && !is_tensor(given.data)) return finished(tensor_from_data(given.data, given.dtype), given);
    const Object source = array ? Object(checked(wrap(tensor_from_numpy(given.data)))) : Object::borrow(given.data);
    const Tensor& whole = tensor_of(source.get());
    if ((!given.dtype || *given.dtype == whole.dtype()) && (!given.device || *given.device == whole.device())) {
      return Py_NewRef(source.get());
    }
    const Object device(given.device ? to_python(*given.device) : Py_NewRef(Py_None));
    const Object dtype(given.dtype ? to_python(*given.dtype) : Py_NewRef(Py_None));
    return call_python_op("to", {source.get(), device.get(), dtype.get()});
  });
}

PyMethodDef functions[] = {
    {"tensor", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(tensor)), METH_FASTCALL | METH_KEYWORDS,
     "tensor(data, *, dtype=None, device=None, requires_grad=False)\n\nA new tensor with a copy of data: a number, "
     "nested "
     "sequences of numbers, a NumPy array or a tensor. The dtype is inferred: bool, int64, the default float dtype, or "
     "its "
     "complex dtype."},
    {"as_tensor", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(as_tensor)), METH_FASTCALL | METH_KEYWORDS,
     "as_tensor(data, dtype=None, device=None)\n\ndata as a tensor, sharing the memory of tensors and NumPy arrays "
     "where no "
     "conversion is asked for."},
};

}  // namespace

bool is_numpy_array(PyObject* object) noexcept {
  const PyTypeObject* type = Py_TYPE(object);
  while (type != nullptr) {
    if (std::strcmp(type->tp_name, "numpy.ndarray") == 0) return true;
    type = type->tp_base;
  }
  return false;
}

Tensor tensor_from_numpy(PyObject* array) {
  const Object made(checked(PyObject_CallOneArg(from_numpy_function, array)));
  return tensor_of(made.get());
}

Tensor tensor_from_data(PyObject* data, std::optional<DType> dtype, std::optional<DType> empty_dtype) {
  if (is_tensor(data) || is_numpy_array(data)) {
    const Tensor source = is_tensor(data) ? tensor_of(data) : tensor_from_numpy(data);
    const DType type = dtype.value_or(source.dtype());
    if (source.is_extended() && type == source.dtype()) return autograd::without_grad("clone", source);
    check(!source.is_extended() && has_kernels(type), ErrorKind::NotImplemented, "tensor: cannot convert ",
          name_of(source.dtype()), " without strided memory to ", name_of(type), "; use .to() first");
    if (source.is_meta()) return empty(source.sizes(), type, source.device());
    return type == source.dtype() ? clone(source) : flambeau::to_dtype(source, type);
  }
  const Dims sizes = infer_sizes(data);
  const DType type = dtype ? *dtype : infer_dtype(data, empty_dtype.value_or(default_dtype()), 0);
  check(has_kernels(type), ErrorKind::NotImplemented, "tensor: no data can be stored as ", name_of(type));
  Tensor result = empty(sizes, type);
  if (result.numel() == 0) { return result; }
  dispatch_all(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    fill_from<T>(data, sizes, 0, result.data<T>());
  });
  return result;
}

void bind_tensor_data(nb::module_& m) {
  from_numpy_function = nb::object(m.attr("from_numpy")).release().ptr();
  for (PyMethodDef& function : functions) {
    m.attr(function.ml_name) = nb::steal(checked(PyCFunction_NewEx(&function, nullptr, nullptr)));
  }
}

}  // namespace flambeau::python
