"""Jacobians, Hessians and products with them.

By reverse mode (jvp and hvp differentiate a backward again), unless strategy="forward-mode" says otherwise.
"""

from .. import _C
from ._api import grad as autograd_grad
from .grad_mode import enable_grad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def _tensors(value, what, function):
    """(is a tuple, tuple of tensors), or TypeError in PyTorch's words."""
    is_tuple = isinstance(value, tuple)
    items = value if is_tuple else (value,)
    for index, item in enumerate(items):
        if not isinstance(item, _C.TensorBase):
            if is_tuple:
                raise TypeError(
                    f"The {what} given to {function} must be either a Tensor or a tuple of Tensors but the "
                    "value at index "
                    f"{index} has type {type(item)}."
                )
            raise TypeError(
                f"The {what} given to {function} must be either a Tensor or a tuple of Tensors but the "
                f"given {what} has "
                f"type {type(item)}."
            )
    return is_tuple, items


def _prepare(inputs, create_graph):
    """Inputs that require grad: views of the given ones when the result shall be differentiable in them."""
    return tuple(
        value.view_as(value)
        if create_graph and value.requires_grad
        else value.detach().requires_grad_()
        for value in inputs
    )


def _finish(tensors, create_graph):
    if isinstance(tensors, tuple):
        return tuple(_finish(tensor, create_graph) for tensor in tensors)
    return tensors if create_graph else tensors.detach()


def _unwrap(tensors, is_tuple):
    return tensors if is_tuple else tensors[0]


def _check_strict(outputs, strict):
    for index, output in enumerate(outputs):
        if strict and not output.requires_grad:
            raise RuntimeError(
                f"Output {index} of the user-provided function does not require gradients. The outputs "
                "must be computed in "
                "a differentiable manner from the input when running in strict mode."
            )


def _check_vector(v, reference, is_tuple):
    if len(reference) != len(v):
        if is_tuple:
            raise RuntimeError(
                f"v is a tuple of invalid length: should be {len(reference)} but got {len(v)}."
            )
        raise RuntimeError("The given v should contain a single Tensor.")
    for index, (vector, value) in enumerate(zip(v, reference, strict=True)):
        if vector.shape != value.shape:
            prefix = f"Entry {index} in " if is_tuple else ""
            raise RuntimeError(
                f"{prefix}v has invalid size: should be {value.shape} but got {vector.shape}."
            )


def _vector(v, reference, function):
    """The cotangent or tangent `v`, ones for a single one-element tensor when it is None."""
    if v is not None:
        is_tuple, vectors = _tensors(v, "v", function)
        _check_vector(vectors, reference, is_tuple)
        return vectors
    if len(reference) != 1 or reference[0].numel() != 1:
        what = (
            "the input to the user-provided function is"
            if function in ("jvp", "hvp", "vhp")
            else "the user-provided function returns"
        )
        raise RuntimeError(
            f"The vector v can only be None if {what} a single Tensor with a single element."
        )
    return (reference[0].detach().new_ones(reference[0].shape),)


def _grad(outputs, inputs, grad_outputs, create_graph):
    """Gradients, with None for outputs and inputs that nothing leads to."""
    chosen = [
        (o, g)
        for o, g in zip(outputs, grad_outputs, strict=True)
        if o is not None and o.requires_grad
    ]
    if not chosen:
        return (None,) * len(inputs)
    return autograd_grad(
        tuple(o for o, _ in chosen),
        inputs,
        tuple(g for _, g in chosen),
        allow_unused=True,
        create_graph=create_graph,
        retain_graph=True,
    )


def _fill(grads, references, strict, create_graph, stage):
    """Zeros for what is None, or the error of strict mode."""
    filled = []
    for index, (grad, reference) in enumerate(zip(grads, references, strict=True)):
        if grad is None:
            if strict:
                raise RuntimeError(_strict_message(stage, index, used=False))
            grad = reference.detach().new_zeros(reference.shape)
        elif strict and create_graph and not grad.requires_grad:
            raise RuntimeError(_strict_message(stage, index, used=True))
        filled.append(grad)
    return tuple(filled)


def _strict_message(stage, index, used):
    if stage in ("hessian", "hvp", "vhp") and used is False:
        return (
            f"While computing the {'hessian' if stage == 'hessian' else stage}, found that the "
            "jacobian of the user-provided "
            f"function with respect to input {index} is independent of the input. This is not "
            "allowed in strict mode. You "
            "should ensure that your function is twice differentiable and that the jacobian "
            "depends on the inputs (this "
            "would be violated by a linear function for example)."
        )
    if used:
        return (
            f"The {stage} of the user-provided function is independent of input {index}. This is "
            "not allowed in strict mode "
            "when create_graph=True."
        )
    return f"Output of the user-provided function is independent of input {index}. This is not allowed in strict mode."


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """Compute func(inputs) and the vector-Jacobian product vᵀ J.

    Args:
        func: takes tensors, returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of them.
        v: like the output of func; may be None if that is one element.
        create_graph: make the results differentiable.
        strict: raise when an output does not depend on an input, instead of giving zeros.
    Returns:
        (outputs, product): product is like inputs.
    Example:
        >>> import flambeau
        >>> x = flambeau.tensor([1.0, 2.0])
        >>> flambeau.autograd.functional.vjp(lambda t: t * t, x, flambeau.ones(2))[1]
        tensor([2., 4.])
    """
    with enable_grad():
        is_tuple, values = _tensors(inputs, "inputs", "vjp")
        values = _prepare(values, create_graph)
        outputs_tuple, outputs = _tensors(
            func(*values), "outputs of the user-provided function", "vjp"
        )
        _check_strict(outputs, strict)
        vectors = _vector(v, outputs, "vjp")
        grads = _fill(
            _grad(outputs, values, vectors, create_graph), values, strict, create_graph, "vjp"
        )
    return _unwrap(_finish(outputs, create_graph), outputs_tuple), _unwrap(
        _finish(grads, create_graph), is_tuple
    )


def _double_backward(outputs, values, vectors, create_graph):
    """J v as the gradient of uᵀ J v in u: the vjp is linear in its cotangent u."""
    dummies = tuple(output.detach().new_zeros(output.shape).requires_grad_() for output in outputs)
    grads = _grad(outputs, values, dummies, create_graph=True)
    return _grad(grads, dummies, vectors, create_graph)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """Compute func(inputs) and the Jacobian-vector product J v.

    Args:
        func: takes tensors, returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of them.
        v: like inputs; may be None if that is one element.
        create_graph: make the results differentiable.
        strict: raise when an output does not depend on an input, instead of giving zeros.
    Returns:
        (outputs, product): product is like outputs.
    Example:
        >>> import flambeau
        >>> x = flambeau.tensor([1.0, 2.0])
        >>> flambeau.autograd.functional.jvp(lambda t: t * t, x, flambeau.ones(2))[1]
        tensor([2., 4.])
    """
    with enable_grad():
        _, values = _tensors(inputs, "inputs", "jvp")
        values = _prepare(values, create_graph)
        vectors = _vector(v, values, "jvp")
        outputs_tuple, outputs = _tensors(
            func(*values), "outputs of the user-provided function", "jvp"
        )
        _check_strict(outputs, strict)
        found = _double_backward(outputs, values, vectors, create_graph)
        products = _fill(found, outputs, strict, create_graph, "jvp")
    return _unwrap(_finish(outputs, create_graph), outputs_tuple), _unwrap(
        _finish(products, create_graph), outputs_tuple
    )


def jacobian(
    func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"
):
    """Compute the Jacobian of func.

    Args:
        func: takes tensors, returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of them.
        create_graph: make the result differentiable.
        strict: raise when an output does not depend on an input, instead of giving zeros.
        vectorize: accepted; the result is the same.
        strategy: "reverse-mode" runs a backward per output element; "forward-mode" runs func per input element, which
            is less work when there are fewer of those. It goes with neither create_graph nor strict.
    Returns:
        A tensor of shape (*output shape, *input shape); a tuple of them for several inputs, a tuple of those for
        several outputs.
    Example:
        >>> import flambeau
        >>> flambeau.autograd.functional.jacobian(lambda t: t * t, flambeau.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    if strategy not in ("reverse-mode", "forward-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')
    if vectorize and strict:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. "
            "Please either set `strict=False` or `vectorize=False`."
        )
    if strategy == "forward-mode":
        if create_graph or strict:
            given = "create_graph" if create_graph else "strict"
            raise (NotImplementedError if create_graph else RuntimeError)(
                f'torch.autograd.functional.jacobian: `{given}=True` and `strategy="forward-mode"` are not supported '
                f'together (yet). Please either set `{given}=False` or `strategy="reverse-mode"`.'
            )
        with enable_grad():
            return _forward_jacobian(func, inputs)
    from .. import stack

    with enable_grad():
        is_tuple, values = _tensors(inputs, "inputs", "jacobian")
        values = _prepare(values, create_graph)
        outputs_tuple, outputs = _tensors(
            func(*values), "outputs returned by the user-provided function", "jacobian"
        )
        _check_strict(outputs, strict)
        rows = []
        for output in outputs:
            columns = [[] for _ in values]
            for k in range(output.numel()):
                seed = output.detach().new_zeros(output.numel())
                seed[k] = 1
                found = _grad((output,), values, (seed.view(output.shape),), create_graph)
                for column, grad in zip(
                    columns, _fill(found, values, strict, create_graph, "jacobian"), strict=True
                ):
                    column.append(grad)
            rows.append(
                tuple(
                    stack(column).view((*output.shape, *value.shape))
                    if column
                    else value.detach().new_zeros((*output.shape, *value.shape))
                    for column, value in zip(columns, values, strict=True)
                )
            )
    rows = _finish(tuple(rows), create_graph)
    return _unwrap(tuple(_unwrap(row, is_tuple) for row in rows), outputs_tuple)


def _forward_jacobian(func, inputs):
    """Column by column: func on a dual tensor for each element of the inputs."""
    from .. import stack

    is_tuple, values = _tensors(inputs, "inputs", "jacobian")
    values = tuple(value.detach() for value in values)

    def run(points):
        return _tensors(func(*points), "outputs returned by the user-provided function", "jacobian")

    columns = []  # per input, per output: one tangent per element of the input
    outputs_tuple, outputs = run(values)
    for index, value in enumerate(values):
        found = [[] for _ in outputs]
        for k in range(value.numel()):
            seed = value.new_zeros(value.numel())
            seed[k] = 1
            tangents = _directional(run, values, {index: seed.view(value.shape)})
            for column, tangent in zip(found, tangents, strict=True):
                column.append(tangent)
        columns.append(found)
    rows = tuple(
        tuple(
            stack(found[o], -1).view((*output.shape, *value.shape))
            if found[o]
            else output.detach().new_zeros((*output.shape, *value.shape))
            for found, value in zip(columns, values, strict=True)
        )
        for o, output in enumerate(outputs)
    )
    return _unwrap(tuple(_unwrap(row, is_tuple) for row in rows), outputs_tuple)


def _directional(run, values, tangents):
    """Detached tangents of run(values)[1]; zeros for outputs without one. `tangents` are of values, by position."""
    from . import forward_ad

    with forward_ad.dual_level():
        points = [
            forward_ad.make_dual(value, tangents[i]) if i in tangents else value
            for i, value in enumerate(values)
        ]
        found = [(output, forward_ad.unpack_dual(output).tangent) for output in run(points)[1]]
    return [
        output.detach().new_zeros(output.shape) if tangent is None else tangent.detach()
        for output, tangent in found
    ]


def _scalar(func, function):
    def checked(*values):
        output = func(*values)
        _, outputs = _tensors(output, "outputs of the user-provided function", function)
        if len(outputs) != 1:
            raise RuntimeError(f"The function given to {function} should return a single Tensor")
        if outputs[0].numel() != 1:
            raise RuntimeError(
                f"The Tensor returned by the function given to {function} should contain a single element"
            )
        return outputs[0].squeeze()

    return checked


def hessian(
    func,
    inputs,
    create_graph=False,
    strict=False,
    vectorize=False,
    outer_jacobian_strategy="reverse-mode",
):
    """Compute the Hessian of a scalar function.

    Args:
        func: takes tensors, returns a tensor of one element.
        inputs: a tensor or a tuple of them.
        create_graph: make the result differentiable.
        strict: raise when the gradient does not depend on an input, instead of giving zeros.
        vectorize: accepted; the result is the same.
        outer_jacobian_strategy: "reverse-mode" or "forward-mode": how the gradient is differentiated.
    Returns:
        A tensor of shape (*input shape, *input shape); for several inputs a tuple of tuples.
    Example:
        >>> import flambeau
        >>> flambeau.autograd.functional.hessian(lambda t: (t**3).sum(), flambeau.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    is_tuple, values = _tensors(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("reverse-mode", "forward-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')
    scalar = _scalar(func, "hessian")
    forward = outer_jacobian_strategy == "forward-mode"

    def gradient(*points):
        if forward:
            points = tuple(point.requires_grad_() for point in points)
        output = scalar(*points)
        _check_strict((output,), strict)
        # Tangents need no graph of the gradient.
        grads = _grad(
            (output,), points, (output.detach().new_ones(output.shape),), create_graph=not forward
        )
        filled = _fill(grads, points, strict, False, "jacobian")
        for index, grad in enumerate(filled):
            if strict and not grad.requires_grad:
                raise RuntimeError(_strict_message("hessian", index, used=False))
        return filled

    rows = jacobian(
        gradient, values, create_graph, strict, vectorize, strategy=outer_jacobian_strategy
    )
    return rows if is_tuple else rows[0][0]


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """Compute func(inputs) and the vector-Hessian product vᵀ H of a scalar function.

    Args:
        func: takes tensors, returns a tensor of one element.
        inputs, v: a tensor or a tuple of them; v may be None for one element.
        create_graph: make the results differentiable.
        strict: raise when the gradient does not depend on an input, instead of giving zeros.
    Returns:
        (output, product): product is like inputs.
    Example:
        >>> import flambeau
        >>> flambeau.autograd.functional.vhp(lambda t: (t**3).sum(), flambeau.ones(2), flambeau.ones(2))[1]
        tensor([6., 6.])
    """
    with enable_grad():
        is_tuple, values = _tensors(inputs, "inputs", "vhp")
        values = _prepare(values, create_graph)
        vectors = _vector(v, values, "vhp")
        output = _scalar(func, "vhp")(*values)
        _check_strict((output,), strict)
        grads = _grad((output,), values, (None,), create_graph=True)
        grads = _fill(grads, values, strict, False, "vhp")
        products = _fill(
            _grad(grads, values, vectors, create_graph), values, strict, create_graph, "vhp"
        )
    return _finish(output, create_graph), _unwrap(_finish(products, create_graph), is_tuple)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """Compute func(inputs) and the Hessian-vector product H v of a scalar function. vhp is the same and faster.

    Args:
        func: takes tensors, returns a tensor of one element.
        inputs, v: a tensor or a tuple of them; v may be None for one element.
        create_graph: make the results differentiable.
        strict: raise when the gradient does not depend on an input, instead of giving zeros.
    Returns:
        (output, product): product is like inputs.
    Example:
        >>> import flambeau
        >>> flambeau.autograd.functional.hvp(lambda t: (t**3).sum(), flambeau.ones(2), flambeau.ones(2))[1]
        tensor([6., 6.])
    """
    with enable_grad():
        is_tuple, values = _tensors(inputs, "inputs", "hvp")
        values = _prepare(values, create_graph)
        vectors = _vector(v, values, "hvp")
        output = _scalar(func, "hvp")(*values)
        _check_strict((output,), strict)
        grads = _fill(
            _grad((output,), values, (None,), create_graph=True), values, strict, False, "hvp"
        )
        found = _double_backward(grads, values, vectors, create_graph)
        products = _fill(found, values, strict, create_graph, "hvp")
    return _finish(output, create_graph), _unwrap(_finish(products, create_graph), is_tuple)
