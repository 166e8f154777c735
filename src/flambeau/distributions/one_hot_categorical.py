"""Categorical distribution with one-hot vectors as values."""

import flambeau
from flambeau.nn import functional as F

from . import constraints
from .categorical import Categorical
from .distribution import Distribution

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(Distribution):
    """One of K categories, as a vector of zeros with a single one.

    Args:
        probs: shape (..., K), nonnegative weights of positive sum.
        logits: shape (..., K), unnormalised log probabilities, instead of probs.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits)
        batch_shape, event_shape = self._categorical.batch_shape, self._categorical.param_shape[-1:]
        super().__init__(batch_shape, event_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(OneHotCategorical, _instance)
        new._categorical = self._categorical.expand(batch_shape)
        return self._finish_expanded(new, batch_shape, self.event_shape)

    def _new(self, *args, **kwargs):
        return self._categorical._new(*args, **kwargs)

    @property
    def _param(self):
        return self._categorical._param

    @property
    def probs(self):
        """Probabilities."""
        return self._categorical.probs

    @property
    def logits(self):
        """Log probabilities."""
        return self._categorical.logits

    @property
    def param_shape(self):
        """Shape of probs and logits."""
        return self._categorical.param_shape

    @property
    def mean(self):
        """probs."""
        return self._categorical.probs

    @property
    def mode(self):
        """The likeliest category."""
        return self._one_hot(self._categorical.mode)

    @property
    def variance(self):
        """probs (1 - probs)."""
        return self._categorical.probs * (1 - self._categorical.probs)

    def _one_hot(self, indices):
        return F.one_hot(indices, self._categorical._num_events).to(self._param)

    def sample(self, sample_shape=()):
        with flambeau.no_grad():
            return self._one_hot(self._categorical.sample(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self):
        return self._categorical.entropy()

    def enumerate_support(self, expand=True):
        n = self.event_shape[0]
        values = flambeau.eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.view((n,) + (1,) * len(self.batch_shape) + (n,))
        return values.expand((n, *self.batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """OneHotCategorical whose rsample passes gradients on as if the sample were probs (straight through).

    References:
        Bengio, Léonard, Courville, "Estimating or propagating gradients through stochastic neurons", 2013.
    """

    has_rsample = True

    def rsample(self, sample_shape=()):
        probs = self._categorical.probs  # cached, so that the gradient reaches the same tensor
        return self.sample(sample_shape) + (probs - probs.detach())
