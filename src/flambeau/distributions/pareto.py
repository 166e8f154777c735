"""Pareto distribution."""

from . import constraints
from .exponential import Exponential
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, ExpTransform
from .utils import broadcast_all

__all__ = ["Pareto"]


class Pareto(TransformedDistribution):
    """Pareto distribution of type 1: density proportional to x^-(alpha + 1) from scale on.

    Args:
        scale: the smallest value, above 0.
        alpha: above 0.
    """

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}
    _batched = {"scale": 0, "alpha": 0}

    def __init__(self, scale, alpha, validate_args=None):
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        transforms = [ExpTransform(), AffineTransform(loc=0, scale=self.scale)]
        super().__init__(base, transforms, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        """From scale on."""
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self):
        """alpha scale / (alpha - 1); infinite for alpha up to 1."""
        alpha = self.alpha.clamp(min=1)
        return alpha * self.scale / (alpha - 1)

    @property
    def mode(self):
        """scale."""
        return self.scale

    @property
    def variance(self):
        """Variance; infinite for alpha up to 2."""
        alpha = self.alpha.clamp(min=2)
        return self.scale.pow(2) * alpha / ((alpha - 1).pow(2) * (alpha - 2))

    def entropy(self):
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())
