"""Sigmoid, error and gamma functions, and what torch.special adds to other families; special_bessel.py has the rest."""

import math

from .create import arange
from .exp_log import exp, log
from .pointwise import binary, number_first, special, unary
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


_igamma_derivative = native(
    "igamma_derivative(int order, Tensor input, Tensor other) -> Tensor",
    doc="The order-th derivative of igamma in input, order 0 to 4.",
)


@igamma.vjp("input")
def _(grad, input, other):
    return grad * _igamma_derivative(1, input, other)


@igammac.vjp("input")
def _(grad, input, other):
    return -grad * _igamma_derivative(1, input, other)


@_igamma_derivative.vjp("input")
def _(grad, order, input, other):
    return grad * _igamma_derivative(order + 1, input, other)


@_igamma_derivative.vjp("other")
def _(grad, order, input, other):
    if order != 1:
        raise NotImplementedError("igamma: third derivatives in both arguments are not available")
    return grad * _gamma_density(input, other) * (log(other) - digamma(input))


def _gamma_density(input, other):
    return exp((input - 1) * log(other) - other - lgamma(input))


@igamma.vjp("other")
def _(grad, input, other):
    return grad * _gamma_density(input, other)


@igammac.vjp("other")
def _(grad, input, other):
    return -grad * _gamma_density(input, other)


special_ndtri = special("ndtri", "Inverse of the standard normal distribution function.")


@special_ndtri.vjp
def _(grad, result):
    return grad * (exp(result.square() / 2) * math.sqrt(2 * math.pi))


special_log_ndtr = special("log_ndtr", "Logarithm of the standard normal distribution function.")


@special_log_ndtr.vjp
def _(grad, input):
    return grad / special_erfcx(input * -math.sqrt(0.5)) * math.sqrt(2 / math.pi)


special_erfcx = special("erfcx", "exp(x^2) erfc(x).")


@special_erfcx.vjp
def _(grad, input, result):
    return grad * (2 * input * result - 2 / math.sqrt(math.pi))


special_entr = special("entr", "Entropy of a value: -x log(x); 0 at 0, -inf below.")


@special_entr.vjp
def _(grad, input):
    return grad * (-log(input) - 1)


special_ndtr = special("ndtr", "Standard normal distribution function.")


@special_ndtr.vjp
def _(grad, input):
    return grad * (exp(input.square() * -0.5) * (1 / math.sqrt(2 * math.pi)))


special_logerfc = special("logerfc", "log(erfc(x)), without underflow.")


@special_logerfc.vjp
def _(grad, input):
    return grad / special_erfcx(input) * (-2 / math.sqrt(math.pi))


special_logerfcx = special(
    "logerfcx", "log(erfcx(x)) = x^2 + log(erfc(x)), without overflow or underflow."
)


@special_logerfcx.vjp
def _(grad, input):
    return grad * (2 * input - 2 / math.sqrt(math.pi) / special_erfcx(input))


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


_zeta_derivative = native(
    "zeta_derivative(int order, Tensor input, Tensor other) -> Tensor",
    doc="The order-th derivative of special_zeta in input, order 0 to 4.",
)


@_zeta.vjp("input")
def _(grad, input, other):
    return grad * _zeta_derivative(1, input, other)


@_zeta.vjp("other")
def _(grad, input, other):
    return grad * -input * _zeta(input + 1, other)


@_zeta_derivative.vjp("input")
def _(grad, order, input, other):
    return grad * _zeta_derivative(order + 1, input, other)


@_zeta_derivative.vjp("other")
def _(grad, order, input, other):
    # d/dq zeta(s, q) = -s zeta(s + 1, q), differentiated `order` times in s.
    next = input + 1
    slope = input * _zeta_derivative(order, next, other)
    return -grad * (slope + order * _zeta_derivative(max(order - 1, 0), next, other))


special_zeta = overload(
    "special_zeta",
    _zeta,
    number_first(
        "special_zeta",
        rule=lambda grad, self, other: grad * -self * special_zeta(self + 1.0, other),
    ),
)

__all__ = [
    "digamma", "erf", "erfc", "erfinv", "igamma", "igammac", "lgamma", "logit", "mvlgamma", "polygamma",
    "sigmoid",
]  # fmt: skip
