"""Fisher-Snedecor distribution."""

import math

import flambeau

from . import constraints
from .distribution import Distribution
from .gamma import Gamma
from .utils import broadcast_all

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """F distribution: the ratio of two chi-squared numbers, each over its degrees of freedom.

    Args:
        df1: degrees of freedom of the numerator, above 0.
        df2: degrees of freedom of the denominator, above 0.
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1, df2, validate_args=None):
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        super().__init__(self.df1.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(FisherSnedecor, _instance)
        batch_shape = flambeau.Size(batch_shape)
        for name in ("df1", "df2", "_gamma1", "_gamma2"):
            setattr(new, name, getattr(self, name).expand(batch_shape))
        return self._finish_expanded(new, batch_shape, ())

    @property
    def mean(self):
        """df2 / (df2 - 2); NaN for df2 up to 2."""
        df2 = self.df2.masked_fill(self.df2 <= 2, math.nan)
        return df2 / (df2 - 2)

    @property
    def mode(self):
        """Most likely value; NaN for df1 up to 2."""
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return mode.masked_fill(self.df1 <= 2, math.nan)

    @property
    def variance(self):
        """Variance; NaN for df2 up to 4."""
        df2 = self.df2.masked_fill(self.df2 <= 4, math.nan)
        numerator = 2 * df2.pow(2) * (self.df1 + df2 - 2)
        return numerator / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape=()):
        tiny = flambeau.finfo(self.df1.dtype).tiny
        numerator = self._gamma1.rsample(sample_shape)
        denominator = self._gamma2.rsample(sample_shape).clamp(min=tiny)
        return (numerator / denominator).clamp(min=tiny)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        half1, half2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        log_beta = half1.lgamma() + half2.lgamma() - (half1 + half2).lgamma()
        powers = half1 * ratio.log() + (half1 - 1) * flambeau.log(value)
        return powers - log_beta - (half1 + half2) * flambeau.log1p(ratio * value)
