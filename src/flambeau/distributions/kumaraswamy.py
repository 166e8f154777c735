"""Kumaraswamy distribution."""

import math

import flambeau

from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant

__all__ = ["Kumaraswamy"]


class Kumaraswamy(TransformedDistribution):
    """Kumaraswamy distribution on [0, 1]: like the beta distribution, with a distribution function in closed form.

    F(x) = 1 - (1 - x^concentration1)^concentration0

    Args:
        concentration1, concentration0: above 0.
    """

    arg_constraints = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True
    _batched = {"concentration1": 0, "concentration0": 0}

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(
            flambeau.full_like(self.concentration0, 0),
            flambeau.full_like(self.concentration0, 1),
            validate_args=validate_args,
        )
        transforms = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Kumaraswamy, _instance)
        return super().expand(batch_shape, _instance=new)

    def _moment(self, order):
        """E[x^order] = b B(1 + order / a, b) for a = concentration1, b = concentration0."""
        power = 1 + order / self.concentration1
        log_beta = (
            power.lgamma() + self.concentration0.lgamma() - (power + self.concentration0).lgamma()
        )
        return self.concentration0 * log_beta.exp()

    @property
    def mean(self):
        """Mean."""
        return self._moment(1)

    @property
    def mode(self):
        """Most likely value; NaN where a concentration is below 1."""
        # ((a - 1) / (a b - 1))^(1 / a)
        a, b = self.concentration1, self.concentration0
        mode = ((a - 1) / (a * b - 1)).pow(a.reciprocal())
        return mode.masked_fill((a < 1) | (b < 1), math.nan)

    @property
    def variance(self):
        """Variance."""
        return self._moment(2) - self.mean.pow(2)

    def entropy(self):
        rest1, rest0 = 1 - self.concentration1.reciprocal(), 1 - self.concentration0.reciprocal()
        harmonic = flambeau.digamma(self.concentration0 + 1) + euler_constant
        return rest0 + rest1 * harmonic - self.concentration1.log() - self.concentration0.log()
