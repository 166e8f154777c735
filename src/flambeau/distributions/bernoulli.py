"""Bernoulli distribution."""

import math

import flambeau
from flambeau.nn import functional as F

from . import constraints
from .exp_family import ExponentialFamily
from .utils import ProbsOrLogits, broadcast_all

__all__ = ["Bernoulli"]


class Bernoulli(ProbsOrLogits, ExponentialFamily):
    """1 with probability probs, else 0.

    Args:
        probs: probability of 1.
        logits: log odds of 1, instead of probs.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0
    _batched = {"probs": 0, "logits": 0, "_param": 0}

    def __init__(self, probs=None, logits=None, validate_args=None):
        given = self._take(probs, logits)
        (value,) = broadcast_all(probs if given == "probs" else logits)
        setattr(self, given, value)
        self._param = value
        super().__init__(value.size(), validate_args=validate_args)

    @property
    def mean(self):
        """probs."""
        return self.probs

    @property
    def mode(self):
        """The likelier value; NaN where both are equally likely."""
        mode = (self.probs >= 0.5).to(self.probs)
        return mode.masked_fill(self.probs == 0.5, math.nan)

    @property
    def variance(self):
        """probs (1 - probs)."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        with flambeau.no_grad():
            return flambeau.bernoulli(self.probs.expand(shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self):
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand=True):
        values = flambeau.arange(2, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values

    @property
    def _natural_params(self):
        return (flambeau.logit(self.probs),)

    def _log_normalizer(self, x):
        return flambeau.log1p(flambeau.exp(x))
