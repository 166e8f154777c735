"""Gamma distribution."""

import flambeau

from . import constraints
from .exp_family import ExponentialFamily
from .utils import broadcast_all

__all__ = ["Gamma"]


class Gamma(ExponentialFamily):
    """Gamma distribution.

    Args:
        concentration: shape, above 0. Often called alpha.
        rate: inverse scale, above 0. Often called beta.
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    _batched = {"concentration": 0, "rate": 0}

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.size(), validate_args=validate_args)

    @property
    def mean(self):
        """concentration / rate."""
        return self.concentration / self.rate

    @property
    def mode(self):
        """Most likely value: 0 for a concentration below 1."""
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self):
        """concentration / rate^2."""
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        value = flambeau._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        # never 0, so that its logarithm is finite; the gradient is that of the value before
        value.detach().clamp_(min=flambeau.finfo(value.dtype).tiny)
        return value

    def log_prob(self, value):
        value = flambeau.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        if self._validate_args:
            self._validate_sample(value)
        return (
            flambeau.xlogy(self.concentration, self.rate)
            + flambeau.xlogy(self.concentration - 1, value)
            - self.rate * value
            - flambeau.lgamma(self.concentration)
        )

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return flambeau.special.gammainc(self.concentration, self.rate * value)

    def entropy(self):
        return (
            self.concentration
            - flambeau.log(self.rate)
            + flambeau.lgamma(self.concentration)
            + (1.0 - self.concentration) * flambeau.digamma(self.concentration)
        )

    @property
    def _natural_params(self):
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x, y):
        return flambeau.lgamma(x + 1) + (x + 1) * flambeau.log(-y.reciprocal())
