"""Independent: batch dims read as event dims."""

import flambeau

from . import constraints
from .distribution import Distribution
from .utils import sum_rightmost

__all__ = ["Independent"]


class Independent(Distribution):
    """A distribution whose last batch dims count as part of the event: log_prob sums over them.

    Args:
        base_distribution: any distribution.
        reinterpreted_batch_ndims: number of these dims.
    Raises:
        ValueError: the base has fewer batch dims.
    """

    arg_constraints = {}

    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        if reinterpreted_batch_ndims > len(base_distribution.batch_shape):
            raise ValueError(
                "Independent: expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape),"
                f" got {reinterpreted_batch_ndims} and {len(base_distribution.batch_shape)}."
            )
        shape = base_distribution.batch_shape + base_distribution.event_shape
        cut = len(base_distribution.batch_shape) - reinterpreted_batch_ndims
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Independent, _instance)
        batch_shape = flambeau.Size(batch_shape)
        more = self.event_shape[: self.reinterpreted_batch_ndims]
        new.base_dist = self.base_dist.expand(batch_shape + more)
        new.reinterpreted_batch_ndims = self.reinterpreted_batch_ndims
        return self._finish_expanded(new, batch_shape, self.event_shape)

    @property
    def has_rsample(self):
        """That of the base."""
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self):
        """That of the base, as long as no dim is reinterpreted."""
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self):
        """That of the base, over more dims."""
        support = self.base_dist.support
        if self.reinterpreted_batch_ndims:
            support = constraints.independent(support, self.reinterpreted_batch_ndims)
        return support

    @property
    def mean(self):
        """That of the base."""
        return self.base_dist.mean

    @property
    def mode(self):
        """That of the base."""
        return self.base_dist.mode

    @property
    def variance(self):
        """That of the base."""
        return self.base_dist.variance

    def sample(self, sample_shape=()):
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value):
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self):
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand=True):
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError(
                "Independent: the support is a product over the reinterpreted dims, which is not enumerated."
            )
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self):
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"
