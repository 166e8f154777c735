"""Exponential distribution."""

import flambeau

from . import constraints
from .exp_family import ExponentialFamily
from .utils import broadcast_all

__all__ = ["Exponential"]


class Exponential(ExponentialFamily):
    """Exponential distribution: waiting times at a constant rate.

    Args:
        rate: inverse mean, above 0.
    """

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    _batched = {"rate": 0}

    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    @property
    def mean(self):
        """1 / rate."""
        return self.rate.reciprocal()

    @property
    def mode(self):
        """0."""
        return flambeau.zeros_like(self.rate)

    @property
    def stddev(self):
        """1 / rate."""
        return self.rate.reciprocal()

    @property
    def variance(self):
        """1 / rate^2."""
        return self.rate.pow(-2)

    def rsample(self, sample_shape=()):
        return self.rate.new_empty(self._extended_shape(sample_shape)).exponential_() / self.rate

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return 1 - flambeau.exp(-self.rate * value)

    def icdf(self, value):
        return -flambeau.log1p(-value) / self.rate

    def entropy(self):
        return 1.0 - flambeau.log(self.rate)

    @property
    def _natural_params(self):
        return (-self.rate,)

    def _log_normalizer(self, x):
        return -flambeau.log(-x)
