"""Sums, norms and softmax of sparse tensors."""

import builtins

from .. import _C, ops
from .._extension import payload, register
from ..ops import sparse_parts as native
from ._convert import to_coo
from ._payload import Compressed, coalesced, coo, flat_index, is_sparse, parts
from ._shape import _restored, _wrap, unsqueeze


def _sum_dtype(tensor, dtype):
    if dtype is not None:
        return dtype
    floating = tensor.dtype.is_floating_point or tensor.dtype.is_complex
    return tensor.dtype if floating else _C.int64


def _split_dims(tensor, dim, sparse_dim):
    """The dims to reduce, as sparse and dense ones, and the sparse ones that stay."""
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    wrapped = sorted({_wrap(d, tensor.ndim, "sum") for d in dims})
    if len(wrapped) != len(dims):
        raise RuntimeError(f"sum: dim appears multiple times in the list of dims: {list(dims)}")
    sparse = [d for d in wrapped if d < sparse_dim]
    dense = [d - sparse_dim + 1 for d in wrapped if d >= sparse_dim]
    return wrapped, dense, [d for d in range(sparse_dim) if d not in sparse]


@register("sparse", "sum")
def sum_(input, dim=None, keepdim=False, dtype=None):
    wanted = _sum_dtype(input, dtype)
    if dim is None or len(dim) == 0:
        total = parts(input).values.sum(dtype=wanted)
        return total.reshape((1,) * input.ndim) if keepdim else total
    content = payload(to_coo(input))
    gone, dense, left = _split_dims(input, dim, content.sparse_dim)
    values = content.values.sum(dense, dtype=wanted) if dense else content.values.to(wanted)
    size = tuple(n for d, n in enumerate(content.size) if d not in gone)
    if not left and content.sparse_dim:
        result = values.sum(0)
    else:
        result = coalesced(coo(content.indices[left], values, size))
    if keepdim:
        for d in gone:
            result = unsqueeze(result, d) if is_sparse(result) else result.unsqueeze(d)
    return _restored(result, input)


@register("sparse", "any")
def any_(input, dim=None, keepdim=False):
    if dim is not None:
        raise NotImplementedError("any: expected no dim for sparse tensors. Use to_dense() first.")
    return parts(_distinct(input)).values.any()


def _distinct(tensor):
    return tensor if isinstance(payload(tensor), Compressed) else coalesced(tensor)


@register("sparse", "vector_norm", "linalg_vector_norm")
def vector_norm(input, ord=2, dim=None, keepdim=False, dtype=None):
    if dim is not None and len(dim) != input.ndim and len(dim) != 0:
        raise RuntimeError(
            "norm_sparse currently only supports full reductions, so 'dim' must be empty"
        )
    if keepdim:
        raise RuntimeError("norm_sparse currently does not support keepdim=True")
    values = parts(_distinct(input)).values.reshape(-1)
    if values.numel() == 0:
        values = values.new_zeros(1)
    return (
        ops.linalg_vector_norm(values, ord, dtype=dtype)
        if hasattr(ops, "linalg_vector_norm")
        else (ops.registry.OPS["linalg_vector_norm"](values, ord, dtype=dtype))
    )


@register("sparse", "count_nonzero")
def count_nonzero(input, dim=None):
    if dim is not None:
        raise NotImplementedError(
            "count_nonzero: expected no dim for sparse tensors. Use to_dense() first."
        )
    return parts(_distinct(input)).values.count_nonzero()


# ---- Composites: their gradients are those of the parts


def sparse_sum(input, dim=None, dtype=None):
    """torch.sparse.sum."""
    if not is_sparse(input):
        raise RuntimeError("sparse.sum: expected a sparse tensor, got a strided one.")
    if input.layout is not _C.sparse_coo:
        return ops.sum(input, dtype=dtype) if dim is None else ops.sum(input, dim, dtype=dtype)
    entries = native.coalesce(input)
    values = native.values(entries)
    wanted = _sum_dtype(input, dtype)
    if dim is None:
        return values.sum(dtype=wanted)
    gone, dense, left = _split_dims(input, dim, input.sparse_dim())
    if not gone:
        raise RuntimeError("_sparse_sum: expected at least one dim to reduce.")
    values = values.sum(dense, dtype=wanted) if dense else values.to(wanted)
    if not left:
        return values.sum(0)
    size = tuple(n for d, n in enumerate(input.shape) if d not in gone)
    indices = entries._indices()[left]
    unchanged = len(left) == input.sparse_dim()
    made = native._coo_from_parts(indices, values, size, unchanged)
    return made if unchanged else native.coalesce(made)


def _groups(indices, sizes, dim):
    """Number of the slice along dim that each entry belongs to, and the number of slices with entries."""
    left = [d for d in range(indices.shape[0]) if d != dim]
    if not left:
        return ops.zeros(indices.shape[1], dtype=_C.int64), 1
    places = flat_index(indices[left], [sizes[d] for d in left])
    kept, inverse = ops.unique(places, return_inverse=True)
    return inverse, kept.shape[0]


def _normalised(input, dim, dtype, logarithm, name):
    if not is_sparse(input) or input.layout is not _C.sparse_coo:
        raise NotImplementedError(
            f"sparse.{name}: expected a tensor of layout sparse_coo, got {input.layout}."
        )
    input = input if dtype is None else input.to(dtype)
    if not input.is_floating_point():
        raise RuntimeError(f"sparse.{name}: expected a floating dtype, got {input.dtype}.")
    dim = _wrap(dim, input.ndim, name)
    entries = native.coalesce(input)
    values, lead = native.values(entries), input.sparse_dim()
    if dim >= lead:
        function = ops.log_softmax if logarithm else ops.softmax
        return native._coo_from_parts(
            entries._indices(), function(values, dim - lead + 1), input.shape, True
        )
    which, count = _groups(entries._indices(), input.shape, dim)
    shape = (builtins.max(count, 1), *values.shape[1:])
    # The largest value of each slice is subtracted; it does not change the result, nor its gradient.
    fixed = values.detach()
    largest = fixed.new_zeros(shape).index_reduce(0, which, fixed, "amax", include_self=False)
    largest = largest.masked_fill(largest.isinf(), 0)
    moved = values - largest[which]
    powers = moved.exp()
    sums = powers.new_zeros(shape).index_add(0, which, powers)[which]
    result = moved - sums.log() if logarithm else powers / sums
    return native._coo_from_parts(entries._indices(), result, input.shape, True)


def softmax(input, dim, *, dtype=None):
    """Softmax along dim over the specified elements; the others count as minus infinity.

    Differentiable in input.
    """
    return _normalised(input, dim, dtype, False, "softmax")


def log_softmax(input, dim, *, dtype=None):
    """Logarithm of softmax, over the specified elements.

    Differentiable in input.
    """
    return _normalised(input, dim, dtype, True, "log_softmax")
