"""Transforms of single numbers: exp, power, sigmoid, tanh, softplus, abs, affine, and distribution functions."""

import math
from numbers import Number

import flambeau
from flambeau.nn import functional as F

from . import constraints
from ._transform import Transform
from .utils import broadcast_all, sum_rightmost

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "PowerTransform",
    "SigmoidTransform",
    "SoftplusTransform",
    "TanhTransform",
]


class _Increasing(Transform):
    """A bijection without parameters and with a positive derivative."""

    bijective = True
    sign = 1
    domain = constraints.real

    def __eq__(self, other):
        return type(other) is type(self)

    __hash__ = None


class ExpTransform(_Increasing):
    """y = exp(x)."""

    codomain = constraints.positive

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        """Return x."""
        return x


class PowerTransform(Transform):
    """y = x ** exponent, of positive numbers.

    Args:
        exponent: number or tensor, not zero.
    """

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent, cache_size=0):
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def with_cache(self, cache_size=1):
        """The same transform with the given cache size."""
        if self._cache_size == cache_size:
            return self
        return PowerTransform(self.exponent, cache_size=cache_size)

    @property
    def sign(self):
        """Sign of the exponent."""
        return self.exponent.sign()

    def __eq__(self, other):
        if not isinstance(other, PowerTransform):
            return False
        return bool(self.exponent.eq(other.exponent).all())

    __hash__ = None

    def _call(self, x):
        return x.pow(self.exponent)

    def _inverse(self, y):
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x, y):
        """log |exponent y / x|."""
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape):
        """Broadcast with the exponent."""
        return flambeau.broadcast_shapes(shape, getattr(self.exponent, "shape", ()))

    def inverse_shape(self, shape):
        """Broadcast with the exponent."""
        return flambeau.broadcast_shapes(shape, getattr(self.exponent, "shape", ()))


def clipped_sigmoid(x):
    """Sigmoid within the open interval (0, 1): log odds of the result stay finite."""
    info = flambeau.finfo(x.dtype)
    return flambeau.clamp(flambeau.sigmoid(x), min=info.tiny, max=1.0 - info.eps)


class SigmoidTransform(_Increasing):
    """y = 1 / (1 + exp(-x)); x = log(y / (1 - y))."""

    codomain = constraints.unit_interval

    def _call(self, x):
        return clipped_sigmoid(x)

    def _inverse(self, y):
        info = flambeau.finfo(y.dtype)
        y = y.clamp(min=info.tiny, max=1.0 - info.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x, y):
        """log(y (1 - y)), in terms of x, which does not cancel."""
        return -F.softplus(-x) - F.softplus(x)


class SoftplusTransform(_Increasing):
    """y = log(1 + exp(x)); linear above 20."""

    codomain = constraints.positive

    def _call(self, x):
        return F.softplus(x)

    def _inverse(self, y):
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x, y):
        """log sigmoid(x)."""
        return -F.softplus(-x)


class TanhTransform(_Increasing):
    """y = tanh(x).

    Where values come near -1 or 1, use the cache: the inverse loses what tanh rounded away.
    """

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return y.atanh()

    def log_abs_det_jacobian(self, x, y):
        """log(1 - tanh(x)^2), written so that it does not cancel for large |x|."""
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))


class AbsTransform(Transform):
    """y = |x|: not a bijection; the inverse gives the positive x."""

    domain = constraints.real
    codomain = constraints.positive

    def __eq__(self, other):
        return isinstance(other, AbsTransform)

    __hash__ = None

    def _call(self, x):
        return x.abs()

    def _inverse(self, y):
        return y


def _same(a, b):
    if isinstance(a, Number) and isinstance(b, Number):
        return a == b
    return bool(flambeau.as_tensor(a).eq(flambeau.as_tensor(b)).all())


class AffineTransform(Transform):
    """y = loc + scale * x.

    Args:
        loc, scale: numbers or tensors.
        event_dim: number of last dims whose log determinants are summed.
    """

    bijective = True

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.loc = loc
        self.scale = scale
        self._event_dim = event_dim

    @property
    def event_dim(self):
        """As given."""
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        """Real numbers, or tensors of event_dim dims."""
        if self.event_dim == 0:
            return constraints.real
        return constraints.independent(constraints.real, self.event_dim)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        """Real numbers, or tensors of event_dim dims."""
        return self.domain

    def with_cache(self, cache_size=1):
        """The same transform with the given cache size."""
        if self._cache_size == cache_size:
            return self
        return AffineTransform(self.loc, self.scale, self.event_dim, cache_size=cache_size)

    def __eq__(self, other):
        if not isinstance(other, AffineTransform):
            return False
        return _same(self.loc, other.loc) and _same(self.scale, other.scale)

    __hash__ = None

    @property
    def sign(self):
        """Sign of scale."""
        if isinstance(self.scale, Number):
            return (self.scale > 0) - (self.scale < 0)
        return self.scale.sign()

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        """log |scale|, summed over the event."""
        if isinstance(self.scale, Number):
            result = flambeau.full_like(x, math.log(abs(self.scale)))
        else:
            result = flambeau.abs(self.scale).log()
        if self.event_dim == 0:
            return result.expand(x.shape)
        # dims that scale lacks broadcast, so that each element counts
        wide = result.expand(flambeau.broadcast_shapes(result.shape, x.shape[-self.event_dim :]))
        return sum_rightmost(wide, self.event_dim).expand(x.shape[: -self.event_dim])

    def _broadcast(self, shape):
        loc, scale = getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ())
        return flambeau.broadcast_shapes(shape, loc, scale)

    def forward_shape(self, shape):
        """Broadcast with loc and scale."""
        return self._broadcast(shape)

    def inverse_shape(self, shape):
        """Broadcast with loc and scale."""
        return self._broadcast(shape)


class CumulativeDistributionTransform(Transform):
    """y = cdf(x) of a continuous distribution; the inverse is its icdf.

    Args:
        distribution: has cdf, icdf and log_prob.
    """

    bijective = True
    codomain = constraints.unit_interval
    sign = 1

    def __init__(self, distribution, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self):
        """The distribution's support."""
        return self.distribution.support

    def _call(self, x):
        return self.distribution.cdf(x)

    def _inverse(self, y):
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x, y):
        """The log density of x."""
        return self.distribution.log_prob(x)

    def with_cache(self, cache_size=1):
        """The same transform with the given cache size."""
        if self._cache_size == cache_size:
            return self
        return CumulativeDistributionTransform(self.distribution, cache_size=cache_size)
