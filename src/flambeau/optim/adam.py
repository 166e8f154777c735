"""Adam. The step is one fused op per group."""

import flambeau
from flambeau import ops

from ._functional import adam
from .optimizer import Optimizer, check_settings, new_step

__all__ = ["Adam", "adam"]


class Adam(Optimizer):
    """Adaptive moments.

    m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g ** 2;
    p -= lr * m / (1 - beta1 ** t) / (sqrt(v / (1 - beta2 ** t)) + eps)

    Args:
        amsgrad: divide by the largest v so far.
        maximize: go up instead of down.
        decoupled_weight_decay: shrink the weights instead of adding weight_decay * p to the gradient (AdamW).
        foreach, fused, capturable: accepted; the step is always fused.

    References:
        Kingma, Ba, "Adam: A Method for Stochastic Optimization", 2014, arXiv:1412.6980.
        Reddi et al., "On the Convergence of Adam and Beyond", 2018 (amsgrad).
    """

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None,
        maximize=False, capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False,
    ):  # fmt: skip
        check_settings(
            lr=lr, eps=eps, betas=betas, weight_decay=weight_decay, foreach=foreach, fused=fused,
            differentiable=differentiable,
        )  # fmt: skip
        if isinstance(lr, flambeau.Tensor) and foreach and not capturable:
            raise ValueError(
                "lr as a Tensor is not supported for capturable=False and foreach=True"
            )
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name in (
                "amsgrad",
                "maximize",
                "capturable",
                "differentiable",
                "decoupled_weight_decay",
            ):
                group.setdefault(name, False)
            group.setdefault("foreach", None)
            group.setdefault("fused", None)
            for param in group["params"]:
                entry = self.state.get(param)
                if entry and not isinstance(entry["step"], flambeau.Tensor):
                    entry["step"] = flambeau.tensor(float(entry["step"]), dtype=flambeau.float32)

    def _init_state(self, param, state, amsgrad):
        state["step"] = new_step()
        state["exp_avg"] = flambeau.zeros_like(param)
        state["exp_avg_sq"] = flambeau.zeros_like(param)
        if amsgrad:
            state["max_exp_avg_sq"] = flambeau.zeros_like(param)

    def step(self, closure=None):
        loss = self._loss(closure)
        for group in self.param_groups:
            amsgrad = group["amsgrad"]
            params, grads, averages, squares, largest, steps = [], [], [], [], [], []
            for param in group["params"]:
                grad = param.grad
                if grad is None:
                    continue
                state = self.state[param]
                if not state:
                    self._init_state(param, state, amsgrad)
                params.append(param)
                grads.append(grad)
                averages.append(state["exp_avg"])
                squares.append(state["exp_avg_sq"])
                steps.append(state["step"])
                if amsgrad:
                    largest.append(state["max_exp_avg_sq"])
            if not params:
                continue
            if group["differentiable"]:
                _differentiable_step(group, params, grads, averages, squares, largest, steps)
                continue
            beta1, beta2 = group["betas"]
            ops._adam_step(
                params, grads, averages, squares, largest, steps, float(group["lr"]), float(beta1), float(beta2),
                group["weight_decay"], group["eps"], amsgrad, group["maximize"], group["decoupled_weight_decay"],
            )  # fmt: skip
        return loss


def _differentiable_step(group, params, grads, averages, squares, largest, steps):
    """The same step out of ops with gradients, for differentiable=True."""
    beta1, beta2 = group["betas"]
    for i, (param, grad) in enumerate(zip(params, grads, strict=False)):
        if group["maximize"]:
            grad = -grad
        step = steps[i]
        step += 1
        if group["weight_decay"] != 0:
            if group["decoupled_weight_decay"]:
                param.mul_(1 - group["lr"] * group["weight_decay"])
            else:
                grad = grad.add(param, alpha=group["weight_decay"])
        averages[i].lerp_(grad, 1 - beta1)
        squares[i].mul_(beta2).addcmul_(grad, grad.conj(), value=1 - beta2)
        count = step.item()
        step_size = group["lr"] / (1 - beta1**count)
        second = squares[i]
        if group["amsgrad"]:
            largest[i].copy_(flambeau.maximum(largest[i].clone(), squares[i]))
            second = largest[i]
        denominator = second.sqrt() / (1 - beta2**count) ** 0.5 + group["eps"]
        # A copy: the next step changes the average that backward of this one reads.
        param.addcdiv_(averages[i].clone(), denominator, value=-step_size)
