"""Gradients of backward ops: a fused kernel is differentiated through a formula of plain ops that equals it."""


def differentiate(formula, arguments, needs, cotangents):
    """Vector-Jacobian products of formula(*arguments), for the arguments where `needs` says so.

    Args:
        formula: function of the tensors `arguments`, returning a tuple of tensors.
        needs: one bool per argument.
        cotangents: one per result of formula; None is zero.
    Returns:
        A tuple with a cotangent (or None) per argument; it has a history itself when gradients are recorded.
    """
    from ..autograd import enable_grad, grad, is_grad_enabled

    create_graph = is_grad_enabled()
    with enable_grad():
        # Aliases: differentiating must stop here, and still leave the results connected to the arguments' own history.
        aliases = []
        for argument, needed in zip(arguments, needs, strict=True):
            if argument is not None and needed:
                argument = argument.view_as(argument)
                if not argument.requires_grad:
                    argument.requires_grad_()
            aliases.append(argument)
        results = formula(*aliases)
        pairs = [
            (r, c)
            for r, c in zip(results, cotangents, strict=True)
            if r is not None and c is not None and r.requires_grad
        ]
        wanted = [a for a, needed in zip(aliases, needs, strict=True) if needed and a is not None]
        if not pairs or not wanted:
            return (None,) * len(aliases)
        found = iter(
            grad(
                [r for r, _ in pairs],
                wanted,
                [c for _, c in pairs],
                create_graph=create_graph,
                allow_unused=True,
            )
        )
    return tuple(
        next(found) if needed and a is not None else None
        for a, needed in zip(aliases, needs, strict=True)
    )
