"""Softmax with an implicit dim, and gumbel_softmax; the other activations are ops."""

from flambeau import ops

__all__ = ["gumbel_softmax", "log_softmax", "softmax", "softmin"]


def _implicit_dim(name, ndim, stacklevel):
    import warnings

    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. "
        "Change the call to include dim=X as an argument.",
        stacklevel=stacklevel + 1,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """exp(input) / sum(exp(input)) along dim, computed in dtype if given."""
    if dim is None:
        dim = _implicit_dim("softmax", input.dim(), _stacklevel)
    return ops.softmax(input, dim, dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """Softmax of -input."""
    if dim is None:
        dim = _implicit_dim("softmin", input.dim(), _stacklevel)
    return ops.softmax(-input, dim, dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """log(softmax(input, dim))."""
    if dim is None:
        dim = _implicit_dim("log_softmax", input.dim(), _stacklevel)
    return ops.log_softmax(input, dim, dtype)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """Sample from the Gumbel-softmax distribution of (unnormalised) logits.

    Args:
        tau: temperature; smaller is closer to one-hot.
        hard: return one-hot samples; the gradient is that of the soft ones.
        eps: unused.
    """
    if eps != 1e-10:
        import warnings

        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    gumbels = -ops.empty_like(logits).exponential_().log()
    soft = ((logits + gumbels) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    one_hot = ops.zeros_like(logits).scatter_(dim, index, 1.0)
    return one_hot - soft.detach() + soft
