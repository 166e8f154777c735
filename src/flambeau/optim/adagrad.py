"""Adagrad."""

import flambeau
from flambeau import ops

from ._functional import adagrad
from .optimizer import ElementwiseOptimizer, check_settings, entries, new_step, set_defaults

__all__ = ["Adagrad", "adagrad"]


class Adagrad(ElementwiseOptimizer):
    """s += g ** 2;  p -= lr / (1 + (t - 1) lr_decay) * g / (sqrt(s) + eps).

    References:
        Duchi, Hazan, Singer, "Adaptive Subgradient Methods", 2011.
    """

    _like_param = ("sum",)
    _takes_sparse = True

    def __init__(
        self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None, *,
        maximize=False, differentiable=False, fused=None,
    ):  # fmt: skip
        check_settings(
            lr=lr, weight_decay=weight_decay, eps=eps, foreach=foreach, fused=fused,
            differentiable=differentiable,
        )  # fmt: skip
        if not 0.0 <= lr_decay:
            raise ValueError(f"Invalid lr_decay value: {lr_decay}")
        if not 0.0 <= initial_accumulator_value:
            raise ValueError(
                f"Invalid initial_accumulator_value value: {initial_accumulator_value}"
            )
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for param in group["params"]:
                self._init_state(param, self.state[param], group)

    def __setstate__(self, state):
        super().__setstate__(state)
        set_defaults(self, foreach=None, maximize=False, differentiable=False, fused=None)

    def share_memory(self):
        """Move the state to shared memory where tensors support it."""
        for group in self.param_groups:
            for param in group["params"]:
                self.state[param]["sum"].share_memory_()

    def _init_state(self, param, state, group):
        initial = group["initial_accumulator_value"]
        state["step"] = new_step()
        state["sum"] = flambeau.full_like(
            param, complex(initial, initial) if param.is_complex() else initial
        )

    def _fused(self, group, params, grads, states):
        ops._adagrad_step(
            params, grads, entries(states, "sum"), entries(states, "step"), float(group["lr"]), group["lr_decay"],
            group["weight_decay"], group["eps"], group["maximize"],
        )  # fmt: skip

    def _update(self, param, grad, state, group):
        state["step"] += 1
        if group["weight_decay"] != 0:
            if grad.is_sparse:
                raise RuntimeError("weight_decay option is not compatible with sparse gradients")
            grad = grad.add(param, alpha=group["weight_decay"])
        rate = float(group["lr"]) / (1 + (state["step"].item() - 1) * group["lr_decay"])
        if grad.is_sparse:
            _sparse_adagrad(param, grad.coalesce(), state["sum"], rate, group["eps"])
            return
        state["sum"].addcmul_(grad, grad, value=1)
        param.addcdiv_(grad, state["sum"].sqrt().add(group["eps"]), value=-rate)


def _sparse_adagrad(param, grad, total, rate, eps):
    """The step on the rows that the gradient has; the others do not change."""
    size, indices, values = grad.shape, grad._indices(), grad._values()

    def rows(new_values):
        return flambeau.sparse_coo_tensor(indices, new_values, size, is_coalesced=True)

    total.add_(rows(values.pow(2)))
    deviation = total.sparse_mask(grad)._values().sqrt().add_(eps)
    param.add_(rows(values / deviation), alpha=-rate)
