"""Linear systems: LU, solve, inverse, determinants, Cholesky, triangular and symmetric-indefinite systems.

Spectra and orthogonal factors are in linalg_spectral.py, norms and the rest in linalg_misc.py; the public names of
torch.linalg are gathered in flambeau/linalg.
"""

from operator import itemgetter

from .. import _C
from ._differentiate import differentiate
from .join import cat
from .registry import composite, native

__all__ = [
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "inverse",
    "lu",
    "lu_solve",
    "lu_unpack",
    "triangular_solve",
]


def eye_like(matrix, n):
    """Identity of n rows with the dtype of `matrix`."""
    from .create import eye

    return eye(n, dtype=matrix.dtype, device=matrix.device)


def broadcast_batches(a, b):
    """a and b (matrices) with their leading dims expanded to a common batch."""
    if a.dim() == b.dim() and a.shape[:-2] == b.shape[:-2]:
        return a, b
    from .view import broadcast_shapes

    batch = tuple(broadcast_shapes(tuple(a.shape[:-2]), tuple(b.shape[:-2])))
    return a.expand(batch + tuple(a.shape[-2:])), b.expand(batch + tuple(b.shape[-2:]))


# LU

linalg_lu_factor_ex = native(
    "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) "
    "-> (Tensor LU, Tensor pivots, Tensor info)",
    return_type="linalg_lu_factor_ex",
    out=True,
    doc="""LU with partial pivoting: A = P L U, both factors packed into one matrix.

    Args:
        A: float or complex, shape (*, m, n).
        pivot: must be True on the CPU.
        check_errors: raise if U has a zero on its diagonal.
    Returns:
        LU (*, m, n), pivots (int32, 1-based, (*, min(m, n))), info (int32, (*): index of the first zero pivot, or 0).
    Differentiable in A; supports second derivatives.
    """,
)


@linalg_lu_factor_ex.vjp("A")
def _(grad_LU, LU, pivots):
    m, n = LU.shape[-2:]
    k = min(m, n)
    L, U = _unpack_factors(LU)
    P = linalg_permutation(pivots, m, LU.dtype)
    gL, gU = grad_LU.tril(-1)[..., :, :k], grad_LU.triu()[..., :k, :]
    L1, U1 = L[..., :k, :], U[..., :, :k]
    lower = L1.mH @ gL[..., :k, :]
    upper = gU[..., :, :k] @ U1.mH
    if n > k:
        lower = lower - gU[..., k:] @ U[..., k:].mH
    if m > k:
        upper = upper - L[..., k:, :].mH @ gL[..., k:, :]
    inner = lower.tril(-1) + upper.triu()
    # L1^-H inner U1^-H
    inner = linalg_solve_triangular(U1.mH, inner, upper=False, left=False)
    grad = linalg_solve_triangular(L1.mH, inner, upper=True, unitriangular=True)
    if n > k:
        grad = cat(
            [grad, linalg_solve_triangular(L1.mH, gU[..., k:], upper=True, unitriangular=True)], -1
        )
    if m > k:
        below = linalg_solve_triangular(U1.mH, gL[..., k:, :], upper=False, left=False)
        # the part of L1 that depends on U through L2 is in `upper` already
        grad = cat([grad, below], -2)
    return P @ grad


def _unpack_factors(LU):
    m, n = LU.shape[-2:]
    k = min(m, n)
    L = LU[..., :, :k].tril(-1) + eye_like(LU, m)[:, :k]
    return L, LU[..., :k, :].triu()


linalg_permutation = native(
    "linalg_permutation(Tensor pivots, int m, dtype dtype) -> Tensor",
    non_differentiable="made from integers",
    doc="P (*, m, m) of A = P L U from the row swaps (*, k) of lu_factor.",
)


linalg_lu_solve_raw = native(
    "linalg_lu_solve_raw(Tensor LU, Tensor pivots, Tensor B, bool left=True, bool adjoint=False) -> Tensor",
    doc="Solve with the factors of lu_factor; LU and B have one batch shape.",
)


@linalg_lu_solve_raw.vjp
def _(grad, LU, pivots, B, left, adjoint, needs):
    m = LU.shape[-1]
    grad_b = None
    if needs[2]:
        grad_b = linalg_lu_solve_raw(LU, pivots, grad, left, not adjoint)
    if not needs[0]:
        return None, None, grad_b

    def plain(factors, right):
        L, U = _unpack_factors(factors)
        P = linalg_permutation(pivots, m, factors.dtype)
        if not left:
            right = right.mH
        if adjoint == left:  # A^H x = b
            y = linalg_solve_triangular(U.mH, right, upper=False)
            x = P @ linalg_solve_triangular(L.mH, y, upper=True, unitriangular=True)
        else:
            y = linalg_solve_triangular(L, P.mT @ right, upper=False, unitriangular=True)
            x = linalg_solve_triangular(U, y, upper=True)
        return (x if left else x.mH,)

    return differentiate(plain, (LU, B), (True, False), (grad,))[0], None, grad_b


@composite(out=True)
def linalg_lu_factor(A, *, pivot=True):
    """Packed LU factors and pivots of A = P L U; raises if U is singular."""
    result = linalg_lu_factor_ex(A, pivot=pivot, check_errors=True)
    return named("linalg_lu_factor", "LU pivots", result[:2])


@composite(out=True)
def linalg_lu(A, *, pivot=True):
    """Factors (P, L, U) of A = P @ L @ U, with P a permutation, L unit lower and U upper triangular."""
    LU, pivots, _ = linalg_lu_factor_ex(A, pivot=pivot)
    L, U = _unpack_factors(LU)
    return named("linalg_lu", "P L U", (linalg_permutation(pivots, A.shape[-2], A.dtype), L, U))


@composite(out=True)
def linalg_lu_solve(LU, pivots, B, *, left=True, adjoint=False):
    """Solve A X = B (or X A = B, or with A^H) from the factors of lu_factor; batches broadcast."""
    if LU.dim() < 2 or B.dim() < 2:
        raise RuntimeError(
            f"linalg.lu_solve: expected matrices, got shapes {tuple(LU.shape)} and {tuple(B.shape)}."
        )
    LU_full, B = broadcast_batches(LU, B)
    pivots = pivots.expand((*LU_full.shape[:-2], pivots.shape[-1]))
    return linalg_lu_solve_raw(LU_full, pivots, B, left, adjoint)


_TYPES = {}


def _result_type(name, fields):
    """A tuple made of one sequence with named items, as the result types of PyTorch and of native ops are."""

    def text(self):
        items = (f"{field}={value!r}" for field, value in zip(fields, self, strict=True))
        return f"torch.return_types.{name}(\n" + ",\n".join(items) + ")"

    members = {
        **{field: property(itemgetter(i)) for i, field in enumerate(fields)},
        "__slots__": (),
        "__match_args__": fields,
        "__repr__": text,
        "__module__": "torch.return_types",
        # By name, since no module holds the types made here.
        "__reduce__": lambda self: (named, (name, " ".join(fields), tuple(self))),
        "n_fields": len(fields),
        "n_sequence_fields": len(fields),
        "n_unnamed_fields": 0,
    }
    return type(name, (tuple,), members)


def named(name, fields, values):
    """A named tuple of results, as native ops return them."""
    if name not in _TYPES:
        _TYPES[name] = _result_type(name, tuple(fields.split()))
    return _TYPES[name](values)


# Systems

linalg_solve_raw = native(
    "linalg_solve_raw(Tensor A, Tensor B, bool check_errors=True) -> (Tensor result, Tensor info)",
    doc="X of A X = B by LU, for square A and matrices B of one batch shape; info is the first zero pivot or 0.",
)


@linalg_solve_raw.vjp
def _(grad_result, A, result, needs):
    grad_b = linalg_solve_raw(A.mH, grad_result, False)[0]
    return (-(grad_b @ result.mH) if needs[0] else None), grad_b


@composite(out=True)
def linalg_solve_ex(A, B, *, left=True, check_errors=False):
    """(X, info) with A X = B, or X A = B if not left. See linalg_solve."""
    if A.dim() < 2:
        raise RuntimeError(
            f"linalg.solve: The input tensor A must have at least 2 dimensions, got {tuple(A.shape)}."
        )
    vector = B.dim() == 1 or (A.dim() - 1 == B.dim() and tuple(B.shape) == tuple(A.shape[:-1]))
    if vector:
        if not left:
            raise RuntimeError(
                "linalg.solve: Incompatible shapes of A and B for the equation XA = B: B may be a vector only if "
                f"left, got {tuple(A.shape)} and {tuple(B.shape)}."
            )
        B = B.unsqueeze(-1)
        left_matrix = A
    else:
        if B.dim() < 2:
            raise RuntimeError(
                f"linalg.solve: B must have at least 2 dimensions or be a vector, got {tuple(B.shape)}."
            )
        left_matrix = A if left else A.mT
        B = B if left else B.mT
    if A.shape[-1] == A.shape[-2] and B.shape[-2] != A.shape[-1]:
        raise RuntimeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
            f"({A.shape[-2]}x{A.shape[-1]} and {B.shape[-2]}x{B.shape[-1]})"
        )
    matrix, B = broadcast_batches(left_matrix, B)
    x, info = linalg_solve_raw(matrix, B, check_errors)
    if vector:
        x = x.squeeze(-1)
    elif not left:
        x = x.mT
    return named("linalg_solve_ex", "result info", (x, info))


@composite(out=True)
def linalg_solve(A, B, *, left=True):
    """X with A X = B, or X A = B if not left.

    Args:
        A: float or complex, shape (*, n, n).
        B: shape (*, n, k), or a (batch of) vector(s): 1-d, or of shape A.shape[:-1]. Batches broadcast.
    Returns:
        Shape of B, with the broadcast batch.
    Raises:
        LinAlgError: A is singular.
    Differentiable in A, B; supports second derivatives.
    """
    return linalg_solve_ex(A, B, left=left, check_errors=True)[0]


linalg_inv_ex = native(
    "linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
    return_type="linalg_inv_ex",
    out=True,
    doc="""Inverse by LU, and info (int32): 0, or the index of a zero pivot. Does not raise unless check_errors.

    Differentiable in A; supports second derivatives.
    """,
)


@linalg_inv_ex.vjp("A")
def _(grad_inverse, inverse):
    return -(inverse.mH @ grad_inverse @ inverse.mH)


@composite(out=True)
def linalg_inv(A):
    """Inverse of square matrices (*, n, n).

    Raises:
        LinAlgError: a matrix is singular.
    Differentiable in A; supports second derivatives.
    """
    return linalg_inv_ex(A, check_errors=True)[0]


@composite(methods=("inverse",), out=True)
def inverse(input):
    """Inverse of square matrices; see linalg.inv."""
    return linalg_inv(input)


# Cholesky

linalg_cholesky_ex = native(
    "linalg_cholesky_ex(Tensor A, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
    return_type="linalg_cholesky_ex",
    out=True,
    doc="""Factor L of A = L L^H, or U of A = U^H U if upper; only that triangle of A is read.

    info (int32) is 0, or the order of the leading minor that is not positive-definite. Differentiable in A.
    """,
)


@linalg_cholesky_ex.vjp("A")
def _(grad_L, L, upper):
    if upper:
        L, grad_L = L.mH, grad_L.mH
    phi = (L.mH @ grad_L).tril()
    phi = phi - 0.5 * phi.diagonal(0, -2, -1).diag_embed()
    symmetric = 0.5 * (phi + phi.mH)
    # L^-H symmetric L^-1
    left = linalg_solve_triangular(L.mH, symmetric, upper=True)
    return linalg_solve_triangular(L, left, upper=False, left=False)


@composite(out=True)
def linalg_cholesky(A, *, upper=False):
    """Cholesky factor of Hermitian positive-definite matrices (*, n, n).

    Raises:
        LinAlgError: a matrix is not positive-definite.
    """
    return linalg_cholesky_ex(A, upper=upper, check_errors=True)[0]


@composite(methods=("cholesky",), out=True)
def cholesky(input, upper=False):
    """Cholesky factor; see linalg.cholesky."""
    return linalg_cholesky(input, upper=upper)


cholesky_solve_raw = native(
    "cholesky_solve_raw(Tensor input, Tensor input2, bool upper=False) -> Tensor",
    out=True,
    doc="""X with A X = input, from the Cholesky factor input2 of A (lower, or upper), of one batch shape.

    Differentiable in both; the gradient of the factor is that of A = L L^H, not only of its triangle.
    """,
)


@cholesky_solve_raw.vjp
def _(grad, input2, result, upper, needs):
    grad_b = cholesky_solve_raw(grad, input2, upper)
    if not needs[1]:
        return grad_b, None
    common = grad_b @ result.mH
    common = common + common.mH
    return grad_b, -(input2 @ common if upper else common @ input2)


@composite(methods=("cholesky_solve",), out=True)
def cholesky_solve(input, input2, upper=False):
    """X with A X = input, from the Cholesky factor input2 of A (lower, or upper). Batches broadcast."""
    if input.dim() < 2 or input2.dim() < 2:
        raise RuntimeError(
            f"cholesky_solve: expected matrices, got shapes {tuple(input.shape)} and {tuple(input2.shape)}."
        )
    input2, input = broadcast_batches(input2, input)
    return cholesky_solve_raw(input, input2, upper)


@composite(methods=("cholesky_inverse",), out=True)
def cholesky_inverse(input, upper=False):
    """Inverse of A from its Cholesky factor."""
    if input.dim() < 2 or input.shape[-1] != input.shape[-2]:
        raise RuntimeError(
            f"cholesky_inverse: expected square matrices, got shape {tuple(input.shape)}."
        )
    factor = input.triu() if upper else input.tril()
    return cholesky_solve(eye_like(input, input.shape[-1]).expand(input.shape), factor, upper)


# Triangular systems

linalg_solve_triangular_raw = native(
    "linalg_solve_triangular_raw(Tensor A, Tensor B, bool upper, bool left=True, bool unitriangular=False) -> Tensor",
    doc="X with A X = B (or X A = B), A triangular, for matrices of one batch shape; the other triangle is not read.",
)


@linalg_solve_triangular_raw.vjp
def _(grad, A, result, upper, left, unitriangular, needs):
    grad_b = linalg_solve_triangular_raw(A.mH, grad, not upper, left, unitriangular)
    if not needs[0]:
        return None, grad_b
    grad_a = -(grad_b @ result.mH) if left else -(result.mH @ grad_b)
    offset = 1 if unitriangular else 0
    return (grad_a.triu(offset) if upper else grad_a.tril(-offset)), grad_b


@composite(out=True)
def linalg_solve_triangular(A, B, *, upper, left=True, unitriangular=False):
    """X with A X = B, or X A = B if not left, for triangular A.

    Args:
        A: shape (*, n, n); the other triangle is never read, nor the diagonal if unitriangular.
        B: shape (*, n, k), or (*, k, n) if not left. Batches broadcast.
        upper: which triangle.
    Returns:
        Shape of B, with the broadcast batch. A zero on the diagonal divides by zero.
    Differentiable in A, B; supports second derivatives.
    """
    if A.dim() < 2 or B.dim() < 2:
        raise RuntimeError(
            f"linalg.solve_triangular: expected matrices, got shapes {tuple(A.shape)} and {tuple(B.shape)}."
        )
    A, B = broadcast_batches(A, B)
    return linalg_solve_triangular_raw(A, B, upper, left, unitriangular)


@composite(methods=("triangular_solve",), out=True)
def triangular_solve(b, A, upper=True, transpose=False, unitriangular=False):
    """(X, A) with A X = b for triangular A; older form of linalg.solve_triangular."""
    matrix = A.mT if transpose else A
    x = linalg_solve_triangular(matrix, b, upper=upper != transpose, unitriangular=unitriangular)
    return named("triangular_solve", "solution cloned_coefficient", (x, A.clone()))


# Older names


@composite(out=True)
def lu(A, pivot=True, get_infos=False):
    """Packed LU factors, pivots, and info if get_infos; older form of linalg.lu_factor."""
    LU, pivots, info = linalg_lu_factor_ex(A, pivot=pivot)
    return named("lu", "LU pivots info", (LU, pivots, info)) if get_infos else (LU, pivots)


@composite(methods=("lu_solve",), out=True)
def lu_solve(b, LU_data, LU_pivots):
    """X with A X = b from the factors of lu; older form of linalg.lu_solve."""
    return linalg_lu_solve(LU_data, LU_pivots, b)


@composite(out=True)
def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    """(P, L, U) of packed LU factors; what is not wanted is an empty tensor."""
    empty = LU_data.new_zeros((0,))
    if LU_pivots.dtype != _C.int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype."
        )
    L, U = _unpack_factors(LU_data) if unpack_data else (empty, empty)
    P = linalg_permutation(LU_pivots, LU_data.shape[-2], LU_data.dtype) if unpack_pivots else empty
    return named("lu_unpack", "P L U", (P, L, U))


@composite(methods=("lu",))
def _lu_method(input, pivot=True, get_infos=False):
    return lu(input, pivot, get_infos)
