// Fused steps of Adagrad, Adadelta, RMSprop and Rprop: one call updates all parameters of a group.
#include "core/kernel.h"
#include "kernels/optim_row.h"

namespace flambeau {
namespace {

using optim::advance;
using optim::check_lengths;
using optim::Row;
using optim::run_row;

void adagrad_step(TensorSpan params, TensorSpan grads, TensorSpan sums, TensorSpan steps, double lr, double lr_decay,
                  double weight_decay, double eps, bool maximize) {
  check_lengths("adagrad_step", params, {grads, sums, steps});
  for (std::int64_t i = 0; i < params.size(); ++i) {
    const double step = advance("adagrad_step", steps[i]);
    const AdagradStep settings{lr / (1 + (step - 1) * lr_decay), weight_decay, eps, maximize};
    run_row("adagrad_step", {params[i], sums[i], grads[i]}, "optim_adagrad", &settings);
  }
}

void adadelta_step(TensorSpan params, TensorSpan grads, TensorSpan square_avgs, TensorSpan acc_deltas, TensorSpan steps,
                   double lr, double rho, double eps, double weight_decay, bool maximize) {
  check_lengths("adadelta_step", params, {grads, square_avgs, acc_deltas, steps});
  const AdadeltaStep settings{lr, rho, eps, weight_decay, maximize};
  for (std::int64_t i = 0; i < params.size(); ++i) {
    advance("adadelta_step", steps[i]);
    run_row("adadelta_step", {params[i], square_avgs[i], acc_deltas[i], grads[i]}, "optim_adadelta", &settings);
  }
}

void rmsprop_step(TensorSpan params, TensorSpan grads, TensorSpan square_avgs, TensorSpan grad_avgs,
                  TensorSpan momentum_buffers, TensorSpan steps, double lr, double alpha, double eps,
                  double weight_decay, double momentum, bool centered, bool maximize) {
  check_lengths("rmsprop_step", params, {grads, square_avgs, steps});
  if (centered) check_lengths("rmsprop_step", params, {grad_avgs});
  if (momentum > 0) check_lengths("rmsprop_step", params, {momentum_buffers});
  const RmspropStep settings{lr, alpha, eps, weight_decay, momentum, centered, maximize};
  for (std::int64_t i = 0; i < params.size(); ++i) {
    advance("rmsprop_step", steps[i]);
    Row row{params[i], square_avgs[i]};
    if (centered) row.tensors[row.count++] = grad_avgs[i];
    if (momentum > 0) row.tensors[row.count++] = momentum_buffers[i];
    row.tensors[row.count++] = grads[i];
    run_row("rmsprop_step", row, "optim_rmsprop", &settings);
  }
}

void rprop_step(TensorSpan params, TensorSpan grads, TensorSpan prevs, TensorSpan step_sizes, TensorSpan steps,
                double eta_minus, double eta_plus, double smallest, double largest, bool maximize) {
  check_lengths("rprop_step", params, {grads, prevs, step_sizes, steps});
  const RpropStep settings{eta_minus, eta_plus, smallest, largest, maximize};
  for (std::int64_t i = 0; i < params.size(); ++i) {
    advance("rprop_step", steps[i]);
    run_row("rprop_step", {params[i], prevs[i], step_sizes[i], grads[i]}, "optim_rprop", &settings);
  }
}

const Kernel adagrad_kernel("_adagrad_step", &adagrad_step);
const Kernel adadelta_kernel("_adadelta_step", &adadelta_step);
const Kernel rmsprop_kernel("_rmsprop_step", &rmsprop_step);
const Kernel rprop_kernel("_rprop_step", &rprop_step);

}  // namespace
}  // namespace flambeau
