"""Inverse gamma distribution."""

import math

import flambeau

from . import constraints
from .gamma import Gamma
from .transformed_distribution import TransformedDistribution
from .transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """Distribution of 1 / x for x of a gamma distribution.

    Args:
        concentration: of the gamma distribution, above 0. Often called alpha.
        rate: of the gamma distribution, above 0: the scale of this one. Often called beta.
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _batched = {}

    def __init__(self, concentration, rate, validate_args=None):
        base = Gamma(concentration, rate, validate_args=validate_args)
        minus_one = -base.rate.new_ones(())
        super().__init__(base, PowerTransform(minus_one), validate_args=validate_args)

    @property
    def concentration(self):
        """Concentration of the gamma distribution."""
        return self.base_dist.concentration

    @property
    def rate(self):
        """Rate of the gamma distribution."""
        return self.base_dist.rate

    @property
    def mean(self):
        """rate / (concentration - 1); infinite for a concentration up to 1."""
        mean = self.rate / (self.concentration - 1)
        return flambeau.where(self.concentration > 1, mean, math.inf)

    @property
    def mode(self):
        """rate / (concentration + 1)."""
        return self.rate / (self.concentration + 1)

    @property
    def variance(self):
        """Variance; infinite for a concentration up to 2."""
        denominator = (self.concentration - 1).square() * (self.concentration - 2)
        variance = self.rate.square() / denominator
        return flambeau.where(self.concentration > 2, variance, math.inf)

    def entropy(self):
        return (
            self.concentration
            + self.rate.log()
            + self.concentration.lgamma()
            - (1 + self.concentration) * self.concentration.digamma()
        )
