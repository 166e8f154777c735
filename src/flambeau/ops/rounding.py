"""Rounding, and the parts that rounding separates."""

from .pointwise import require_tensors, unary, zeros_like
from .registry import composite, native

floor = unary("floor", "The largest integer not above input. Integers are returned as they are.")
ceil = unary("ceil", "The smallest integer not below input. Integers are returned as they are.")
trunc = unary(
    "trunc",
    "Input without its fraction. Integers are returned as they are.",
    methods=("trunc", "fix"),
)
fix = trunc
round = native(
    "round(Tensor input, *, int decimals=0) -> Tensor",
    methods=("round",),
    inplace=True,
    out=True,
    doc="""Round to the nearest multiple of 10^-decimals; ties go to the even neighbour.

    Example:
        >>> flambeau.round(flambeau.tensor([0.5, 1.5, 2.5]))
        tensor([0., 2., 2.])
    """,
)


@floor.vjp
@ceil.vjp
@trunc.vjp
@round.vjp
def _step_vjp(grad):
    return zeros_like(grad)


frac = unary("frac", "Fraction of input, with its sign: input - trunc(input).")


@frac.vjp
def _(grad):
    return grad


nan_to_num = native(
    "nan_to_num(Tensor input, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
    methods=("nan_to_num",),
    inplace=True,
    out=True,
    doc="""Replace NaN and infinities.

    Args:
        input: any dtype; integers are returned as they are.
        nan: replaces NaN; None is 0.
        posinf, neginf: replace the infinities; None is the largest, the lowest finite number of the dtype.
    Differentiable: 0 where a value was replaced.
    """,
)


@nan_to_num.vjp
def _(grad, input):
    return grad * input.isfinite()


_frexp = native(
    "frexp(Tensor input) -> (Tensor mantissa, Tensor exponent)",
    methods=("frexp",),
    return_type="frexp",
    out=True,
    doc="Split input into mantissa * 2^exponent with 0.5 <= |mantissa| < 1; exponent is int32.",
)
frexp = _frexp


@_frexp.vjp
def _(grad_mantissa, exponent):
    return grad_mantissa / (2.0**exponent)


@composite(methods=("ldexp",), out=True)
def ldexp(input, other):
    """Input * 2^other."""
    require_tensors("ldexp", input, other)
    return input * (2.0**other)


@composite(methods=("ldexp_",))
def ldexp_(input, other):
    """Input * 2^other, in place."""
    return input.mul_(2.0**other)


__all__ = [
    "ceil",
    "fix",
    "floor",
    "frac",
    "frexp",
    "ldexp",
    "ldexp_",
    "nan_to_num",
    "round",
    "trunc",
]
