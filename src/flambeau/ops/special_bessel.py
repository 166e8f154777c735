"""Bessel functions, the Airy function, and orthogonal polynomials of torch.special, with their derivatives."""

from .pointwise import binary, number_first, special, unary
from .registry import native, overload
from .ternary import where

i0 = unary("i0", "Modified Bessel function of the first kind, order 0.")
special_i0e = special("i0e", "exp(-|x|) i0(x).")
special_i1 = special("i1", "Modified Bessel function of the first kind, order 1.")
special_i1e = special("i1e", "exp(-|x|) i1(x).")


@i0.vjp
def _(grad, input):
    return grad * special_i1(input)


@special_i0e.vjp
def _(grad, input, result):
    return grad * (special_i1e(input) - input.sgn() * result)


@special_i1.vjp
def _(grad, input, result):
    # i1(x) / x -> 1/2 at 0.
    safe = where(input == 0, 1, input)
    return grad * where(input == 0, 0.5, i0(input) - result / safe)


@special_i1e.vjp
def _(grad, input, result):
    safe = where(input == 0, 1, input)
    return grad * where(input == 0, 0.5, special_i0e(input) - result * (input.sgn() + 1 / safe))


def _ratio(numerator, input, limit):
    """numerator / input, and its limit at 0."""
    zero = input == 0
    return where(zero, limit, numerator / where(zero, 1, input))


special_bessel_j0 = special("bessel_j0", "Bessel function of the first kind, order 0.")
special_bessel_j1 = special("bessel_j1", "Bessel function of the first kind, order 1.")
special_bessel_y0 = special("bessel_y0", "Bessel function of the second kind, order 0.")
special_bessel_y1 = special("bessel_y1", "Bessel function of the second kind, order 1.")


@special_bessel_j0.vjp
def _(grad, input):
    return -grad * special_bessel_j1(input)


@special_bessel_j1.vjp
def _(grad, input, result):
    return grad * (special_bessel_j0(input) - _ratio(result, input, 0.5))


@special_bessel_y0.vjp
def _(grad, input):
    return -grad * special_bessel_y1(input)


@special_bessel_y1.vjp
def _(grad, input, result):
    return grad * (special_bessel_y0(input) - result / input)


special_modified_bessel_i0 = special(
    "modified_bessel_i0", "Modified Bessel function of the first kind, order 0."
)
special_modified_bessel_i1 = special(
    "modified_bessel_i1", "Modified Bessel function of the first kind, order 1."
)
special_modified_bessel_k0 = special(
    "modified_bessel_k0", "Modified Bessel function of the second kind, order 0."
)
special_modified_bessel_k1 = special(
    "modified_bessel_k1", "Modified Bessel function of the second kind, order 1."
)
special_scaled_modified_bessel_k0 = special(
    "scaled_modified_bessel_k0", "exp(x) times modified_bessel_k0."
)
special_scaled_modified_bessel_k1 = special(
    "scaled_modified_bessel_k1", "exp(x) times modified_bessel_k1."
)


@special_modified_bessel_i0.vjp
def _(grad, input):
    return grad * special_i1(input)


@special_modified_bessel_i1.vjp
def _(grad, input, result):
    return grad * (i0(input) - _ratio(result, input, 0.5))


@special_modified_bessel_k0.vjp
def _(grad, input):
    return -grad * special_modified_bessel_k1(input)


@special_modified_bessel_k1.vjp
def _(grad, input, result):
    return -grad * (special_modified_bessel_k0(input) + result / input)


@special_scaled_modified_bessel_k0.vjp
def _(grad, input, result):
    return grad * (result - special_scaled_modified_bessel_k1(input))


@special_scaled_modified_bessel_k1.vjp
def _(grad, input, result):
    return grad * (result - special_scaled_modified_bessel_k0(input) - result / input)


special_spherical_bessel_j0 = special(
    "spherical_bessel_j0", "Spherical Bessel function of the first kind, order 0: sin(x) / x."
)
_spherical_bessel_j1 = unary(
    "spherical_bessel_j1",
    "Spherical Bessel function of the first kind, order 1: (sin(x) / x - cos(x)) / x.",
    methods=(),
    inplace=False,
)


@special_spherical_bessel_j0.vjp
def _(grad, input):
    return -grad * _spherical_bessel_j1(input)


@_spherical_bessel_j1.vjp
def _(grad, input, result):
    return grad * (special_spherical_bessel_j0(input) - 2 * _ratio(result, input, 1 / 3))


special_airy_ai = special("airy_ai", "Airy function Ai.")
_airy_ai_prime = unary(
    "airy_ai_prime", "Derivative of the Airy function Ai.", methods=(), inplace=False
)


@special_airy_ai.vjp
def _(grad, input):
    return grad * _airy_ai_prime(input)


@_airy_ai_prime.vjp
def _(grad, input):
    return grad * input * special_airy_ai(input)


def _order_is_constant(name):
    def rule(grad):
        raise NotImplementedError(
            f"special.{name}: expected an order v without requires_grad, got one that requires it. "
            "The function is differentiable in x only; pass v.detach()."
        )

    return rule


def _real_order(name, doc):
    form = binary(f"special_{name}", doc, methods=(), inplace=False)
    form.vjp("input")(_order_is_constant(name))
    return form


_iv = _real_order("iv", "Modified Bessel function of the first kind of real order input, at other.")
_ive = _real_order("ive", "exp(-|other|) times special_iv.")


# I_v' = I_(v+1) + v / x I_v, but at 0 the mean of the neighbouring orders.
def _iv_slope(grad, input, other):
    return grad * 0.5 * (special_iv(input - 1, other) + special_iv(input + 1, other))


def _ive_slope(grad, input, other, result):
    slope = 0.5 * (special_ive(input - 1, other) + special_ive(input + 1, other))
    return grad * (slope - other.sgn() * result)


_iv.vjp("other")(_iv_slope)
_ive.vjp("other")(_ive_slope)
special_iv = overload(
    "special_iv",
    _iv,
    number_first("special_iv", rule=lambda grad, self, other: _iv_slope(grad, self, other)),
)
special_ive = overload(
    "special_ive",
    _ive,
    number_first(
        "special_ive",
        rule=lambda grad, self, other, result: _ive_slope(grad, self, other, result),
    ),
)

_derivative = native(
    "polynomial_derivative(int kind, int order, Tensor input, Tensor n) -> Tensor",
    doc="The order-th derivative, 0 to 4, of one of the polynomials below (by number), by its recurrence.",
)


@_derivative.vjp("input")
def _(grad, kind, order, input, n):
    return grad * _derivative(kind, order + 1, input, n)


@_derivative.vjp("n")
def _(grad):
    return None  # the degree is rounded: piecewise constant


_POLYNOMIALS = [
    f"{_shift}chebyshev_polynomial_{_kind}" for _shift in ("", "shifted_") for _kind in "tuvw"
] + [
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
]


def _polynomial(number, name):
    full = f"special_{name}"
    form = binary(
        full,
        f"The {name.replace('_', ' ')} of degree n at input.",
        methods=(),
        inplace=False,
        other="n",
    )
    form.vjp("input")(lambda grad, input, n: grad * _derivative(number, 1, input, n))
    form.vjp("n")(lambda grad: None)
    of_number = number_first(full, other="n", rule=lambda grad: None)
    return overload(full, form, of_number)


for _number, _name in enumerate(_POLYNOMIALS):
    globals()[f"special_{_name}"] = _polynomial(_number, _name)

__all__ = ["i0"]
