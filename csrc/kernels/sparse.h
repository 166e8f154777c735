// Shared by the kernels on parts of sparse tensors.
#pragma once

#include "core/tensor.h"

namespace flambeau::sparse {

// indices as contiguous int64; `name` is the op that complains about another kind of dtype.
Tensor int64_list(const Tensor& indices, const char* name);

}  // namespace flambeau::sparse
