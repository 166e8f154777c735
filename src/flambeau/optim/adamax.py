"""Adamax."""

import flambeau
from flambeau import ops

from ._functional import adamax
from .optimizer import ElementwiseOptimizer, check_settings, entries, new_step, own, set_defaults

__all__ = ["Adamax", "adamax"]


class Adamax(ElementwiseOptimizer):
    """Adam with the infinity norm: u = max(beta2 u, |g| + eps);  p -= lr / (1 - beta1 ** t) * m / u.

    References:
        Kingma, Ba, "Adam", 2014, arXiv:1412.6980, section 7.
    """

    _like_param = ("exp_avg", "exp_inf")

    def __init__(
        self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, maximize=False,
        differentiable=False, capturable=False,
    ):  # fmt: skip
        check_settings(lr=lr, eps=eps, betas=betas, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state):
        super().__setstate__(state)
        set_defaults(self, foreach=None, maximize=False, differentiable=False, capturable=False)

    def _init_state(self, param, state, group):
        state["step"] = new_step()
        state["exp_avg"] = flambeau.zeros_like(param)
        state["exp_inf"] = flambeau.zeros_like(param)

    def _fused(self, group, params, grads, states):
        beta1, beta2 = group["betas"]
        ops._adamax_step(
            params, grads, entries(states, "exp_avg"), entries(states, "exp_inf"), entries(states, "step"),
            float(group["lr"]), beta1, beta2, group["weight_decay"], group["eps"], group["maximize"],
        )  # fmt: skip

    def _update(self, param, grad, state, group):
        beta1, beta2 = group["betas"]
        state["step"] += 1
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        state["exp_avg"].lerp_(grad, 1 - beta1)
        magnitude = grad.abs().add_(group["eps"])
        state["exp_inf"].copy_(flambeau.maximum(state["exp_inf"].mul(beta2), magnitude))
        rate = float(group["lr"]) / (1 - beta1 ** state["step"].item())
        param.addcdiv_(own(state["exp_avg"], group), own(state["exp_inf"], group), value=-rate)
