"""Logistic normal distribution."""

from . import constraints
from .normal import Normal
from .transformed_distribution import TransformedDistribution
from .transforms import StickBreakingTransform

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    """Distribution on the simplex of K numbers: independent normals through the stick-breaking transform.

    Args:
        loc: means, of shape (..., K - 1).
        scale: standard deviations, above 0.
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True
    _batched = {}

    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self):
        """Means of the normals."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self):
        """Standard deviations of the normals."""
        return self.base_dist.base_dist.scale
