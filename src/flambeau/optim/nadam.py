"""NAdam."""

import flambeau
from flambeau import ops

from ._functional import nadam
from ._moments import TwoMoments
from .optimizer import _get_scalar_dtype, check_settings, entries, new_step, own, set_defaults

__all__ = ["NAdam", "nadam"]


class NAdam(TwoMoments):
    """Adam with Nesterov momentum, the momentum following a schedule.

    References:
        Dozat, "Incorporating Nesterov Momentum into Adam", 2016.
    """

    def __init__(
        self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3,
        decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False, differentiable=False,
    ):  # fmt: skip
        check_settings(lr=lr, eps=eps, betas=betas, weight_decay=weight_decay)
        if not 0.0 <= momentum_decay:
            raise ValueError(f"Invalid momentum_decay value: {momentum_decay}")
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state):
        super().__setstate__(state)
        set_defaults(
            self,
            maximize=False,
            foreach=None,
            capturable=False,
            differentiable=False,
            decoupled_weight_decay=False,
        )

    def _init_state(self, param, state, group):
        state["step"] = new_step()
        state["mu_product"] = flambeau.ones((), dtype=_get_scalar_dtype())
        state["exp_avg"] = flambeau.zeros_like(param)
        state["exp_avg_sq"] = flambeau.zeros_like(param)

    def _fused(self, group, params, grads, states):
        beta1, beta2 = group["betas"]
        ops._nadam_step(
            params, grads, entries(states, "exp_avg"), entries(states, "exp_avg_sq"), entries(states, "mu_product"),
            entries(states, "step"), float(group["lr"]), beta1, beta2, group["weight_decay"], group["momentum_decay"],
            group["eps"], group["maximize"], group["decoupled_weight_decay"],
        )  # fmt: skip

    def _update(self, param, grad, state, group):
        beta1, beta2 = group["betas"]
        lr, decay = float(group["lr"]), group["momentum_decay"]
        state["step"] += 1
        step = state["step"].item()
        grad = self._decay(param, grad, group)
        mu = beta1 * (1.0 - 0.5 * (0.96 ** (step * decay)))
        mu_next = beta1 * (1.0 - 0.5 * (0.96 ** ((step + 1) * decay)))
        state["mu_product"] *= mu
        self._moments(grad, state, (beta1, beta2))
        product = state["mu_product"].item()
        denominator = state["exp_avg_sq"].div(1 - beta2**step).sqrt().add(group["eps"])
        param.addcdiv_(grad, denominator, value=-lr * (1.0 - mu) / (1.0 - product))
        param.addcdiv_(
            own(state["exp_avg"], group),
            denominator,
            value=-lr * mu_next / (1.0 - product * mu_next),
        )
