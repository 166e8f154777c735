"""Condition numbers, ranks, powers and exponentials of matrices, cross products and small contractions."""

import math

from .. import _C
from .linalg_norms import check_norm_dtype, linalg_matrix_norm
from .linalg_ops import eye_like, linalg_inv, linalg_inv_ex, linalg_solve
from .linalg_spectral import linalg_eigvalsh, linalg_svdvals, rank_threshold
from .matmul import matmul
from .registry import composite

__all__ = [
    "cross",
    "matrix_exp",
    "matrix_power",
    "multi_dot",
]


@composite(out=True)
def linalg_cond(A, p=None):
    """Condition number: norm of A times norm of its inverse, or ratio of extreme singular values (p None, 2, -2)."""
    check_norm_dtype(A, "linalg.cond")
    if A.dim() < 2:
        raise RuntimeError(
            f"linalg.cond: The input tensor A must have at least 2 dimensions, got {tuple(A.shape)}."
        )
    if p is None or (not isinstance(p, str) and abs(p) == 2):
        S = linalg_svdvals(A)
        if S.shape[-1] == 0:
            return S.sum(-1)
        return S[..., -1] / S[..., 0] if p == -2 else S[..., 0] / S[..., -1]
    if p not in ("fro", "nuc") and (isinstance(p, str) or abs(p) not in (1, math.inf)):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(
            f"linalg.cond: A must be batches of square matrices for p={p}, got {tuple(A.shape)}."
        )
    if A.shape[-1] == 0:
        return (
            A.real.new_zeros(tuple(A.shape[:-2]))
            if A.is_complex()
            else A.new_zeros(tuple(A.shape[:-2]))
        )
    inverse, info = linalg_inv_ex(A)
    singular = info != 0
    inverse = inverse.masked_fill(singular.unsqueeze(-1).unsqueeze(-1), math.inf)
    if p == "nuc":
        S = linalg_svdvals(A)
        return (S.sum(-1) * (1 / S).sum(-1)).masked_fill(singular, math.inf)
    # A zero matrix would give 0 * inf.
    return (linalg_matrix_norm(A, p) * linalg_matrix_norm(inverse, p)).masked_fill(
        singular, math.inf
    )


@composite(out=True)
def linalg_matrix_rank(A, tol=None, hermitian=False, *, atol=None, rtol=None):
    """Number of singular values (or moduli of eigenvalues) above a threshold: int64, shape (*).

    Args:
        A: shape (*, m, n).
        tol: older name of atol, with rtol 0.
        atol, rtol: the threshold is max(atol, rtol * largest); by default max(m, n) * eps * largest.
    """
    if A.dim() < 2:
        raise RuntimeError(
            f"linalg.matrix_rank: The input tensor A must have at least 2 dimensions, got {tuple(A.shape)}."
        )
    A = A.detach()
    if tol is not None and atol is None:
        atol, rtol = tol, 0.0
    S = linalg_eigvalsh(A).abs() if hermitian else linalg_svdvals(A)
    if S.shape[-1] == 0:
        return S.sum(-1).to(_C.int64)
    return (S > rank_threshold(A, S, atol, rtol).unsqueeze(-1)).sum(-1)


@composite(methods=("matrix_power",), out=True)
def matrix_power(input, n):
    """input multiplied with itself n times; the inverse's power for negative n; the identity for 0."""
    if not isinstance(n, int):
        raise TypeError(f"matrix_power(): argument 'n' must be int, not {type(n).__name__}")
    if input.dim() < 2 or input.shape[-1] != input.shape[-2]:
        raise RuntimeError(
            f"linalg.matrix_power: The input tensor A must be batches of square matrices, got {tuple(input.shape)}."
        )
    if n == 0:
        # a copy overwritten, so that the result is connected to input, with a zero gradient
        return input.clone().copy_(eye_like(input, input.shape[-1]))
    base = linalg_inv(input) if n < 0 else input
    n = abs(n)
    result = None
    while n:
        if n & 1:
            result = base if result is None else matmul(result, base)
        n >>= 1
        if n:
            base = matmul(base, base)
    return result.clone() if result is input else result


def _exp_taylor(A):
    """Taylor polynomial of degree 18, in powers of A^6: accurate to double precision for norms up to 1.09."""
    n = A.shape[-1]
    powers = [eye_like(A, n).expand(A.shape), A]
    for _ in range(5):
        powers.append(powers[-1] @ A)
    top = powers[6]
    result = None
    for block in (3, 2, 1, 0):
        part = None
        for j in range(6):
            degree = 6 * block + j
            if degree > 18:
                break
            term = powers[j] * (1.0 / math.factorial(degree))
            part = term if part is None else part + term
        result = part if result is None else result @ top + part
    return result


@composite(methods=("matrix_exp",), out=False)
def matrix_exp(input):
    """Exponential of square matrices by scaling and squaring (Higham, 2005, with a Taylor polynomial).

    Args:
        input: float or complex, shape (*, n, n); computed in double precision.
    Differentiable; supports second derivatives.
    """
    if input.dim() < 2 or input.shape[-1] != input.shape[-2]:
        raise RuntimeError(
            f"linalg.matrix_exp: The input tensor A must be batches of square matrices, got {tuple(input.shape)}."
        )
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(
            f"linalg.matrix_exp: Expected a floating point or complex tensor as input. Got {input.dtype}"
        )
    if input.dtype in (_C.float16, _C.bfloat16, _C.float32):  # squaring multiplies rounding errors
        return matrix_exp(input.double()).to(input.dtype)
    if input.dtype == _C.complex64:
        return matrix_exp(input.to(_C.complex128)).to(input.dtype)
    if input.numel() == 0 or input.is_meta:
        return input.clone()
    largest = float(linalg_matrix_norm(input.detach(), 1).max())
    squarings = (
        max(0, math.ceil(math.log2(largest / 1.09)))
        if largest > 1.09 and math.isfinite(largest)
        else 0
    )
    result = _exp_taylor(input * 2.0**-squarings)
    for _ in range(squarings):
        result = result @ result
    return result


# Vectors


def _cross(input, other, dim):
    a = [input.select(dim, i) for i in range(3)]
    b = [other.select(dim, i) for i in range(3)]
    from .join import stack

    return stack(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], dim
    )


@composite(out=True)
def linalg_cross(input, other, *, dim=-1):
    """Cross product of vectors of length 3 along dim; other dims broadcast."""
    if input.dim() != other.dim():
        raise RuntimeError(
            f"linalg.cross: inputs must have the same number of dimensions, got {input.dim()} and {other.dim()}."
        )
    if not -input.dim() <= dim < input.dim():
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-input.dim()}, {input.dim() - 1}], but got {dim})"
        )
    if input.shape[dim] != 3 or other.shape[dim] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {input.shape[dim]} and {other.shape[dim]}"
        )
    if input.dtype == _C.bool and other.dtype == _C.bool:
        raise NotImplementedError("linalg.cross: expected numbers, got two tensors of dtype bool.")
    from .view import broadcast_tensors

    input, other = broadcast_tensors(input, other)
    return _cross(input, other, dim % input.dim())


@composite(methods=("cross",), out=True)
def cross(input, other, dim=None):
    """Cross product along dim, by default the first dim of length 3."""
    if dim is None:
        if input.dim() != other.dim():
            raise RuntimeError(
                f"cross: inconsistent tensors dimensions input: {input.dim()} other: {other.dim()}"
            )
        dim = next((d for d, size in enumerate(input.shape) if size == 3), None)
        if dim is None:
            raise RuntimeError(
                f"cross: no dimension of size 3 in input, got shape {tuple(input.shape)}"
            )
    return linalg_cross(input, other, dim=dim)


@composite(out=True)
def linalg_vecdot(x, y, *, dim=-1):
    """Sum of conj(x) * y along dim."""
    if not (x.is_floating_point() or x.is_complex()):
        raise RuntimeError(
            f"linalg.vecdot: Expected a floating point or complex tensor as input. Got {x.dtype}"
        )
    if x.dtype != y.dtype:
        raise RuntimeError(
            f"linalg.vecdot: Expected x and y to have the same dtype, got {x.dtype} and {y.dtype}."
        )
    if dim in (-1, x.dim() - 1) and x.dim() == y.dim():
        return matmul(x.conj().unsqueeze(-2), y.unsqueeze(-1)).squeeze(-1).squeeze(-1)
    return (x.conj() * y).sum(dim)


@composite(out=True)
def linalg_vander(x, N=None):
    """Vandermonde matrix: powers 0 ... N - 1 of x (*, n) along a new last dim."""
    x = x.reshape(1) if x.dim() == 0 else x
    N = x.shape[-1] if N is None else N
    if N <= 1 and N != x.shape[-1]:
        raise RuntimeError(f"linalg.vander: N must be greater than 1, got {N}.")
    from .join import cat

    if not (x.is_floating_point() or x.is_complex()):
        x = x.to(_C.int64)
    ones = x.new_ones((*x.shape, 1))
    if N <= 1:
        return ones
    return cat([ones, x.unsqueeze(-1).expand((*x.shape, N - 1)).cumprod(-1)], -1)


# Contractions


def _chain_order(sizes):
    """Splits of the cheapest order of a matrix chain (Cormen et al., Introduction to Algorithms, 15.2)."""
    n = len(sizes) - 1
    cost = [[0] * n for _ in range(n)]
    split = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            best = None
            for k in range(i, j):
                total = cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if best is None or total < best:
                    best, split[i][j] = total, k
            cost[i][j] = best
    return split


@composite(out=True)
def multi_dot(tensors):
    """Product of two or more matrices in the cheapest order; the first and last may be vectors.

    Raises:
        RuntimeError: fewer than two tensors, or shapes that do not chain.
    """
    tensors = list(tensors)
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    first, last = tensors[0], tensors[-1]
    for i, t in enumerate(tensors):
        if t.dim() != 2 and not (i in (0, len(tensors) - 1) and t.dim() == 1):
            raise RuntimeError(
                f"multi_dot(): tensor {i} must be {'1D or ' if i in (0, len(tensors) - 1) else ''}2D but got {t.dim()}D"
            )
        if t.dtype != first.dtype:
            raise RuntimeError(
                "multi_dot(): all tensors must be the same dtype "
                f"but tensor 0 is {first.dtype} and tensor {i} {t.dtype}"
            )
    row, column = first.dim() == 1, last.dim() == 1
    if row:
        tensors[0] = first.unsqueeze(0)
    if column:
        tensors[-1] = last.unsqueeze(-1)
    for i in range(len(tensors) - 1):
        if tensors[i].shape[1] != tensors[i + 1].shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(tensors[i].shape)} and "
                f"{list(tensors[i + 1].shape)} cannot be multiplied"
            )
    split = _chain_order([t.shape[0] for t in tensors] + [tensors[-1].shape[1]])

    def product(i, j):
        return tensors[i] if i == j else product(i, split[i][j]).mm(product(split[i][j] + 1, j))

    result = product(0, len(tensors) - 1)
    if row:
        result = result.squeeze(0)
    return result.squeeze(-1) if column else result


def _size_product(sizes):
    total = 1
    for size in sizes:
        total *= size
    return total


@composite(out=True)
def linalg_tensorinv(A, ind=2):
    """Inverse of A as a linear map from its last dims to its first `ind` dims."""
    if ind <= 0:
        raise RuntimeError(
            f"linalg.tensorinv: Expected a strictly positive integer for 'ind', got {ind}"
        )
    front, back = tuple(A.shape[:ind]), tuple(A.shape[ind:])
    if _size_product(front) != _size_product(back):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), "
            f"but got {front} and {back}"
        )
    return linalg_inv(A.reshape(_size_product(front), _size_product(back))).reshape(back + front)


@composite(out=True)
def linalg_tensorsolve(A, B, dims=None):
    """X with tensordot(A, X, X.dim()) = B; `dims` of A are moved to its end first."""
    if dims is not None:
        dims = [d % max(A.dim(), 1) for d in ([dims] if isinstance(dims, int) else dims)]
        A = A.permute([d for d in range(A.dim()) if d not in dims] + dims)
    shape = tuple(A.shape[B.dim() :])
    if _size_product(shape) != _size_product(A.shape[: B.dim()]):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {_size_product(shape)} != {_size_product(A.shape[: B.dim()])}"
        )
    return linalg_solve(A.reshape(B.numel(), _size_product(shape)), B.reshape(-1)).reshape(shape)
