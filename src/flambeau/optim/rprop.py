"""Rprop."""

import flambeau
from flambeau import ops

from ._functional import rprop
from .optimizer import ElementwiseOptimizer, check_settings, entries, new_step, own, set_defaults

__all__ = ["Rprop", "rprop"]


class Rprop(ElementwiseOptimizer):
    """Steps of adaptive size in the direction of the gradient's sign.

    A step grows by etas[1] while the sign stays, shrinks by etas[0] when it changes (and is skipped once).

    References:
        Riedmiller, Braun, "A direct adaptive method for faster backpropagation learning", 1993.
    """

    _like_param = ("prev", "step_size")

    def __init__(
        self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None,
        maximize=False, differentiable=False,
    ):  # fmt: skip
        check_settings(lr=lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
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
        state["prev"] = flambeau.zeros_like(param)
        lr = float(group["lr"])
        state["step_size"] = flambeau.full_like(
            param, complex(lr, lr) if param.is_complex() else lr
        )

    def _fused(self, group, params, grads, states):
        ops._rprop_step(
            params, grads, entries(states, "prev"), entries(states, "step_size"), entries(states, "step"),
            *group["etas"], *group["step_sizes"], group["maximize"],
        )  # fmt: skip

    def _update(self, param, grad, state, group):
        eta_minus, eta_plus = group["etas"]
        smallest, largest = group["step_sizes"]
        state["step"] += 1
        sign = grad.mul(state["prev"].clone() if group["differentiable"] else state["prev"]).sign()
        ones = flambeau.ones_like(sign)
        factor = flambeau.where(
            sign > 0, ones * eta_plus, flambeau.where(sign < 0, ones * eta_minus, ones)
        )
        state["step_size"].mul_(factor).clamp_(smallest, largest)
        # No step (and no memory of this gradient) where the sign changed.
        grad = flambeau.where(sign < 0, flambeau.zeros_like(grad), grad)
        param.addcmul_(grad.sign(), own(state["step_size"], group), value=-1)
        state["prev"].copy_(grad)
