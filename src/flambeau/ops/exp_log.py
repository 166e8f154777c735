"""Exponentials and logarithms."""

import math

from .pointwise import binary, number_first, unary
from .registry import overload
from .ternary import where

exp = unary("exp", "Exponential, e^input.")


@exp.vjp
def _(grad, result):
    return grad * result.conj()


exp2 = unary("exp2", "2^input.")


@exp2.vjp
def _(grad, result):
    return grad * (result.conj() * math.log(2))


expm1 = unary("expm1", "e^input - 1, without cancellation near 0.")


@expm1.vjp
def _(grad, result):
    return grad * (result.conj() + 1)


log = unary("log", "Natural logarithm; NaN for negative reals, -inf for 0.")


@log.vjp
def _(grad, input):
    return grad / input.conj()


log2 = unary("log2", "Logarithm to base 2.")


@log2.vjp
def _(grad, input):
    return grad / (input.conj() * math.log(2))


log10 = unary("log10", "Logarithm to base 10.")


@log10.vjp
def _(grad, input):
    return grad / (input.conj() * math.log(10))


log1p = unary("log1p", "log(1 + input), without cancellation near 0.")


@log1p.vjp
def _(grad, input):
    return grad / (input + 1).conj()


logaddexp = binary(
    "logaddexp", "log(exp(input) + exp(other)), without overflow.", inplace=False, numbers=False
)


@logaddexp.vjp("input")
def _(grad, input, other):
    return grad / (1 + exp(other - input)).conj()


@logaddexp.vjp("other")
def _(grad, input, other):
    return grad / (1 + exp(input - other)).conj()


logaddexp2 = binary(
    "logaddexp2", "log2(2^input + 2^other), without overflow.", inplace=False, numbers=False
)


@logaddexp2.vjp("input")
def _(grad, input, other):
    return grad / (1 + exp2(other - input))


@logaddexp2.vjp("other")
def _(grad, input, other):
    return grad / (1 + exp2(input - other))


_xlogy = binary("xlogy", "input * log(other), and 0 where input is 0.", methods=("xlogy",))


@_xlogy.vjp("input")
def _(grad, input, other):
    # The limit at input = 0 is 0 where log(other) is not finite.
    return where((input == 0) & (other <= 0), 0, grad * other.log())


@_xlogy.vjp("other")
def _(grad, input, other):
    return grad * input / other


xlogy = overload(
    "xlogy", _xlogy, number_first("xlogy", rule=lambda grad, self, other: grad * self / other)
)

__all__ = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "xlogy",
]  # fmt: skip
