"""Categorical distribution."""

import math

import flambeau

from . import constraints
from .distribution import Distribution
from .utils import ProbsOrLogits

__all__ = ["Categorical"]


class Categorical(ProbsOrLogits, Distribution):
    """One of the integers 0 to K - 1.

    Args:
        probs: shape (..., K), nonnegative weights of positive sum; normalised here.
        logits: shape (..., K), unnormalised log probabilities, instead of probs; normalised here.
    Raises:
        ValueError: the parameter has no dim.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _binary = False
    _batched = {"probs": 1, "logits": 1, "_param": 1, "_num_events": None}

    def __init__(self, probs=None, logits=None, validate_args=None):
        given = self._take(probs, logits)
        value = probs if given == "probs" else logits
        if value.dim() < 1:
            raise ValueError(
                f"Categorical: expected {given} of at least one dim, got a 0-d tensor."
            )
        if given == "probs":
            self._param = self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self._param = self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._num_events = self._param.size()[-1]
        super().__init__(self._param.size()[:-1], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        """Integers from 0 to K - 1."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self):
        """NaN: categories are no numbers."""
        shape, param = self._extended_shape(), self._param
        return flambeau.full(shape, math.nan, dtype=param.dtype, device=param.device)

    @property
    def mode(self):
        """The likeliest category."""
        return self.probs.argmax(dim=-1)

    @property
    def variance(self):
        """NaN: categories are no numbers."""
        return self.mean

    def sample(self, sample_shape=()):
        sample_shape = flambeau.Size(sample_shape)
        rows = self.probs.reshape(-1, self._num_events)
        with flambeau.no_grad():
            samples = flambeau.multinomial(rows, sample_shape.numel(), True).T
        return samples.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value = value.long().unsqueeze(-1)
        value, log_pmf = flambeau.broadcast_tensors(value, self.logits)
        return log_pmf.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self):
        # -inf * 0 is NaN: the smallest number makes it 0
        logits = self.logits.clamp(min=flambeau.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand=True):
        values = flambeau.arange(self._num_events, dtype=flambeau.long, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values
