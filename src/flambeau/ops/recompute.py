"""Second derivatives of fused ops: their gradient again, as a differentiable computation over plain ops."""

from .. import _C

__all__ = ["recomputed_vjp"]


def _alias(x):
    """`x` as something to differentiate in; forward mode asks for it in tensors that do not require grad themselves."""
    if x is None:
        return None
    if x.requires_grad:
        return x.view_as(x)
    tangents = _C._is_dual_level_active() and (x.is_floating_point() or x.is_complex())
    return x.view_as(x).requires_grad_() if tangents else x


def recomputed_vjp(function, inputs, cotangents):
    """Gradients of function(*inputs) in each input, with a graph, by running `function` again.

    Fused ops have one-pass gradient kernels that are not differentiable themselves. When a graph of the gradient is
    asked for (create_graph, or forward mode over a backward), their rules call this instead.

    Args:
        function: composite of differentiable ops; returns a tuple of tensors.
        inputs: tensors or None.
        cotangents: one per result, or None.
    Returns:
        One tensor or None per input.
    """
    from ..autograd import enable_grad, grad

    create_graph = _C.is_grad_enabled()  # False: only tangents are wanted
    with enable_grad():
        # Aliases: one tensor may be passed as several inputs, whose gradients are separate.
        aliases = [_alias(x) for x in inputs]
        outputs = function(*aliases)
        pairs = [
            (y, g)
            for y, g in zip(outputs, cotangents, strict=True)
            if g is not None and y.requires_grad
        ]
        wanted = [x for x in aliases if x is not None and x.requires_grad]
        if not pairs or not wanted:
            return tuple(None for _ in inputs)
        grads = iter(
            grad(
                [y for y, _ in pairs],
                wanted,
                [g for _, g in pairs],
                create_graph=create_graph,
                allow_unused=True,
            )
        )
        return tuple(next(grads) if x is not None and x.requires_grad else None for x in aliases)
