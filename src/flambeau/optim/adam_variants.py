"""Relatives of Adam: Adamax, NAdam, RAdam, ASGD; SparseAdam is refused."""

import math

import flambeau
from flambeau import ops

from .adaptive import _set_defaults
from .optimizer import ElementwiseOptimizer, Optimizer, check_settings, entries, new_step, own

__all__ = ["ASGD", "Adamax", "NAdam", "RAdam", "SparseAdam"]


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
        _set_defaults(self, foreach=None, maximize=False, differentiable=False, capturable=False)

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


class _TwoMoments(ElementwiseOptimizer):
    _like_param = ("exp_avg", "exp_avg_sq")

    def _decay(self, param, grad, group):
        decay = group["weight_decay"]
        if decay == 0:
            return grad
        if group["decoupled_weight_decay"]:
            param.mul_(1 - float(group["lr"]) * decay)
            return grad
        return grad.add(param, alpha=decay)

    def _moments(self, grad, state, betas):
        state["exp_avg"].lerp_(grad, 1 - betas[0])
        state["exp_avg_sq"].mul_(betas[1]).addcmul_(grad, grad, value=1 - betas[1])


class NAdam(_TwoMoments):
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
        _set_defaults(
            self,
            maximize=False,
            foreach=None,
            capturable=False,
            differentiable=False,
            decoupled_weight_decay=False,
        )

    def _init_state(self, param, state, group):
        state["step"] = new_step()
        state["mu_product"] = flambeau.ones((), dtype=flambeau.float32)
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


class RAdam(_TwoMoments):
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
        _set_defaults(
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
        _set_defaults(self, foreach=None, maximize=False, differentiable=False, capturable=False)
        for entry in self.state.values():
            for name in ("eta", "mu"):
                if name in entry and not isinstance(entry[name], flambeau.Tensor):
                    entry[name] = flambeau.tensor(float(entry[name]), dtype=flambeau.float32)

    def _init_state(self, param, state, group):
        state["step"] = new_step()
        state["eta"] = flambeau.tensor(float(group["lr"]), dtype=flambeau.float32)
        state["mu"] = flambeau.ones((), dtype=flambeau.float32)
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


class SparseAdam(Optimizer):
    """Adam on the rows that sparse gradients have: moments and parameters of other rows stay as they are.

    Args:
        lr, betas, eps, maximize: as in Adam.
    Raises:
        ValueError: a parameter is sparse or complex.
        RuntimeError: a gradient is dense.
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        if isinstance(lr, flambeau.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 < lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 < eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_settings(betas=betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        places = [
            ([i, j], param)
            for i, group in enumerate(self.param_groups)
            for j, param in enumerate(group["params"])
        ]
        sparse = [place for place, param in places if param.is_sparse]
        if sparse:
            raise ValueError(
                f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors"
            )
        numbers = [place for place, param in places if param.is_complex()]
        if numbers:
            raise ValueError(
                f"Complex params at indices {numbers}: SparseAdam does not support complex parameters"
            )

    def step(self, closure=None):
        loss = self._loss(closure)
        with flambeau.no_grad():
            for group in self.param_groups:
                for param in group["params"]:
                    if param.grad is None:
                        continue
                    if not param.grad.is_sparse:
                        raise RuntimeError(
                            "SparseAdam does not support dense gradients, please consider Adam instead"
                        )
                    state = self.state[param]
                    if not state:
                        state["step"] = 0
                        state["exp_avg"] = flambeau.zeros_like(param)
                        state["exp_avg_sq"] = flambeau.zeros_like(param)
                    state["step"] += 1
                    _sparse_adam(param, param.grad, state, group)
        return loss


def _sparse_adam(param, grad, state, group):
    """One step; each moment moves by (1 - beta) of its distance to the new value."""
    beta1, beta2 = group["betas"]
    grad = (-grad if group["maximize"] else grad).coalesce()
    indices, values = grad._indices(), grad._values()
    if values.numel() == 0:
        return

    def rows(new_values):
        return flambeau.sparse_coo_tensor(indices, new_values, grad.shape, is_coalesced=True)

    old_average = state["exp_avg"].sparse_mask(grad)._values()
    average_change = values.sub(old_average).mul_(1 - beta1)
    state["exp_avg"].add_(rows(average_change))
    old_square = state["exp_avg_sq"].sparse_mask(grad)._values()
    square_change = values.pow(2).sub_(old_square).mul_(1 - beta2)
    state["exp_avg_sq"].add_(rows(square_change))
    numerator = average_change.add_(old_average)
    denominator = square_change.add_(old_square).sqrt_().add_(group["eps"])
    count = state["step"]
    step_size = float(group["lr"]) * math.sqrt(1 - beta2**count) / (1 - beta1**count)
    param.add_(rows(numerator.div_(denominator).mul_(-step_size)))
