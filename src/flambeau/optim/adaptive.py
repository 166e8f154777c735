"""Optimizers with per-element learning rates: Adagrad, Adadelta, RMSprop, Rprop."""

import flambeau
from flambeau import ops

from .optimizer import ElementwiseOptimizer, check_settings, entries, new_step, own

__all__ = ["Adadelta", "Adagrad", "RMSprop", "Rprop"]


def _set_defaults(optimizer, **defaults):
    """Settings that states of older versions lack; step counts that are numbers become tensors."""
    for group in optimizer.param_groups:
        for name, value in defaults.items():
            group.setdefault(name, value)
    for entry in optimizer.state.values():
        if "step" in entry and not isinstance(entry["step"], flambeau.Tensor):
            entry["step"] = flambeau.tensor(float(entry["step"]), dtype=flambeau.float32)


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
        _set_defaults(self, foreach=None, maximize=False, differentiable=False, fused=None)

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


class Adadelta(ElementwiseOptimizer):
    """Steps in units of past steps: d = sqrt(u + eps) / sqrt(v + eps) * g, v and u running means of g ** 2 and d ** 2.

    References:
        Zeiler, "ADADELTA: An Adaptive Learning Rate Method", 2012, arXiv:1212.5701.
    """

    _like_param = ("square_avg", "acc_delta")

    def __init__(
        self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False, maximize=False,
        differentiable=False,
    ):  # fmt: skip
        check_settings(lr=lr, weight_decay=weight_decay, eps=eps)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state):
        super().__setstate__(state)
        _set_defaults(self, foreach=None, maximize=False, differentiable=False, capturable=False)

    def _init_state(self, param, state, group):
        state["step"] = new_step()
        state["square_avg"] = flambeau.zeros_like(param)
        state["acc_delta"] = flambeau.zeros_like(param)

    def _fused(self, group, params, grads, states):
        ops._adadelta_step(
            params, grads, entries(states, "square_avg"), entries(states, "acc_delta"), entries(states, "step"),
            float(group["lr"]), group["rho"], group["eps"], group["weight_decay"], group["maximize"],
        )  # fmt: skip

    def _update(self, param, grad, state, group):
        rho, eps = group["rho"], group["eps"]
        state["step"] += 1
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        square_avg, acc_delta = state["square_avg"], state["acc_delta"]
        square_avg.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        std = square_avg.add(eps).sqrt_()
        delta = acc_delta.add(eps).sqrt_()
        if group["differentiable"]:
            delta = delta.clone()
        delta.div_(std).mul_(grad)
        acc_delta.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        param.add_(delta, alpha=-float(group["lr"]))


class RMSprop(ElementwiseOptimizer):
    """v = alpha v + (1 - alpha) g ** 2;  p -= lr * g / (sqrt(v) + eps), optionally centred and with momentum.

    References:
        Tieleman, Hinton, lecture 6.5 of "Neural Networks for Machine Learning", 2012.
    """

    _like_param = ("square_avg", "momentum_buffer", "grad_avg")

    def __init__(
        self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, capturable=False,
        foreach=None, maximize=False, differentiable=False,
    ):  # fmt: skip
        check_settings(lr=lr, eps=eps, momentum=momentum, weight_decay=weight_decay)
        if not 0.0 <= alpha:
            raise ValueError(f"Invalid alpha value: {alpha}")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state):
        super().__setstate__(state)
        _set_defaults(
            self,
            momentum=0,
            centered=False,
            foreach=None,
            maximize=False,
            differentiable=False,
            capturable=False,
        )

    def _init_state(self, param, state, group):
        state["step"] = new_step()
        state["square_avg"] = flambeau.zeros_like(param)
        if group["momentum"] > 0:
            state["momentum_buffer"] = flambeau.zeros_like(param)
        if group["centered"]:
            state["grad_avg"] = flambeau.zeros_like(param)

    def _fused(self, group, params, grads, states):
        centered, momentum = group["centered"], group["momentum"]
        ops._rmsprop_step(
            params, grads, entries(states, "square_avg"), entries(states, "grad_avg") if centered else [],
            entries(states, "momentum_buffer") if momentum > 0 else [], entries(states, "step"), float(group["lr"]),
            group["alpha"], group["eps"], group["weight_decay"], momentum, centered, group["maximize"],
        )  # fmt: skip

    def _update(self, param, grad, state, group):
        alpha, lr = group["alpha"], float(group["lr"])
        state["step"] += 1
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        square_avg = state["square_avg"]
        square_avg.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            grad_avg = state["grad_avg"]
            grad_avg.lerp_(grad, 1 - alpha)
            average = square_avg.addcmul(grad_avg, grad_avg, value=-1).sqrt_()
        else:
            average = square_avg.sqrt()
        average = (
            average.add(group["eps"]) if group["differentiable"] else average.add_(group["eps"])
        )
        if group["momentum"] > 0:
            buffer = state["momentum_buffer"]
            buffer.mul_(group["momentum"]).addcdiv_(grad, average)
            param.add_(buffer, alpha=-lr)
        else:
            param.addcdiv_(grad, average, value=-lr)


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
        _set_defaults(self, foreach=None, maximize=False, differentiable=False, capturable=False)

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
