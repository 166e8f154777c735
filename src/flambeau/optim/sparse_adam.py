"""SparseAdam."""

import math

import flambeau

from .optimizer import Optimizer, check_settings

__all__ = ["SparseAdam"]


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
