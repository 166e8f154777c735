"""Trigonometric and hyperbolic functions and their inverses, and conversions of angles."""

import math

from .pointwise import binary, unary
from .registry import composite, native
from .ternary import where

sin = unary("sin", "Sine of an angle in radians.")


@sin.vjp
def _(grad, input):
    return grad * cos(input).conj()


cos = unary("cos", "Cosine of an angle in radians.")


@cos.vjp
def _(grad, input):
    return -grad * sin(input).conj()


tan = unary("tan", "Tangent of an angle in radians.")


@tan.vjp
def _(grad, result):
    return grad * (1 + result.square()).conj()


asin = unary(
    "asin", "Inverse sine, in [-pi/2, pi/2]; NaN outside [-1, 1].", methods=("asin", "arcsin")
)
arcsin = asin


@asin.vjp
def _(grad, input):
    return grad * (1 - input.square()).rsqrt().conj()


acos = unary("acos", "Inverse cosine, in [0, pi]; NaN outside [-1, 1].", methods=("acos", "arccos"))
arccos = acos


@acos.vjp
def _(grad, input):
    return -grad * (1 - input.square()).rsqrt().conj()


atan = unary("atan", "Inverse tangent, in (-pi/2, pi/2).", methods=("atan", "arctan"))
arctan = atan


@atan.vjp
def _(grad, input):
    return grad / (input.square() + 1).conj()


sinh = unary("sinh", "Hyperbolic sine.")


@sinh.vjp
def _(grad, input):
    return grad * cosh(input).conj()


cosh = unary("cosh", "Hyperbolic cosine.")


@cosh.vjp
def _(grad, input):
    return grad * sinh(input).conj()


tanh = unary("tanh", "Hyperbolic tangent.")
_tanh_backward = native(
    "tanh_backward(Tensor grad_output, Tensor output) -> Tensor", doc="grad * (1 - output^2)."
)


@tanh.vjp
def _(grad, result):
    if result.is_complex():
        return grad * (1 - result.square()).conj()
    return _tanh_backward(grad, result)


@_tanh_backward.vjp("grad_output")
def _(grad, output):
    return _tanh_backward(grad, output)


@_tanh_backward.vjp("output")
def _(grad, grad_output, output):
    return -2 * grad * grad_output * output


asinh = unary("asinh", "Inverse hyperbolic sine.", methods=("asinh", "arcsinh"))
arcsinh = asinh


@asinh.vjp
def _(grad, input):
    return grad * (input.square() + 1).rsqrt().conj()


acosh = unary("acosh", "Inverse hyperbolic cosine; NaN below 1.", methods=("acosh", "arccosh"))
arccosh = acosh


@acosh.vjp
def _(grad, input):
    if input.is_complex():
        # One root each: the root of the product has the branch cut in the wrong place.
        return grad * ((input + 1).rsqrt() * (input - 1).rsqrt()).conj()
    return grad * (input.square() - 1).rsqrt()


atanh = unary(
    "atanh", "Inverse hyperbolic tangent; NaN outside [-1, 1].", methods=("atanh", "arctanh")
)
arctanh = atanh


@atanh.vjp
def _(grad, input):
    return grad / (1 - input.square()).conj()


atan2 = binary(
    "atan2",
    "Angle of the point (other, input), in [-pi, pi]: the inverse tangent of input / other in the right quadrant.",
    methods=("atan2", "arctan2"),
    numbers=False,
)
arctan2 = atan2


@atan2.vjp("input")
def _(grad, input, other):
    norm = input.square() + other.square()
    return where(norm == 0, 0, grad * other / norm)


@atan2.vjp("other")
def _(grad, input, other):
    norm = input.square() + other.square()
    return where(norm == 0, 0, -grad * input / norm)


sinc = unary("sinc", "sin(pi input) / (pi input), and 1 at 0.")


@sinc.vjp
def _(grad, input):
    angle = input * math.pi
    slope = (angle * cos(angle) - sin(angle)) / (angle * input)
    return grad * where(input == 0, 0, slope).conj()


@composite(methods=("deg2rad",), out=True)
def deg2rad(input):
    """Degrees to radians."""
    return input * (math.pi / 180)


@composite(methods=("rad2deg",), out=True)
def rad2deg(input):
    """Radians to degrees."""
    return input * (180 / math.pi)


@composite(methods=("deg2rad_",))
def deg2rad_(input):
    """Degrees to radians, in place."""
    return input.mul_(math.pi / 180)


@composite(methods=("rad2deg_",))
def rad2deg_(input):
    """Radians to degrees, in place."""
    return input.mul_(180 / math.pi)


__all__ = [
    "acos", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "asin", "asinh", "atan",
    "atan2", "atanh", "cos", "cosh", "deg2rad", "deg2rad_", "rad2deg", "rad2deg_", "sin", "sinc", "sinh", "tan", "tanh",
]  # fmt: skip
