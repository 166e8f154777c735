// The Python type of tensors: allocation, identity, destruction, garbage collection.
//
// A tensor and its Python object refer to each other. Normally the object owns the tensor. When the last Python
// reference goes while C++ (the tape, another tensor's .grad) still holds the tensor, an object with attributes, weak
// references or a subclass of its own must survive: ownership flips, the tensor then owns the object until it is
// wrapped again.
#include "bindings/indexing.h"
#include "bindings/python.h"
#include "autograd/mode.h"
#include "core/factory.h"

namespace flambeau::python {

PyTypeObject* tensor_base_type = nullptr;
PyTypeObject* tensor_type = nullptr;
PyTypeObject* parameter_type = nullptr;
std::int64_t objects_held_by_tape = 0;
int (*traverse_autograd)(const Tensor&, visitproc, void*) = nullptr;
void (*clear_autograd)(const Tensor&) = nullptr;

namespace {

TensorObject* cast(PyObject* self) { return reinterpret_cast<TensorObject*>(self); }

// Dead objects of class flambeau.Tensor itself, kept for reuse: allocating one costs as much as a small kernel.
// Guarded by the GIL. Each keeps its reference to the type.
constexpr int kMaxFree = 128;
PyObject* free_objects[kMaxFree];
int free_count = 0;

PyObject* allocate(PyTypeObject* type) {
  if (type != tensor_type || free_count == 0) return type->tp_alloc(type, 0);
  PyObject* self = free_objects[--free_count];
  _Py_NewReference(self);
  PyObject_GC_Track(self);
  return self;
}

void tensor_dealloc(PyObject* self);

bool worth_preserving(PyObject* self) {
  return cast(self)->dict != nullptr || cast(self)->weakrefs != nullptr || Py_TYPE(self) != tensor_type;
}

// True if the object lives on, owned by its tensor.
bool preserve(PyObject* self) {
  TensorImpl* impl = cast(self)->impl;
  // A subclass whose dealloc was not replaced (see adopt_subclass) has been torn down already.
  if (impl == nullptr || impl->owns_pyobj || impl->use_count() <= 1 || Py_TYPE(self)->tp_dealloc != tensor_dealloc ||
      !worth_preserving(self)) {
    return false;
  }
  _Py_NewReference(self);
  impl->owns_pyobj = true;
  ++objects_held_by_tape;
  Ref<TensorImpl>::adopt(impl).reset();
  return true;
}

// __slots__ of Python subclasses.
void clear_slots(PyObject* self) {
  for (PyTypeObject* type = Py_TYPE(self); type != nullptr && type != tensor_base_type; type = type->tp_base) {
    if (Py_SIZE(type) == 0 || !PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) continue;
    auto* member = reinterpret_cast<PyMemberDef*>(reinterpret_cast<char*>(type) + Py_TYPE(type)->tp_basicsize);
    for (Py_ssize_t i = 0; i < Py_SIZE(type); ++i, ++member) {
      if (member->type != T_OBJECT_EX || (member->flags & READONLY) != 0) continue;
      auto** slot = reinterpret_cast<PyObject**>(reinterpret_cast<char*>(self) + member->offset);
      Py_CLEAR(*slot);
    }
  }
}

void tensor_dealloc(PyObject* self) {
  if (preserve(self)) return;
  PyTypeObject* type = Py_TYPE(self);
  if (type->tp_finalize != nullptr && type->tp_dealloc == tensor_dealloc &&
      PyObject_CallFinalizerFromDealloc(self) < 0) {
    return;
  }
  PyObject_GC_UnTrack(self);
  TensorObject* object = cast(self);
  if (object->weakrefs != nullptr) PyObject_ClearWeakRefs(self);
  if (type != tensor_type && type->tp_dealloc == tensor_dealloc) clear_slots(self);
  Py_CLEAR(object->dict);
  if (TensorImpl* impl = std::exchange(object->impl, nullptr)) {
    impl->pyobj = nullptr;
    Ref<TensorImpl>::adopt(impl).reset();
  }
  if (type == tensor_type && free_count < kMaxFree) {
    free_objects[free_count++] = self;
    return;
  }
  type->tp_free(self);
  // subtype_dealloc, where a subclass still has it, drops the type reference itself.
  if (type->tp_dealloc == tensor_dealloc) Py_DECREF(type);
}

int tensor_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  TensorObject* object = cast(self);
  Py_VISIT(object->dict);
  if (object->impl != nullptr && !object->impl->owns_pyobj && object->impl->use_count() == 1 &&
      traverse_autograd != nullptr) {
    return traverse_autograd(tensor_of(self), visit, arg);
  }
  return 0;
}

int tensor_clear(PyObject* self) {
  Py_CLEAR(cast(self)->dict);
  if (cast(self)->impl != nullptr && clear_autograd != nullptr) clear_autograd(tensor_of(self));
  return 0;
}

// The tensor died and owned its object.
void release_object(void* pyobj) noexcept {
  const PyGILState_STATE state = PyGILState_Ensure();
  auto* self = static_cast<PyObject*>(pyobj);
  --objects_held_by_tape;
  cast(self)->impl = nullptr;
  Py_DECREF(self);
  PyGILState_Release(state);
}

// TensorBase() is an empty tensor; TensorBase(tensor) an alias of it. flambeau.Tensor's __new__ does the rest.
PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject*) {
  return guarded([&]() -> PyObject* {
    if (PyTuple_GET_SIZE(args) == 0) return wrap_as(empty({0}, default_dtype()), type);
    PyObject* source = PyTuple_GET_ITEM(args, 0);
    if (PyTuple_GET_SIZE(args) != 1 || !is_tensor(source)) {
      fail(ErrorKind::Type, "Tensor(): expected one Tensor, got ", Py_TYPE(source)->tp_name);
    }
    return wrap_as(alias(tensor_of(source)), type);
  });
}

PyMemberDef tensor_members[] = {{"__dictoffset__", T_PYSSIZET, offsetof(TensorObject, dict), READONLY, nullptr},
                                {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weakrefs), READONLY, nullptr},
                                {nullptr, 0, 0, 0, nullptr}};
PyGetSetDef tensor_getset[] = {{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
                               {nullptr, nullptr, nullptr, nullptr, nullptr}};
Py_ssize_t tensor_length(PyObject* self) {
  const Tensor& tensor = tensor_of(self);
  if (tensor.dim() == 0) {
    PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
    return -1;
  }
  return static_cast<Py_ssize_t>(tensor.sizes()[0]);
}

// By identity: == compares elementwise. Optimizers look their state up by tensor.
Py_hash_t tensor_hash(PyObject* self) {
  const auto hash = static_cast<Py_hash_t>(reinterpret_cast<std::uintptr_t>(self) >> 4);
  return hash == -1 ? -2 : hash;
}

PyType_Slot tensor_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(tensor_dealloc)},
                              {Py_tp_traverse, reinterpret_cast<void*>(tensor_traverse)},
                              {Py_tp_clear, reinterpret_cast<void*>(tensor_clear)},
                              {Py_tp_hash, reinterpret_cast<void*>(tensor_hash)},
                              {Py_tp_new, reinterpret_cast<void*>(tensor_new)},
                              {Py_tp_members, tensor_members},
                              {Py_tp_getset, tensor_getset},
                              {Py_mp_length, reinterpret_cast<void*>(tensor_length)},
                              {Py_mp_subscript, reinterpret_cast<void*>(tensor_subscript)},
                              {Py_mp_ass_subscript, reinterpret_cast<void*>(tensor_assign_subscript)},
                              {Py_tp_doc, const_cast<char*>("Native base of flambeau.Tensor.")},
                              {0, nullptr}};
PyType_Spec tensor_spec = {"flambeau._C.TensorBase", sizeof(TensorObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, tensor_slots};

// Python subclasses get subtype_dealloc, which tears the object down before ours could preserve it.
void adopt_subclass(nb::handle cls) {
  auto* type = reinterpret_cast<PyTypeObject*>(cls.ptr());
  if (PyType_Check(cls.ptr()) == 0 || PyType_IsSubtype(type, tensor_base_type) == 0) {
    fail(ErrorKind::Type, "expected a subclass of Tensor");
  }
  type->tp_dealloc = tensor_dealloc;
}

}  // namespace

PyObject* wrap_as(Tensor tensor, PyTypeObject* type) {
  if (!tensor.defined()) return Py_NewRef(Py_None);
  PyObject* self = allocate(type);
  if (self == nullptr) return nullptr;
  TensorImpl* impl = tensor.release();
  if (impl->pyobj != nullptr) {
    Ref<TensorImpl>::adopt(impl).reset();
    Py_DECREF(self);
    PyErr_SetString(PyExc_RuntimeError, "internal error: this tensor has a Python object already");
    return nullptr;
  }
  cast(self)->impl = impl;
  impl->pyobj = self;
  return self;
}

PyObject* wrap(Tensor tensor) {
  TensorImpl* impl = tensor.impl();
  if (impl == nullptr) return Py_NewRef(Py_None);
  if (impl->pyobj == nullptr) [[likely]]
    return wrap_as(std::move(tensor), tensor_type);
  auto* self = static_cast<PyObject*>(impl->pyobj);
  if (!impl->owns_pyobj) return Py_NewRef(self);
  // The object owns the tensor again, through the reference `tensor` held; the impl's reference to it is now ours.
  impl->owns_pyobj = false;
  --objects_held_by_tape;
  cast(self)->impl = tensor.release();
  return self;
}

void bind_tensor(nb::module_& m) {
  tensor_base_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&tensor_spec)));
  tensor_type = tensor_base_type;
  m.attr("TensorBase") = nb::handle(reinterpret_cast<PyObject*>(tensor_base_type));
  TensorImpl::release_pyobj = &release_object;
  m.def("_adopt_tensor_subclass", &adopt_subclass);
  m.def("_set_tensor_class", [](nb::handle cls) {
    adopt_subclass(cls);
    tensor_type = reinterpret_cast<PyTypeObject*>(cls.inc_ref().ptr());
  });
  m.def("_set_parameter_class", [](nb::handle cls) {
    adopt_subclass(cls);
    parameter_type = reinterpret_cast<PyTypeObject*>(cls.inc_ref().ptr());
  });
  // An alias of `tensor` (same storage, no history) as an instance of `cls`.
  m.def(
      "_make_subclass",
      [](nb::handle cls, nb::handle source, bool requires_grad) {
        if (PyType_Check(cls.ptr()) == 0 ||
            PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls.ptr()), tensor_base_type) == 0) {
          fail(ErrorKind::Type, "_make_subclass: expected a subclass of Tensor");
        }
        check(is_tensor(source.ptr()), ErrorKind::Type, "_make_subclass: expected a Tensor, got ",
              Py_TYPE(source.ptr())->tp_name);
        Tensor made = alias(tensor_of(source.ptr()));
        check(!requires_grad || is_differentiable(made.dtype()), ErrorKind::Runtime,
              "Only Tensors of floating point and complex dtype can require gradients");
        made.impl()->inference = tensor_of(source.ptr()).impl()->inference;
        check(!requires_grad || !made.impl()->inference || autograd::mode.inference, ErrorKind::Runtime,
              "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed. Make a normal copy "
              "with clone() first.");
        made.impl()->requires_grad = requires_grad;
        return nb::steal(checked(wrap_as(std::move(made), reinterpret_cast<PyTypeObject*>(cls.ptr()))));
      },
      nb::arg("cls"), nb::arg("tensor"), nb::arg("requires_grad") = false);
}

}  // namespace flambeau::python
