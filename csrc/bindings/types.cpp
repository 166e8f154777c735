// Small value types: dtype, device, layout, memory_format, Size; and conversions of Python numbers.
#include "bindings/python.h"
#include "core/copy.h"
#include "core/factory.h"

namespace flambeau::python {
namespace {

PyTypeObject *dtype_type, *device_type, *enum_type, *size_type;
PyObject* dtype_objects[kNumDTypeNames];
PyObject* format_objects[4];
PyObject* strided_layout;

struct DTypeObject {
  PyObject_HEAD DType dtype;
};
struct DeviceObject {
  PyObject_HEAD Device device;
  std::uint8_t foreign;  // see foreign_names
};
// layout and memory_format: named singletons
struct EnumObject {
  PyObject_HEAD const char* name;
  int value;  // MemoryFormat, or -1 for a layout
};

DType dtype_value(PyObject* self) { return reinterpret_cast<DTypeObject*>(self)->dtype; }

PyObject* dtype_repr(PyObject* self) { return PyUnicode_FromFormat("torch.%s", name_of(dtype_value(self))); }
PyObject* dtype_reduce(PyObject* self, PyObject*) { return PyUnicode_FromString(name_of(dtype_value(self))); }
PyObject* dtype_to_complex(PyObject* self, PyObject*) { return to_python(to_complex(dtype_value(self))); }
PyObject* dtype_to_real(PyObject* self, PyObject*) { return to_python(to_real(dtype_value(self))); }

PyMethodDef dtype_methods[] = {
    {"__reduce__", dtype_reduce, METH_NOARGS, nullptr},
    {"to_complex", dtype_to_complex, METH_NOARGS, "The complex dtype whose parts have this dtype."},
    {"to_real", dtype_to_real, METH_NOARGS, "The dtype of the real and imaginary parts."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef dtype_getset[] = {
    {"itemsize", [](PyObject* s, void*) { return PyLong_FromLongLong(itemsize(dtype_value(s))); }, nullptr,
     "Bytes per element.", nullptr},
    {"is_floating_point", [](PyObject* s, void*) { return PyBool_FromLong(is_floating(dtype_value(s))); }, nullptr,
     "Whether this is a real floating-point dtype.", nullptr},
    {"is_complex", [](PyObject* s, void*) { return PyBool_FromLong(is_complex(dtype_value(s))); }, nullptr,
     "Whether this is a complex dtype.", nullptr},
    {"is_signed",
     [](PyObject* s, void*) {
       return PyBool_FromLong(dtype_value(s) != DType::Bool && dtype_value(s) != DType::UInt8);
     },
     nullptr, "Whether negative values exist.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot dtype_slots[] = {{Py_tp_repr, reinterpret_cast<void*>(dtype_repr)},
                             {Py_tp_methods, dtype_methods},
                             {Py_tp_getset, dtype_getset},
                             {Py_tp_doc, const_cast<char*>("Element type of a tensor.")},
                             {0, nullptr}};
PyType_Spec dtype_spec = {"flambeau.dtype", sizeof(DTypeObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, dtype_slots};

// ---- device

Device& device_value(PyObject* self) { return reinterpret_cast<DeviceObject*>(self)->device; }

// Device types that programs name and this library does not compute on. A device object may hold one, so that it can be
// compared, printed and be a default argument; an op that gets one refuses.
constexpr const char* foreign_names[] = {nullptr,         "cuda", "ipu",  "xpu",  "mkldnn", "opengl", "opencl", "ideep",
                                         "hip",           "ve",   "fpga", "maia", "xla",    "lazy",   "vulkan", "mps",
                                         "privateuseone", "hpu",  "mtia"};

struct NamedDevice {
  Device device;
  std::uint8_t foreign = 0;  // index into foreign_names; 0 means that the type is device's own
  [[nodiscard]] const char* name() const { return foreign != 0 ? foreign_names[foreign] : device.name(); }
};
NamedDevice named_device(PyObject* self) {
  return {device_value(self), reinterpret_cast<DeviceObject*>(self)->foreign};
}

NamedDevice parse_device(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  NamedDevice result;
  if (kind == "meta") {
    result.device.type = DeviceType::Meta;
  } else if (kind != "cpu") {
    for (std::size_t i = 1; i < std::size(foreign_names); ++i)
      if (kind == foreign_names[i]) result.foreign = static_cast<std::uint8_t>(i);
    check(result.foreign != 0, ErrorKind::Runtime, "expected device 'cpu' or 'meta', got '", text,
          "'. Flambeau computes on CPUs.");
  }
  if (colon != std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    const bool ok =
        !digits.empty() && digits.size() <= 2 && digits.find_first_not_of("0123456789") == std::string_view::npos;
    check(ok, ErrorKind::Runtime, "Invalid device string: '", text, "'");
    result.device.index = static_cast<std::int8_t>(std::atoi(std::string(digits).c_str()));
  }
  return result;
}

bool to_named_device(PyObject* object, NamedDevice& result) {
  if (Py_TYPE(object) == device_type) {
    result = named_device(object);
    return true;
  }
  if (!PyUnicode_Check(object)) return false;
  Py_ssize_t length;
  const char* text = PyUnicode_AsUTF8AndSize(object, &length);
  if (text == nullptr) throw_python();
  result = parse_device({text, static_cast<std::size_t>(length)});
  return true;
}

PyObject* device_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"type", "index", nullptr};
  PyObject* type;
  PyObject* index = nullptr;
  if (PyArg_ParseTupleAndKeywords(args, kwargs, "O|O", const_cast<char**>(names), &type, &index) == 0) return nullptr;
  return guarded([&] {
    NamedDevice named;
    if (!to_named_device(type, named))
      fail(ErrorKind::Type, "device(): expected a device string, got ", Py_TYPE(type)->tp_name);
    std::int64_t number;
    if (index != nullptr && index != Py_None) {
      check(to_int(index, number) && number >= 0 && number < 100, ErrorKind::Runtime,
            "device(): expected a device index of 0 to 99");
      named.device.index = static_cast<std::int8_t>(number);
    }
    if (named.foreign == 0) return to_python(named.device);
    auto* object = PyObject_New(DeviceObject, device_type);
    if (object == nullptr) throw_python();
    object->device = named.device;
    object->foreign = named.foreign;
    return reinterpret_cast<PyObject*>(object);
  });
}
PyObject* device_repr(PyObject* self) {
  const NamedDevice named = named_device(self);
  if (named.device.index < 0) return PyUnicode_FromFormat("device(type='%s')", named.name());
  return PyUnicode_FromFormat("device(type='%s', index=%d)", named.name(), named.device.index);
}
PyObject* device_str(PyObject* self) {
  const NamedDevice named = named_device(self);
  if (named.device.index < 0) return PyUnicode_FromString(named.name());
  return PyUnicode_FromFormat("%s:%d", named.name(), named.device.index);
}
PyObject* device_compare(PyObject* a, PyObject* b, int op) {
  if (Py_TYPE(b) != device_type || (op != Py_EQ && op != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  const NamedDevice x = named_device(a), y = named_device(b);
  const bool same = x.device == y.device && x.device.index == y.device.index && x.foreign == y.foreign;
  return PyBool_FromLong(same == (op == Py_EQ));
}
Py_hash_t device_hash(PyObject* self) {
  const NamedDevice named = named_device(self);
  return (static_cast<Py_hash_t>(named.device.type) + 2 * named.foreign) * 131 + named.device.index + 7;
}
PyObject* device_reduce(PyObject* self, PyObject*) {
  const NamedDevice named = named_device(self);
  if (named.device.index < 0) return Py_BuildValue("(O(s))", device_type, named.name());
  return Py_BuildValue("(O(si))", device_type, named.name(), int(named.device.index));
}

// `with device:` makes it the one of tensors that are created without a device.
thread_local std::vector<std::int8_t> outer_defaults;

PyObject* device_enter(PyObject* self, PyObject*) {
  return guarded([&] {
    Device device;
    to_device(self, device);
    outer_defaults.push_back(default_device);
    default_device = static_cast<std::int8_t>(device.type);
    return Py_NewRef(self);
  });
}
PyObject* device_exit(PyObject*, PyObject*) {
  if (!outer_defaults.empty()) {
    default_device = outer_defaults.back();
    outer_defaults.pop_back();
  }
  Py_RETURN_NONE;
}
PyMethodDef device_methods[] = {{"__reduce__", device_reduce, METH_NOARGS, nullptr},
                                {"__enter__", device_enter, METH_NOARGS, nullptr},
                                {"__exit__", device_exit, METH_VARARGS, nullptr},
                                {nullptr, nullptr, 0, nullptr}};
PyGetSetDef device_getset[] = {{"type", [](PyObject* s, void*) { return PyUnicode_FromString(named_device(s).name()); },
                                nullptr, "'cpu' or 'meta'.", nullptr},
                               {"index",
                                [](PyObject* s, void*) {
                                  return device_value(s).index < 0 ? Py_NewRef(Py_None)
                                                                   : PyLong_FromLong(device_value(s).index);
                                },
                                nullptr, "Ordinal, or None.", nullptr},
                               {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot device_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(device_new)},
    {Py_tp_repr, reinterpret_cast<void*>(device_repr)},
    {Py_tp_str, reinterpret_cast<void*>(device_str)},
    {Py_tp_richcompare, reinterpret_cast<void*>(device_compare)},
    {Py_tp_hash, reinterpret_cast<void*>(device_hash)},
    {Py_tp_methods, device_methods},
    {Py_tp_getset, device_getset},
    {Py_tp_doc,
     const_cast<char*>("Where a tensor lives: device('cpu') or device('meta'). Other devices can be named, not "
                       "used. In a with statement: where tensors are created.")},
    {0, nullptr}};
PyType_Spec device_spec = {"flambeau.device", sizeof(DeviceObject), 0, Py_TPFLAGS_DEFAULT, device_slots};

// ---- layout, memory_format

PyObject* enum_repr(PyObject* self) {
  return PyUnicode_FromFormat("torch.%s", reinterpret_cast<EnumObject*>(self)->name);
}
PyObject* enum_reduce(PyObject* self, PyObject*) {
  return PyUnicode_FromString(reinterpret_cast<EnumObject*>(self)->name);
}
PyMethodDef enum_methods[] = {{"__reduce__", enum_reduce, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyType_Slot enum_slots[] = {
    {Py_tp_repr, reinterpret_cast<void*>(enum_repr)}, {Py_tp_methods, enum_methods}, {0, nullptr}};
PyType_Spec format_spec = {"flambeau.memory_format", sizeof(EnumObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, enum_slots};
PyType_Spec layout_spec = {"flambeau.layout", sizeof(EnumObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, enum_slots};

PyObject* make_enum(PyTypeObject* type, const char* name, int value) {
  auto* object = PyObject_New(EnumObject, type);
  object->name = name;
  object->value = value;
  return reinterpret_cast<PyObject*>(object);
}

// ---- Size

PyObject* size_from_tuple(PyObject* tuple) {  // steals
  if (tuple == nullptr) return nullptr;
  const Py_ssize_t n = PyTuple_GET_SIZE(tuple);
  PyObject* size = size_type->tp_alloc(size_type, n);
  if (size != nullptr) {
    for (Py_ssize_t i = 0; i < n; ++i) PyTuple_SET_ITEM(size, i, Py_NewRef(PyTuple_GET_ITEM(tuple, i)));
  }
  Py_DECREF(tuple);
  return size;
}
PyObject* size_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  PyObject* tuple = PyTuple_Type.tp_new(&PyTuple_Type, args, kwargs);
  if (tuple == nullptr) return nullptr;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    std::int64_t value;
    PyObject* item = PyTuple_GET_ITEM(tuple, i);
    bool fits = false;
    try {
      fits = to_int(item, value);
    } catch (const PythonError& error) {  // more than 64 bits
      error.restore();
      Py_DECREF(tuple);
      return nullptr;
    }
    if (!fits) {
      PyErr_Format(PyExc_TypeError, "torch.Size() takes an iterable of 'int' (item %zd is '%s')", i,
                   Py_TYPE(item)->tp_name);
      Py_DECREF(tuple);
      return nullptr;
    }
    if (!PyLong_CheckExact(item)) {
      PyTuple_SET_ITEM(tuple, i, PyLong_FromLongLong(value));
      Py_DECREF(item);
    }
  }
  return size_from_tuple(tuple);
}
PyObject* size_repr(PyObject* self) {
  const Object list(PySequence_List(self));
  return list ? PyUnicode_FromFormat("torch.Size(%R)", list.get()) : nullptr;
}
PyObject* size_concat(PyObject* a, PyObject* b) {
  if (!PyTuple_Check(a) || !PyTuple_Check(b)) Py_RETURN_NOTIMPLEMENTED;
  return size_from_tuple(PyTuple_Type.tp_as_sequence->sq_concat(a, b));
}
PyObject* size_repeat(PyObject* self, Py_ssize_t n) {
  return size_from_tuple(PyTuple_Type.tp_as_sequence->sq_repeat(self, n));
}
PyObject* size_subscript(PyObject* self, PyObject* index) {
  PyObject* result = PyTuple_Type.tp_as_mapping->mp_subscript(self, index);
  return result != nullptr && PyTuple_CheckExact(result) ? size_from_tuple(result) : result;
}
PyObject* size_numel(PyObject* self, PyObject*) {
  std::int64_t total = 1;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i) {
    const std::int64_t value = PyLong_AsLongLong(PyTuple_GET_ITEM(self, i));
    if (value == -1 && PyErr_Occurred() != nullptr) return nullptr;
    if (__builtin_mul_overflow(total, value, &total)) {
      PyErr_SetString(PyExc_OverflowError, "torch.Size.numel: the product does not fit 64 bits");
      return nullptr;
    }
  }
  return PyLong_FromLongLong(total);
}
PyObject* size_reduce(PyObject* self, PyObject*) {
  const Object plain(PySequence_Tuple(self));
  const Object list(PySequence_List(self));
  return list ? Py_BuildValue("(O(O))", size_type, list.get()) : nullptr;
}
PyMethodDef size_methods[] = {{"numel", size_numel, METH_NOARGS, "Number of elements of a tensor of this size."},
                              {"__reduce__", size_reduce, METH_NOARGS, nullptr},
                              {nullptr, nullptr, 0, nullptr}};
PyType_Slot size_slots[] = {{Py_tp_new, reinterpret_cast<void*>(size_new)},
                            {Py_tp_repr, reinterpret_cast<void*>(size_repr)},
                            {Py_sq_concat, reinterpret_cast<void*>(size_concat)},
                            {Py_sq_repeat, reinterpret_cast<void*>(size_repeat)},
                            {Py_mp_subscript, reinterpret_cast<void*>(size_subscript)},
                            {Py_tp_methods, size_methods},
                            {Py_tp_doc, const_cast<char*>("Sizes of a tensor: a tuple of ints.")},
                            {0, nullptr}};
PyType_Spec size_spec = {"flambeau.Size", 0, 0, Py_TPFLAGS_DEFAULT, size_slots};

}  // namespace

PyObject* to_python(DType dtype) { return Py_NewRef(dtype_objects[static_cast<int>(dtype)]); }
PyObject* to_python(MemoryFormat format) { return Py_NewRef(format_objects[static_cast<int>(format)]); }
PyObject* to_python(Device device) {
  static PyObject* plain_cpu = [] {
    auto* object = PyObject_New(DeviceObject, device_type);
    object->device = Device{};
    object->foreign = 0;
    return reinterpret_cast<PyObject*>(object);
  }();
  if (device.type == DeviceType::CPU && device.index < 0) return Py_NewRef(plain_cpu);
  auto* object = PyObject_New(DeviceObject, device_type);
  if (object != nullptr) {
    object->device = device;
    object->foreign = 0;
  }
  return reinterpret_cast<PyObject*>(object);
}

PyObject* size_tuple(IntSpan sizes) {
  PyObject* size = size_type->tp_alloc(size_type, static_cast<Py_ssize_t>(sizes.size()));
  if (size == nullptr) return nullptr;
  for (std::int64_t i = 0; i < sizes.size(); ++i) PyTuple_SET_ITEM(size, i, PyLong_FromLongLong(sizes[i]));
  return size;
}
PyObject* int_tuple(IntSpan values) {
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(values.size()));
  if (tuple == nullptr) return nullptr;
  for (std::int64_t i = 0; i < values.size(); ++i) PyTuple_SET_ITEM(tuple, i, PyLong_FromLongLong(values[i]));
  return tuple;
}

PyObject* to_python(const Scalar& scalar) {
  switch (scalar.kind()) {
    case Scalar::Kind::Bool: return PyBool_FromLong(scalar.to_bool());
    case Scalar::Kind::Int: return PyLong_FromLongLong(scalar.to_int());
    case Scalar::Kind::Float: return PyFloat_FromDouble(scalar.to_double());
    default: return PyComplex_FromDoubles(scalar.to_double(), scalar.imag());
  }
}

bool to_dtype(PyObject* object, DType& dtype) {
  if (Py_TYPE(object) == dtype_type) {
    dtype = dtype_value(object);
  } else if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) {
    dtype = DType::Float64;
  } else if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) {
    dtype = DType::Int64;
  } else if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) {
    dtype = DType::Bool;
  } else if (object == reinterpret_cast<PyObject*>(&PyComplex_Type)) {
    dtype = DType::Complex128;
  } else {
    return false;
  }
  return true;
}

bool to_device(PyObject* object, Device& device) {
  NamedDevice named;
  if (!to_named_device(object, named)) return false;
  check(named.foreign == 0, ErrorKind::Runtime, "expected device 'cpu' or 'meta', got '", named.name(),
        "'. Flambeau computes on CPUs.");
  device = named.device;
  return true;
}

bool is_layout(PyObject* object, bool& strided) {
  strided = object == strided_layout;
  return strided || Py_TYPE(object) == Py_TYPE(strided_layout);
}

bool to_memory_format(PyObject* object, MemoryFormat& format) {
  if (Py_TYPE(object) != enum_type) return false;
  format = static_cast<MemoryFormat>(reinterpret_cast<EnumObject*>(object)->value);
  return true;
}

bool to_int(PyObject* object, std::int64_t& value) {
  if (PyLong_CheckExact(object) || (PyLong_Check(object) && !PyBool_Check(object))) {
    value = PyLong_AsLongLong(object);
    if (value == -1 && PyErr_Occurred() != nullptr) throw_python();  // OverflowError
    return true;
  }
  if (PyBool_Check(object) || PyFloat_Check(object) || Py_TYPE(object)->tp_as_number == nullptr) return false;
  if (is_tensor(object)) {
    const Tensor& tensor = tensor_of(object);
    if (tensor.numel() != 1 || !is_integral(tensor.dtype(), false) || tensor.is_meta()) return false;
    value = item(tensor).to_int();
    return true;
  }
  if (Py_TYPE(object)->tp_as_number->nb_index == nullptr) return false;
  const Object index(PyNumber_Index(object));
  if (!index) {
    PyErr_Clear();
    return false;
  }
  value = PyLong_AsLongLong(index.get());
  if (value == -1 && PyErr_Occurred() != nullptr) throw_python();
  return true;
}

bool is_number(PyObject* object) noexcept {
  if (PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object)) return true;
  // NumPy scalars, recognised by module without importing NumPy.
  const char* name = Py_TYPE(object)->tp_name;
  return std::strncmp(name, "numpy.", 6) == 0 && std::strcmp(name, "numpy.ndarray") != 0 &&
         Py_TYPE(object)->tp_as_number != nullptr && Py_TYPE(object)->tp_as_number->nb_float != nullptr;
}

bool to_scalar(PyObject* object, Scalar& value) {
  if (PyFloat_Check(object)) {
    value = Scalar(PyFloat_AS_DOUBLE(object));
  } else if (PyBool_Check(object)) {
    value = Scalar(object == Py_True);
  } else if (PyLong_Check(object)) {
    const std::int64_t number = PyLong_AsLongLong(object);
    if (number == -1 && PyErr_Occurred() != nullptr) {
      // 2^63 .. 2^64-1 wrap, as PyTorch takes them for unsigned 64-bit values.
      PyErr_Clear();
      const std::uint64_t wide = PyLong_AsUnsignedLongLong(object);
      if (wide == static_cast<std::uint64_t>(-1) && PyErr_Occurred() != nullptr) throw_python();
      value = Scalar(static_cast<std::int64_t>(wide));
    } else {
      value = Scalar(number);
    }
  } else if (PyComplex_Check(object)) {
    value = Scalar(c128{PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)});
  } else if (is_tensor(object)) {
    const Tensor& tensor = tensor_of(object);
    if (tensor.dim() != 0 || tensor.is_meta()) return false;
    value = item(tensor);
  } else if (is_number(object)) {
    const Object plain(PyObject_CallMethod(object, "item", nullptr));
    if (!plain) throw_python();
    return !is_number(plain.get()) || Py_TYPE(plain.get()) == Py_TYPE(object) ? false : to_scalar(plain.get(), value);
  } else {
    return false;
  }
  return true;
}

bool to_double(PyObject* object, double& value) {
  if (PyFloat_CheckExact(object)) {
    value = PyFloat_AS_DOUBLE(object);
    return true;
  }
  if (PyBool_Check(object) || PyComplex_Check(object)) return false;
  Scalar scalar;
  if (!to_scalar(object, scalar) || scalar.is_complex()) return false;
  value = scalar.to_double();
  return true;
}

PyObject* to_python(const Value& value) {
  auto list = [](std::int64_t count, auto&& item) -> PyObject* {
    PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(count));
    if (tuple == nullptr) return nullptr;
    for (std::int64_t i = 0; i < count; ++i) PyTuple_SET_ITEM(tuple, i, item(i));
    return tuple;
  };
  switch (value.tag()) {
    case Tag::Tensor: return wrap(value.tensor());
    case Tag::TensorList: return list(value.tensors().size(), [&](std::int64_t i) { return wrap(value.tensors()[i]); });
    case Tag::Int: return PyLong_FromLongLong(value.integer());
    case Tag::IntList: return int_tuple(value.ints());
    case Tag::Float: return PyFloat_FromDouble(value.floating());
    case Tag::FloatList:
      return list(value.floats().size(), [&](std::int64_t i) { return PyFloat_FromDouble(value.floats()[i]); });
    case Tag::Bool: return PyBool_FromLong(value.boolean());
    case Tag::BoolList:
      return list(value.bools().size(), [&](std::int64_t i) { return PyBool_FromLong(value.bools()[i]); });
    case Tag::Scalar: return to_python(value.scalar());
    case Tag::ScalarList:
      return list(value.scalars().size(), [&](std::int64_t i) { return to_python(value.scalars()[i]); });
    case Tag::Str: return PyUnicode_FromStringAndSize(value.str().data(), static_cast<Py_ssize_t>(value.str().size()));
    case Tag::DType: return to_python(value.dtype());
    case Tag::Device: return to_python(value.device());
    case Tag::MemoryFormat: return to_python(value.memory_format());
    default: return Py_NewRef(Py_None);
  }
}

void bind_types(nb::module_& m) {
  auto add = [&](const char* name, PyType_Spec& spec, PyObject* bases = nullptr) {
    PyObject* type = checked(PyType_FromSpecWithBases(&spec, bases));
    m.attr(name) = nb::handle(type);
    return reinterpret_cast<PyTypeObject*>(type);
  };
  dtype_type = add("dtype", dtype_spec);
  device_type = add("device", device_spec);
  enum_type = add("memory_format", format_spec);
  PyTypeObject* layout_type = add("layout", layout_spec);
  const Object tuple_base(PyTuple_Pack(1, &PyTuple_Type));
  size_type = add("Size", size_spec, tuple_base.get());
  for (int i = 0; i < kNumDTypeNames; ++i) {
    auto* object = PyObject_New(DTypeObject, dtype_type);
    object->dtype = static_cast<DType>(i);
    dtype_objects[i] = reinterpret_cast<PyObject*>(object);
    m.attr(name_of(static_cast<DType>(i))) = nb::handle(dtype_objects[i]);
  }
  static const char* formats[] = {"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"};
  for (int i = 0; i < 4; ++i) {
    format_objects[i] = make_enum(enum_type, formats[i], i);
    m.attr(formats[i]) = nb::handle(format_objects[i]);
  }
  strided_layout = make_enum(layout_type, "strided", -1);
  m.attr("strided") = nb::handle(strided_layout);
  for (const char* name : {"sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "_mkldnn", "jagged"}) {
    m.attr(name) = nb::steal(make_enum(layout_type, name, -1));
  }
  m.def("get_default_dtype", [] { return nb::steal(to_python(default_dtype())); }, "The dtype of new float tensors.");
  m.def(
      "set_default_dtype",
      [](nb::handle object) {
        DType dtype;
        if (!to_dtype(object.ptr(), dtype))
          fail(ErrorKind::Type, "set_default_dtype: expected a dtype, got ", Py_TYPE(object.ptr())->tp_name);
        check(has_kernels(dtype), ErrorKind::Type, "only floating-point types are supported as the default type");
        set_default_dtype(dtype);
      },
      "Set the dtype of new float tensors: a real floating-point dtype.");
  m.def(
      "get_default_device",
      [] {
        return nb::steal(to_python(default_device < 0 ? Device{} : Device{static_cast<DeviceType>(default_device)}));
      },
      "The device of tensors that are created without one, in this thread.");
  m.def(
      "set_default_device",
      [](nb::handle object) {
        Device device;
        if (!object.is_none() && !to_device(object.ptr(), device))
          fail(ErrorKind::Type, "set_default_device: expected a device or None, got ", Py_TYPE(object.ptr())->tp_name);
        default_device = object.is_none() ? std::int8_t{-1} : static_cast<std::int8_t>(device.type);
      },
      nb::arg("device").none(),
      "Set the device of tensors that are created without one, in this thread; None means the CPU.");
}

}  // namespace flambeau::python
