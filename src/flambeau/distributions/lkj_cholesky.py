"""LKJ distribution of Cholesky factors of correlation matrices."""

import math

import flambeau

from . import constraints
from .beta import Beta
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices C with density proportional to det(C)^(concentration - 1).

    Args:
        dim: size of the matrices, at least 2.
        concentration: 1 is uniform over correlation matrices, more favours the identity; above 0.
    Raises:
        ValueError: dim is below 2.
    References:
        Lewandowski, Kurowicka, Joe, "Generating random correlation matrices based on vines and extended onion method",
        2009, section 3 (the onion method).
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if dim < 2:
            raise ValueError(f"LKJCholesky: expected dim of at least 2, got {dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        like = {"dtype": self.concentration.dtype, "device": self.concentration.device}
        # Row i of the factor has squared distance from the diagonal of Beta(i / 2, concentration + (dim - 1 - i) / 2).
        before = flambeau.arange(dim - 1, **like)
        offset = flambeau.cat([flambeau.zeros((1,), **like), before])
        first = offset + 0.5
        second = (self.concentration + 0.5 * (dim - 2)).unsqueeze(-1) - 0.5 * offset
        self._beta = Beta(first, second)
        super().__init__(self.concentration.size(), (dim, dim), validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(LKJCholesky, _instance)
        batch_shape = flambeau.Size(batch_shape)
        new.dim = self.dim
        new.concentration = self.concentration.expand(batch_shape)
        new._beta = self._beta.expand((*batch_shape, self.dim))
        return self._finish_expanded(new, batch_shape, self.event_shape)

    def sample(self, sample_shape=()):
        with flambeau.no_grad():
            y = self._beta.sample(sample_shape).unsqueeze(-1)
            normals = flambeau.randn(
                self._extended_shape(sample_shape), dtype=y.dtype, device=y.device
            )
            normals = normals.tril(-1)
            directions = normals / normals.norm(dim=-1, keepdim=True)
            directions[..., 0, :].fill_(0.0)  # the first row has nothing before its diagonal: 0 / 0
            factor = flambeau.sqrt(y) * directions
            left = (1 - factor.square().sum(-1)).clamp(min=flambeau.finfo(factor.dtype).tiny)
            return factor + left.sqrt().diag_embed()

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = flambeau.arange(2, self.dim + 1, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        unnormalised = (order * diagonal.log()).sum(-1)
        rows = self.dim - 1
        alpha = self.concentration + 0.5 * rows
        normaliser = (
            0.5 * rows * math.log(math.pi)
            + flambeau.mvlgamma(alpha - 0.5, rows)
            - flambeau.lgamma(alpha) * rows
        )
        return unnormalised - normaliser
