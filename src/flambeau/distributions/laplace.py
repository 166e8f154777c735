"""Laplace distribution."""

import flambeau

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["Laplace"]


class Laplace(Distribution):
    """Laplace distribution: exponential on either side of loc.

    Args:
        loc: mean.
        scale: mean absolute deviation, above 0.
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _batched = {"loc": 0, "scale": 0}

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    @property
    def mean(self):
        """loc."""
        return self.loc

    @property
    def mode(self):
        """loc."""
        return self.loc

    @property
    def variance(self):
        """2 scale^2."""
        return 2 * self.scale.pow(2)

    @property
    def stddev(self):
        """Square root of 2, times scale."""
        return 2**0.5 * self.scale

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        # -1 is left out: its logarithm below would be infinite
        u = self.loc.new_empty(shape).uniform_(flambeau.finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * u.sign() * flambeau.log1p(-u.abs())

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return -flambeau.log(2 * self.scale) - flambeau.abs(value - self.loc) / self.scale

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        distance = value - self.loc
        return 0.5 - 0.5 * distance.sign() * flambeau.expm1(-distance.abs() / self.scale)

    def icdf(self, value):
        term = value - 0.5
        return self.loc - self.scale * term.sign() * flambeau.log1p(-2 * term.abs())

    def entropy(self):
        return 1 + flambeau.log(2 * self.scale)
