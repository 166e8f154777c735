"""RMSprop."""

import flambeau
from flambeau import ops

from ._functional import rmsprop
from .optimizer import ElementwiseOptimizer, check_settings, entries, new_step, set_defaults

__all__ = ["RMSprop", "rmsprop"]


class RMSprop(ElementwiseOptimizer):
    """v = alpha v + (1 - alpha) g ** 2;  p -= lr * g / (sqrt(v) + eps), optionally centred and with momentum.

    References:
        Tieleman, Hinton, lecture 6.5 of "Neural Networks for Machine Learning", 2012.
    """

    _like_param = ("square_avg", "momentum_buffer", "grad_avg")

    def __init__(
        self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, capturable=False,
        foreach=None, maximize=False, differentiable=False,
    ):  # fmt: skip
        check_settings(lr=lr, eps=eps, momentum=momentum, weight_decay=weight_decay)
        if not 0.0 <= alpha:
            raise ValueError(f"Invalid alpha value: {alpha}")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state):
        super().__setstate__(state)
        set_defaults(
            self,
            momentum=0,
            centered=False,
            foreach=None,
            maximize=False,
            differentiable=False,
            capturable=False,
        )

    def _init_state(self, param, state, group):
        state["step"] = new_step()
        state["square_avg"] = flambeau.zeros_like(param)
        if group["momentum"] > 0:
            state["momentum_buffer"] = flambeau.zeros_like(param)
        if group["centered"]:
            state["grad_avg"] = flambeau.zeros_like(param)

    def _fused(self, group, params, grads, states):
        centered, momentum = group["centered"], group["momentum"]
        ops._rmsprop_step(
            params, grads, entries(states, "square_avg"), entries(states, "grad_avg") if centered else [],
            entries(states, "momentum_buffer") if momentum > 0 else [], entries(states, "step"), float(group["lr"]),
            group["alpha"], group["eps"], group["weight_decay"], momentum, centered, group["maximize"],
        )  # fmt: skip

    def _update(self, param, grad, state, group):
        alpha, lr = group["alpha"], float(group["lr"])
        state["step"] += 1
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        square_avg = state["square_avg"]
        square_avg.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            grad_avg = state["grad_avg"]
            grad_avg.lerp_(grad, 1 - alpha)
            average = square_avg.addcmul(grad_avg, grad_avg, value=-1).sqrt_()
        else:
            average = square_avg.sqrt()
        average = (
            average.add(group["eps"]) if group["differentiable"] else average.add_(group["eps"])
        )
        if group["momentum"] > 0:
            buffer = state["momentum_buffer"]
            buffer.mul_(group["momentum"]).addcdiv_(grad, average)
            param.add_(buffer, alpha=-lr)
        else:
            param.addcdiv_(grad, average, value=-lr)
