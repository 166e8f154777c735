#include "bindings/parse.h"

#include "core/copy.h"
#include "core/factory.h"
#include "core/promotion.h"

namespace flambeau::python {
namespace {

struct Names {
  PyObject *out, *axis, *dim, *keepdims, *keepdim, *self, *input, *x, *other, *x2, *requires_grad, *layout, *pin_memory,
      *names, *torch_function;
};
const Names& names() {
  static const Names interned = {PyUnicode_InternFromString("out"),
                                 PyUnicode_InternFromString("axis"),
                                 PyUnicode_InternFromString("dim"),
                                 PyUnicode_InternFromString("keepdims"),
                                 PyUnicode_InternFromString("keepdim"),
                                 PyUnicode_InternFromString("self"),
                                 PyUnicode_InternFromString("input"),
                                 PyUnicode_InternFromString("x"),
                                 PyUnicode_InternFromString("other"),
                                 PyUnicode_InternFromString("x2"),
                                 PyUnicode_InternFromString("requires_grad"),
                                 PyUnicode_InternFromString("layout"),
                                 PyUnicode_InternFromString("pin_memory"),
                                 PyUnicode_InternFromString("names"),
                                 PyUnicode_InternFromString("__torch_function__")};
  return interned;
}

bool same_name(PyObject* a, PyObject* b) { return a == b || PyUnicode_Compare(a, b) == 0; }

// The items of a list or tuple (or of another sequence, copied); null if the object is none.
struct Items {
  Object holder;
  Py_ssize_t size = 0;
  bool ok = false;
  explicit Items(PyObject* object) {
    if (PyTuple_Check(object) || PyList_Check(object)) {
      holder = Object::borrow(object);
    } else if (is_tensor(object)) {
      // An integer vector stands for a list of ints.
      if (tensor_of(object).dim() != 1) return;
      holder = Object(PySequence_List(object));
    } else if (PySequence_Check(object) && !PyUnicode_Check(object) && !PyBytes_Check(object) &&
               !PyDict_Check(object)) {
      holder = Object(PySequence_List(object));
    } else {
      return;
    }
    if (!holder) throw_python();
    size = PySequence_Fast_GET_SIZE(holder.get());
    ok = true;
  }
  // Converting an item may run Python code (__index__, __torch_function__), which may shorten the list.
  [[nodiscard]] PyObject* operator[](Py_ssize_t i) const {
    check(i < PySequence_Fast_GET_SIZE(holder.get()), ErrorKind::Runtime, "a list changed its size while it was read");
    return PySequence_Fast_GET_ITEM(holder.get(), i);
  }
};

bool ints_from(const Parameter& parameter, PyObject* object, Value& value, CallFrame& frame) {
  std::int64_t single;
  if (PyLong_CheckExact(object) || !(PyTuple_Check(object) || PyList_Check(object))) {
    if (!is_tensor(object) || tensor_of(object).dim() == 0) {
      if (to_int(object, single)) {
        Dims& dims = frame.fresh_ints();
        const std::int64_t repeat = std::max<std::int64_t>(parameter.fixed_size, 1);
        for (std::int64_t i = 0; i < repeat; ++i) dims.push_back(single);
        value.borrow(IntSpan(dims));
        return true;
      }
    }
  }
  const Items items(object);
  if (!items.ok) return false;
  Dims& dims = frame.fresh_ints();
  dims.resize(items.size);
  for (Py_ssize_t i = 0; i < items.size; ++i) {
    if (!to_int(items[i], dims[i])) return false;
  }
  if (parameter.fixed_size > 1 && items.size == 1) {
    for (std::int64_t i = 1; i < parameter.fixed_size; ++i) dims.push_back(dims[0]);
  }
  value.borrow(IntSpan(dims));
  return true;
}

bool tensors_from(const Parameter& parameter, PyObject* object, Value& value, CallFrame& frame) {
  if (is_tensor(object)) return false;
  const Items items(object);
  if (!items.ok) return false;
  auto& list = *frame.tensors_.emplace_back(std::make_unique<std::vector<Tensor>>());
  list.reserve(static_cast<std::size_t>(items.size));
  for (Py_ssize_t i = 0; i < items.size; ++i) {
    PyObject* item = items[i];
    if (is_tensor(item)) {
      if (frame.overridden == nullptr && has_torch_function(item)) frame.overridden = item;
      list.push_back(tensor_of(item));
    } else if (item == Py_None && parameter.optional_items) {
      list.emplace_back();
    } else if (has_torch_function(item)) {
      if (frame.overridden == nullptr) frame.overridden = item;
      list.emplace_back();
    } else {
      return false;
    }
  }
  value.borrow(TensorSpan(list));
  return true;
}

// Ops whose first argument may be a number too: flambeau.mul(2, x).
bool takes_number_first(const OpDef& def) noexcept {
  constexpr std::string_view ops[] = {"add", "sub", "mul", "div", "floor_divide"};
  return std::find(std::begin(ops), std::end(ops), def.name) != std::end(ops);
}

bool tensor_from(const OpDef& def, std::size_t index, PyObject* object, Value& value, CallFrame& frame) {
  const Parameter& parameter = def.parameters[index];
  PyTypeObject* type = Py_TYPE(object);
  if (type == tensor_type || type == parameter_type) [[likely]] {
    value.borrow(reinterpret_cast<TensorObject*>(object)->impl);
    frame.complex_scalar |= value.tensor().dim() == 0 && is_complex(value.tensor().dtype());
    return true;
  }
  if (is_tensor(object)) {
    if (frame.overridden == nullptr && has_torch_function(object)) frame.overridden = object;
    value.borrow(reinterpret_cast<TensorObject*>(object)->impl);
    frame.complex_scalar |= value.tensor().dim() == 0 && is_complex(value.tensor().dtype());
    return true;
  }
  if (object == Py_None) return parameter.optional;
  // A number stands for a tensor anywhere but in the first place.
  if ((index != 0 || takes_number_first(def)) && !parameter.mutated && !parameter.only_tensor && is_number(object)) {
    Scalar scalar;
    if (!to_scalar(object, scalar)) return false;
    value.set(wrapped_number(scalar));
    frame.complex_scalar |= scalar.is_complex();
    return true;
  }
  if (has_torch_function(object)) {
    frame.overridden = object;
    return true;
  }
  return false;
}

template <class T, class Convert>
bool list_from(PyObject* object, std::vector<T>& list, Convert&& convert_item) {
  const Items items(object);
  if (!items.ok) return false;
  for (Py_ssize_t i = 0; i < items.size; ++i) {
    T item{};
    if (!convert_item(items[i], item)) return false;
    list.push_back(item);
  }
  return true;
}

bool convert_argument(const OpDef& def, std::size_t index, PyObject* object, Value& value, CallFrame& frame) {
  const Parameter& parameter = def.parameters[index];
  if (parameter.tag == Tag::Tensor) return tensor_from(def, index, object, value, frame);
  if (object == Py_None) {
    value.clear();
    return parameter.optional || parameter.tag == Tag::Generator;
  }
  switch (parameter.tag) {
    case Tag::TensorList: return tensors_from(parameter, object, value, frame);
    case Tag::Int: {
      std::int64_t number;
      if ((frame.exact && is_tensor(object)) || !to_int(object, number)) return false;
      value.set(number);
      return true;
    }
    case Tag::IntList: return ints_from(parameter, object, value, frame);
    case Tag::Float: {
      double number;
      if (!to_double(object, number)) return false;
      value.set(number);
      return true;
    }
    case Tag::FloatList: {
      auto& list = *frame.floats_.emplace_back(std::make_unique<std::vector<double>>());
      double single;
      if (to_double(object, single)) {
        list.push_back(single);
      } else if (!list_from(object, list, [](PyObject* o, double& v) { return to_double(o, v); })) {
        return false;
      }
      value.borrow(Span<double>(list.data(), static_cast<std::int64_t>(list.size())));
      return true;
    }
    case Tag::Bool: {
      if (PyBool_Check(object)) {
        value.set(object == Py_True);
        return true;
      }
      // numpy.bool, and one-element bool tensors
      if (std::strncmp(Py_TYPE(object)->tp_name, "numpy.bool", 10) == 0 ||
          (is_tensor(object) && tensor_of(object).dtype() == DType::Bool && tensor_of(object).numel() == 1)) {
        const int truth = PyObject_IsTrue(object);
        if (truth < 0) throw_python();
        value.set(truth == 1);
        return true;
      }
      return false;
    }
    case Tag::BoolList: {
      const Items items(object);
      if (!items.ok) return false;
      auto& list = frame.bools_.emplace_back(std::make_unique<bool[]>(static_cast<std::size_t>(items.size) + 1));
      for (Py_ssize_t i = 0; i < items.size; ++i) {
        if (!PyBool_Check(items[i])) return false;
        list[static_cast<std::size_t>(i)] = items[i] == Py_True;
      }
      value.borrow(Span<bool>(list.get(), items.size));
      return true;
    }
    case Tag::Scalar: {
      Scalar scalar;
      if (!to_scalar(object, scalar)) return false;
      value.set(scalar);
      return true;
    }
    case Tag::ScalarList: {
      auto& list = *frame.scalars_.emplace_back(std::make_unique<std::vector<Scalar>>());
      if (!list_from(object, list, [](PyObject* o, Scalar& v) { return to_scalar(o, v); })) return false;
      value.borrow(Span<Scalar>(list.data(), static_cast<std::int64_t>(list.size())));
      return true;
    }
    case Tag::Str: {
      if (!PyUnicode_Check(object)) return false;
      Py_ssize_t length;
      const char* text = PyUnicode_AsUTF8AndSize(object, &length);  // cached in the object, which outlives the call
      if (text == nullptr) throw_python();
      value.borrow(std::string_view(text, static_cast<std::size_t>(length)));
      return true;
    }
    case Tag::DType: {
      DType dtype;
      if (!to_dtype(object, dtype)) return false;
      value.set(dtype);
      frame.extended |= !has_kernels(dtype);
      return true;
    }
    case Tag::Device: {
      Device device;
      if (!to_device(object, device)) return false;
      value.set(device);
      return true;
    }
    case Tag::MemoryFormat: {
      MemoryFormat format;
      if (!to_memory_format(object, format)) return false;
      value.set(format);
      return true;
    }
    case Tag::Generator: {
      if (generator_type == nullptr || PyObject_TypeCheck(object, generator_type) == 0) return false;
      value.set(reinterpret_cast<GeneratorObject*>(object)->generator);
      return true;
    }
    default: return false;
  }
}

std::string expected_type(const Parameter& parameter) {
  switch (parameter.tag) {
    case Tag::TensorList: return "tuple of Tensors";
    case Tag::IntList: return "tuple of ints";
    case Tag::FloatList: return "tuple of floats";
    case Tag::BoolList: return "tuple of bools";
    case Tag::ScalarList: return "tuple of Scalars";
    case Tag::Scalar: return "Number";
    default: return name_of(parameter.tag);
  }
}

void describe_mismatch(const OpDef& def, std::size_t index, PyObject* object, std::string* error) {
  if (error == nullptr) return;
  *error = concat(def.name, "(): argument '", def.parameters[index].name, "' (position ", index + 1, ") must be ",
                  expected_type(def.parameters[index]), ", not ", Py_TYPE(object)->tp_name);
}

bool parse_out(const OpDef& def, PyObject* object, CallFrame& frame, std::string* error) {
  if (object == Py_None) return true;
  if (is_tensor(object)) {
    frame.outs.push_back(tensor_of(object));
  } else {
    const Items items(object);
    bool ok = items.ok;
    for (Py_ssize_t i = 0; ok && i < items.size; ++i) {
      ok = is_tensor(items[i]);
      if (ok) frame.outs.push_back(tensor_of(items[i]));
    }
    if (!ok) {
      if (error != nullptr)
        *error = concat(def.name, "(): argument 'out' must be Tensor, not ", Py_TYPE(object)->tp_name);
      return false;
    }
  }
  if (frame.outs.size() != def.results.size()) {
    if (error != nullptr) {
      *error = concat(def.name, "(): expected ", def.results.size(), " tensors in out, got ", frame.outs.size());
    }
    return false;
  }
  return true;
}

// Keyword arguments that every factory function takes besides its schema.
bool parse_factory_extra(PyObject* name, PyObject* object, CallFrame& frame) {
  const Names& known = names();
  if (same_name(name, known.requires_grad)) {
    if (!PyBool_Check(object)) return false;
    frame.requires_grad = object == Py_True;
    return true;
  }
  if (same_name(name, known.pin_memory) || same_name(name, known.names))
    return object == Py_None || PyBool_Check(object);
  if (same_name(name, known.layout)) {
    bool strided = true;
    if (object != Py_None && !is_layout(object, strided)) return false;
    if (object == Py_None) return true;
    frame.extended |= !strided;
    frame.layout = object;  // strided too: zeros_like(sparse, layout=strided) asks for it
    return true;
  }
  return false;
}

// float16 beside a complex number gives complex32, which has no kernels. (In place that is an error: the kernel's.)
bool gives_half_pairs(const OpDef& def, CallFrame& frame) {
  static constexpr std::string_view arithmetic[] = {"add", "div", "mul", "pow", "rsub", "sub", "where_self"};
  if (std::find(std::begin(arithmetic), std::end(arithmetic), def.name) == std::end(arithmetic)) return false;
  PromotionState dims, all;
  bool has_dims = false, has_any = false, has_complex = false;
  for (std::size_t i = 0; i < def.parameters.size(); ++i) {
    if (frame[i].tag() != Tag::Tensor || !frame[i].tensor().defined()) continue;
    const Tensor& tensor = frame[i].tensor();
    if (tensor.is_extended()) return false;
    if (tensor.dim() == 0 && is_complex(tensor.dtype())) {
      has_complex = has_complex || !tensor.impl()->wrapped_number;
      continue;
    }
    all.add(tensor);
    has_any = true;
    if (tensor.dim() == 0) continue;
    dims.add(tensor);
    has_dims = true;
  }
  if (has_complex) return has_dims && dims.result() == DType::Float16;
  return has_any && all.result() == DType::Float16;
}

// Which parameter a keyword means, or -1. NumPy's spellings are understood where PyTorch's is a parameter.
std::ptrdiff_t find_parameter(const CallShape& shape, PyObject* name) {
  for (std::size_t i = 0; i < shape.names.size(); ++i) {
    if (shape.names[i] == name) return static_cast<std::ptrdiff_t>(i);
  }
  for (std::size_t i = 0; i < shape.names.size(); ++i) {
    if (PyUnicode_Compare(shape.names[i], name) == 0) return static_cast<std::ptrdiff_t>(i);
  }
  const Names& known = names();
  PyObject* other = same_name(name, known.axis)       ? known.dim
                    : same_name(name, known.keepdims) ? known.keepdim
                    : same_name(name, known.self)     ? known.input
                    : same_name(name, known.x)        ? known.input
                    : same_name(name, known.x2)       ? known.other
                                                      : nullptr;
  if (other == nullptr) return -1;
  for (std::size_t i = 0; i < shape.names.size(); ++i) {
    if (same_name(shape.names[i], other)) return static_cast<std::ptrdiff_t>(i);
  }
  return -1;
}

bool parse_keywords(const OpDef& def, const CallShape& shape, PyObject* const* values, PyObject* kwnames,
                    std::uint64_t& given, CallFrame& frame, std::string* error) {
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(kwnames); ++k) {
    PyObject* name = PyTuple_GET_ITEM(kwnames, k);
    const std::ptrdiff_t index = find_parameter(shape, name);
    if (index < 0) {
      if (same_name(name, names().out) && (shape.takes_out || values[k] == Py_None)) {
        if (!parse_out(def, values[k], frame, error)) return false;
        continue;
      }
      if (shape.is_factory && parse_factory_extra(name, values[k], frame)) continue;
      if (error != nullptr)
        *error = concat(def.name, "() got an unexpected keyword argument '", PyUnicode_AsUTF8(name), "'");
      return false;
    }
    const auto position = static_cast<std::size_t>(index);
    if ((given >> position & 1U) != 0) {
      if (error != nullptr)
        *error = concat(def.name, "() got multiple values for argument '", def.parameters[position].name, "'");
      return false;
    }
    if (!convert_argument(def, position, values[k], frame[position], frame)) {
      describe_mismatch(def, position, values[k], error);
      return false;
    }
    given |= std::uint64_t{1} << position;
  }
  return true;
}

}  // namespace

bool has_torch_function(PyObject* object) noexcept {
  PyTypeObject* type = Py_TYPE(object);
  if (type == tensor_type || type == parameter_type || !torch_function_enabled()) return false;
  // Plain Python values cannot have it; skip the attribute lookup.
  if (type == &PyLong_Type || type == &PyFloat_Type || type == &PyTuple_Type || type == &PyList_Type ||
      type == &PyUnicode_Type || type == &PyBool_Type || object == Py_None || PyType_Check(object)) {
    return false;
  }
  PyObject* found = PyObject_GetAttr(reinterpret_cast<PyObject*>(type), names().torch_function);
  if (found == nullptr) {
    PyErr_Clear();
    return false;
  }
  // `__torch_function__ = _disabled_torch_function_impl` opts out.
  const bool disabled =
      PyCFunction_Check(found) &&
      std::strcmp(reinterpret_cast<PyCFunctionObject*>(found)->m_ml->ml_name, "_disabled_torch_function_impl") == 0;
  Py_DECREF(found);
  return !disabled;
}

CallShape make_call_shape(const OpDef& def, bool takes_out) {
  CallShape shape;
  shape.takes_out = takes_out;
  for (const Parameter& parameter : def.parameters) {
    shape.names.push_back(PyUnicode_InternFromString(parameter.name.c_str()));
    if (!parameter.keyword_only) {
      ++shape.positional;
      shape.single_list = parameter.varargs;
    }
    shape.is_factory |= parameter.tag == Tag::Device;
  }
  const auto has = [&](Tag tag) {
    return std::find_if(def.parameters.begin(), def.parameters.end(), [&](const auto& p) { return p.tag == tag; });
  };
  const auto none = def.parameters.end();
  if (has(Tag::Tensor) == none && has(Tag::TensorList) == none && has(Tag::Device) != none)
    shape.created_on = static_cast<std::int8_t>(has(Tag::Device) - def.parameters.begin());
  return shape;
}

bool parse_call(const OpDef& def, const CallShape& shape, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames,
                CallFrame& frame, std::string* error) {
  const std::size_t total = def.parameters.size();
  auto positional = static_cast<std::size_t>(nargs);
  std::uint64_t given = 0;
  std::size_t from = 0;
  if (shape.single_list && positional >= shape.positional) {
    // f(x, 2, 3): the ints from the last positional parameter on are one list.
    const std::size_t last = shape.positional - 1;
    std::int64_t first;
    if (positional > shape.positional || (PyLong_Check(args[last]) || to_int(args[last], first))) {
      Dims& dims = frame.fresh_ints();
      for (std::size_t i = last; i < positional; ++i) {
        std::int64_t size;
        if (!to_int(args[i], size)) {
          describe_mismatch(def, last, args[i], error);
          return false;
        }
        dims.push_back(size);
      }
      frame[last].borrow(IntSpan(dims));
      given |= std::uint64_t{1} << last;
      positional = last;
    }
  }
  if (positional > shape.positional) {
    if (error != nullptr) {
      *error = concat(def.name, "() takes ", shape.positional, " positional argument", shape.positional == 1 ? "" : "s",
                      " but ", positional, positional == 1 ? " was given" : " were given");
    }
    return false;
  }
  for (; from < positional; ++from) {
    if (!convert_argument(def, from, args[from], frame[from], frame)) {
      describe_mismatch(def, from, args[from], error);
      return false;
    }
    given |= std::uint64_t{1} << from;
  }
  if (kwnames != nullptr && !parse_keywords(def, shape, args + nargs, kwnames, given, frame, error)) return false;
  for (std::size_t i = from; i < total; ++i) {
    if ((given >> i & 1U) != 0) continue;
    const Parameter& parameter = def.parameters[i];
    if (!parameter.has_default) {
      if (error != nullptr)
        *error = concat(def.name, "() missing 1 required positional arguments: \"", parameter.name, "\"");
      return false;
    }
    frame[i].alias(parameter.default_value);
  }
  if (frame.layout != nullptr && !frame.extended) {
    // layout=strided, which only makes a difference beside a tensor that is not.
    const Value& like = frame[0];
    frame.extended = like.tag() == Tag::Tensor && like.tensor().defined() && like.tensor().is_extended();
  }
  if (frame.complex_scalar) [[unlikely]]
    frame.extended |= gives_half_pairs(def, frame);
  if (shape.created_on >= 0 && default_device >= 0) [[unlikely]] {
    Value& device = frame[static_cast<std::size_t>(shape.created_on)];
    if (device.is_none()) device.set(Device{static_cast<DeviceType>(default_device)});
  }
  return true;
}

std::string signature_of(const OpDef& def) { return def.schema.substr(def.schema.find('(')); }

}  // namespace flambeau::python
