"""Norms of vectors and matrices."""

import math

from .convert import promote_types
from .linalg_spectral import linalg_svdvals
from .registry import composite, native

__all__ = ["frobenius_norm", "norm", "nuclear_norm"]

linalg_vector_norm = native(
    "linalg_vector_norm(Tensor x, float ord=2, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    out=True,
    doc="""(sum of |x|^ord)^(1/ord) over dim.

    Args:
        x: float or complex, any shape.
        ord: any number; 0 counts non-zeros, inf and -inf are the largest and smallest modulus.
        dim: one or more dims; None flattens.
        keepdim: keep reduced dims with size 1.
        dtype: compute in this wider dtype.
    Returns:
        Real. An empty sum is 0; inf, -inf and negative orders of nothing raise.
    Differentiable in x, with the subgradient 0 at 0; supports second derivatives.
    """,
)


@linalg_vector_norm.vjp("x")
def _(grad, result, x, ord, dim, keepdim):
    if ord == 0:
        return None
    n = x.dim()
    if not keepdim and n and (dim is not None and len(dim) > 0):
        for d in sorted(d % n for d in dim):
            grad, result = grad.unsqueeze(d), result.unsqueeze(d)
    real = x.real.dtype if x.is_complex() else x.dtype
    grad, result = grad.to(real), result.to(real)
    if ord == 1:
        return x.sgn() * grad
    size = x.abs()
    if math.isinf(ord):
        extreme = (size == result) | ((result != result) & (size != size))
        dims = list(range(n)) if dim is None or len(dim) == 0 else list(dim)
        share = extreme.to(grad.dtype)
        share = share / (share.sum(dims, keepdim=True) if n else share)
        return x.sgn() * (share * grad)
    # Quotients by the norm first: powers of x and of the norm alone leave the range of float32 where the gradient, of
    # modulus 1 or less, does not.
    zero = result == 0
    if ord >= 2:
        unit = (x / result).masked_fill(zero, 0.0)
        if ord > 2:
            unit = unit * (size / result).masked_fill(zero, 0.0).pow(ord - 2)
        return unit * grad
    ratio = (size / result).masked_fill(zero, 0.0).pow(ord - 1)
    if ord < 1:
        ratio = ratio.masked_fill((size == 0) | zero, 0.0)
    return x.sgn() * ratio * grad


def _two_dims(A, dim, name):
    if A.dim() < 2:
        raise RuntimeError(
            f"{name}: The input tensor A must have at least 2 dimensions, got shape {tuple(A.shape)}."
        )
    if len(dim) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple, got {tuple(dim)}.")
    for d in dim:
        if not -A.dim() <= d < A.dim():
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-A.dim()}, {A.dim() - 1}], but got {d})"
            )
    rows, columns = dim[0] % A.dim(), dim[1] % A.dim()
    if rows == columns:
        raise RuntimeError(f"{name}: dims must be different. Got {tuple(dim)}.")
    return rows, columns


def _widened(A, dtype, name):
    if dtype.is_complex != A.dtype.is_complex or not (dtype.is_complex or dtype.is_floating_point):
        raise RuntimeError(
            f"{name}: dtype should be floating point for real A and complex for complex A, got {dtype} for {A.dtype}"
        )
    if promote_types(A.dtype, dtype) != dtype:
        raise RuntimeError(
            f"{name}: the dtype of the input ({A.dtype}) should be convertible without narrowing to the specified "
            f"dtype ({dtype})"
        )
    return A.to(dtype)


def check_norm_dtype(A, name):
    if not (A.is_floating_point() or A.is_complex()):
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {A.dtype}"
        )


@composite(out=True)
def linalg_matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    """Norm of matrices.

    Args:
        A: float or complex, at least 2-d.
        ord: "fro", "nuc", inf, -inf (extreme row sums), 1, -1 (column sums), 2, -2 (singular values).
        dim: the two dims of the matrices.
        keepdim: keep them with size 1.
        dtype: compute in this wider dtype.
    Returns:
        Real, without the dims of dim.
    """
    name = "linalg.matrix_norm"
    check_norm_dtype(A, name)
    rows, columns = _two_dims(A, dim, name)
    if dtype is not None:
        A = _widened(A, dtype, name)
    if ord == "fro":
        return linalg_vector_norm(A, 2, [rows, columns], keepdim)
    if ord == "nuc" or (not isinstance(ord, str) and abs(ord) == 2):
        moved = A.movedim((rows, columns), (-2, -1))
        values = linalg_svdvals(moved)
        summed = ord == "nuc" or (ord > 0 and values.shape[-1] == 0)  # the largest of nothing is 0
        result = values.sum(-1) if summed else values.amax(-1) if ord > 0 else values.amin(-1)
        if keepdim:
            for d in sorted((rows, columns)):
                result = result.unsqueeze(d)
        return result
    if isinstance(ord, str) or abs(ord) not in (1, math.inf):
        raise RuntimeError(f"{name}: Order {ord} not supported.")
    summed, kept = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = linalg_vector_norm(A, 1, [summed], True)
    if ord > 0:
        result = sums.amax(kept, keepdim=True) if sums.shape[kept] else sums.sum(kept, keepdim=True)
    else:
        result = sums.amin(kept, keepdim=True)
    if not keepdim:
        result = result.squeeze((rows, columns))
    return result


@composite(out=True)
def linalg_norm(A, ord=None, dim=None, keepdim=False, *, dtype=None):
    """Vector norm over one dim, matrix norm over two, or the 2-norm of all elements when ord and dim are None.

    Args:
        A: float or complex.
        ord: as for vector_norm or matrix_norm.
        dim: one dim, two, or None (all, if ord is None; else A has to be 1-d or 2-d).
    """
    check_norm_dtype(A, "linalg.norm")
    if dim is not None:
        dims = [dim] if isinstance(dim, int) else list(dim)
        if len(dims) not in (1, 2):
            raise RuntimeError(
                f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {dims}"
            )
        if ord is None:
            return linalg_vector_norm(A, 2, dims, keepdim, dtype=dtype)
    elif ord is not None:
        if A.dim() not in (1, 2):
            raise RuntimeError(
                f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.dim()}D."
            )
        dims = list(range(A.dim()))
    else:
        return linalg_vector_norm(A.reshape(-1), 2, None, keepdim, dtype=dtype).reshape(
            [1] * A.dim() if keepdim else []
        )
    if len(dims) == 2:
        return linalg_matrix_norm(A, ord, dims, keepdim, dtype=dtype)
    if isinstance(ord, str):
        raise RuntimeError(
            f"linalg.norm: Order {ord} not supported for vectors. linalg_vector_norm: invalid ord."
        )
    return linalg_vector_norm(A, ord, dims, keepdim, dtype=dtype)


@composite(methods=("norm",))
def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """Norm of all elements or over dims; older form of linalg.norm (whose p = 1, 2 ... are always vector norms)."""
    if p is None:
        p = 2.0
    if isinstance(dim, int):
        dim = [dim]
    if p == "nuc":
        dims = list(range(input.dim())) if dim is None else list(dim)
        if len(dims) != 2:
            raise RuntimeError(
                f"norm: nuclear norm requires a 2-element dim or a matrix, got {dims}."
            )
        result = linalg_matrix_norm(input, "nuc", dims, keepdim, dtype=dtype)
    elif isinstance(p, str) and p != "fro":
        raise RuntimeError(f"only valid string values are 'fro' and 'nuc', found {p}")
    else:
        order = 2.0 if p == "fro" else p
        result = linalg_vector_norm(input, order, dim, keepdim, dtype=dtype)
    if out is None:
        return result
    from .registry import write_out

    return write_out(out, result, "norm")


@composite()
def frobenius_norm(input, dim=(), keepdim=False):
    """Square root of the sum of squares over dim."""
    return linalg_vector_norm(input, 2, None if dim == () else dim, keepdim)


@composite()
def nuclear_norm(input, dim=(-2, -1), keepdim=False):
    """Sum of singular values."""
    return linalg_matrix_norm(input, "nuc", dim, keepdim)
