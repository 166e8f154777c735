"""ASGD."""

import flambeau

from .optimizer import (
    ElementwiseOptimizer,
    _get_scalar_dtype,
    check_settings,
    new_step,
    set_defaults,
)

__all__ = ["ASGD"]


class ASGD(ElementwiseOptimizer):
    """SGD with a decaying rate; state["ax"] holds the average of the parameters after t0 steps.

    References:
        Polyak, Juditsky, "Acceleration of stochastic approximation by averaging", 1992.
    """

    _like_param = ("ax",)

    def __init__(
        self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False,
        differentiable=False, capturable=False,
    ):  # fmt: skip
        check_settings(lr=lr, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
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
        for entry in self.state.values():
            for name in ("eta", "mu"):
                if name in entry and not isinstance(entry[name], flambeau.Tensor):
                    entry[name] = flambeau.tensor(float(entry[name]), dtype=_get_scalar_dtype())

    def _init_state(self, param, state, group):
        state["step"] = new_step()
        state["eta"] = flambeau.tensor(float(group["lr"]), dtype=_get_scalar_dtype())
        state["mu"] = flambeau.ones((), dtype=_get_scalar_dtype())
        state["ax"] = flambeau.zeros_like(param)

    def _update(self, param, grad, state, group):
        lr, lambd = float(group["lr"]), group["lambd"]
        state["step"] += 1
        step = state["step"].item()
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        eta, mu = state["eta"].item(), state["mu"].item()
        param.mul_(1 - lambd * eta)
        param.add_(grad, alpha=-eta)
        if mu != 1:
            state["ax"].add_(param.sub(state["ax"]).mul_(mu))
        else:
            state["ax"].copy_(param)
        # By way of the default dtype, as in PyTorch: a loaded state holds them in the parameter's dtype.
        state["eta"].copy_(flambeau.as_tensor(lr / ((1 + lambd * lr * step) ** group["alpha"])))
        state["mu"].copy_(flambeau.as_tensor(1 / max(1, step - group["t0"])))
