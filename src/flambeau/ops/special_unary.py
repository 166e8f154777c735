"""Sigmoid, error, gamma and Bessel functions, and what torch.special adds to the other families."""

import math

from .create import arange
from .exp_log import exp, log
from .pointwise import SPECIAL, binary, number_first, unary
from .registry import composite, native, overload
from .ternary import where

sigmoid = unary("sigmoid", "1 / (1 + exp(-input)).")
_sigmoid_backward = native(
    "sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor",
    doc="grad * output * (1 - output).",
)


@sigmoid.vjp
def _(grad, result):
    if result.is_complex():
        return grad * ((1 - result) * result).conj()
    return _sigmoid_backward(grad, result)


@_sigmoid_backward.vjp("grad_output")
def _(grad, output):
    return _sigmoid_backward(grad, output)


@_sigmoid_backward.vjp("output")
def _(grad, grad_output, output):
    return grad * grad_output * (1 - 2 * output)


logit = native(
    "logit(Tensor input, float? eps=None) -> Tensor",
    methods=("logit",),
    inplace=True,
    out=True,
    doc="log(x / (1 - x)), the inverse of sigmoid; x is first limited to [eps, 1 - eps] if eps is given.",
)


@logit.vjp
def _(grad, input, eps):
    low = 0.0 if eps is None else eps
    outside = math.nan if eps is None else 0.0
    return where((input >= low) & (input <= 1 - low), grad / (input * (1 - input)), outside)


erf = unary("erf", "Error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to input.")


@erf.vjp
def _(grad, input):
    return grad * (exp(-input.square()) * (2 / math.sqrt(math.pi)))


erfc = unary("erfc", "1 - erf(input), without cancellation.")


@erfc.vjp
def _(grad, input):
    return grad * (exp(-input.square()) * (-2 / math.sqrt(math.pi)))


erfinv = unary("erfinv", "Inverse of erf; infinite at -1 and 1, NaN beyond.")


@erfinv.vjp
def _(grad, result):
    return grad * (exp(result.square()) * (math.sqrt(math.pi) / 2))


lgamma = unary("lgamma", "Logarithm of the absolute value of the gamma function.")


@lgamma.vjp
def _(grad, input):
    return grad * digamma(input)


digamma = unary("digamma", "Derivative of lgamma.")


@digamma.vjp
def _(grad, input):
    return grad * _polygamma(1, input)


_polygamma = native(
    "polygamma(int n, Tensor input) -> Tensor",
    out=True,
    doc="The n-th derivative of digamma, n >= 0.",
)
polygamma = _polygamma


@_polygamma.vjp
def _(grad, n, input):
    return grad * _polygamma(n + 1, input)


@composite(methods=("polygamma",))
def _polygamma_method(input, n):
    """The n-th derivative of digamma."""
    return _polygamma(n, input)


@composite(methods=("polygamma_",))
def _polygamma_inplace(input, n):
    """The n-th derivative of digamma, in place."""
    return input.copy_(_polygamma(n, input.clone()))  # a copy: backward needs the old values


@composite(methods=("mvlgamma",), out=True)
def mvlgamma(input, p):
    """Logarithm of the multivariate gamma function of dimension p >= 1, elementwise."""
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    if p == 1:
        return lgamma(input)
    halves = (
        arange(p, dtype=input.dtype if input.is_floating_point() else None, device=input.device) / 2
    )
    return lgamma(input.unsqueeze(-1) - halves).sum(-1) + p * (p - 1) / 4 * math.log(math.pi)


@composite(methods=("mvlgamma_",))
def _mvlgamma_inplace(input, p):
    """Mvlgamma in place."""
    return input.copy_(mvlgamma(input.clone(), p))  # a copy: backward needs the old values


igamma = binary(
    "igamma", "Regularised lower incomplete gamma function P(input, other).", numbers=False
)
igammac = binary(
    "igammac", "Regularised upper incomplete gamma function Q(input, other).", numbers=False
)


@igamma.vjp("input")
@igammac.vjp("input")
def _not_by_order(grad):
    raise NotImplementedError("igamma and igammac: not differentiable in input")


def _gamma_density(input, other):
    return exp((input - 1) * log(other) - other - lgamma(input))


@igamma.vjp("other")
def _(grad, input, other):
    return grad * _gamma_density(input, other)


@igammac.vjp("other")
def _(grad, input, other):
    return -grad * _gamma_density(input, other)


def _special(name, doc, **options):
    return unary(f"special_{name}", doc, methods=(), inplace=False, **options)


i0 = unary("i0", "Modified Bessel function of the first kind, order 0.")
special_i0e = _special("i0e", "exp(-|x|) i0(x).")
special_i1 = _special("i1", "Modified Bessel function of the first kind, order 1.")
special_i1e = _special("i1e", "exp(-|x|) i1(x).")


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


special_ndtri = _special("ndtri", "Inverse of the standard normal distribution function.")


@special_ndtri.vjp
def _(grad, result):
    return grad * (exp(result.square() / 2) * math.sqrt(2 * math.pi))


special_log_ndtr = _special("log_ndtr", "Logarithm of the standard normal distribution function.")


@special_log_ndtr.vjp
def _(grad, input):
    return grad / special_erfcx(input * -math.sqrt(0.5)) * math.sqrt(2 / math.pi)


special_erfcx = _special("erfcx", "exp(x^2) erfc(x).")


@special_erfcx.vjp
def _(grad, input, result):
    return grad * (2 * input * result - 2 / math.sqrt(math.pi))


special_entr = _special("entr", "Entropy of a value: -x log(x); 0 at 0, -inf below.")


@special_entr.vjp
def _(grad, input):
    return grad * (-log(input) - 1)


@composite(out=True)
def special_ndtr(input):
    """Standard normal distribution function."""
    x = input * math.sqrt(0.5)
    return where(x < -1, 0.5 * erfc(-x), 0.5 * (1 + erf(x)))


_xlog1py = binary(
    "special_xlog1py",
    "input * log1p(other), and 0 where input is 0.",
    methods=(),
    inplace=False,
)


@_xlog1py.vjp("input")
def _(grad, input, other):
    return where((input == 0) & (other <= -1), 0, grad * other.log1p())


@_xlog1py.vjp("other")
def _(grad, input, other):
    return grad * input / (other + 1)


special_xlog1py = overload(
    "special_xlog1py",
    _xlog1py,
    number_first("special_xlog1py", rule=lambda grad, self, other: grad * self / (other + 1)),
)

_zeta = binary(
    "special_zeta",
    "Hurwitz zeta function, the sum of (k + other)^-input.",
    methods=(),
    inplace=False,
)


@_zeta.vjp("input")
def _(grad):
    raise NotImplementedError("special.zeta: not differentiable in input")


@_zeta.vjp("other")
def _(grad, input, other):
    return grad * -input * _zeta(input + 1, other)


special_zeta = overload(
    "special_zeta",
    _zeta,
    number_first(
        "special_zeta",
        rule=lambda grad, self, other: grad * -self * special_zeta(self + 1.0, other),
    ),
)

_BESSEL = {
    "bessel_j0": "Bessel function of the first kind, order 0.",
    "bessel_j1": "Bessel function of the first kind, order 1.",
    "bessel_y0": "Bessel function of the second kind, order 0.",
    "bessel_y1": "Bessel function of the second kind, order 1.",
    "modified_bessel_i0": "Modified Bessel function of the first kind, order 0.",
    "modified_bessel_i1": "Modified Bessel function of the first kind, order 1.",
    "modified_bessel_k0": "Modified Bessel function of the second kind, order 0.",
    "modified_bessel_k1": "Modified Bessel function of the second kind, order 1.",
    "scaled_modified_bessel_k0": "exp(x) times modified_bessel_k0.",
    "scaled_modified_bessel_k1": "exp(x) times modified_bessel_k1.",
    "spherical_bessel_j0": "Spherical Bessel function of the first kind, order 0.",
    "airy_ai": "Airy function Ai.",
}
for _name, _doc in _BESSEL.items():
    globals()[f"special_{_name}"] = _special(_name, _doc, non_differentiable=SPECIAL)

_POLYNOMIALS = [
    f"{_shift}chebyshev_polynomial_{_kind}" for _shift in ("", "shifted_") for _kind in "tuvw"
] + [
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
]
for _name in _POLYNOMIALS:
    _full = f"special_{_name}"
    globals()[_full] = overload(
        _full,
        binary(
            _full,
            f"The {_name.replace('_', ' ')} of degree n at input.",
            methods=(),
            inplace=False,
            other="n",
            non_differentiable=SPECIAL,
        ),
        number_first(_full, other="n", non_differentiable=SPECIAL),
    )

__all__ = [
    "digamma", "erf", "erfc", "erfinv", "i0", "igamma", "igammac", "lgamma", "logit", "mvlgamma", "polygamma",
    "sigmoid",
]  # fmt: skip
