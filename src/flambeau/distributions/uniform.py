"""Uniform distribution."""

import math

import flambeau

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["Uniform"]


class Uniform(Distribution):
    """Uniform distribution on [low, high).

    Args:
        low, high: bounds, low below high.
    Raises:
        ValueError: low is not below high.
    """

    has_rsample = True
    _batched = {"low": 0, "high": 0}

    def __init__(self, low, high, validate_args=None):
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.size(), validate_args=validate_args)

    @property
    def arg_constraints(self):
        """Each bound is on its side of the other."""
        return {
            "low": constraints.less_than(self.high),
            "high": constraints.greater_than(self.low),
        }

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        """[low, high]."""
        return constraints.interval(self.low, self.high)

    @property
    def mean(self):
        """The middle."""
        return (self.high + self.low) / 2

    @property
    def mode(self):
        """NaN: all values are equally likely."""
        return math.nan * self.high

    @property
    def stddev(self):
        """Width over the square root of 12."""
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self):
        """Width squared over 12."""
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        u = flambeau.rand(shape, dtype=self.low.dtype, device=self.low.device)
        return self.low + u * (self.high - self.low)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        inside = self.low.le(value).type_as(self.low) * self.high.gt(value).type_as(self.low)
        return flambeau.log(inside) - flambeau.log(self.high - self.low)

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value):
        return value * (self.high - self.low) + self.low

    def entropy(self):
        return flambeau.log(self.high - self.low)
