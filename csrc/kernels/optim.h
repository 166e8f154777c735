// Settings of one optimizer step, as its tile kernels read them.
#pragma once

namespace flambeau {

struct AdamStep {
  double lr, beta1, beta2, weight_decay, eps;
  double step_size;  // lr / (1 - beta1 ** step)
  double root2;      // sqrt(1 - beta2 ** step)
  bool amsgrad, maximize, decoupled;
};

struct AdamaxStep {
  double rate;  // lr / (1 - beta1 ** step)
  double beta1, beta2, weight_decay, eps;
  bool maximize;
};

struct NadamStep {
  double lr, beta1, beta2, weight_decay, eps;
  double correction2;              // 1 - beta2 ** step
  double grad_rate, average_rate;  // rates of the gradient itself and of its mean
  bool maximize, decoupled;
};

struct RadamStep {
  double lr, beta1, beta2, weight_decay, eps;
  double correction1, root2;  // 1 - beta1 ** step, sqrt(1 - beta2 ** step)
  double rectified;           // 0 while too few steps are known: then the step is that of momentum
  bool maximize, decoupled;
};

struct AdagradStep {
  double rate, weight_decay, eps;
  bool maximize;
};

struct AdadeltaStep {
  double lr, rho, eps, weight_decay;
  bool maximize;
};

struct RmspropStep {
  double lr, alpha, eps, weight_decay, momentum;
  bool centered, maximize;
};

struct RpropStep {
  double eta_minus, eta_plus, smallest, largest;
  bool maximize;
};

struct SgdStep {
  double lr, momentum, dampening, weight_decay;
  bool nesterov, maximize;
  bool first;  // the momentum buffer holds nothing yet
};

}  // namespace flambeau
