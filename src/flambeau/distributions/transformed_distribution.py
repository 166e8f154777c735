"""TransformedDistribution: a distribution pushed through transforms."""

import flambeau

from . import constraints
from .distribution import Distribution
from .independent import Independent
from .transforms import ComposeTransform, Transform
from .utils import sum_rightmost

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """Distribution of transforms(x) for x of a base distribution.

    log p(y) = log p_base(x) - sum of the log determinants, for x = the inverse of y.

    Args:
        base_distribution: distribution of x. It is expanded where a transform broadcasts, and its batch dims become
            event dims where a transform needs them.
        transforms: a transform, or a list of them; the first is applied first.
    Raises:
        ValueError: transforms are no transforms, or the base has fewer dims than they need.
    """

    arg_constraints = {}
    _batched = {}

    def __init__(self, base_distribution, transforms, validate_args=None):
        self.transforms = [transforms] if isinstance(transforms, Transform) else transforms
        if not isinstance(self.transforms, list) or not all(
            isinstance(transform, Transform) for transform in self.transforms
        ):
            raise ValueError(
                f"{type(self).__name__}: expected a Transform or a list of them, got {transforms!r}."
            )
        base_shape = base_distribution.batch_shape + base_distribution.event_shape
        base_event_dim = len(base_distribution.event_shape)
        transform = ComposeTransform(self.transforms)
        if len(base_shape) < transform.domain.event_dim:
            raise ValueError(
                f"{type(self).__name__}: expected a base distribution of at least {transform.domain.event_dim}"
                f" dims, got shape {tuple(base_shape)}."
            )
        forward_shape = transform.forward_shape(base_shape)
        wide_shape = transform.inverse_shape(forward_shape)
        if base_shape != wide_shape:
            kept = len(wide_shape) - base_event_dim
            base_distribution = base_distribution.expand(wide_shape[:kept])
        more = transform.domain.event_dim - base_event_dim
        if more > 0:
            base_distribution = Independent(base_distribution, more)
        self.base_dist = base_distribution
        change = transform.codomain.event_dim - transform.domain.event_dim
        event_dim = max(transform.codomain.event_dim, base_event_dim + change)
        cut = len(forward_shape) - event_dim
        super().__init__(forward_shape[:cut], forward_shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        owner = next(cls for cls in type(self).__mro__ if "_batched" in vars(cls))
        new = self._get_checked_instance(owner, _instance)
        batch_shape = flambeau.Size(batch_shape)
        for name in owner._batched:
            setattr(new, name, getattr(self, name).expand(batch_shape))
        shape = batch_shape + self.event_shape
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        kept = len(shape) - len(self.base_dist.event_shape)
        new.base_dist = self.base_dist.expand(shape[:kept])
        new.transforms = self.transforms
        return self._finish_expanded(new, batch_shape, self.event_shape)

    @constraints.dependent_property(is_discrete=False)
    def support(self):
        """Where the last transform leads."""
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        more = len(self.event_shape) - support.event_dim
        return constraints.independent(support, more) if more > 0 else support

    @property
    def has_rsample(self):
        """That of the base."""
        return self.base_dist.has_rsample

    def sample(self, sample_shape=()):
        with flambeau.no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=()):
        return self._forward(self.base_dist.rsample(sample_shape))

    def _forward(self, x):
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        event_dim = len(self.event_shape)
        log_det = 0.0
        y = value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            term = transform.log_abs_det_jacobian(x, y)
            log_det = log_det + sum_rightmost(term, event_dim - transform.domain.event_dim)
            y = x
        base = self.base_dist.log_prob(y)
        return sum_rightmost(base, event_dim - len(self.base_dist.event_shape)) - log_det

    def _mirrored(self, value):
        """1 - value where the transforms decrease, so that distribution functions increase."""
        sign = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        if isinstance(sign, int) and sign == 1:
            return value
        return sign * (value - 0.5) + 0.5

    def cdf(self, value):
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._mirrored(self.base_dist.cdf(value))

    def icdf(self, value):
        return self._forward(self.base_dist.icdf(self._mirrored(value)))
