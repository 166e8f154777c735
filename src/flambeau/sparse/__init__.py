"""Sparse tensors: layouts sparse_coo, sparse_csr, sparse_csc, sparse_bsr and sparse_bsc.

A sparse tensor is an extended tensor (flambeau/_extension.py) of strided parts. The files here hold its forms of ops:
_payload the parts, _create constructors, _convert layouts, _pointwise, _shape, _products, _reduce the ops, _storage
copies and files. Gradients are those of the ops; composites work on the parts, which autograd follows.
"""

from ..ops.registry import write_out
from . import _pointwise, _shape, _storage
from ._create import (
    check_sparse_tensor_invariants,
    sparse_bsc_tensor,
    sparse_bsr_tensor,
    sparse_compressed_tensor,
    sparse_coo_tensor,
    sparse_csc_tensor,
    sparse_csr_tensor,
    spdiags,
)
from ._gradcheck import as_sparse_gradcheck
from ._products import reduced_mm, sparse_addmm, sparse_mm
from ._products import sampled_addmm as _sampled_addmm
from ._reduce import log_softmax, softmax, sparse_sum
from ._types import (
    BFloat16Tensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
)  # fmt: skip

__all__ = [
    "addmm", "as_sparse_gradcheck", "check_sparse_tensor_invariants", "log_softmax", "mm", "sampled_addmm", "softmax",
    "spdiags", "spsolve", "sum",
]  # fmt: skip


def mm(mat1, mat2, reduce=None):
    """Product of two matrices, the first one sparse.

    Args:
        mat1: layout sparse_coo or sparse_csr (others without a gradient of their own).
        mat2: dense or sparse.
        reduce: how products are combined, for sparse_csr: "sum", "mean", "amax" or "amin".
    Returns:
        Dense for a dense mat2, else sparse.
    Differentiable in both; the gradient of a sparse matrix has its indices.
    """
    return sparse_mm(mat1, mat2) if reduce is None else reduced_mm(mat1, mat2, reduce)


def addmm(mat, mat1, mat2, *, beta=1.0, alpha=1.0):
    """beta * mat + alpha * (mat1 @ mat2) with a sparse mat1.

    Differentiable in all; the gradient of mat1 has its indices.
    """
    return sparse_addmm(mat, mat1, mat2, beta, alpha)


def sampled_addmm(input, mat1, mat2, *, beta=1.0, alpha=1.0, out=None):
    """beta * input + alpha * (mat1 @ mat2), computed only at the indices of input, of layout sparse_csr.

    Differentiable in all.
    """
    result = _sampled_addmm(input, mat1, mat2, beta, alpha)
    return result if out is None else write_out(out, result, "sampled_addmm")


def sum(input, dim=None, dtype=None):
    """Sum over the given dims, all by default. Dense if no sparse dim is left, else sparse.

    Differentiable in input, with gradients at its indices.
    """
    return sparse_sum(input, dim, dtype)


def spsolve(input, other, *, left=True):
    """Not supported, as in PyTorch's builds for CPUs: there is no sparse solver.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError(
        "spsolve: expected a build with a sparse solver, got one for CPUs without. "
        "Use flambeau.linalg.solve(input.to_dense(), other)."
    )
