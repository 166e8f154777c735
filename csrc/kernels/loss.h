#pragma once

#include <optional>
#include <string_view>

#include "core/tensor.h"

namespace flambeau {

enum class Reduction : std::uint8_t { None, Mean, Sum };

// From the name and PyTorch's two older arguments, which win when given. ValueError for other names.
Reduction reduction_of(std::string_view name, std::optional<bool> size_average = {}, std::optional<bool> reduce = {});

}  // namespace flambeau
