"""Elementwise functions of three tensors: where, clamp, lerp, addcmul, addcdiv."""

from .registry import composite, native, overload

_where_self = native(
    "where_self(Tensor condition, Tensor input, Tensor other) -> Tensor",
    out=True,
    doc="""Choose from input where condition is true, else from other.

    Args:
        condition: bool, shape that broadcasts with the others.
        input, other: any dtypes; each may be a number. Without them: the indices where condition is true, one
            int64 tensor per dim.
    Returns:
        The promoted dtype of input and other, the broadcast shape.
    Differentiable in input and other.
    Example:
        >>> x = flambeau.tensor([-1.0, 2.0])
        >>> flambeau.where(x > 0, x, 0.0)
        tensor([0., 2.])
    """,
)


@_where_self.vjp("condition")
def _(grad):
    return None


@_where_self.vjp("input")
def _(grad, condition):
    return _where_self(condition, grad, 0)


@_where_self.vjp("other")
def _(grad, condition):
    return _where_self(condition, 0, grad)


def _where_indices(condition):
    from .index import nonzero

    return nonzero(condition, as_tuple=True)


where = overload("where", _where_self, _where_indices)


@composite(methods=("where",))
def _where_method(input, condition, other):
    """Input where condition is true, else other."""
    return _where_self(condition, input, other)


_clamp_scalar = native(
    "clamp(Tensor input, Scalar? min=None, Scalar? max=None) -> Tensor",
    inplace=True,
    out=True,
    doc="""Limit values to [min, max].

    Where min > max the result is max; NaN stays.

    Args:
        input: real, not bool.
        min, max: numbers or tensors that broadcast; None for no limit, but not both.
    Raises:
        RuntimeError: both limits are None.
    Differentiable in input (0 outside the limits) and in limits that are tensors.
    Example:
        >>> flambeau.clamp(flambeau.tensor([-2.0, 0.5, 2.0]), -1, 1)
        tensor([-1.0000,  0.5000,  1.0000])
    """,
)


@_clamp_scalar.vjp
def _(grad, input, min, max):
    if min is not None and max is not None:
        return _where_self((input >= min) & (input <= max), grad, 0)
    return _where_self(input >= min if max is None else input <= max, grad, 0)


_clamp_tensor = native(
    "clamp_tensor(Tensor input, OnlyTensor? min=None, OnlyTensor? max=None) -> Tensor",
    inplace=True,
    out=True,
)


@_clamp_tensor.vjp("input")
def _(grad, input, min, max):
    if min is not None and max is not None:
        return _where_self((input >= min) & (input <= max), grad, 0)
    return _where_self(input >= min if max is None else input <= max, grad, 0)


@_clamp_tensor.vjp("min")
def _(grad, input, min, max):
    below = input < min
    return _where_self(below if max is None else below & (min < max), grad, 0)


@_clamp_tensor.vjp("max")
def _(grad, input, min, max):
    above = input > max
    return _where_self(above if min is None else above | (max < min), grad, 0)


# Tensors first: a 0-d tensor would be accepted as a number, and lose its gradient.
clamp = overload("clamp", _clamp_tensor, _clamp_scalar, methods=("clamp", "clip"))
clamp_ = overload(
    "clamp_", _clamp_tensor.inplace, _clamp_scalar.inplace, methods=("clamp_", "clip_")
)
clip, clip_ = clamp, clamp_


_clamp_min_scalar = native(
    "clamp_min(Tensor input, Scalar min) -> Tensor",
    inplace=True,
    out=True,
    doc="Limit values from below.",
)
_clamp_max_scalar = native(
    "clamp_max(Tensor input, Scalar max) -> Tensor",
    inplace=True,
    out=True,
    doc="Limit values from above.",
)
_clamp_min_tensor = native(
    "clamp_min_tensor(Tensor input, OnlyTensor min) -> Tensor", inplace=True, out=True
)
_clamp_max_tensor = native(
    "clamp_max_tensor(Tensor input, OnlyTensor max) -> Tensor", inplace=True, out=True
)


@_clamp_min_scalar.vjp
def _(grad, input, min):
    return _where_self(input >= min, grad, 0)


@_clamp_max_scalar.vjp
def _(grad, input, max):
    return _where_self(input <= max, grad, 0)


@_clamp_min_tensor.vjp("input")
def _(grad, input, min):
    return _where_self(input >= min, grad, 0)


@_clamp_min_tensor.vjp("min")
def _(grad, input, min):
    return _where_self(input < min, grad, 0)


@_clamp_max_tensor.vjp("input")
def _(grad, input, max):
    return _where_self(input <= max, grad, 0)


@_clamp_max_tensor.vjp("max")
def _(grad, input, max):
    return _where_self(input > max, grad, 0)


clamp_min = overload("clamp_min", _clamp_min_tensor, _clamp_min_scalar, methods=("clamp_min",))
clamp_max = overload("clamp_max", _clamp_max_tensor, _clamp_max_scalar, methods=("clamp_max",))
clamp_min_ = overload(
    "clamp_min_", _clamp_min_tensor.inplace, _clamp_min_scalar.inplace, methods=("clamp_min_",)
)
clamp_max_ = overload(
    "clamp_max_", _clamp_max_tensor.inplace, _clamp_max_scalar.inplace, methods=("clamp_max_",)
)

_lerp_scalar = native(
    "lerp_scalar(Tensor input, Tensor end, Scalar weight) -> Tensor",
    inplace=True,
    out=True,
    doc="""Interpolate linearly: input + weight * (end - input).

    Args:
        input, end: floating point or complex, of one dtype.
        weight: a number, or a tensor of that dtype.
    Differentiable in input, end and weight.
    Example:
        >>> flambeau.lerp(flambeau.tensor([0.0, 1.0]), flambeau.tensor([10.0, 10.0]), 0.5)
        tensor([5.0000, 5.5000])
    """,
)
_lerp_tensor = native(
    "lerp_tensor(Tensor input, Tensor end, OnlyTensor weight) -> Tensor", inplace=True, out=True
)


@_lerp_scalar.vjp("input")
def _(grad, weight):
    return grad * (1 - weight).conjugate()


@_lerp_scalar.vjp("end")
def _(grad, weight):
    return grad * weight.conjugate()


@_lerp_tensor.vjp("input")
def _(grad, weight):
    return grad * (1 - weight).conj()


@_lerp_tensor.vjp("end")
def _(grad, weight):
    return grad * weight.conj()


@_lerp_tensor.vjp("weight")
def _(grad, input, end):
    return grad * (end - input).conj()


lerp = overload("lerp", _lerp_tensor, _lerp_scalar, methods=("lerp",))
lerp_ = overload("lerp_", _lerp_tensor.inplace, _lerp_scalar.inplace, methods=("lerp_",))

addcmul = native(
    "addcmul(Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    methods=("addcmul",),
    inplace=True,
    out=True,
    doc="input + value * tensor1 * tensor2.",
)


@addcmul.vjp("input")
def _(grad):
    return grad


@addcmul.vjp("tensor1")
def _(grad, tensor2, value):
    return grad * (tensor2 * value).conj()


@addcmul.vjp("tensor2")
def _(grad, tensor1, value):
    return grad * (tensor1 * value).conj()


addcdiv = native(
    "addcdiv(Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    methods=("addcdiv",),
    inplace=True,
    out=True,
    doc="input + value * tensor1 / tensor2. Not for two integer tensors.",
)


@addcdiv.vjp("input")
def _(grad):
    return grad


@addcdiv.vjp("tensor1")
def _(grad, tensor2, value):
    return grad * (value / tensor2).conj()


@addcdiv.vjp("tensor2")
def _(grad, tensor1, tensor2, value):
    return -grad * (value * tensor1 / (tensor2 * tensor2)).conj()


__all__ = [
    "addcdiv", "addcmul", "clamp", "clamp_", "clamp_max", "clamp_max_", "clamp_min", "clamp_min_", "clip",
    "clip_", "lerp", "where",
]  # fmt: skip
