// Settings of one optimizer step, as its tile kernels read them.
#pragma once

namespace flambeau {

struct AdamStep {
  double lr, beta1, beta2, weight_decay, eps;
  double step_size;  // lr / (1 - beta1 ** step)
  double root2;      // sqrt(1 - beta2 ** step)
  bool amsgrad, maximize, decoupled;
};

struct SgdStep {
  double lr, momentum, dampening, weight_decay;
  bool nesterov, maximize;
  bool first;  // the momentum buffer holds nothing yet
};

}  // namespace flambeau
