// Custom autograd.Function: the context object, its node, and apply().
//
// The node owns its context (Python reference); the context knows its node weakly. So a context that is kept alone
// does not keep the graph, and a context that holds its own output forms a cycle the garbage collector can see
// (visit_autograd in node_type.cpp).
#include "bindings/autograd.h"

#include <structmember.h>  // after Python.h

#include "autograd/engine.h"
#include "autograd/forward.h"
#include "bindings/forward.h"
#include "core/factory.h"

namespace flambeau::python {

using autograd::GradGuard;
using autograd::Grads;
using autograd::Node;
using autograd::SavedTensor;

PyTypeObject* function_base_type = nullptr;

namespace {

class FunctionNode;

struct FunctionObject {
  PyObject_HEAD FunctionNode* node;  // weak
  PyObject* needs_input_grad;
  PyObject* to_save;
  PyObject* saved_for_forward;
  PyObject* non_differentiable;
  PyObject* dirty_tensors;
  char materialize_grads;
};
FunctionObject* as_context(PyObject* object) { return reinterpret_cast<FunctionObject*>(object); }

class FunctionNode final : public Node {
 public:
  explicit FunctionNode(PyObject* context) : context_(Object::borrow(context)) {
    skip_undefined = false;
    ++objects_held_by_tape;
    as_context(context)->node = this;
  }
  ~FunctionNode() override {
    const PyGILState_STATE state = PyGILState_Ensure();
    --objects_held_by_tape;
    as_context(context_.get())->node = nullptr;
    context_ = Object();
    PyGILState_Release(state);
  }
  Grads apply(Grads&& grads) override;
  [[nodiscard]] std::string name() const override { return Py_TYPE(context_.get())->tp_name; }
  void release_variables() override {
    if (saved.empty()) return;
    saved.clear();
    released = true;
  }
  void visit(autograd::NodeVisitor& visitor) const override {
    for (const SavedTensor& tensor : saved) tensor.visit(visitor);
  }
  [[nodiscard]] void* python_context() const override { return context_.get(); }

  std::vector<SavedTensor> saved;
  std::vector<bool> tensor_inputs;   // of all arguments of forward
  std::vector<bool> tensor_outputs;  // of all its results
  bool released = false;

 private:
  [[nodiscard]] Object arguments(const Grads& grads) const;
  [[nodiscard]] Grads results(PyObject* value) const;
  Object context_;
};

PyObject* attribute(PyObject* object, const char* name) { return checked(PyObject_GetAttrString(object, name)); }

// flambeau.autograd.function.Function.<name>: what a class has that does not override it.
PyObject* base_attribute(const char* name) {
  static PyObject* base = nullptr;
  if (base == nullptr) {
    const Object module(checked(PyImport_ImportModule("flambeau.autograd.function")));
    base = attribute(module.get(), "Function");
  }
  return attribute(base, name);
}

// The user's backward; vjp is another name for it.
Object user_backward(PyObject* context) {
  const Object forward_class(attribute(context, "_forward_cls"));
  Object backward(attribute(forward_class.get(), "backward"));
  static PyObject* missing = base_attribute("backward");
  if (backward.get() != missing) return backward;
  Object vjp(attribute(forward_class.get(), "vjp"));
  static PyObject* missing_vjp = base_attribute("vjp");
  return vjp.get() != missing_vjp ? std::move(vjp) : std::move(backward);
}

Object FunctionNode::arguments(const Grads& grads) const {
  Object tuple(checked(PyTuple_New(static_cast<Py_ssize_t>(outputs.size() + 1))));
  PyTuple_SET_ITEM(tuple.get(), 0, Py_NewRef(context_.get()));
  const bool materialize = as_context(context_.get())->materialize_grads != 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Tensor grad = grads[i];
    if (!grad.defined() && materialize && tensor_outputs[i]) {
      grad = zeros(outputs[i].sizes, outputs[i].dtype, outputs[i].device);
    }
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i + 1), checked(wrap(std::move(grad))));
  }
  return tuple;
}

Grads FunctionNode::results(PyObject* value) const {
  const Object tuple = PyTuple_Check(value) ? Object::borrow(value) : Object(checked(PyTuple_Pack(1, value)));
  const auto expected = static_cast<Py_ssize_t>(tensor_inputs.size());
  Py_ssize_t count = PyTuple_GET_SIZE(tuple.get());
  while (count > expected && PyTuple_GET_ITEM(tuple.get(), count - 1) == Py_None) --count;  // extra Nones are harmless
  check(count == expected, "function ", name(), " returned an incorrect number of gradients (expected ", expected,
        ", got ", PyTuple_GET_SIZE(tuple.get()), ")");
  Grads grads;
  for (Py_ssize_t i = 0; i < expected; ++i) {
    PyObject* item = PyTuple_GET_ITEM(tuple.get(), i);
    if (!tensor_inputs[static_cast<std::size_t>(i)]) {
      check(item == Py_None, "function ", name(), " returned a gradient different from None at position ", i + 1,
            ", but the corresponding forward input was not a Variable");
      continue;
    }
    if (item == Py_None) {
      grads.emplace_back();
      continue;
    }
    check(is_tensor(item), ErrorKind::Type, "function ", name(), ": expected a Tensor or None as gradient ", i + 1,
          ", got ", Py_TYPE(item)->tp_name);
    grads.push_back(tensor_of(item));
  }
  return grads;
}

Grads FunctionNode::apply(Grads&& grads) {
  if (grads.size() < outputs.size()) grads.resize(outputs.size());
  const Object function = user_backward(context_.get());
  const Object packed = arguments(grads);
  grads.clear();
  const Object value(checked(PyObject_Call(function.get(), packed.get(), nullptr)));
  return results(value.get());
}

// ---- apply ---------------------------------------------------------------------------------------------------------

bool contains(PyObject* tuple, PyObject* item) {
  if (tuple == nullptr) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    if (PyTuple_GET_ITEM(tuple, i) == item) return true;
  }
  return false;
}

// One call of apply(): inputs scanned, forward run without grad mode, outputs given their history.
class Application {
 public:
  Application(PyObject* cls, Object args) : cls_(cls), args_(std::move(args)) {
    const Object backward_class(attribute(cls_, "_backward_cls"));
    context_ = Object(checked(PyObject_CallNoArgs(backward_class.get())));
    scan_inputs();
  }
  Object run() {
    const std::vector<Tensor> tangents = input_tangents(args_.get());
    Object value = call_forward();
    const bool single = !PyTuple_Check(value.get());
    Object outputs = single ? Object(checked(PyTuple_Pack(1, value.get()))) : std::move(value);
    Object wrapped = wrap_outputs(outputs.get());
    FunctionObject* context = as_context(context_.get());
    if (!tangents.empty()) {
      apply_jvp({cls_, context_.get(), args_.get(), outputs.get(), wrapped.get(), context->dirty_tensors,
                 context->non_differentiable, context->materialize_grads != 0, tangents});
    }
    Py_CLEAR(context->saved_for_forward);
    if (node_) save_variables(wrapped.get());
    Py_CLEAR(context->to_save);
    Py_CLEAR(context->non_differentiable);
    Py_CLEAR(context->dirty_tensors);
    return single ? Object::borrow(PyTuple_GET_ITEM(wrapped.get(), 0)) : std::move(wrapped);
  }

 private:
  void scan_inputs();
  Object call_forward();
  Object wrap_outputs(PyObject* outputs);
  Object wrap_output(PyObject* item, std::uint32_t nr, Py_ssize_t tensor_count);
  void set_differentiable(Tensor& tensor, bool is_input, bool dirty, std::uint32_t nr, Py_ssize_t tensor_count);
  void save_variables(PyObject* outputs);

  PyObject* cls_;
  Object args_;
  Object context_;
  Ref<FunctionNode> node_;  // null when nothing is recorded
};

void Application::scan_inputs() {
  const Py_ssize_t count = PyTuple_GET_SIZE(args_.get());
  Object needs(checked(PyTuple_New(count)));
  std::vector<bool> tensors(static_cast<std::size_t>(count));
  bool any = false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = PyTuple_GET_ITEM(args_.get(), i);
    tensors[static_cast<std::size_t>(i)] = is_tensor(item);
    const bool needed = is_tensor(item) && autograd::requires_grad(tensor_of(item));
    any |= needed;
    PyTuple_SET_ITEM(needs.get(), i, Py_NewRef(needed ? Py_True : Py_False));
  }
  as_context(context_.get())->needs_input_grad = needs.release();
  if (!any || !autograd::mode.grad) return;
  node_ = Ref<FunctionNode>::make(context_.get());
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (tensors[static_cast<std::size_t>(i)]) {
      node_->next_edges.push_back(autograd::gradient_edge(tensor_of(PyTuple_GET_ITEM(args_.get(), i))));
    }
  }
  node_->tensor_inputs = std::move(tensors);
}

Object Application::call_forward() {
  const GradGuard no_grad(false);
  const autograd::ForwardPause no_tangents(true);  // they are what jvp is for
  const Object forward(attribute(cls_, "forward"));
  const Object separate(attribute(cls_, "_has_setup_context"));
  if (separate.get() == Py_True) {
    Object output(checked(PyObject_Call(forward.get(), args_.get(), nullptr)));
    const Object setup(attribute(cls_, "setup_context"));
    const Object done(
        checked(PyObject_CallFunctionObjArgs(setup.get(), context_.get(), args_.get(), output.get(), nullptr)));
    return output;
  }
  const Object front(checked(PyTuple_Pack(1, context_.get())));
  const Object all(checked(PySequence_Concat(front.get(), args_.get())));
  return Object(checked(PyObject_Call(forward.get(), all.get(), nullptr)));
}

Object Application::wrap_outputs(PyObject* outputs) {
  const Py_ssize_t count = PyTuple_GET_SIZE(outputs);
  Py_ssize_t tensors = 0;
  for (Py_ssize_t i = 0; i < count; ++i) tensors += is_tensor(PyTuple_GET_ITEM(outputs, i)) ? 1 : 0;
  Object wrapped(checked(PyTuple_New(count)));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = PyTuple_GET_ITEM(outputs, i);
    if (node_) node_->tensor_outputs.push_back(is_tensor(item));
    Object result = is_tensor(item) ? wrap_output(item, static_cast<std::uint32_t>(i), tensors) : Object::borrow(item);
    if (node_ && node_->outputs.size() <= static_cast<std::size_t>(i)) node_->outputs.emplace_back();
    PyTuple_SET_ITEM(wrapped.get(), i, result.release());
  }
  return wrapped;
}

Tensor view_of_input(const Tensor& input) {
  const GradGuard no_grad(false);
  Tensor view = alias(input);
  autograd::make_view(view, input, nullptr, nullptr);
  return view;
}

Object Application::wrap_output(PyObject* item, std::uint32_t nr, Py_ssize_t tensor_count) {
  const FunctionObject* context = as_context(context_.get());
  const Tensor& tensor = tensor_of(item);
  const bool is_input = contains(args_.get(), item), dirty = contains(context->dirty_tensors, item);
  const bool differentiable =
      node_ && !contains(context->non_differentiable, item) && is_differentiable(tensor.dtype());
  if (differentiable) {
    Tensor result = tensor;
    set_differentiable(result, is_input, dirty, nr, tensor_count);
    return result.is(tensor) ? Object::borrow(item) : Object(checked(wrap(std::move(result))));
  }
  if (node_) node_->add_output(tensor);
  if (is_input && !dirty) {
    return Object(checked(wrap(autograd::requires_grad(tensor) ? alias(tensor) : view_of_input(tensor))));
  }
  if (autograd::requires_grad(tensor)) {
    if (is_input) return Object(checked(wrap(alias(tensor))));
    if (!autograd::is_view(tensor)) autograd::detach_inplace(tensor);
  }
  return Object::borrow(item);
}

void Application::set_differentiable(Tensor& tensor, bool is_input, bool dirty, std::uint32_t nr,
                                     Py_ssize_t tensor_count) {
  if (dirty) {
    if (!is_input &&
        PyErr_WarnEx(PyExc_UserWarning,
                     "Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is not an input, there "
                     "is no need to pass it to mark_dirty().",
                     1) != 0) {
      throw_python();
    }
    check(!autograd::is_leaf(tensor) || !tensor.impl()->requires_grad,
          "a leaf Variable that requires grad has been used in an in-place operation.");
    check(!autograd::is_view(tensor) || tensor_count <= 1,
          "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return "
          "more than "
          "one Tensor. This is not supported by the current autograd engine. You should either make sure the input is "
          "not a "
          "view (using .clone() for example) or make your Function only return one Tensor (potentially splitting it "
          "into two "
          "Functions: one doing the inplace that returns a single Tensor and a second one that does the other "
          "operations). "
          "You can ask on the forum https://discuss.pytorch.org/ if you need help to do this change.");
    autograd::check_inplace(tensor, "mark_dirty", true);
    autograd::rebase_history(tensor, Ref<Node>(node_));
    return;
  }
  if (is_input) tensor = view_of_input(tensor);
  node_->add_output(tensor);
  autograd::set_history(tensor, Ref<Node>(node_), nr);
  if (!autograd::is_view(tensor)) return;
  autograd::Meta& meta = *autograd::meta_of(tensor);
  meta.attr_version = tensor.storage()->version();
  meta.origin = tensor_count > 1 ? autograd::ViewOrigin::MultiOutput : autograd::ViewOrigin::CustomFunction;
}

void Application::save_variables(PyObject* outputs) {
  PyObject* to_save = as_context(context_.get())->to_save;
  if (to_save == nullptr) return;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(to_save); ++i) {
    PyObject* item = PyTuple_GET_ITEM(to_save, i);
    if (item == Py_None) {
      node_->saved.emplace_back();
      continue;
    }
    check(is_tensor(item), ErrorKind::Type, "save_for_backward can only save variables, but argument ", i,
          " is of type ", Py_TYPE(item)->tp_name);
    const bool is_output = contains(outputs, item) && autograd::requires_grad(tensor_of(item));
    node_->saved.emplace_back(tensor_of(item), is_output);
  }
}

PyObject* function_apply(PyObject* cls, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    Object bound = Object::borrow(args);
    const Object separate(attribute(cls, "_has_setup_context"));
    if (separate.get() == Py_True) {
      // forward has no context in front: its defaults and keywords are part of the inputs setup_context sees.
      const Object module(checked(PyImport_ImportModule("flambeau.autograd.function")));
      const Object bind(attribute(module.get(), "_bind_default_args"));
      const Object forward(attribute(cls, "forward"));
      const Object keywords = kwargs != nullptr ? Object::borrow(kwargs) : Object(checked(PyDict_New()));
      bound = Object(checked(PyObject_CallFunctionObjArgs(bind.get(), forward.get(), args, keywords.get(), nullptr)));
    } else if (kwargs != nullptr && PyDict_GET_SIZE(kwargs) != 0) {
      fail(ErrorKind::Type, "apply() takes no keyword arguments");
    }
    return Application(cls, std::move(bound)).run().release();
  });
}

// ---- the context ---------------------------------------------------------------------------------------------------

int context_traverse(PyObject* self, visitproc visit, void* arg) {
  FunctionObject* context = as_context(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(context->needs_input_grad);
  Py_VISIT(context->to_save);
  Py_VISIT(context->saved_for_forward);
  Py_VISIT(context->non_differentiable);
  Py_VISIT(context->dirty_tensors);
  return 0;
}

int context_clear(PyObject* self) {
  FunctionObject* context = as_context(self);
  Py_CLEAR(context->to_save);
  Py_CLEAR(context->saved_for_forward);
  Py_CLEAR(context->non_differentiable);
  Py_CLEAR(context->dirty_tensors);
  return 0;
}

void context_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  context_clear(self);
  Py_CLEAR(as_context(self)->needs_input_grad);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* context_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self != nullptr) as_context(self)->materialize_grads = 1;
  return self;
}

PyObject* get_saved_tensors(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    if (PyObject* kept = as_context(self)->saved_for_forward; kept != nullptr) return Py_NewRef(kept);
    FunctionNode* node = as_context(self)->node;
    if (node == nullptr) return PyTuple_New(0);
    if (node->released) autograd::fail_released();
    Object tuple(checked(PyTuple_New(static_cast<Py_ssize_t>(node->saved.size()))));
    for (std::size_t i = 0; i < node->saved.size(); ++i) {
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), checked(wrap(node->saved[i].unpack(node, true))));
    }
    return tuple.release();
  });
}

template <PyObject* FunctionObject::* kField>
PyObject* get_field(PyObject* self, void*) {
  PyObject* value = as_context(self)->*kField;
  return Py_NewRef(value != nullptr ? value : Py_None);
}
template <PyObject* FunctionObject::* kField>
int set_field(PyObject* self, PyObject* value, void*) {
  PyObject* fresh = nullptr;
  if (value != nullptr && value != Py_None) {
    fresh = PySequence_Tuple(value);
    if (fresh == nullptr) return -1;
  }
  Py_XSETREF(as_context(self)->*kField, fresh);
  return 0;
}
template <PyObject* FunctionObject::* kField>
PyObject* store_args(PyObject* self, PyObject* args) {
  Py_XSETREF(as_context(self)->*kField, Py_NewRef(args));
  Py_RETURN_NONE;
}

int set_needs_input_grad(PyObject* self, PyObject* value, void*) {
  Py_XSETREF(as_context(self)->needs_input_grad, Py_XNewRef(value));
  return 0;
}
PyObject* get_materialize(PyObject* self, void*) { return PyBool_FromLong(as_context(self)->materialize_grads); }
int set_materialize(PyObject* self, PyObject* value, void*) {
  const int on = value != nullptr ? PyObject_IsTrue(value) : 1;
  if (on < 0) return -1;
  as_context(self)->materialize_grads = static_cast<char>(on);
  return 0;
}
PyObject* set_materialize_grads(PyObject* self, PyObject* value) {
  if (set_materialize(self, value, nullptr) != 0) return nullptr;
  Py_RETURN_NONE;
}

PyMethodDef context_methods[] = {
    {"apply", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function_apply)),
     METH_VARARGS | METH_KEYWORDS | METH_CLASS, "Run forward on the arguments and record the Function for backward."},
    {"save_for_backward", store_args<&FunctionObject::to_save>, METH_VARARGS,
     "Keep tensors for backward; call it once, from forward or setup_context."},
    {"save_for_forward", store_args<&FunctionObject::saved_for_forward>, METH_VARARGS, "Keep tensors for jvp."},
    {"mark_dirty", store_args<&FunctionObject::dirty_tensors>, METH_VARARGS,
     "Name the inputs that forward changed in place."},
    {"mark_non_differentiable", store_args<&FunctionObject::non_differentiable>, METH_VARARGS,
     "Name the outputs that have no gradient."},
    {"set_materialize_grads", set_materialize_grads, METH_O,
     "False: backward gets None instead of zeros for outputs without gradient."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef context_getset[] = {
    {"saved_tensors", get_saved_tensors, nullptr, "What save_for_backward kept, checked against in-place changes.",
     nullptr},
    {"saved_variables", get_saved_tensors, nullptr, nullptr, nullptr},
    {"needs_input_grad", get_field<&FunctionObject::needs_input_grad>, set_needs_input_grad,
     "One bool per argument of forward.", nullptr},
    {"to_save", get_field<&FunctionObject::to_save>, set_field<&FunctionObject::to_save>, nullptr, nullptr},
    {"saved_for_forward", get_field<&FunctionObject::saved_for_forward>, set_field<&FunctionObject::saved_for_forward>,
     nullptr, nullptr},
    {"non_differentiable", get_field<&FunctionObject::non_differentiable>,
     set_field<&FunctionObject::non_differentiable>, nullptr, nullptr},
    {"dirty_tensors", get_field<&FunctionObject::dirty_tensors>, set_field<&FunctionObject::dirty_tensors>, nullptr,
     nullptr},
    {"materialize_grads", get_materialize, set_materialize, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyType_Slot context_slots[] = {{Py_tp_new, reinterpret_cast<void*>(context_new)},
                               {Py_tp_dealloc, reinterpret_cast<void*>(context_dealloc)},
                               {Py_tp_traverse, reinterpret_cast<void*>(context_traverse)},
                               {Py_tp_clear, reinterpret_cast<void*>(context_clear)},
                               {Py_tp_methods, context_methods},
                               {Py_tp_getset, context_getset},
                               {0, nullptr}};
PyType_Spec context_spec = {"flambeau._C._FunctionBase", sizeof(FunctionObject), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, context_slots};

}  // namespace

Node* function_node(PyObject* context) { return as_context(context)->node; }

void bind_function(nb::module_& m) {
  function_base_type = make_type(m, context_spec);
  add_to_type(function_base_type, node_methods, node_getset);
}

}  // namespace flambeau::python
