// A tensor seen as (outer, n, inner) around one dim, for ops that work along that dim.
#pragma once

#include "core/tensor.h"

namespace flambeau {

struct Slices {
  std::int64_t outer = 1, n = 1, inner = 1;
  Slices(IntSpan sizes, std::int64_t dim) {
    for (std::int64_t d = 0; d < sizes.size(); ++d) (d < dim ? outer : d == dim ? n : inner) *= sizes[d];
  }
};

// `dim` and the last dim exchanged, as an alias.
Tensor swap_with_last(const Tensor& input, std::int64_t dim);

}  // namespace flambeau
