"""Fused optimizer steps; flambeau.optim calls them, they are not public."""

from .registry import native

__all__ = [
    "_adadelta_step",
    "_adagrad_step",
    "_adam_step",
    "_adamax_step",
    "_nadam_step",
    "_radam_step",
    "_rmsprop_step",
    "_rprop_step",
    "_sgd_step",
]

_REASON = "an optimizer step updates leaves in place, outside of the graph"

_adam_step = native(
    "_adam_step(Tensor[] params, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_avg_sqs, Tensor[] max_exp_avg_sqs, "
    "Tensor[] steps, float lr, float beta1, float beta2, float weight_decay, float eps, bool amsgrad, bool maximize, "
    "bool decoupled) -> ()",
    non_differentiable=_REASON,
    doc="""One step of Adam or (decoupled) AdamW on every parameter, in place; advances the step counts.""",
)
_sgd_step = native(
    "_sgd_step(Tensor[] params, Tensor[] grads, Tensor[] momentum_buffers, float lr, float momentum, float dampening, "
    "float weight_decay, bool nesterov, bool maximize, bool first) -> ()",
    non_differentiable=_REASON,
    doc="""One step of SGD on every parameter, in place; first: momentum buffers are set instead of updated.""",
)
_adamax_step = native(
    "_adamax_step(Tensor[] params, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_infs, Tensor[] steps, float lr, "
    "float beta1, float beta2, float weight_decay, float eps, bool maximize) -> ()",
    non_differentiable=_REASON,
    doc="""One step of Adamax on every parameter, in place; advances the step counts.""",
)
_nadam_step = native(
    "_nadam_step(Tensor[] params, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_avg_sqs, Tensor[] mu_products, "
    "Tensor[] steps, float lr, float beta1, float beta2, float weight_decay, float momentum_decay, float eps, "
    "bool maximize, bool decoupled) -> ()",
    non_differentiable=_REASON,
    doc="""One step of NAdam on every parameter, in place; advances the step counts and momentum products.""",
)
_radam_step = native(
    "_radam_step(Tensor[] params, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_avg_sqs, Tensor[] steps, float lr, "
    "float beta1, float beta2, float weight_decay, float eps, bool maximize, bool decoupled) -> ()",
    non_differentiable=_REASON,
    doc="""One step of RAdam on every parameter, in place; advances the step counts.""",
)
_adagrad_step = native(
    "_adagrad_step(Tensor[] params, Tensor[] grads, Tensor[] sums, Tensor[] steps, float lr, float lr_decay, "
    "float weight_decay, float eps, bool maximize) -> ()",
    non_differentiable=_REASON,
    doc="""One step of Adagrad on every parameter, in place; advances the step counts.""",
)
_adadelta_step = native(
    "_adadelta_step(Tensor[] params, Tensor[] grads, Tensor[] square_avgs, Tensor[] acc_deltas, Tensor[] steps, "
    "float lr, float rho, float eps, float weight_decay, bool maximize) -> ()",
    non_differentiable=_REASON,
    doc="""One step of Adadelta on every parameter, in place; advances the step counts.""",
)
_rmsprop_step = native(
    "_rmsprop_step(Tensor[] params, Tensor[] grads, Tensor[] square_avgs, Tensor[] grad_avgs, "
    "Tensor[] momentum_buffers, Tensor[] steps, float lr, float alpha, float eps, float weight_decay, float momentum, "
    "bool centered, bool maximize) -> ()",
    non_differentiable=_REASON,
    doc="""One step of RMSprop on every parameter, in place; grad_avgs are read if centered.""",
)
_rprop_step = native(
    "_rprop_step(Tensor[] params, Tensor[] grads, Tensor[] prevs, Tensor[] step_sizes, Tensor[] steps, "
    "float eta_minus, float eta_plus, float smallest, float largest, bool maximize) -> ()",
    non_differentiable=_REASON,
    doc="""One step of Rprop on every parameter, in place; advances the step counts.""",
)
