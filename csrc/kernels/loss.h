#pragma once

#include <string_view>

#include "core/tensor.h"

namespace flambeau {

enum class Reduction : std::uint8_t { None, Mean, Sum };

Reduction reduction_of(std::string_view name);  // ValueError for an unknown name

}  // namespace flambeau
