// Tensors from Python data: numbers, nested sequences, NumPy arrays and scalars, tensors
// (csrc/bindings/tensor_data.cpp).
#pragma once

#include <optional>

#include "bindings/python.h"

namespace flambeau::python {

// A new tensor of the given or inferred dtype: bool < int64 < the default float < its complex dtype over all numbers.
// `empty_dtype` is what an empty sequence gets. Throws in PyTorch's words for ragged or non-numeric data.
Tensor tensor_from_data(PyObject* data, std::optional<DType> dtype, std::optional<DType> empty_dtype = {});
bool is_numpy_array(PyObject* object) noexcept;
Tensor tensor_from_numpy(PyObject* array);  // over the array's memory

void bind_tensor_data(nb::module_& m);

}  // namespace flambeau::python
