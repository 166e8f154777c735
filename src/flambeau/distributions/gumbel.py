"""Gumbel distribution."""

import math

import flambeau

from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, ExpTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """Gumbel distribution: loc - scale log(-log(u)) for uniform u; the limit of maxima.

    Args:
        loc: mode.
        scale: above 0.
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    _batched = {"loc": 0, "scale": 0}

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        info = flambeau.finfo(self.loc.dtype)
        low = flambeau.full_like(self.loc, info.tiny)  # both logarithms stay finite
        high = flambeau.full_like(self.loc, 1 - info.eps)
        transforms = [
            ExpTransform().inv,
            AffineTransform(loc=0, scale=-flambeau.ones_like(self.scale)),
            ExpTransform().inv,
            AffineTransform(loc=self.loc, scale=-self.scale),
        ]
        base = Uniform(low, high, validate_args=validate_args)
        super().__init__(base, transforms, validate_args=validate_args)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    @property
    def mean(self):
        """loc + scale times Euler's constant."""
        return self.loc + self.scale * euler_constant

    @property
    def mode(self):
        """loc."""
        return self.loc

    @property
    def stddev(self):
        """pi scale / sqrt(6)."""
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self):
        """pi^2 scale^2 / 6."""
        return self.stddev.pow(2)

    def entropy(self):
        return self.scale.log() + (1 + euler_constant)
