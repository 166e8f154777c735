// Inner loops of softmax and log_softmax; in, out, grad and result are of one dtype.
//   softmax      y = exp(x - max) / sum(exp(x - max))      dx = y * (dy - sum(dy * y))
//   log_softmax  y = x - max - log(sum(exp(x - max)))      dx = dy - exp(y) * sum(dy)
#pragma once

#include <cstdint>

namespace flambeau {

struct SoftmaxTable {
  // `count` rows of n neighbouring elements.
  void (*rows)(const void* in, void* out, std::int64_t n, std::int64_t count, bool log) noexcept;
  // k <= 1024 columns of n elements that are `stride` apart.
  void (*columns)(const void* in, void* out, std::int64_t n, std::int64_t stride, std::int64_t k, bool log) noexcept;
  void (*rows_backward)(const void* grad, const void* result, void* out, std::int64_t n, std::int64_t count,
                        bool log) noexcept;
  void (*columns_backward)(const void* grad, const void* result, void* out, std::int64_t n, std::int64_t stride,
                           std::int64_t k, bool log) noexcept;
  // out[i] = log(sum(exp(row i)))
  void (*logsumexp)(const void* in, void* out, std::int64_t n, std::int64_t count) noexcept;
};

}  // namespace flambeau
