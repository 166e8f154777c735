"""Binomial distribution."""

import flambeau

from . import constraints
from .distribution import Distribution
from .utils import ProbsOrLogits, broadcast_all

__all__ = ["Binomial"]


def _positive_part(x):
    """max(x, 0), with gradient 1/2 at 0."""
    return (x.clamp(min=0) + x - x.clamp(max=0)) / 2


class Binomial(ProbsOrLogits, Distribution):
    """Number of successes in independent trials.

    Args:
        total_count: number of trials, an integer of at least 0.
        probs: probability of success.
        logits: log odds of success, instead of probs.
    """

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True
    _batched = {"total_count": 0, "probs": 0, "logits": 0, "_param": 0}

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        given = self._take(probs, logits)
        count, value = broadcast_all(total_count, probs if given == "probs" else logits)
        setattr(self, given, value)
        self._param = value
        self.total_count = count.type_as(value)
        super().__init__(value.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        """Integers from 0 to total_count."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self):
        """total_count probs."""
        return self.total_count * self.probs

    @property
    def mode(self):
        """Most likely number."""
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self):
        """total_count probs (1 - probs)."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        with flambeau.no_grad():
            return flambeau.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        choose = (
            flambeau.lgamma(self.total_count + 1)
            - flambeau.lgamma(value + 1)
            - flambeau.lgamma(self.total_count - value + 1)
        )
        # k log p + (n - k) log(1 - p) = k logits - n log(1 + exp(logits)), which does not overflow in this form
        log_sum = _positive_part(self.logits) + flambeau.log1p(
            flambeau.exp(-flambeau.abs(self.logits))
        )
        return value * self.logits + choose - self.total_count * log_sum

    def entropy(self):
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(flambeau.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand=True):
        total_count = int(self.total_count.max())
        if not self.total_count.min() == total_count:
            raise NotImplementedError("Binomial: expected one total_count for the whole batch.")
        values = flambeau.arange(
            1 + total_count, dtype=self._param.dtype, device=self._param.device
        )
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values
