"""Relaxed Bernoulli distribution."""

import flambeau

from . import constraints
from .distribution import Distribution
from .transformed_distribution import TransformedDistribution
from .transforms import SigmoidTransform
from .utils import ProbsOrLogits, broadcast_all, clamp_probs

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(ProbsOrLogits, Distribution):
    """Log odds of a RelaxedBernoulli number: logistic noise around the logits, over the temperature.

    Args:
        temperature: above 0; the lower, the closer to log odds of 0 and 1.
        probs: probability of 1.
        logits: log odds of 1, instead of probs.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True
    _batched = {"probs": 0, "logits": 0, "_param": 0, "temperature": None}

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = temperature
        given = self._take(probs, logits)
        (value,) = broadcast_all(probs if given == "probs" else logits)
        setattr(self, given, value)
        self._param = value
        super().__init__(value.size(), validate_args=validate_args)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(flambeau.rand(shape, dtype=probs.dtype, device=probs.device))
        noise = u.log() - (-u).log1p()
        return (noise + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        diff = logits - value.mul(self.temperature)
        return flambeau.as_tensor(self.temperature).log() + diff - 2 * diff.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    """A number in (0, 1) near 0 or 1, differentiable in its parameters.

    Args:
        temperature: above 0; the lower, the nearer to 0 and 1.
        probs: probability of 1.
        logits: log odds of 1, instead of probs.
    References:
        Maddison, Mnih, Teh, "The concrete distribution", 2017; Jang, Gu, Poole, "Categorical reparametrization with
        Gumbel-softmax", 2017.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _batched = {}

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    @property
    def temperature(self):
        """Temperature."""
        return self.base_dist.temperature

    @property
    def logits(self):
        """Log odds of 1."""
        return self.base_dist.logits

    @property
    def probs(self):
        """Probability of 1."""
        return self.base_dist.probs
