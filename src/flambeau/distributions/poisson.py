"""Poisson distribution."""

import flambeau

from . import constraints
from .exp_family import ExponentialFamily
from .utils import broadcast_all

__all__ = ["Poisson"]


class Poisson(ExponentialFamily):
    """Number of events at a constant rate.

    Args:
        rate: mean, at least 0.
    """

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer
    _batched = {"rate": 0}

    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    @property
    def mean(self):
        """rate."""
        return self.rate

    @property
    def mode(self):
        """The integer part of rate."""
        return self.rate.floor()

    @property
    def variance(self):
        """rate."""
        return self.rate

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        with flambeau.no_grad():
            return flambeau.poisson(self.rate.expand(shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self):
        return (flambeau.log(self.rate),)

    def _log_normalizer(self, x):
        return flambeau.exp(x)
