"""Relaxed one-hot categorical distribution."""

import flambeau

from . import constraints
from .categorical import Categorical
from .distribution import Distribution
from .transformed_distribution import TransformedDistribution
from .transforms import ExpTransform
from .utils import broadcast_all, clamp_probs

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(Distribution):
    """Logarithm of a RelaxedOneHotCategorical vector.

    Args:
        temperature: above 0; the lower, the nearer to one-hot vectors.
        probs: shape (..., K), nonnegative weights of positive sum.
        logits: shape (..., K), unnormalised log probabilities, instead of probs.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector  # of those whose exponentials sum to 1
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        batch_shape, event_shape = self._categorical.batch_shape, self._categorical.param_shape[-1:]
        super().__init__(batch_shape, event_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(ExpRelaxedCategorical, _instance)
        new.temperature = self.temperature
        new._categorical = self._categorical.expand(batch_shape)
        return self._finish_expanded(new, batch_shape, self.event_shape)

    def _new(self, *args, **kwargs):
        return self._categorical._new(*args, **kwargs)

    @property
    def param_shape(self):
        """Shape of probs and logits."""
        return self._categorical.param_shape

    @property
    def logits(self):
        """Log probabilities."""
        return self._categorical.logits

    @property
    def probs(self):
        """Probabilities."""
        return self._categorical.probs

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        u = clamp_probs(flambeau.rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        gumbels = -((-(u.log())).log())
        scores = (self.logits + gumbels) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        count = self._categorical._num_events
        logits, value = broadcast_all(self.logits, value)
        temperature = flambeau.as_tensor(self.temperature, dtype=logits.dtype)
        log_scale = flambeau.full_like(temperature, float(count)).lgamma()
        log_scale = log_scale - temperature.log().mul(-(count - 1))
        score = logits - value.mul(temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + log_scale


class RelaxedOneHotCategorical(TransformedDistribution):
    """A vector on the simplex near a corner, differentiable in its parameters (Gumbel-softmax).

    Args:
        temperature: above 0; the lower, the nearer to one-hot vectors.
        probs: shape (..., K), nonnegative weights of positive sum.
        logits: shape (..., K), unnormalised log probabilities, instead of probs.
    References:
        Maddison, Mnih, Teh, "The concrete distribution", 2017; Jang, Gu, Poole, "Categorical reparametrization with
        Gumbel-softmax", 2017.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True
    _batched = {}

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    @property
    def temperature(self):
        """Temperature."""
        return self.base_dist.temperature

    @property
    def logits(self):
        """Log probabilities."""
        return self.base_dist.logits

    @property
    def probs(self):
        """Probabilities."""
        return self.base_dist.probs
