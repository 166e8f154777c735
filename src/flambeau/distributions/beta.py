"""Beta distribution."""

from numbers import Number

import flambeau

from . import constraints
from .dirichlet import Dirichlet
from .exp_family import ExponentialFamily
from .utils import broadcast_all

__all__ = ["Beta"]


class Beta(ExponentialFamily):
    """Beta distribution on [0, 1]: the first component of a two-dimensional Dirichlet distribution.

    Args:
        concentration1: exponent of x, plus 1; above 0. Often called alpha.
        concentration0: exponent of 1 - x, plus 1; above 0. Often called beta.
    """

    arg_constraints = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1, concentration0, validate_args=None):
        if isinstance(concentration1, Number) and isinstance(concentration0, Number):
            both = flambeau.tensor([float(concentration1), float(concentration0)])
        else:
            both = flambeau.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(both, validate_args=validate_args)
        super().__init__(self._dirichlet._batch_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Beta, _instance)
        new._dirichlet = self._dirichlet.expand(flambeau.Size(batch_shape))
        return self._finish_expanded(new, batch_shape, ())

    @property
    def concentration1(self):
        """Exponent of x, plus 1."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self):
        """Exponent of 1 - x, plus 1."""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self):
        """concentration1 over the sum of both."""
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self):
        """Most likely value; one of the ends where both concentrations are below 1."""
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self):
        """Variance."""
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape=()):
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return self._dirichlet.log_prob(flambeau.stack([value, 1.0 - value], -1))

    def entropy(self):
        return self._dirichlet.entropy()

    @property
    def _natural_params(self):
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x, y):
        return flambeau.lgamma(x) + flambeau.lgamma(y) - flambeau.lgamma(x + y)
