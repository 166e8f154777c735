"""Fused optimizer steps; flambeau.optim calls them, they are not public."""

from .registry import native

__all__ = ["_adam_step", "_sgd_step"]

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
