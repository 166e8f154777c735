// Extended tensors: the Python payload that stands in for strided memory, and the way from an op to the Python function
// that implements it for such arguments (flambeau/_extension.py).
#include "autograd/mode.h"
#include "bindings/parse.h"
#include "core/factory.h"

namespace flambeau::python {
namespace {

struct PythonExtension final : Extension {
  explicit PythonExtension(PyObject* object) : payload(Py_NewRef(object)) {}
  ~PythonExtension() override {
    const PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(payload);
    PyGILState_Release(state);
  }
  PyObject* payload;
};

PyObject* payload_of(const Tensor& tensor) {
  const auto* extension = static_cast<const PythonExtension*>(tensor.impl()->extension.get());
  return Py_NewRef(extension == nullptr ? Py_None : extension->payload);
}

// The Python function run(op, arguments, out, layout) of flambeau._extension.
PyObject* runner() {
  static PyObject* function = nullptr;
  if (function == nullptr) {
    const Object module(checked(PyImport_ImportModule("flambeau._extension")));
    function = checked(PyObject_GetAttrString(module.get(), "run"));
  }
  return function;
}

Tensor result_tensor(const OpDef& def, PyObject* object) {
  if (object == Py_None) return {};
  check(is_tensor(object), ErrorKind::Type, def.name, ": expected a Tensor from its extended form, got ",
        Py_TYPE(object)->tp_name);
  return tensor_of(object);
}

void store(const OpDef& def, const ResultSpec& spec, PyObject* object, Value& result) {
  if (spec.tag == Tag::TensorList) {
    const Object items(checked(PySequence_Fast(object, "the extended form of this op has to return a sequence")));
    std::vector<Tensor> tensors;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
      tensors.push_back(result_tensor(def, PySequence_Fast_GET_ITEM(items.get(), i)));
    }
    return result.set(std::move(tensors));
  }
  if (spec.tag == Tag::Tensor) return result.set(result_tensor(def, object));
  Scalar number;
  check(to_scalar(object, number), ErrorKind::Type, def.name, ": expected a number from its extended form, got ",
        Py_TYPE(object)->tp_name);
  switch (spec.tag) {
    case Tag::Bool: return result.set(number.to_bool());
    case Tag::Int: return result.set(number.to_int());
    case Tag::Float: return result.set(number.to_double());
    default: return result.set(number);
  }
}

void call_runner(const OpDef& def, const Value* arguments, Value* results, const Out& out, PyObject* layout) {
  const Object list(checked(PyTuple_New(static_cast<Py_ssize_t>(def.parameters.size()))));
  for (std::size_t i = 0; i < def.parameters.size(); ++i) {
    PyTuple_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), checked(to_python(arguments[i])));
  }
  const Object outs(out.given() ? checked(PyTuple_New(out.count)) : Py_NewRef(Py_None));
  for (std::int64_t i = 0; i < out.count; ++i) PyTuple_SET_ITEM(outs.get(), i, checked(wrap(Tensor(out[i]))));
  const Object answer(checked(PyObject_CallFunctionObjArgs(runner(), static_cast<PyObject*>(def.pyobj), list.get(),
                                                           outs.get(), layout, nullptr)));
  if (def.results.size() == 1) return store(def, def.results[0], answer.get(), results[0]);
  const Object items(checked(PySequence_Fast(answer.get(), "the extended form of this op has to return a tuple")));
  check(PySequence_Fast_GET_SIZE(items.get()) == static_cast<Py_ssize_t>(def.results.size()), ErrorKind::Runtime,
        def.name, ": its extended form returned a wrong number of results");
  for (std::size_t i = 0; i < def.results.size(); ++i) {
    store(def, def.results[i], PySequence_Fast_GET_ITEM(items.get(), static_cast<Py_ssize_t>(i)), results[i]);
  }
}

// Below autograd, like a kernel: what the Python function computes is not recorded.
void kernel(const OpDef& def, const Value* arguments, Value* results, const Out& out) {
  const autograd::GradGuard no_grad(false);
  const nb::gil_scoped_acquire gil;  // a kernel may run without it
  call_runner(def, arguments, results, out, Py_None);
}

// For NumPy-like strided values only: sizes and dtype are what users read, strides do not exist.
nb::object make_extended(nb::handle payload, nb::handle size, nb::handle dtype_object) {
  DType dtype;
  check(to_dtype(dtype_object.ptr(), dtype), ErrorKind::Type, "_make_extended: expected a dtype");
  Dims sizes;
  for (nb::handle item : size) sizes.push_back(nb::cast<std::int64_t>(item));
  checked_numel(sizes);
  // A storage of its own, for the version counter.
  TensorImpl* impl = TensorImpl::create(Storage::allocate(0, Device{DeviceType::Meta}), dtype);
  impl->set_contiguous_sizes(sizes);
  impl->extension = Ref<Extension>(Ref<PythonExtension>::make(payload.ptr()));
  if (autograd::mode.inference) impl->inference = true;
  return nb::steal(checked(wrap(Tensor::adopt(impl))));
}

// In-place ops give the tensor a new payload (every alias made before keeps the old one) and, if asked, a new size.
void set_extension(nb::handle object, nb::handle payload, nb::handle size) {
  check(is_tensor(object.ptr()) && tensor_of(object.ptr()).is_extended(), ErrorKind::Type,
        "_set_extension: expected a tensor without strided memory");
  TensorImpl* impl = tensor_of(object.ptr()).impl();
  if (!size.is_none()) {
    Dims sizes;
    for (nb::handle item : size) sizes.push_back(nb::cast<std::int64_t>(item));
    checked_numel(sizes);
    impl->set_contiguous_sizes(sizes);
  }
  impl->extension = Ref<Extension>(Ref<PythonExtension>::make(payload.ptr()));
}

}  // namespace

Tensor strided_form(const Tensor& tensor, const char* reader) {
  if (!tensor.is_extended()) [[likely]]
    return tensor;
  const Object payload(payload_of(tensor));
  const Object made(checked(PyObject_CallMethod(payload.get(), "strided", "s", reader)));
  check(is_tensor(made.get()), ErrorKind::Type, reader, ": expected a Tensor from strided()");
  return tensor_of(made.get());
}

void run_extended(const OpDef& def, CallFrame& frame, Value* results, const Out& out) {
  const Object layout = Object::borrow(frame.layout == nullptr ? Py_None : frame.layout);
  call_runner(def, frame.values(), results, out, layout.get());
}

void bind_extension(nb::module_& m) {
  extended_kernel = &kernel;
  m.def("_make_extended", &make_extended, nb::arg("payload"), nb::arg("size"), nb::arg("dtype"),
        "A tensor whose values are what the payload says.");
  m.def("_set_extension", &set_extension, nb::arg("tensor"), nb::arg("payload"), nb::arg("size") = nb::none());
  m.def(
      "_extension",
      [](nb::handle object) {
        check(is_tensor(object.ptr()), ErrorKind::Type, "_extension: expected a Tensor");
        return nb::steal(payload_of(tensor_of(object.ptr())));
      },
      "The payload of an extended tensor, None for a strided one.");
}

}  // namespace flambeau::python
