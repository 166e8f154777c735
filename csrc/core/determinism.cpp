#include "core/determinism.h"

#include <atomic>
#include <limits>

namespace flambeau::determinism {
namespace {

std::atomic<bool> fill_on{false};

template <class T>
T telltale() {
  if constexpr (std::is_same_v<T, bool>) {
    return true;
  } else if constexpr (std::is_integral_v<T>) {
    return std::numeric_limits<T>::max();
  } else {
    return convert<T>(std::numeric_limits<double>::quiet_NaN());
  }
}

}  // namespace

void set_fill(bool fill) noexcept { fill_on.store(fill, std::memory_order_relaxed); }
bool fills() noexcept { return fill_on.load(std::memory_order_relaxed); }

Tensor uninitialized(Tensor tensor, std::int64_t first) {
  if (!fills() || tensor.is_meta()) return tensor;
  dispatch_all(tensor.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* data = tensor.data<T>();
    // A strided tensor may have gaps: everything of its storage is uninitialised too.
    const std::int64_t count = tensor.storage()->bytes() / tensor.itemsize() - tensor.offset();
    for (std::int64_t i = first; i < count; ++i) data[i] = telltale<T>();
  });
  return tensor;
}

}  // namespace flambeau::determinism
