#pragma once

namespace flambeau {

struct Moments {
  double count = 0, mean = 0, squares = 0;  // squares: sum of squared deviations from the mean
};

}  // namespace flambeau
