"""Cauchy distribution."""

import math

import flambeau

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["Cauchy"]


class Cauchy(Distribution):
    """Cauchy (Lorentz) distribution: the ratio of two normal numbers.

    Args:
        loc: median and mode.
        scale: half width at half maximum, above 0.
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
        """NaN: the integral diverges."""
        return flambeau.full_like(self.loc, math.nan)

    @property
    def mode(self):
        """loc."""
        return self.loc

    @property
    def variance(self):
        """Infinite."""
        return flambeau.full_like(self.loc, math.inf)

    def rsample(self, sample_shape=()):
        noise = self.loc.new_empty(self._extended_shape(sample_shape)).cauchy_()
        return self.loc + noise * self.scale

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        squares = ((value - self.loc) / self.scale) ** 2
        return -math.log(math.pi) - self.scale.log() - squares.log1p()

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return flambeau.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value):
        return flambeau.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self):
        return math.log(4 * math.pi) + self.scale.log()
