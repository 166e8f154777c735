"""Sums, products, quotients, powers and extrema of tensors, and the Python operators for them."""

from flambeau import _C

from .pointwise import INTEGRAL, STEP, as_tensor, binary, number_first, unary, zeros_like
from .registry import composite, native, overload
from .ternary import where

add = native(
    "add(Tensor input, Tensor other, *, Scalar alpha=1) -> Tensor",
    methods=("add", "__add__", "__radd__"),
    inplace=True,
    out=True,
    doc="""Add other, scaled by alpha, to input, elementwise.

    result = input + alpha * other; bool tensors are joined by "or".

    Args:
        input, other: any dtypes, shapes that broadcast; other may be a number.
        alpha: an int for integer results.
    Returns:
        The promoted dtype, the broadcast shape.
    Raises:
        RuntimeError: shapes do not broadcast, or alpha does not fit the dtype.
    Differentiable in input and other; supports second derivatives.
    Example:
        >>> flambeau.add(flambeau.tensor([1.0, 2.0]), 3, alpha=2)
        tensor([7., 8.])
    """,
)


@add.vjp("input")
def _(grad):
    return grad


@add.vjp("other")
def _(grad, alpha):
    return grad if alpha == 1 else grad * _conjugate(alpha)


def _conjugate(number):
    return number.conjugate() if isinstance(number, complex) else number


sub = native(
    "sub(Tensor input, Tensor other, *, Scalar alpha=1) -> Tensor",
    methods=("sub", "subtract", "__sub__"),
    inplace=True,
    out=True,
    doc="""Subtract other, scaled by alpha, from input, elementwise: input - alpha * other. Not for bool tensors.""",
)
subtract = sub


@sub.vjp("input")
def _(grad):
    return grad


@sub.vjp("other")
def _(grad, alpha):
    return -grad if alpha == 1 else grad * _conjugate(-alpha)


rsub = native(
    "rsub(Tensor input, Tensor other, *, Scalar alpha=1) -> Tensor",
    methods=("__rsub__",),
    doc="Subtract input, scaled by alpha, from other: other - alpha * input.",
)


@rsub.vjp("input")
def _(grad, alpha):
    return -grad if alpha == 1 else grad * _conjugate(-alpha)


@rsub.vjp("other")
def _(grad):
    return grad


mul = binary(
    "mul",
    """Multiply input by other, elementwise. Bool tensors are joined by "and".

    Example:
        >>> flambeau.mul(flambeau.tensor([1.0, 2.0]), flambeau.tensor([[2.0], [3.0]]))
        tensor([[2., 4.],
                [3., 6.]])
    """,
    methods=("mul", "multiply", "__mul__", "__rmul__"),
)
multiply = mul

# input * conj(other) in one pass: the gradient of a product, for real and complex numbers alike.
_mul_conj = native(
    "mul_conj(Tensor input, Tensor other) -> Tensor",
    doc="Multiply input by the conjugate of other.",
)


@mul.vjp("input")
def _(grad, other):
    return _mul_conj(grad, other)


@mul.vjp("other")
def _(grad, input):
    return _mul_conj(grad, input)


@_mul_conj.vjp("input")
def _(grad, other):
    return grad * other


@_mul_conj.vjp("other")
def _(grad, input):
    return _mul_conj(input, grad)


div = native(
    "div(Tensor input, Tensor other, *, str? rounding_mode=None) -> Tensor",
    methods=("div", "divide", "true_divide", "__truediv__", "__div__"),
    inplace=True,
    out=True,
    doc="""Divide input by other, elementwise.

    Args:
        input, other: any dtypes, shapes that broadcast; other may be a number.
        rounding_mode: None for true division (integers become the default float dtype), "trunc" to round towards
            zero, "floor" to round down; the last two keep integer dtypes.
    Raises:
        RuntimeError: unknown rounding_mode, or an integer division by zero.
    Differentiable for rounding_mode None; otherwise the gradient is 0.
    Example:
        >>> flambeau.div(flambeau.tensor([-7, 7]), 2, rounding_mode="floor")
        tensor([-4,  3])
    """,
)
divide = true_divide = div


@div.vjp("input")
def _(grad, other, rounding_mode):
    return grad / other.conj() if rounding_mode is None else zeros_like(grad)


@div.vjp("other")
def _(grad, input, other, rounding_mode):
    if rounding_mode is not None:
        return zeros_like(grad)
    return _mul_conj(-grad, input / other / other)


_rdiv = native(
    "rdiv(Tensor input, Tensor other) -> Tensor",
    methods=("__rtruediv__", "__rdiv__"),
    doc="other / input.",
)


@_rdiv.vjp("input")
def _(grad, input, other):
    return _mul_conj(-grad, other / input / input)


@_rdiv.vjp("other")
def _(grad, input):
    return grad / input.conj()


floor_divide = binary(
    "floor_divide",
    "Divide and round down, as Python's // does.",
    methods=("floor_divide", "__floordiv__"),
    non_differentiable=STEP,
)
_rfloor_divide = native(
    "rfloor_divide(Tensor input, Tensor other) -> Tensor",
    methods=("__rfloordiv__",),
    non_differentiable=STEP,
    doc="other // input.",
)

_remainder_tensor = binary(
    "remainder",
    "Remainder of the division rounded down: it has the sign of other, as Python's % does.",
    methods=("remainder", "__mod__"),
)


@_remainder_tensor.vjp("input")
def _(grad):
    return grad


@_remainder_tensor.vjp("other")
def _(grad, input, other):
    return -grad * div(input, other, rounding_mode="floor")


_rremainder = native(
    "rremainder(Tensor input, Tensor other) -> Tensor", methods=("__rmod__",), doc="other % input."
)


@_rremainder.vjp("input")
def _(grad, input, other):
    return -grad * div(other, input, rounding_mode="floor")


@_rremainder.vjp("other")
def _(grad):
    return grad


def _remainder_number_vjp(grad, self, other):
    return -grad * _rfloor_divide(other, self)


remainder = overload(
    "remainder", _remainder_tensor, number_first("remainder", rule=_remainder_number_vjp)
)

fmod = binary(
    "fmod", "Remainder of the division rounded towards zero: it has the sign of input, as in C."
)


@fmod.vjp("input")
def _(grad):
    return grad


@fmod.vjp("other")
def _(grad, input, other):
    return -grad * div(input, other, rounding_mode="trunc")


_pow_tensor = native(
    "pow(Tensor input, Tensor exponent) -> Tensor",
    methods=("pow", "__pow__"),
    inplace=True,
    out=True,
    doc="""Raise input to the power exponent, elementwise.

    Args:
        input, exponent: any dtypes but bool, shapes that broadcast; one of them may be a number.
    Raises:
        RuntimeError: an integer tensor to a negative integer number.
    Differentiable in input and exponent; supports second derivatives.
    Example:
        >>> flambeau.pow(flambeau.tensor([1.0, 2.0, 3.0]), 2)
        tensor([1., 4., 9.])
    """,
)


@_pow_tensor.vjp("input")
def _(grad, input, exponent):
    if exponent.dim() == 0 and not _C._is_differentiated(exponent):
        number = exponent.item()
        if number == 0:
            return zeros_like(grad)
        return _mul_conj(grad, input.pow(number - 1) * number)
    zero = exponent == 0
    return _mul_conj(grad, where(zero, 0, exponent * input.pow(where(zero, 1, exponent) - 1)))


def _pow_exponent_vjp(grad, base, exponent, result):
    # d/de b^e = b^e log b, which is 0 at b = 0 for e >= 0 (the limit), not 0 * -inf.
    flat = (base == 0) & (exponent.real >= 0 if exponent.is_complex() else exponent >= 0)
    return _mul_conj(grad, where(flat, 0, result * base.log()))


@_pow_tensor.vjp("exponent")
def _(grad, input, exponent, result):
    return _pow_exponent_vjp(grad, input, exponent, result)


_rpow = native(
    "rpow(Tensor input, Tensor other) -> Tensor", methods=("__rpow__",), doc="other ** input."
)


@_rpow.vjp("input")
def _(grad, input, other, result):
    return _pow_exponent_vjp(grad, other, input, result)


@_rpow.vjp("other")
def _(grad, input, other):
    return _mul_conj(grad, where(input == 0, 0, input * other.pow(input - 1)))


_pow_scalar = native(
    "pow_scalar(Scalar self, Tensor exponent) -> Tensor", out=True, doc="A number to tensor powers."
)


@_pow_scalar.vjp
def _(grad, self, exponent, result):
    return _pow_exponent_vjp(grad, as_tensor(self), exponent, result)


pow = overload("pow", _pow_tensor, _pow_scalar)

_float_power_tensor = native(
    "float_power(Tensor input, Tensor exponent) -> Tensor",
    methods=("float_power",),
    inplace=True,
    out=True,
    doc="Raise input to the power exponent in float64 (complex128 for complex arguments).",
)


@_float_power_tensor.vjp("input")
def _(grad, input, exponent):
    return _mul_conj(
        grad, where(exponent == 0, 0, exponent * _float_power_tensor(input, exponent - 1))
    )


@_float_power_tensor.vjp("exponent")
def _(grad, input, exponent, result):
    return _pow_exponent_vjp(grad, input.to(result.dtype), exponent, result)


_float_power_scalar = native("float_power_scalar(Scalar self, Tensor exponent) -> Tensor", out=True)


@_float_power_scalar.vjp
def _(grad, self, exponent, result):
    return _pow_exponent_vjp(grad, as_tensor(self), exponent, result)


float_power = overload("float_power", _float_power_tensor, _float_power_scalar)

neg = unary("neg", "Negative of input. Not for bool.", methods=("neg", "negative", "__neg__"))
negative = neg


@neg.vjp
def _(grad):
    return -grad


@composite(methods=("positive", "__pos__"))
def positive(input):
    """Return input itself. Not for bool."""
    if input.dtype == _C.bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


abs = unary(
    "abs",
    "Absolute value; the modulus, in the real dtype, of complex numbers.",
    methods=("abs", "absolute", "__abs__"),
)
absolute = abs


@abs.vjp
def _(grad, input):
    return grad * input.sgn()


sign = unary("sign", "Sign of input: -1, 0 or 1; 0 for NaN.")


@sign.vjp
def _(grad):
    return zeros_like(grad)


sgn = unary("sgn", "Sign of real numbers; z / |z| of complex ones, and 0 for 0.")


@sgn.vjp
def _(grad, input, result):
    if not input.is_complex():
        return zeros_like(grad)
    modulus = input.abs()
    # The part of grad that turns z, none of what stretches it: (g - s Re(conj(s) g)) / |z|
    turned = grad - result * (result.conj() * grad).real
    return where(modulus == 0, 0, turned / modulus)


signbit = unary(
    "signbit", "Whether the sign bit is set; true for -0.0.", inplace=False, non_differentiable=STEP
)

reciprocal = unary("reciprocal", "1 / input.")


@reciprocal.vjp
def _(grad, result):
    return _mul_conj(-grad, result * result)


square = unary("square", "input * input.")


@square.vjp
def _(grad, input):
    return _mul_conj(grad, input * 2)


sqrt = unary("sqrt", "Square root; NaN for negative reals.")


@sqrt.vjp
def _(grad, result):
    return grad / (2 * result.conj())


rsqrt = unary("rsqrt", "1 / sqrt(input).")


@rsqrt.vjp
def _(grad, result):
    return _mul_conj(grad * -0.5, result.pow(3))


copysign = binary("copysign", "Magnitude of input with the sign of other.")


@copysign.vjp("input")
def _(grad, input, result):
    return where(input == 0, 0, grad * (result / input))


@copysign.vjp("other")
def _(grad):
    return zeros_like(grad)


hypot = binary("hypot", "sqrt(input^2 + other^2), without overflow.", numbers=False)


@hypot.vjp("input")
def _(grad, input, result):
    return grad * (input / result)


@hypot.vjp("other")
def _(grad, other, result):
    return grad * (other / result)


nextafter = binary(
    "nextafter", "The next representable number after input towards other.", numbers=False
)


@nextafter.vjp("input")
def _(grad, input, other):
    return where(input == other, 0, grad)


@nextafter.vjp("other")
def _(grad):
    return zeros_like(grad)


heaviside = binary(
    "heaviside",
    "0 below zero, `values` at zero, 1 above.",
    other="values",
    non_differentiable=STEP,
    numbers=False,
)
gcd = binary(
    "gcd", "Greatest common divisor of integers.", non_differentiable=INTEGRAL, numbers=False
)
lcm = binary(
    "lcm", "Least common multiple of integers.", non_differentiable=INTEGRAL, numbers=False
)

maximum = binary("maximum", "The larger of two; NaN if either is.", inplace=False, numbers=False)


@maximum.vjp("input")
def _(grad, input, other):
    return where(input == other, grad / 2, where(input < other, 0, grad))


@maximum.vjp("other")
def _(grad, input, other):
    return where(input == other, grad / 2, where(other < input, 0, grad))


minimum = binary("minimum", "The smaller of two; NaN if either is.", inplace=False, numbers=False)


@minimum.vjp("input")
def _(grad, input, other):
    return where(input == other, grad / 2, where(input > other, 0, grad))


@minimum.vjp("other")
def _(grad, input, other):
    return where(input == other, grad / 2, where(other > input, 0, grad))


fmax = binary(
    "fmax", "The larger of two; the other one if one is NaN.", inplace=False, numbers=False
)


@fmax.vjp("input")
def _(grad, input, other):
    return where((input >= other) | other.isnan(), grad, 0)


@fmax.vjp("other")
def _(grad, input, other):
    return where((input >= other) | other.isnan(), 0, grad)


fmin = binary(
    "fmin", "The smaller of two; the other one if one is NaN.", inplace=False, numbers=False
)


@fmin.vjp("input")
def _(grad, input, other):
    return where((input <= other) | other.isnan(), grad, 0)


@fmin.vjp("other")
def _(grad, input, other):
    return where((input <= other) | other.isnan(), 0, grad)


__all__ = [
    "abs", "absolute", "add", "copysign", "div", "divide", "float_power", "floor_divide", "fmax", "fmin",
    "fmod", "gcd", "heaviside", "hypot", "lcm", "maximum", "minimum", "mul", "multiply", "neg", "negative",
    "nextafter", "positive", "pow", "reciprocal", "remainder", "rsqrt", "rsub", "sgn", "sign", "signbit",
    "sqrt", "square", "sub", "subtract", "true_divide",
]  # fmt: skip
