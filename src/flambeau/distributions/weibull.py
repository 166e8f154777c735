"""Weibull distribution."""

import flambeau

from . import constraints
from .exponential import Exponential
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .utils import broadcast_all, euler_constant

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """Weibull distribution: scale times an exponential number to the power 1 / concentration.

    Args:
        scale: above 0. Often called lambda.
        concentration: shape, above 0. Often called k.
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive
    _batched = {"scale": 0, "concentration": 0, "concentration_reciprocal": 0}

    def __init__(self, scale, concentration, validate_args=None):
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(flambeau.ones_like(self.scale), validate_args=validate_args)
        transforms = [
            PowerTransform(exponent=self.concentration_reciprocal),
            AffineTransform(loc=0, scale=self.scale),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    @property
    def mean(self):
        """scale Gamma(1 + 1 / concentration)."""
        return self.scale * flambeau.lgamma(1 + self.concentration_reciprocal).exp()

    @property
    def mode(self):
        """Most likely value: 0 for a concentration up to 1."""
        rest = ((self.concentration - 1) / self.concentration).clamp(min=0)
        return self.scale * rest.pow(self.concentration_reciprocal)

    @property
    def variance(self):
        """Variance."""
        second = flambeau.lgamma(1 + 2 * self.concentration_reciprocal).exp()
        first = flambeau.lgamma(1 + self.concentration_reciprocal)
        return self.scale.pow(2) * (second - (2 * first).exp())

    def entropy(self):
        return (
            euler_constant * (1 - self.concentration_reciprocal)
            + (self.scale * self.concentration_reciprocal).log()
            + 1
        )
