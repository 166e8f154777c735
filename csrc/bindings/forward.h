// Forward mode in custom Functions; the rest of it is bound by bind_forward.
#pragma once

#include <vector>

#include "bindings/python.h"

namespace flambeau::python {

// Tangents of the arguments of forward; empty if none has one.
std::vector<Tensor> input_tangents(PyObject* inputs);

// One call of a Function's jvp. All borrowed.
struct JvpCall {
  PyObject* cls;
  PyObject* context;
  PyObject* inputs;    // tuple: arguments of forward
  PyObject* returned;  // tuple: what forward returned
  PyObject* outputs;   // tuple: the same as apply() returns them
  PyObject* dirty;     // tuples or null
  PyObject* non_differentiable;
  bool materialize;
  const std::vector<Tensor>& tangents;
};
void apply_jvp(const JvpCall& call);  // gives the outputs their tangents

void bind_forward(nb::module_& m);

}  // namespace flambeau::python
