"""Log-normal distribution."""

from . import constraints
from .normal import Normal
from .transformed_distribution import TransformedDistribution
from .transforms import ExpTransform

__all__ = ["LogNormal"]


class LogNormal(TransformedDistribution):
    """Distribution of exp(x) for normal x.

    Args:
        loc: mean of x.
        scale: standard deviation of x, above 0.
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _batched = {}

    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    @property
    def loc(self):
        """Mean of the logarithm."""
        return self.base_dist.loc

    @property
    def scale(self):
        """Standard deviation of the logarithm."""
        return self.base_dist.scale

    @property
    def mean(self):
        """exp(loc + scale^2 / 2)."""
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self):
        """exp(loc - scale^2)."""
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self):
        """(exp(scale^2) - 1) exp(2 loc + scale^2)."""
        squares = self.scale.pow(2)
        return squares.expm1() * (2 * self.loc + squares).exp()

    def entropy(self):
        return self.base_dist.entropy() + self.loc
