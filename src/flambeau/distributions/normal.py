"""Normal distribution."""

import math

import flambeau

from . import constraints
from .distribution import LOG_2PI
from .exp_family import ExponentialFamily
from .utils import broadcast_all, standard_normal

__all__ = ["Normal"]


class Normal(ExponentialFamily):
    """Normal (Gaussian) distribution.

    Args:
        loc: mean.
        scale: standard deviation, above 0.
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _mean_carrier_measure = 0
    _batched = {"loc": 0, "scale": 0}

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    @property
    def mean(self):
        """loc."""
        return self.loc

    @property
    def mode(self):
        """loc."""
        return self.loc

    @property
    def stddev(self):
        """scale."""
        return self.scale

    @property
    def variance(self):
        """scale^2."""
        return self.stddev.pow(2)

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        with flambeau.no_grad():
            return flambeau.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        noise = standard_normal(shape, self.loc.dtype, self.loc.device)
        return self.loc + noise * self.scale

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        squares = (value - self.loc) ** 2
        return -squares / (2 * self.scale**2) - self.scale.log() - 0.5 * LOG_2PI

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        standardised = (value - self.loc) * self.scale.reciprocal() / math.sqrt(2)
        return 0.5 * (1 + flambeau.erf(standardised))

    def icdf(self, value):
        return self.loc + self.scale * flambeau.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self):
        return 0.5 + 0.5 * LOG_2PI + flambeau.log(self.scale)

    @property
    def _natural_params(self):
        return self.loc / self.scale.pow(2), -0.5 * self.scale.pow(2).reciprocal()

    def _log_normalizer(self, x, y):
        return -0.25 * x.pow(2) / y + 0.5 * flambeau.log(-math.pi / y)
