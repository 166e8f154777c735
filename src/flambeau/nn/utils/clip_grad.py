"""Limits on gradients: by total norm, and by value."""

import flambeau

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
]


def _listed(parameters):
    if isinstance(parameters, flambeau.Tensor):
        return [parameters]
    return list(parameters)


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The p-norm of the norms of all tensors, a 0-d tensor.

    Args:
        norm_type: p; float("inf") is the largest absolute value.
        error_if_nonfinite: raise RuntimeError if it is nan or infinite.
        foreach: accepted; there is one implementation.
    """
    tensors = _listed(tensors)
    norm_type = float(norm_type)
    if not tensors:
        return flambeau.tensor(0.0)
    with flambeau.no_grad():
        norms = [flambeau.norm(t.detach(), norm_type) for t in tensors]
        total = flambeau.norm(flambeau.stack(norms), norm_type)
        if error_if_nonfinite and not bool(flambeau.isfinite(total)):
            raise RuntimeError(
                f"The total norm of order {norm_type} for gradients from "
                "`parameters` is non-finite, so it cannot be clipped. To disable "
                "this error and scale the gradients by the non-finite norm anyway, "
                "set `error_if_nonfinite=False`"
            )
    return total


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scale gradients in place by min(1, max_norm / total_norm)."""
    with flambeau.no_grad():
        # Always multiply, also by 1: looking at the value would be one more branch, and PyTorch does the same.
        factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        for param in _listed(parameters):
            if param.grad is not None:
                param.grad.mul_(factor)


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scale all gradients in place so that their total norm is at most max_norm.

    Args:
        parameters: a tensor or an iterable of tensors.
        max_norm: the largest total norm allowed.
        norm_type: p of the norm; may be float("inf").
        error_if_nonfinite: raise RuntimeError if the norm is nan or infinite.

    Returns:
        The total norm before clipping, a 0-d tensor.
    """
    parameters = _listed(parameters)
    grads = [p.grad for p in parameters if p.grad is not None]
    total = get_total_norm(grads, norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Deprecated: use clip_grad_norm_."""
    import warnings

    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters, clip_value, foreach=None):
    """Clamp all gradients in place to [-clip_value, clip_value]; of complex gradients, both parts."""
    clip_value = float(clip_value)
    with flambeau.no_grad():
        for param in _listed(parameters):
            if param.grad is not None:
                grad = flambeau.view_as_real(param.grad) if param.grad.is_complex() else param.grad
                grad.clamp_(min=-clip_value, max=clip_value)
