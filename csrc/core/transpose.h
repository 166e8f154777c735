// Parameters of the "transpose" tile kernel: dst[i + j * dst_stride] = src[i * src_stride + j] for i < n, j < m.
#pragma once

#include <cstdint>

namespace flambeau {

struct TransposeBlock {
  std::int64_t dst_stride, src_stride, n, m;  // in elements
};

}  // namespace flambeau
