"""Symmetric and Hermitian indefinite systems: the Bunch-Kaufman factorisation and its solver."""

from .. import _C
from ._differentiate import differentiate
from .linalg_ops import (
    broadcast_batches,
    eye_like,
    linalg_inv_ex,
    linalg_solve_triangular,
    named,
)
from .registry import composite, native

__all__ = []

linalg_ldl_factor_ex = native(
    "linalg_ldl_factor_ex(Tensor A, *, bool hermitian=False, bool check_errors=False) "
    "-> (Tensor LD, Tensor pivots, Tensor info)",
    return_type="linalg_ldl_factor_ex",
    out=True,
    doc="""Bunch-Kaufman factors of symmetric (or Hermitian) matrices: A = P L D L^T P^T, with D of blocks of 1 and 2.

    Args:
        A: float or complex, shape (*, n, n); the lower triangle is read.
        hermitian: for complex A, L^H instead of L^T.
        check_errors: raise if D is singular.
    Returns:
        LD (*, n, n), pivots (int32, (*, n), negative for blocks of 2) and info (int32, (*)), packed as LAPACK's sytrf
        leaves them.
    Differentiable in A; supports second derivatives.
    """,
)


def _swaps(pivots):
    """(step, row) of the row exchanges of one matrix, and the steps at which a block of 2 starts."""
    swaps, doubles = [], []
    k = 0
    while k < len(pivots):
        if pivots[k] > 0:
            swaps.append((k, k, pivots[k] - 1))
            k += 1
        else:
            swaps.append((k, k + 1, -pivots[k] - 1))
            doubles.append(k)
            k += 2
    return swaps, doubles


class Layout:
    """Where the factors are in a packed LD, from its pivots; all fields are tensors of LD's dtype or indices.

    rows (*, n, n): entry (i, j) of L is at row rows[i, j] of column j, since later exchanges do not move earlier
    columns. lower: 1 where L has entries. blocks: 1 where D's lower triangle has. exchange: R with R A R^T = L D L^T.
    """

    def __init__(self, pivots, like):
        import numpy as np  # not needed to import the package

        n = pivots.shape[-1]
        flat = pivots.reshape(-1, n).tolist() if n else []
        rows = np.tile(np.arange(n)[:, None], (max(len(flat), 1), 1, n))
        order = np.tile(np.arange(n), (max(len(flat), 1), 1))
        double = np.zeros((max(len(flat), 1), n, n))
        for index, row, perm, block in zip(flat, rows, order, double, strict=False):
            swaps, doubles = _swaps(index)
            for step, a, b in swaps:
                row[[a, b], :step] = row[[b, a], :step]
                perm[[a, b]] = perm[[b, a]]
            for k in doubles:
                block[k + 1, k] = 1
        from .create import tensor

        shape = (*pivots.shape[:-1], n, n)
        if pivots.numel() == 0:
            rows, order, double = rows[:0], order[:0], double[:0]

        def matrix(values):
            return tensor(values, dtype=like.dtype).reshape(shape)

        self.rows = tensor(rows, dtype=_C.int64).reshape(shape)
        self.off_diagonal = matrix(double)
        self.lower = matrix(np.tril(np.ones((n, n)), -1) - double)
        self.blocks = matrix(np.eye(n) + double)
        self.exchange = matrix(np.eye(n)[order])

    def factors(self, LD, hermitian):
        """L and D as full matrices, differentiable in LD."""
        L = LD.gather(-2, self.rows) * self.lower + eye_like(LD, LD.shape[-1])
        off = LD * self.off_diagonal
        diagonal = LD.diagonal(0, -2, -1).diag_embed()
        return L, diagonal + off + (off.mH if hermitian else off.mT)


@linalg_ldl_factor_ex.vjp("A")
def _(grad_LD, LD, pivots, hermitian):
    # R A R^T = L D L^H gives, for Z = L^-1 d(R A R^T) L^-H: dD = Z inside the blocks, and L^-1 dL = Z D^-1 below them.
    layout = Layout(pivots, LD)
    L, D = layout.factors(LD, hermitian)
    grad_L = grad_LD.gather(-2, layout.rows) * layout.lower
    below = (L.mH @ grad_L) @ linalg_inv_ex(D)[0].mH
    Z = below * layout.lower + grad_LD * layout.blocks
    left = linalg_solve_triangular(L.mH, Z, upper=True, unitriangular=True)
    right = L if hermitian else L.conj()
    grad = linalg_solve_triangular(right, left, upper=False, left=False, unitriangular=True)
    grad = layout.exchange.mT @ grad @ layout.exchange
    return 0.5 * (grad + (grad.mH if hermitian else grad.mT))


linalg_ldl_solve_raw = native(
    "linalg_ldl_solve_raw(Tensor LD, Tensor pivots, Tensor B, bool hermitian=False) -> Tensor",
    doc="Solve with the factors of ldl_factor; LD and B have one batch shape.",
)


@linalg_ldl_solve_raw.vjp
def _(grad, LD, pivots, B, hermitian, needs):
    grad_b = None
    if needs[2]:
        if hermitian:
            grad_b = linalg_ldl_solve_raw(LD, pivots, grad, True)
        else:
            grad_b = linalg_ldl_solve_raw(LD, pivots, grad.conj(), False).conj()
    if not needs[0]:
        return None, None, grad_b

    def plain(factors, right):
        layout = Layout(pivots, factors)
        L, D = layout.factors(factors, hermitian)
        x = linalg_solve_triangular(L, layout.exchange @ right, upper=False, unitriangular=True)
        adjoint = L.mH if hermitian else L.mT
        x = linalg_solve_triangular(
            adjoint, linalg_inv_ex(D)[0] @ x, upper=True, unitriangular=True
        )
        return (layout.exchange.mT @ x,)

    return differentiate(plain, (LD, B), (True, False), (grad,))[0], None, grad_b


@composite(out=True)
def linalg_ldl_factor(A, *, hermitian=False):
    """Packed factor and pivots of symmetric (or Hermitian) indefinite matrices; raises if D is singular.

    Args:
        A: float or complex, shape (*, n, n); the lower triangle is read.
        hermitian: for complex A, Hermitian instead of symmetric.
    Returns:
        (LD, pivots), see linalg_ldl_factor_ex.
    Raises:
        LinAlgError: D has a zero block.
    Differentiable in A; supports second derivatives.
    """
    result = linalg_ldl_factor_ex(A, hermitian=hermitian, check_errors=True)
    return named("linalg_ldl_factor", "LD pivots", result[:2])


@composite(out=True)
def linalg_ldl_solve(LD, pivots, B, *, hermitian=False):
    """X with A X = B from the factors of ldl_factor; batches broadcast.

    Differentiable in LD and B; supports second derivatives.
    """
    if LD.dim() < 2 or B.dim() < 2:
        raise RuntimeError(
            f"linalg.ldl_solve: expected matrices, got shapes {tuple(LD.shape)} and {tuple(B.shape)}."
        )
    LD, B = broadcast_batches(LD, B)
    pivots = pivots.expand((*LD.shape[:-2], pivots.shape[-1]))
    return linalg_ldl_solve_raw(LD, pivots, B, hermitian)
