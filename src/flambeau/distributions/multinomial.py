"""Multinomial distribution."""

import math

import flambeau

from . import constraints
from .binomial import Binomial
from .categorical import Categorical
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["Multinomial"]


class Multinomial(Distribution):
    """How often each of K categories occurs in total_count draws.

    Args:
        total_count: number of draws, one int for the whole batch.
        probs: shape (..., K), nonnegative weights of positive sum.
        logits: shape (..., K), unnormalised log probabilities, instead of probs.
    Raises:
        NotImplementedError: total_count is no int.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError(
                f"Multinomial: expected one int as total_count, got {type(total_count).__name__}."
            )
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        batch_shape, event_shape = self._categorical.batch_shape, self._categorical.param_shape[-1:]
        super().__init__(batch_shape, event_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Multinomial, _instance)
        batch_shape = flambeau.Size(batch_shape)
        new.total_count = self.total_count
        new._categorical = self._categorical.expand(batch_shape)
        new._binomial = self._binomial.expand(batch_shape + self.event_shape)
        return self._finish_expanded(new, batch_shape, self.event_shape)

    def _new(self, *args, **kwargs):
        return self._categorical._new(*args, **kwargs)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        """Vectors of nonnegative integers of sum total_count at most."""
        return constraints.multinomial(self.total_count)

    @property
    def logits(self):
        """Log probabilities."""
        return self._categorical.logits

    @property
    def probs(self):
        """Probabilities."""
        return self._categorical.probs

    @property
    def param_shape(self):
        """Shape of probs and logits."""
        return self._categorical.param_shape

    @property
    def mean(self):
        """total_count probs."""
        return self.probs * self.total_count

    @property
    def variance(self):
        """total_count probs (1 - probs)."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        sample_shape = flambeau.Size(sample_shape)
        draws = self._categorical.sample((self.total_count, *sample_shape)).movedim(0, -1)
        counts = self.probs.new_zeros(self._extended_shape(sample_shape))
        counts.scatter_add_(-1, draws, flambeau.ones_like(draws, dtype=counts.dtype))
        return counts

    def entropy(self):
        """Entropy in nats.

        n H(categorical) - log n! + sum over categories of E[log x!], with binomial x.
        """
        n = flambeau.tensor(self.total_count, dtype=self.probs.dtype, device=self.probs.device)
        base = n * self._categorical.entropy() - flambeau.lgamma(n + 1)
        support = self._binomial.enumerate_support(expand=False)[1:]
        probs = flambeau.exp(self._binomial.log_prob(support))
        return base + (probs * flambeau.lgamma(support + 1)).sum([0, -1])

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.masked_fill((value == 0) & (logits == -math.inf), 0)  # 0 * log(0) is 0
        ways = flambeau.lgamma(value.sum(-1) + 1) - flambeau.lgamma(value + 1).sum(-1)
        return ways + (logits * value).sum(-1)
