"""The linear algebra of PyTorch 1.9 that torch.linalg replaced: it still works, behind a warning."""

import warnings

from .join import cat
from .linalg_misc import linalg_matrix_rank
from .linalg_ops import linalg_lu_factor_ex, linalg_solve, named
from .linalg_spectral import geqrf, linalg_eig_raw, linalg_eigh_raw, linalg_lstsq, linalg_lstsq_raw
from .registry import composite
from .ternary import where
from .view_dtype import view_as_real

__all__ = ["eig", "lstsq", "matrix_rank", "solve", "symeig"]


def _warn(old, new, note=""):
    warnings.warn(
        f"torch.{old} is deprecated in favor of torch.linalg.{new}.{note}",
        UserWarning,
        stacklevel=4,
    )


@composite(methods=("symeig",), out=True)
def symeig(input, eigenvectors=False, upper=True):
    """Eigenvalues (ascending) and eigenvectors of symmetric or Hermitian matrices; older form of linalg.eigh.

    Args:
        input: float or complex, shape (*, n, n).
        eigenvectors: compute them; else an empty tensor is returned for them.
        upper: read the upper triangle; linalg.eigh reads the lower one by default.
    Returns:
        (eigenvalues, eigenvectors)
    Differentiable in input.
    """
    _warn("symeig", "eigh", " The default of `upper` here is the other triangle than UPLO's.")
    return named(
        "symeig",
        "eigenvalues eigenvectors",
        linalg_eigh_raw(input, "U" if upper else "L", bool(eigenvectors)),
    )


@composite(methods=("eig",), out=True)
def eig(input, eigenvectors=False):
    """Eigenvalues and eigenvectors of a square matrix as real numbers; older form of linalg.eig.

    Args:
        input: float or complex, shape (n, n).
        eigenvectors: compute them; else an empty tensor is returned for them.
    Returns:
        (eigenvalues, eigenvectors): real and imaginary parts of the eigenvalues, (n, 2), and for a conjugate pair in
        rows j and j + 1 the real and the imaginary part of the first one's vector in columns j and j + 1. Complex
        input gives complex results, (n,) and (n, n).
    Differentiable in input.
    """
    _warn("eig", "eig", " linalg.eig returns complex tensors, or use linalg.eigvals.")
    if input.dim() != 2 or input.shape[0] != input.shape[1]:
        raise RuntimeError(f"eig: expected a square matrix, got shape {tuple(input.shape)}.")
    values, vectors = linalg_eig_raw(input, bool(eigenvectors))
    if not input.is_complex():
        if eigenvectors:
            # the second vector of a pair is the first one's conjugate
            vectors = where(values.imag.detach() < 0, -vectors.imag, vectors.real)
        else:
            vectors = input.new_empty((0,))
        values = view_as_real(values)
    return named("eig", "eigenvalues eigenvectors", (values, vectors))


@composite(methods=("solve",), out=True)
def solve(input, A):
    """(solution, LU) of A X = input; older form of linalg.solve, with the arguments the other way round.

    Args:
        input: right-hand sides, shape (*, n, k).
        A: shape (*, n, n). Batches broadcast.
    Returns:
        solution (*, n, k), and the packed LU factors of A.
    Raises:
        RuntimeError: A is singular.
    Differentiable in both.
    """
    _warn("solve", "solve", " The arguments are reversed: torch.linalg.solve(A, B).")
    if input.dim() < 2 or A.dim() < 2:
        raise RuntimeError(
            "solve: expected B and A of at least 2 dimensions, "
            f"got {tuple(input.shape)} and {tuple(A.shape)}."
        )
    # Stacked vectors would be taken for vectors by linalg.solve: one more dim makes them matrices.
    solution = linalg_solve(A.unsqueeze(0), input.unsqueeze(0)).squeeze(0)
    LU = linalg_lu_factor_ex(A)[0]
    return named("solve", "solution LU", (solution, LU))


@composite(methods=("lstsq",), out=True)
def lstsq(input, A):
    """(solution, QR) of the least-squares problem A X = input; older form of linalg.lstsq, arguments reversed.

    Args:
        input: shape (m, k).
        A: shape (m, n), of full rank.
    Returns:
        solution (max(m, n), k), whose rows from n on hold the residual in the basis of Q; and LAPACK's packed QR
        factors of A (of LQ if m < n).
    Differentiable in the first n rows of the solution.
    """
    _warn("lstsq", "lstsq", " The arguments are reversed: torch.linalg.lstsq(A, B).")
    if A.dim() != 2 or input.dim() not in (1, 2) or input.shape[0] != A.shape[0]:
        raise RuntimeError(
            "lstsq: expected A of shape (m, n) and B of shape (m, k), "
            f"got {tuple(A.shape)} and {tuple(input.shape)}."
        )
    right = input.unsqueeze(-1) if input.dim() == 1 else input
    m, n = A.shape
    solution = linalg_lstsq(A, right, driver="gels").solution
    if m > n:
        tail = linalg_lstsq_raw(A.detach(), right.detach(), 0.0, "gels")[0][n:]
        solution = cat([solution, tail])
    packed = A.detach()
    QR = geqrf(packed)[0] if m >= n else geqrf(packed.mH)[0].mH.resolve_conj()
    return named("lstsq", "solution QR", (solution, QR))


@composite(out=True)
def matrix_rank(input, tol=None, symmetric=False):
    """Number of singular values above `tol`, for one matrix; older form of linalg.matrix_rank.

    Args:
        input: float or complex, shape (m, n).
        tol: threshold; max(m, n) * eps * largest by default.
        symmetric: input is Hermitian; uses eigenvalues.
    """
    _warn("matrix_rank", "matrix_rank", " The parameter `symmetric` is called `hermitian` there.")
    return linalg_matrix_rank(input, tol, symmetric)
