// The process-wide determinism switch. Kernels are deterministic by construction; what the switch adds is that
// uninitialised memory is filled, so that a program that reads it by mistake at least reads the same thing each time.
#pragma once

#include "core/tensor.h"

namespace flambeau::determinism {

// Set by flambeau.use_deterministic_algorithms and flambeau.utils.deterministic.
void set_fill(bool fill) noexcept;
[[nodiscard]] bool fills() noexcept;

// `tensor` itself; its elements from `first` on (in storage order; it is dense) become NaN, the largest integer or True
// if the fill is on.
Tensor uninitialized(Tensor tensor, std::int64_t first = 0);

}  // namespace flambeau::determinism
