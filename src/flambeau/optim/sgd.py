"""Stochastic gradient descent. The step is one fused op per group."""

import flambeau
from flambeau import ops

from ._functional import sgd
from .optimizer import Optimizer, check_settings

__all__ = ["SGD", "sgd"]


class SGD(Optimizer):
    """p -= lr * g; with momentum b = momentum * b + (1 - dampening) * g, p -= lr * b.

    Args:
        nesterov: p -= lr * (g + momentum * b).
        weight_decay: adds weight_decay * p to the gradient.
        maximize: go up instead of down.
        foreach, fused: accepted; the step is always fused.
    """

    def __init__(
        self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False,
        foreach=None, differentiable=False, fused=None,
    ):  # fmt: skip
        check_settings(
            lr=lr, momentum=momentum, weight_decay=weight_decay, foreach=foreach, fused=fused,
            differentiable=differentiable,
        )  # fmt: skip
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name in ("nesterov", "maximize", "differentiable"):
                group.setdefault(name, False)
            group.setdefault("foreach", None)
            group.setdefault("fused", None)

    def step(self, closure=None):
        loss = self._loss(closure)
        for group in self.param_groups:
            momentum = group["momentum"]
            settings = (
                float(group["lr"]), momentum, group["dampening"], float(group["weight_decay"]), group["nesterov"],
                group["maximize"],
            )  # fmt: skip
            if group["differentiable"]:
                self._differentiable_step(group["params"], group)
                continue
            if momentum == 0:
                params = [param for param in group["params"] if param.grad is not None]
                params = self._without_sparse(params, group)
                if params:
                    ops._sgd_step(params, [param.grad for param in params], [], *settings, False)
                continue
            # Parameters whose buffer exists already, and those whose first step this is.
            kept, fresh = ([], [], []), ([], [], [])
            params = [param for param in group["params"] if param.grad is not None]
            for param in self._without_sparse(params, group):
                grad = param.grad
                state = self.state[param]
                buffer = state.get("momentum_buffer")
                lists = kept
                if buffer is None:
                    buffer = state["momentum_buffer"] = flambeau.empty_like(param)
                    lists = fresh
                for values, value in zip(lists, (param, grad, buffer), strict=False):
                    values.append(value)
            if kept[0]:
                ops._sgd_step(*kept, *settings, False)
            if fresh[0]:
                ops._sgd_step(*fresh, *settings, True)
        return loss

    def _without_sparse(self, params, group):
        """The parameters with dense gradients, after a step of those with sparse ones: it touches only their rows."""
        sparse = [param for param in params if param.grad.is_sparse]
        if not sparse:
            return params
        with flambeau.no_grad():
            self._differentiable_step(sparse, group)
        return [param for param in params if not param.grad.is_sparse]

    def _differentiable_step(self, params, group):
        """The same step out of ops with gradients, for differentiable=True and for sparse gradients."""
        momentum = group["momentum"]
        for param in params:
            grad = param.grad
            if grad is None:
                continue
            grad = -grad if group["maximize"] else grad
            if group["weight_decay"] != 0:
                grad = grad.add(param, alpha=group["weight_decay"])
            if momentum != 0:
                state = self.state[param]
                buffer = state.get("momentum_buffer")
                if buffer is None:
                    buffer = state["momentum_buffer"] = grad.clone()
                else:
                    buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
                grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
            param.add_(grad, alpha=-float(group["lr"]))
