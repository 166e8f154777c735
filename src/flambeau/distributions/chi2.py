"""Chi-squared distribution."""

from . import constraints
from .gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """Sum of squares of df standard normal numbers: Gamma(df / 2, 1 / 2).

    Args:
        df: degrees of freedom, above 0.
    """

    arg_constraints = {"df": constraints.positive}
    _batched = Gamma._batched

    def __init__(self, df, validate_args=None):
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self):
        """Degrees of freedom."""
        return self.concentration * 2
