"""Dirichlet distribution."""

import flambeau
from flambeau.nn import functional as F

from . import constraints
from .exp_family import ExponentialFamily

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    """Dirichlet distribution on the simplex.

    Args:
        concentration: shape (..., K), above 0.
    Raises:
        ValueError: concentration has no dim.
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    _batched = {"concentration": 1}

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError(
                "Dirichlet: expected concentration of at least one dim, got a 0-d tensor."
            )
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        return flambeau._sample_dirichlet(self.concentration.expand(shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        concentration = self.concentration
        return (
            flambeau.xlogy(concentration - 1.0, value).sum(-1)
            + flambeau.lgamma(concentration.sum(-1))
            - flambeau.lgamma(concentration).sum(-1)
        )

    @property
    def mean(self):
        """concentration over its sum."""
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self):
        """Most likely point; a corner where all concentrations are below 1."""
        excess = (self.concentration - 1).clamp(min=0.0)
        mode = excess / excess.sum(-1, True)
        corner = (self.concentration < 1).all(-1, True)
        one_hot = F.one_hot(mode.argmax(-1), mode.shape[-1]).to(mode)
        return flambeau.where(corner, one_hot, mode)

    @property
    def variance(self):
        """Variance of each component."""
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self):
        size = self.concentration.size(-1)
        total = self.concentration.sum(-1)
        return (
            flambeau.lgamma(self.concentration).sum(-1)
            - flambeau.lgamma(total)
            - (size - total) * flambeau.digamma(total)
            - ((self.concentration - 1.0) * flambeau.digamma(self.concentration)).sum(-1)
        )

    @property
    def _natural_params(self):
        return (self.concentration,)

    def _log_normalizer(self, x):
        return x.lgamma().sum(-1) - flambeau.lgamma(x.sum(-1))
