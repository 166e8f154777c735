// Settings of the uniform tile kernel.
#pragma once

namespace flambeau {

struct UniformRange {
  float from, width, to;
};

}  // namespace flambeau
