"""Ready-made parametrizations: orthogonal, weight_norm, spectral_norm."""

from enum import Enum, auto

import flambeau
from flambeau.nn import functional as F
from flambeau.nn.modules.module import Module

from . import parametrize
from .weight_norm import norm_except_dim

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def _is_orthogonal(q, eps=None):
    n, k = q.size(-2), q.size(-1)
    identity = flambeau.eye(k, dtype=q.dtype, device=q.device)
    eps = 10.0 * n * flambeau.finfo(q.dtype).eps if eps is None else eps
    return bool(flambeau.allclose(q.mH @ q, identity, atol=eps))


def _assume_orthogonal(a):
    """An orthogonal matrix with the first columns of `a`, for square or tall `a`."""
    q, r = flambeau.linalg.qr(a)
    return q * r.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _OrthMaps(Enum):
    matrix_exp = auto()
    cayley = auto()
    householder = auto()


class _Orthogonal(Module):
    """Orthogonal matrices: base @ map(X), X unconstrained (its lower triangle is used)."""

    def __init__(self, weight, orthogonal_map, *, use_trivialization=True):
        super().__init__()
        # Householder reflections take their own parameters, they cannot be complex.
        if weight.is_complex() and orthogonal_map == _OrthMaps.householder:
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X):
        n, k = X.size(-2), X.size(-1)
        transposed = n < k
        if transposed:
            X = X.mT
            n, k = k, n
        if self.orthogonal_map == _OrthMaps.householder:
            A = X.tril(diagonal=-1)
            tau = 2.0 / (1.0 + (A * A).sum(dim=-2))
            Q = flambeau.linalg.householder_product(A, tau)
            # The diagonal of X holds the signs of R in X = Q R.
            Q = Q * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            X = X.tril()
            if n != k:
                # Embed in the square case.
                X = flambeau.cat([X, X.new_zeros(n, n - k).expand(*X.shape[:-2], -1, -1)], dim=-1)
            A = X - X.mH
            if self.orthogonal_map == _OrthMaps.matrix_exp:
                Q = flambeau.matrix_exp(A)
            else:
                identity = flambeau.eye(n, dtype=A.dtype, device=A.device)
                Q = flambeau.linalg.solve(
                    flambeau.add(identity, A, alpha=-0.5), flambeau.add(identity, A, alpha=0.5)
                )
            if n != k:
                Q = Q[..., :k]
        if hasattr(self, "base"):
            Q = self.base @ Q
        return Q.mT if transposed else Q

    def right_inverse(self, Q):
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}."
            )
        init = Q
        n, k = Q.size(-2), Q.size(-1)
        transposed = n < k
        if transposed:
            Q = Q.mT
            n, k = k, n
        if hasattr(self, "base"):
            return self._trivialize(Q, init, n, k)
        if self.orthogonal_map in (_OrthMaps.cayley, _OrthMaps.matrix_exp):
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations "
                "when use_trivialization=False."
            )
        A, tau = flambeau.geqrf(Q)
        # Keep the reflections (below the diagonal) and the signs of R on it.
        A.diagonal(dim1=-2, dim2=-1).sign_()
        A.diagonal(dim1=-2, dim2=-1)[tau == 0.0] *= -1
        return A.mT if transposed else A

    def _trivialize(self, Q, init, n, k):
        # The base takes the value, so that the original starts where the map is the identity.
        if n != k:
            # Complete to a square orthogonal matrix.
            extra = flambeau.randn(*Q.shape[:-2], n, n - k, dtype=Q.dtype, device=Q.device)
            Q = _assume_orthogonal(flambeau.cat([Q, extra], dim=-1))
        elif not _is_orthogonal(Q):
            Q = _assume_orthogonal(Q)
        else:
            Q = Q.clone()
        self.base = Q
        # Householder: reflections along the axes give -I, and the signs on the diagonal undo it. The other maps do not
        # see the diagonal.
        minus_identity = flambeau.zeros_like(init)
        minus_identity.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return minus_identity


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """Keep a matrix orthogonal (wide: orthonormal rows; tall: orthonormal columns).

    Acts on the last two dims: a convolution weight (4, 3, 3, 3) becomes 12 orthogonal 3 x 3 kernels, not an orthogonal
    operator.

    Args:
        orthogonal_map: "matrix_exp" (default for square and complex matrices), "cayley" or "householder" (else).
        use_trivialization: multiply by a fixed base, so that any orthogonal matrix can be assigned.

    References:
        Lezcano-Casado, "Trivializations for Gradient-Based Optimization on Manifolds", 2019, arXiv:1909.09501.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, flambeau.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1)
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    chosen = getattr(_OrthMaps, orthogonal_map, None)
    if chosen is None:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    orth = _Orthogonal(weight, chosen, use_trivialization=use_trivialization)
    parametrize.register_parametrization(module, name, orth, unsafe=True)
    return module


class _WeightNorm(Module):
    """weight = original0 * original1 / |original1|, the norm over all dims but one."""

    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        norm = norm_except_dim(weight_v, 2, self.dim)
        # A zero row stays zero instead of becoming nan.
        return weight_v * (weight_g / flambeau.where(norm == 0, flambeau.ones_like(norm), norm))

    def right_inverse(self, weight):
        return norm_except_dim(weight, 2, self.dim), weight


class _OldWeightNormNames:
    """Reads the weight_g and weight_v of checkpoints of the hook form."""

    def __init__(self, name):
        self.name = name

    def __call__(self, state_dict, prefix, *rest):
        old = f"{prefix}{self.name}_g", f"{prefix}{self.name}_v"
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{self.name}.original{i}"] = state_dict.pop(
                    key
                )


def weight_norm(module, name="weight", dim=0):
    """Split a parameter into magnitude (original0) and direction (original1); dim None: one magnitude.

    Loads the weight_g / weight_v of checkpoints of the hook form too.

    References:
        Salimans, Kingma, "Weight Normalization", 2016, arXiv:1602.07868.
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    module._register_load_state_dict_pre_hook(_OldWeightNormNames(name))
    return module


class _SpectralNorm(Module):
    """weight / sigma, sigma its largest singular value by power iteration."""

    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        ndim = weight.ndim
        if dim >= ndim or dim < -ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim if dim >= 0 else dim + ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._reshape_weight_to_matrix(weight)
            rows, cols = matrix.size()
            u = matrix.new_empty(rows).normal_(0, 1)
            v = matrix.new_empty(cols).normal_(0, 1)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=self.eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=self.eps))
            # Enough iterations that a module used in evaluation mode at once is normalised, too.
            self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight):
        if self.dim != 0:
            weight = weight.permute(self.dim, *(d for d in range(weight.dim()) if d != self.dim))
        return weight.flatten(1)

    def _power_method(self, matrix, n_power_iterations):
        with flambeau.no_grad():
            for _ in range(n_power_iterations):
                self._u.copy_(F.normalize(flambeau.mv(matrix, self._v), dim=0, eps=self.eps))
                self._v.copy_(F.normalize(flambeau.mv(matrix.H, self._u), dim=0, eps=self.eps))

    def forward(self, weight):
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # Copies: two forwards before one backward would otherwise change what the first one saved.
        u, v = self._u.clone(), self._v.clone()
        sigma = flambeau.vdot(u, flambeau.mv(matrix, v))
        return weight / sigma

    def right_inverse(self, value):
        return value


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divide a parameter by its largest singular value.

    In training mode every read runs the power iteration (see parametrize.cached); in evaluation mode it is frozen.

    References:
        Miyato et al., "Spectral Normalization for Generative Adversarial Networks", 2018, arXiv:1802.05957.
    """
    from flambeau.nn.modules.conv import _ConvTransposeNd

    weight = getattr(module, name, None)
    if not isinstance(weight, flambeau.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if isinstance(module, _ConvTransposeNd) else 0
    parametrize.register_parametrization(
        module, name, _SpectralNorm(weight, n_power_iterations, dim, eps)
    )
    return module
