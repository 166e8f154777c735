"""Continuous Bernoulli distribution."""

import math

import flambeau
from flambeau.nn import functional as F

from . import constraints
from .exp_family import ExponentialFamily
from .utils import ProbsOrLogits, broadcast_all, clamp_probs, lazy_property, logits_to_probs

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(ProbsOrLogits, ExponentialFamily):
    """Density proportional to probs^x (1 - probs)^(1 - x) on [0, 1]: for data such as pixel intensities.

    All formulas have a removable singularity at probs = 1/2; Taylor polynomials replace them within `lims`.

    Args:
        probs: in (0, 1).
        logits: log odds, instead of probs.
        lims: interval around 1/2 where Taylor polynomials are used.
    References:
        Loaiza-Ganem, Cunningham, "The continuous Bernoulli: fixing a pervasive error in variational
        autoencoders", 2019.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0
    _batched = {"probs": 0, "logits": 0, "_param": 0, "_lims": None}

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        given = self._take(probs, logits)
        (value,) = broadcast_all(probs if given == "probs" else logits)
        if given == "probs":
            check = validate_args if validate_args is not None else self._validate_args
            if check and not self.arg_constraints["probs"].check(value).all():
                raise ValueError(f"ContinuousBernoulli: expected probs within [0, 1], got {value}.")
            value = clamp_probs(value)
        setattr(self, given, value)
        self._param = value
        self._lims = lims
        super().__init__(value.size(), validate_args=validate_args)

    @lazy_property
    def probs(self):
        """Probabilities, within (0, 1)."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _outside_unstable_region(self):
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self):
        """probs, replaced by a harmless value where Taylor polynomials are used."""
        return flambeau.where(self._outside_unstable_region(), self.probs, self._lims[0])

    def _choose(self, formula, taylor):
        return flambeau.where(self._outside_unstable_region(), formula, taylor)

    def _cont_bern_log_norm(self):
        """Logarithm of the normalising constant 2 atanh(1 - 2 probs) / (1 - 2 probs)."""
        cut = self._cut_probs()
        low = cut <= 0.5
        # each branch sees only arguments for which it is finite, so that gradients are too
        below = flambeau.log1p(-2.0 * flambeau.where(low, cut, 0.0))
        above = flambeau.log(2.0 * flambeau.where(low, 1.0, cut) - 1.0)
        numerator = flambeau.log(flambeau.abs(flambeau.log1p(-cut) - flambeau.log(cut)))
        x = flambeau.pow(self.probs - 0.5, 2)
        taylor = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return self._choose(numerator - flambeau.where(low, below, above), taylor)

    @property
    def mean(self):
        """Mean; not probs."""
        cut = self._cut_probs()
        formula = cut / (2.0 * cut - 1.0) + 1.0 / (flambeau.log1p(-cut) - flambeau.log(cut))
        x = self.probs - 0.5
        return self._choose(formula, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * flambeau.pow(x, 2)) * x)

    @property
    def stddev(self):
        """Square root of the variance."""
        return flambeau.sqrt(self.variance)

    @property
    def variance(self):
        """Variance."""
        cut = self._cut_probs()
        odds = flambeau.log1p(-cut) - flambeau.log(cut)
        formula = cut * (cut - 1.0) / flambeau.pow(1.0 - 2.0 * cut, 2) + 1.0 / flambeau.pow(odds, 2)
        x = flambeau.pow(self.probs - 0.5, 2)
        return self._choose(formula, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def rsample(self, sample_shape=()):
        shape, probs = self._extended_shape(sample_shape), self.probs
        return self.icdf(flambeau.rand(shape, dtype=probs.dtype, device=probs.device))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        cross_entropy = F.binary_cross_entropy_with_logits(logits, value, reduction="none")
        return self._cont_bern_log_norm() - cross_entropy

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        cut = self._cut_probs()
        power = flambeau.pow(cut, value) * flambeau.pow(1.0 - cut, 1.0 - value)
        inside = self._choose((power + cut - 1.0) / (2.0 * cut - 1.0), value)
        inside = flambeau.where(value <= 0.0, flambeau.zeros_like(inside), inside)
        return flambeau.where(value >= 1.0, flambeau.ones_like(inside), inside)

    def icdf(self, value):
        cut = self._cut_probs()
        low = flambeau.log1p(-cut)
        formula = flambeau.log1p(-cut + value * (2.0 * cut - 1.0)) - low
        return self._choose(formula / (flambeau.log(cut) - low), value)

    def entropy(self):
        log_zero, log_one = flambeau.log1p(-self.probs), flambeau.log(self.probs)
        return self.mean * (log_zero - log_one) - self._cont_bern_log_norm() - log_zero

    @property
    def _natural_params(self):
        return (self.logits,)

    def _log_normalizer(self, x):
        """log((exp(x) - 1) / x)."""
        outside = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = flambeau.where(outside, x, self._lims[0] - 0.5)
        formula = flambeau.log(flambeau.abs(flambeau.expm1(cut))) - flambeau.log(flambeau.abs(cut))
        taylor = 0.5 * x + flambeau.pow(x, 2) / 24.0 - flambeau.pow(x, 4) / 2880.0
        return flambeau.where(outside, formula, taylor)
