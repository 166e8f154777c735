"""Von Mises distribution."""

import math

import flambeau

from . import constraints
from .distribution import LOG_2PI, Distribution
from .utils import broadcast_all, lazy_property

__all__ = ["VonMises"]


class VonMises(Distribution):
    """Normal-like distribution of angles, with density proportional to exp(concentration cos(x - loc)).

    Args:
        loc: mean angle in radians.
        concentration: above 0; about 1 / variance where large.
    References:
        Best, Fisher, "Efficient simulation of the von Mises distribution", 1979.
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False
    _batched = {"loc": 0, "concentration": 0}

    def __init__(self, loc, concentration, validate_args=None):
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        # i0e(x) = exp(-x) I_0(x) does not overflow
        log_bessel = flambeau.special.i0e(self.concentration).log() + self.concentration
        return self.concentration * flambeau.cos(value - self.loc) - LOG_2PI - log_bessel

    @lazy_property
    def _loc(self):
        return self.loc.to(flambeau.double)

    @lazy_property
    def _concentration(self):
        return self.concentration.to(flambeau.double)

    @lazy_property
    def _proposal_r(self):
        """Parameter of the wrapped Cauchy distribution that proposals come from."""
        kappa = self._concentration
        tau = 1 + (1 + 4 * kappa**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        exact = (1 + rho**2) / (2 * rho)
        return flambeau.where(kappa < 1e-5, 1 / kappa + kappa, exact)  # cancels for a small kappa

    def sample(self, sample_shape=()):
        """Draw without gradients, in double precision inside: float32 rejects wrongly for large concentrations."""
        shape = self._extended_shape(sample_shape)
        with flambeau.no_grad():
            loc, kappa, r = (
                value.expand(shape) for value in (self._loc, self._concentration, self._proposal_r)
            )
            x = flambeau.empty(shape, dtype=flambeau.double, device=self.loc.device)
            done = flambeau.zeros(shape, dtype=flambeau.bool, device=self.loc.device)
            while not done.all():
                u1, u2, u3 = flambeau.rand((3, *shape), dtype=x.dtype, device=x.device).unbind()
                z = flambeau.cos(math.pi * u1)
                f = (1 + r * z) / (r + z)
                c = kappa * (r - f)
                accept = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
                x = flambeau.where(accept, (u3 - 0.5).sign() * f.acos(), x)
                done = done | accept
            return ((x + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    @property
    def mean(self):
        """loc, the circular mean."""
        return self.loc

    @property
    def mode(self):
        """loc."""
        return self.loc

    @lazy_property
    def variance(self):
        """Circular variance, 1 - I_1(concentration) / I_0(concentration)."""
        return 1 - flambeau.special.i1e(self.concentration) / flambeau.special.i0e(
            self.concentration
        )
