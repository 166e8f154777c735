"""RAdam."""

import flambeau
from flambeau import ops

from ._functional import radam
from ._moments import TwoMoments
from .optimizer import check_settings, entries, new_step, set_defaults

__all__ = ["RAdam", "radam"]


class RAdam(TwoMoments):
    """Adam with a rectified variance: plain momentum while too few steps are known.

    References:
        Liu et al., "On the Variance of the Adaptive Learning Rate and Beyond", 2019, arXiv:1908.03265.
    """

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *,
        foreach=None, maximize=False, capturable=False, differentiable=False,
    ):  # fmt: skip
        check_settings(lr=lr, eps=eps, betas=betas, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state):
        super().__setstate__(state)
        set_defaults(
            self,
            foreach=None,
            maximize=False,
            differentiable=False,
            decoupled_weight_decay=False,
            capturable=False,
        )

    def _init_state(self, param, state, group):
        state["step"] = new_step()
        state["exp_avg"] = flambeau.zeros_like(param)
        state["exp_avg_sq"] = flambeau.zeros_like(param)

    def _fused(self, group, params, grads, states):
        beta1, beta2 = group["betas"]
        ops._radam_step(
            params, grads, entries(states, "exp_avg"), entries(states, "exp_avg_sq"), entries(states, "step"),
            float(group["lr"]), beta1, beta2, group["weight_decay"], group["eps"], group["maximize"],
            group["decoupled_weight_decay"],
        )  # fmt: skip

    def _update(self, param, grad, state, group):
        beta1, beta2 = group["betas"]
        lr = float(group["lr"])
        state["step"] += 1
        step = state["step"].item()
        grad = self._decay(param, grad, group)
        self._moments(grad, state, (beta1, beta2))
        correction1, correction2 = 1 - beta1**step, 1 - beta2**step
        average = state["exp_avg"] / correction1
        # Length of the approximated simple moving average, and its limit.
        rho_limit = 2 / (1 - beta2) - 1
        rho = rho_limit - 2 * step * (beta2**step) / correction2
        if rho <= 5.0:
            param.add_(average * lr, alpha=-1.0)
            return
        rectified = (
            (rho - 4) * (rho - 2) * rho_limit / ((rho_limit - 4) * (rho_limit - 2) * rho)
        ) ** 0.5
        adaptive = (correction2**0.5) / state["exp_avg_sq"].sqrt().add(group["eps"])
        param.add_(average * lr * adaptive * rectified, alpha=-1.0)
