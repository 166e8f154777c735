"""Numerical methods composed of ops: derivatives from samples, low-rank decompositions by random projection."""

from .. import _C
from .join import cat
from .matmul import matmul
from .random import randn
from .registry import composite


@composite
def gradient(input, *, spacing=1, dim=None, edge_order=1):
    """Derivatives of sampled values along dims: central differences inside, one-sided ones at the edges.

    Second order also for uneven spacing (Fornberg, "Generation of finite difference formulas on arbitrarily spaced
    grids", 1988).

    Args:
        input: samples, at least edge_order + 1 along each dim.
        spacing: distance between samples, a number for all dims or one per dim; or the coordinates of the samples, a
            1-D tensor per dim.
        dim: int or ints; every dim by default.
        edge_order: 1 or 2, order of accuracy at the edges.
    Returns:
        Tuple of one tensor per dim.
    Raises:
        RuntimeError: spacing and dims do not pair up, or there are too few samples.
    """
    dims = _gradient_dims(input, dim)
    steps = _gradient_steps(input, spacing, dims)
    if edge_order not in (1, 2):
        raise RuntimeError(
            f"torch.gradient only supports edge_order=1 and edge_order=2, got {edge_order}."
        )
    return tuple(
        _derivative(input, step, d, edge_order) for d, step in zip(dims, steps, strict=True)
    )


def _gradient_dims(input, dim):
    given = range(input.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    bound = max(input.ndim, 1)
    dims = []
    for d in given:
        if not -bound <= d < bound:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], but got {d})"
            )
        if d % bound in dims:
            raise RuntimeError(f"dim {d % bound} appears multiple times in the list of dims")
        dims.append(d % bound)
    return dims


def _gradient_steps(input, spacing, dims):
    spacing = 1 if spacing is None else spacing
    if not isinstance(spacing, list | tuple):
        spacing = [spacing] * len(dims) if not isinstance(spacing, _C.TensorBase) else [spacing]
    if len(spacing) != len(dims):
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to "
            f"'self.dim() = {input.ndim}' or the number of dims {len(dims)}, but got a list of length {len(spacing)}."
        )
    for step, d in zip(spacing, dims, strict=True):
        if isinstance(step, _C.TensorBase) and (step.ndim != 1 or step.shape[0] != input.shape[d]):
            raise RuntimeError(
                f"torch.gradient expected each tensor of spacing to be 1-D with as many values as dim {d} has "
                f"({input.shape[d]}), but got size {list(step.shape)}."
            )
    return spacing


def _derivative(x, step, dim, edge_order):
    size = x.shape[dim]
    if size < edge_order + 1:
        raise RuntimeError(
            "torch.gradient expected each dimension size to be at least edge_order+1, "
            f"got size {size} in dim {dim} for edge_order {edge_order}."
        )

    def part(start, count):
        return x.narrow(dim, start, count)

    if not isinstance(step, _C.TensorBase):
        inside = (part(2, size - 2) - part(0, size - 2)) / (2 * step)
        first = (part(1, 1) - part(0, 1)) / step
        last = (part(size - 1, 1) - part(size - 2, 1)) / step
        if edge_order == 2:
            first = (-1.5 * part(0, 1) + 2 * part(1, 1) - 0.5 * part(2, 1)) / step
            last = (
                0.5 * part(size - 3, 1) - 2 * part(size - 2, 1) + 1.5 * part(size - 1, 1)
            ) / step
        return cat([first, inside, last], dim)
    shape = [1] * x.ndim
    shape[dim] = size - 1
    gaps = step.diff().reshape(shape)

    def gap(start, count):
        return gaps.narrow(dim, start, count)

    left, right = gap(0, size - 2), gap(1, size - 2)
    inside = (
        part(0, size - 2) * (-right / (left * (left + right)))
        + part(1, size - 2) * ((right - left) / (left * right))
        + part(2, size - 2) * (left / (right * (left + right)))
    )
    first = (part(1, 1) - part(0, 1)) / gap(0, 1)
    last = (part(size - 1, 1) - part(size - 2, 1)) / gap(size - 2, 1)
    if edge_order == 2:
        a, b = gap(0, 1), gap(1, 1)
        first = (
            part(0, 1) * (-(2 * a + b) / (a * (a + b)))
            + part(1, 1) * ((a + b) / (a * b))
            + part(2, 1) * (-a / (b * (a + b)))
        )
        a, b = gap(size - 3, 1), gap(size - 2, 1)
        last = (
            part(size - 3, 1) * (b / (a * (a + b)))
            + part(size - 2, 1) * (-(b + a) / (a * b))
            + part(size - 1, 1) * ((2 * b + a) / (b * (a + b)))
        )
    return cat([first, inside, last], dim)


def _range_basis(A, q, niter, M):
    """Orthonormal columns that span nearly the range of A - M (Halko, Martinsson, Tropp, 2011, algorithm 4.4)."""
    from ..linalg import qr

    centred = A if M is None else A - M
    basis = qr(matmul(centred, randn(A.shape[-1], q, dtype=A.dtype))).Q
    for _ in range(niter):
        basis = qr(matmul(centred.mH, basis)).Q
        basis = qr(matmul(centred, basis)).Q
    return basis


@composite
def svd_lowrank(A, q=6, niter=2, M=None):
    """Singular value decomposition of A - M from a random projection to `q` dimensions.

    Halko, Martinsson, Tropp, "Finding structure with randomness", 2011, arXiv:0909.4061, algorithm 5.1.

    Args:
        A: shape (*, m, n). q: number of values, at most min(m, n). niter: subspace iterations. M: subtracted from A.
    Returns:
        U (*, m, q), S (*, q), V (*, n, q) with A - M nearly U diag(S) V^H. Random: repeatable by manual_seed.
    """
    from ..linalg import svd

    q = 6 if q is None else q
    m, n = A.shape[-2:]
    if not 0 <= q <= min(m, n):
        raise ValueError(
            f"svd_lowrank, pca_lowrank: q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}"
        )
    if niter < 0:
        raise ValueError(f"svd_lowrank, pca_lowrank: niter(={niter}) must be non-negative integer")
    M = None if M is None else M.broadcast_to(A.shape)
    basis = _range_basis(A, q, niter, M)
    U, S, Vh = svd(matmul(basis.mH, A if M is None else A - M), full_matrices=False)
    return matmul(basis, U), S, Vh.mH


@composite
def pca_lowrank(A, q=None, center=True, niter=2):
    """Principal components: svd_lowrank of A less the mean of its rows.

    Args:
        A: shape (*, m, n), rows are observations. q: number of components, min(6, m, n) by default.
        center: subtract the mean of each column. niter: subspace iterations.
    Returns:
        U (*, m, q), S (*, q), V (*, n, q); the columns of V are the principal directions.
    """
    m, n = A.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ValueError(
            f"svd_lowrank, pca_lowrank: q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}"
        )
    if niter < 0:
        raise ValueError(f"svd_lowrank, pca_lowrank: niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(dim=-2, keepdim=True) if center else A, q, niter=niter, M=None)


__all__ = ["gradient", "pca_lowrank", "svd_lowrank"]
