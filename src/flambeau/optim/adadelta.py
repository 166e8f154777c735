"""Adadelta."""

import flambeau
from flambeau import ops

from ._functional import adadelta
from .optimizer import ElementwiseOptimizer, check_settings, entries, new_step, set_defaults

__all__ = ["Adadelta", "adadelta"]


class Adadelta(ElementwiseOptimizer):
    """Steps in units of past steps: d = sqrt(u + eps) / sqrt(v + eps) * g, v and u running means of g ** 2 and d ** 2.

    References:
        Zeiler, "ADADELTA: An Adaptive Learning Rate Method", 2012, arXiv:1212.5701.
    """

    _like_param = ("square_avg", "acc_delta")

    def __init__(
        self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False, maximize=False,
        differentiable=False,
    ):  # fmt: skip
        check_settings(lr=lr, weight_decay=weight_decay, eps=eps)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state):
        super().__setstate__(state)
        set_defaults(self, foreach=None, maximize=False, differentiable=False, capturable=False)

    def _init_state(self, param, state, group):
        state["step"] = new_step()
        state["square_avg"] = flambeau.zeros_like(param)
        state["acc_delta"] = flambeau.zeros_like(param)

    def _fused(self, group, params, grads, states):
        ops._adadelta_step(
            params, grads, entries(states, "square_avg"), entries(states, "acc_delta"), entries(states, "step"),
            float(group["lr"]), group["rho"], group["eps"], group["weight_decay"], group["maximize"],
        )  # fmt: skip

    def _update(self, param, grad, state, group):
        rho, eps = group["rho"], group["eps"]
        state["step"] += 1
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        square_avg, acc_delta = state["square_avg"], state["acc_delta"]
        square_avg.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        std = square_avg.add(eps).sqrt_()
        delta = acc_delta.add(eps).sqrt_()
        if group["differentiable"]:
            delta = delta.clone()
        delta.div_(std).mul_(grad)
        acc_delta.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        param.add_(delta, alpha=-float(group["lr"]))
