// Fused steps of SGD and of Adam and its relatives: one call updates all parameters of a group. Their neighbours with
// rates per element only are in optim_adaptive.cpp.
#include <cmath>

#include "core/copy.h"
#include "core/factory.h"
#include "core/kernel.h"
#include "kernels/optim_row.h"

namespace flambeau {
namespace {

using optim::advance;
using optim::check_lengths;
using optim::Row;
using optim::run_row;

void adam_step(TensorSpan params, TensorSpan grads, TensorSpan exp_avgs, TensorSpan exp_avg_sqs,
               TensorSpan max_exp_avg_sqs, TensorSpan steps, double lr, double beta1, double beta2, double weight_decay,
               double eps, bool amsgrad, bool maximize, bool decoupled) {
  check_lengths("adam_step", params, {grads, exp_avgs, exp_avg_sqs, steps});
  if (amsgrad) check_lengths("adam_step", params, {max_exp_avg_sqs});
  AdamStep settings{lr, beta1, beta2, weight_decay, eps, 0, 0, amsgrad, maximize, decoupled};
  double last = 0;
  for (std::int64_t i = 0; i < params.size(); ++i) {
    const double step = advance("adam_step", steps[i]);
    if (step != last) {
      settings.step_size = lr / (1 - std::pow(beta1, step));
      settings.root2 = std::sqrt(1 - std::pow(beta2, step));
      last = step;
    }
    Row row{params[i], exp_avgs[i], exp_avg_sqs[i]};
    if (amsgrad) row.tensors[row.count++] = max_exp_avg_sqs[i];
    row.tensors[row.count++] = grads[i];
    run_row("adam_step", row, "optim_adam", &settings);
  }
}

void adamax_step(TensorSpan params, TensorSpan grads, TensorSpan exp_avgs, TensorSpan exp_infs, TensorSpan steps,
                 double lr, double beta1, double beta2, double weight_decay, double eps, bool maximize) {
  check_lengths("adamax_step", params, {grads, exp_avgs, exp_infs, steps});
  for (std::int64_t i = 0; i < params.size(); ++i) {
    const double step = advance("adamax_step", steps[i]);
    const AdamaxStep settings{lr / (1 - std::pow(beta1, step)), beta1, beta2, weight_decay, eps, maximize};
    run_row("adamax_step", {params[i], exp_avgs[i], exp_infs[i], grads[i]}, "optim_adamax", &settings);
  }
}

// product *= factor in place, as the 0-d tensor of float32 that it usually is; returns the new value.
double multiply(const Tensor& product, double factor) {
  if (product.is_meta()) return factor;
  const double before = item(product).to_double();
  const bool single = product.dtype() == DType::Float32;
  const double next =
      single ? static_cast<double>(static_cast<float>(before) * static_cast<float>(factor)) : before * factor;
  fill(product, Scalar(next));
  return item(product).to_double();
}

void nadam_step(TensorSpan params, TensorSpan grads, TensorSpan exp_avgs, TensorSpan exp_avg_sqs,
                TensorSpan mu_products, TensorSpan steps, double lr, double beta1, double beta2, double weight_decay,
                double momentum_decay, double eps, bool maximize, bool decoupled) {
  check_lengths("nadam_step", params, {grads, exp_avgs, exp_avg_sqs, mu_products, steps});
  NadamStep settings{lr, beta1, beta2, weight_decay, eps, 0, 0, 0, maximize, decoupled};
  for (std::int64_t i = 0; i < params.size(); ++i) {
    const double step = advance("nadam_step", steps[i]);
    const double mu = beta1 * (1 - 0.5 * std::pow(0.96, step * momentum_decay));
    const double mu_next = beta1 * (1 - 0.5 * std::pow(0.96, (step + 1) * momentum_decay));
    const double product = multiply(mu_products[i], mu);
    settings.correction2 = 1 - std::pow(beta2, step);
    settings.grad_rate = lr * (1 - mu) / (1 - product);
    settings.average_rate = lr * mu_next / (1 - product * mu_next);
    run_row("nadam_step", {params[i], exp_avgs[i], exp_avg_sqs[i], grads[i]}, "optim_nadam", &settings);
  }
}

void radam_step(TensorSpan params, TensorSpan grads, TensorSpan exp_avgs, TensorSpan exp_avg_sqs, TensorSpan steps,
                double lr, double beta1, double beta2, double weight_decay, double eps, bool maximize, bool decoupled) {
  check_lengths("radam_step", params, {grads, exp_avgs, exp_avg_sqs, steps});
  RadamStep settings{lr, beta1, beta2, weight_decay, eps, 0, 0, 0, maximize, decoupled};
  // Length of the simple moving average that the exponential one approximates, and its limit.
  const double limit = 2 / (1 - beta2) - 1;
  for (std::int64_t i = 0; i < params.size(); ++i) {
    const double step = advance("radam_step", steps[i]);
    const double correction2 = 1 - std::pow(beta2, step);
    const double length = limit - 2 * step * std::pow(beta2, step) / correction2;
    settings.correction1 = 1 - std::pow(beta1, step);
    settings.root2 = std::sqrt(correction2);
    settings.rectified =
        length > 5 ? std::sqrt((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)) : 0;
    run_row("radam_step", {params[i], exp_avgs[i], exp_avg_sqs[i], grads[i]}, "optim_radam", &settings);
  }
}

void sgd_step(TensorSpan params, TensorSpan grads, TensorSpan momentum_buffers, double lr, double momentum,
              double dampening, double weight_decay, bool nesterov, bool maximize, bool first) {
  check_lengths("sgd_step", params, {grads});
  if (momentum != 0) check_lengths("sgd_step", params, {momentum_buffers});
  const SgdStep settings{lr, momentum, dampening, weight_decay, nesterov, maximize, first};
  for (std::int64_t i = 0; i < params.size(); ++i) {
    Row row{params[i]};
    if (momentum != 0) row.tensors[row.count++] = momentum_buffers[i];
    row.tensors[row.count++] = grads[i];
    run_row("sgd_step", row, "optim_sgd", &settings);
  }
}

const Kernel adam_kernel("_adam_step", &adam_step);
const Kernel adamax_kernel("_adamax_step", &adamax_step);
const Kernel nadam_kernel("_nadam_step", &nadam_step);
const Kernel radam_kernel("_radam_step", &radam_step);
const Kernel sgd_kernel("_sgd_step", &sgd_step);

}  // namespace
}  // namespace flambeau
