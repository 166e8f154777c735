"""Generalised Pareto distribution."""

import math

import flambeau

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """Generalised Pareto distribution: the limit of excesses over a high threshold.

    P(x > loc + scale z) = (1 + concentration z)^(-1 / concentration); exponential for concentration 0, bounded above
    for a negative one.

    Args:
        loc: the smallest value.
        scale: above 0.
        concentration: shape, any number.
    """

    arg_constraints = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True
    _batched = {"loc": 0, "scale": 0, "concentration": 0}

    def __init__(self, loc, scale, concentration, validate_args=None):
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def _z(self, value):
        return (value - self.loc) / self.scale

    def _shapes(self):
        """Where the concentration counts as 0, and the concentration with 1 in these places."""
        zero = flambeau.isclose(self.concentration, flambeau.zeros_like(self.concentration))
        return zero, self.concentration.masked_fill(zero, 1.0)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        return self.icdf(flambeau.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        zero, shape = self._shapes()
        power = 1 / shape + flambeau.ones_like(z)
        # a power of 0 (concentration -1, the uniform distribution): 0 * log(0) is 0
        general = flambeau.where(power == 0, power, power * flambeau.log1p(shape * z))
        return -self.scale.log() - flambeau.where(zero, z, general)

    def log_survival_function(self, value):
        """Logarithm of the probability of a draw above value."""
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        zero, shape = self._shapes()
        return -flambeau.where(zero, z, flambeau.log1p(shape * z) / shape)

    def log_cdf(self, value):
        """Logarithm of cdf."""
        return flambeau.log1p(-flambeau.exp(self.log_survival_function(value)))

    def cdf(self, value):
        return flambeau.exp(self.log_cdf(value))

    def icdf(self, value):
        zero, shape = self._shapes()
        log_survival = flambeau.log1p(-value)
        general = flambeau.expm1(-shape * log_survival) / shape
        return self.loc + self.scale * flambeau.where(zero, -log_survival, general)

    @property
    def mean(self):
        """loc + scale / (1 - concentration); NaN from concentration 1 on."""
        mean = self.loc + self.scale / (1 - self.concentration)
        return flambeau.where(self.concentration < 1, mean, math.nan)

    @property
    def variance(self):
        """Variance; NaN from concentration 1/2 on."""
        rest = (1 - self.concentration).square() * (1 - 2 * self.concentration)
        variance = self.scale.square() / rest
        return flambeau.where(self.concentration < 0.5, variance, math.nan)

    def entropy(self):
        return self.scale.log() + self.concentration + 1

    @property
    def mode(self):
        """loc."""
        return self.loc

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        """From loc on; up to loc - scale / concentration for a negative concentration."""
        end = self.loc - self.scale / self.concentration
        upper = flambeau.where(self.concentration < 0, end, math.inf)
        return constraints.interval(self.loc, upper)
