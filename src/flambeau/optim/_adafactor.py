"""Adafactor."""

import flambeau

from .optimizer import Optimizer, check_settings, new_step

__all__ = ["Adafactor"]


class Adafactor(Optimizer):
    """Steps scaled by a second moment that is kept as a row and a column for every matrix.

    With r and c the running means of g ** 2 over the last two dims, v = r c / mean(r);  u = g / sqrt(v), divided by
    max(1, rms(u) / d);  p -= max(eps[1], rms(p)) * min(lr, 1 / sqrt(t)) * u. The means move by t ** beta2_decay.

    Args:
        eps: (floor of sqrt(v), None: the dtype's epsilon; floor of the parameter's scale).
        d: limit of the step's root mean square.
        weight_decay: p shrinks by lr * weight_decay first.
        foreach: accepted.
    References:
        Shazeer, Stern, "Adafactor: Adaptive Learning Rates with Sublinear Memory Cost", 2018, arXiv:1804.04235.
    """

    def __init__(
        self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None,
        maximize=False,
    ):  # fmt: skip
        if isinstance(lr, flambeau.Tensor):
            check_settings(lr=lr)
        if not 0.0 <= lr:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not 0.0 <= eps[0]:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not 0.0 <= eps[1]:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not 1.0 <= d:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("foreach", None)
        for entry in self.state.values():
            if "step" in entry and not isinstance(entry["step"], flambeau.Tensor):
                entry["step"] = flambeau.tensor(float(entry["step"]), dtype=flambeau.float32)

    def step(self, closure=None):
        loss = self._loss(closure)
        with flambeau.no_grad():
            for group in self.param_groups:
                for param in group["params"]:
                    if param.grad is not None:
                        self._update(param, param.grad, group)
        return loss

    def _state_of(self, param, grad):
        if param.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        state = self.state[param]
        if not state:
            state["step"] = new_step()
            if grad.dim() > 1:
                *lead, rows, columns = grad.shape
                state["row_var"] = grad.new_zeros((*lead, rows, 1))
                state["col_var"] = grad.new_zeros((*lead, 1, columns))
            else:
                state["variance"] = flambeau.zeros_like(grad)
        return state

    def _update(self, param, grad, group):
        state = self._state_of(param, grad)
        grad = -grad if group["maximize"] else grad
        lr = float(group["lr"])
        floor, scale_floor = group["eps"]
        floor = flambeau.finfo(param.dtype).eps if floor is None else floor
        state["step"] += 1
        step = state["step"].item()
        weight = step ** group["beta2_decay"]
        scale = max(scale_floor, _root_mean_square(param))
        if group["weight_decay"] != 0:
            param.mul_(1 - lr * group["weight_decay"])
        if grad.dim() > 1:
            row, column = state["row_var"], state["col_var"]
            row.lerp_(_mean_square(grad, -1), weight)
            column.lerp_(_mean_square(grad, -2), weight)
            variance = (row @ column).div_(row.mean(dim=-2, keepdim=True).clamp_(min=floor))
        else:
            state["variance"].lerp_(grad * grad, weight)
            variance = state["variance"].clone()
        update = variance.clamp_(min=floor * floor).rsqrt_().mul_(grad)
        limit = max(1.0, _root_mean_square(update) / group["d"])
        param.add_(update, alpha=-scale * min(lr, 1 / step**0.5) / limit)


def _root_mean_square(values):
    return values.norm(2).item() / values.numel() ** 0.5


def _mean_square(values, dim):
    # By way of the norm: no second tensor of the gradient's size.
    return values.norm(2, dim, keepdim=True).square_().div_(values.size(dim))
