"""Negative binomial distribution."""

import flambeau
from flambeau.nn import functional as F

from . import constraints
from .distribution import Distribution
from .gamma import Gamma
from .utils import ProbsOrLogits, broadcast_all, lazy_property

__all__ = ["NegativeBinomial"]


class NegativeBinomial(ProbsOrLogits, Distribution):
    """Number of successes before total_count failures.

    Args:
        total_count: number of failures, at least 0; need not be an integer.
        probs: probability of success, in [0, 1).
        logits: log odds of success, instead of probs.
    """

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer
    _batched = {"total_count": 0, "probs": 0, "logits": 0, "_param": 0}

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        given = self._take(probs, logits)
        count, value = broadcast_all(total_count, probs if given == "probs" else logits)
        setattr(self, given, value)
        self._param = value
        self.total_count = count.type_as(value)
        super().__init__(value.size(), validate_args=validate_args)

    @property
    def mean(self):
        """total_count times the odds."""
        return self.total_count * flambeau.exp(self.logits)

    @property
    def mode(self):
        """Most likely number."""
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self):
        """mean / (1 - probs)."""
        return self.mean / flambeau.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self):
        """Its draws are the rates of Poisson numbers that have this distribution."""
        return Gamma(
            concentration=self.total_count, rate=flambeau.exp(-self.logits), validate_args=False
        )

    def sample(self, sample_shape=()):
        with flambeau.no_grad():
            return flambeau.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        powers = self.total_count * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits)
        ways = (
            flambeau.lgamma(self.total_count + value)
            - flambeau.lgamma(1.0 + value)
            - flambeau.lgamma(self.total_count)
        )
        # no failures to wait for: infinity less infinity
        return powers + ways.masked_fill(self.total_count + value == 0.0, 0.0)
