"""Mixtures of distributions of one family."""

import flambeau

from . import constraints
from .categorical import Categorical
from .constraints import MixtureSameFamilyConstraint
from .distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A draw picks a component at random, then a value from it.

    Args:
        mixture_distribution: Categorical over K components.
        component_distribution: distribution whose last batch dim, of size K, holds the components.
    Raises:
        ValueError: the arguments are no such distributions, or their batch shapes do not fit.
    """

    arg_constraints = {}
    has_rsample = False

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                "MixtureSameFamily: expected mixture_distribution to be a Categorical,"
                f" got {type(mixture_distribution).__name__}."
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "MixtureSameFamily: expected component_distribution to be a Distribution,"
                f" got {type(component_distribution).__name__}."
            )
        mixture_batch = mixture_distribution.batch_shape
        component_batch = component_distribution.batch_shape[:-1]
        for got, expected in zip(reversed(mixture_batch), reversed(component_batch), strict=False):
            if got != 1 and expected != 1 and got != expected:
                raise ValueError(
                    f"MixtureSameFamily: expected mixture_distribution.batch_shape {tuple(mixture_batch)} to fit"
                    f" component_distribution.batch_shape[:-1] {tuple(component_batch)}."
                )
        count = mixture_distribution.logits.shape[-1]
        components = component_distribution.batch_shape[-1]
        if count != components:
            raise ValueError(
                f"MixtureSameFamily: expected as many components as categories, got {components} and {count}."
            )
        self._num_component = count
        event_shape = component_distribution.event_shape
        self._event_ndims = len(event_shape)
        super().__init__(component_batch, event_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        batch_shape = flambeau.Size(batch_shape)
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        new._component_distribution = self._component_distribution.expand(
            (*batch_shape, self._num_component)
        )
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._num_component = self._num_component
        new._event_ndims = self._event_ndims
        return self._finish_expanded(new, batch_shape, self.event_shape)

    @constraints.dependent_property
    def support(self):
        """That of the components."""
        return MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self):
        """Categorical over the components."""
        return self._mixture_distribution

    @property
    def component_distribution(self):
        """The components, along the last batch dim."""
        return self._component_distribution

    def _weights(self):
        """Probabilities of the components, of shape batch + (K,) + ones for the event."""
        probs = self.mixture_distribution.probs
        return probs.reshape(probs.shape + (1,) * self._event_ndims)

    def _average(self, values):
        """Weighted mean over the components."""
        return (self._weights() * values).sum(-1 - self._event_ndims)

    @property
    def mean(self):
        """Weighted mean of the components' means."""
        return self._average(self.component_distribution.mean)

    @property
    def variance(self):
        """Mean of the variances plus variance of the means."""
        means = self.component_distribution.mean
        spread = (means - self._pad(self.mean)).pow(2.0)
        return self._average(self.component_distribution.variance) + self._average(spread)

    def cdf(self, x):
        x = self._pad(x)
        return (self.component_distribution.cdf(x) * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, x):
        if self._validate_args:
            self._validate_sample(x)
        log_prob = self.component_distribution.log_prob(self._pad(x))
        log_weights = flambeau.log_softmax(self.mixture_distribution.logits, dim=-1)
        return flambeau.logsumexp(log_prob + log_weights, dim=-1)

    def sample(self, sample_shape=()):
        sample_shape = flambeau.Size(sample_shape)
        with flambeau.no_grad():
            dim = len(sample_shape) + len(self.batch_shape)
            picked = self.mixture_distribution.sample(sample_shape)
            values = self.component_distribution.sample(sample_shape)
            # (sample, batch, 1, event): one component per event
            picked = picked.reshape(picked.shape + (1,) * (self._event_ndims + 1))
            lead = values.shape[:dim]
            picked = picked.expand(lead + (1,) + self.event_shape)
            return values.gather(dim, picked).squeeze(dim)

    def _pad(self, value):
        """Value with a dim of size 1 where the components are."""
        return value.unsqueeze(-1 - self._event_ndims)

    def __repr__(self):
        return (
            f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
        )
