"""Geometric distribution."""

import flambeau
from flambeau.nn import functional as F

from . import constraints
from .distribution import Distribution
from .utils import ProbsOrLogits, broadcast_all

__all__ = ["Geometric"]


class Geometric(ProbsOrLogits, Distribution):
    """Number of failures before the first success.

    Args:
        probs: probability of success, in (0, 1].
        logits: log odds of success, instead of probs.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer
    _batched = {"probs": 0, "logits": 0, "_param": 0}

    def __init__(self, probs=None, logits=None, validate_args=None):
        given = self._take(probs, logits)
        (value,) = broadcast_all(probs if given == "probs" else logits)
        setattr(self, given, value)
        self._param = value
        super().__init__(value.size(), validate_args=validate_args)
        if self._validate_args and given == "probs" and not (value > 0).all():
            raise ValueError(f"Geometric: expected probs above 0, got {value}.")

    @property
    def mean(self):
        """1 / probs - 1."""
        return 1.0 / self.probs - 1.0

    @property
    def mode(self):
        """0."""
        return flambeau.zeros_like(self.probs)

    @property
    def variance(self):
        """(1 / probs - 1) / probs."""
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        with flambeau.no_grad():
            tiny = flambeau.finfo(self.probs.dtype).tiny  # the logarithm of 0 would be infinite
            u = self.probs.new_empty(shape).uniform_(tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        # certain success: 0 * log(0) is 0
        failure = probs.masked_fill((probs == 1) & (value == 0), 0)
        return value * (-failure).log1p() + self.probs.log()

    def entropy(self):
        cross = F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")
        return cross / self.probs
