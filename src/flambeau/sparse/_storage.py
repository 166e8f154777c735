"""Copies, dtypes, changes of size in place, and rebuilding from files."""

from .. import _C, ops
from .._extension import otherwise, payload, register
from ._convert import to_dense
from ._create import sparse_compressed_tensor, sparse_coo_tensor
from ._payload import LAYOUTS, SPELLED, Compressed, compressed, coo, is_sparse, parts, with_values


@register("sparse", "clone")
def clone(input, memory_format=None):
    content = parts(input)
    if isinstance(content, Compressed):
        return compressed(
            content.layout,
            content.compressed.clone(),
            content.plain.clone(),
            content.values.clone(),
            content.size,
        )
    return coo(content.indices.clone(), content.values.clone(), content.size, content.coalesced)


def _converted(input, dtype, copy=False):
    if dtype is None or dtype is input.dtype:
        return clone(input) if copy else input
    return with_values(input, parts(input).values.to(dtype))


@register("sparse", "to_dtype")
def to_dtype(input, dtype, non_blocking=False, copy=False, memory_format=None):
    return _converted(input, dtype, copy)


@register("sparse", "to")
def to(input, device=None, dtype=None, non_blocking=False, copy=False, memory_format=None):
    if device is not None and _C.device(device).type != "cpu":
        raise NotImplementedError(f"to: expected device cpu for a sparse tensor, got {device}.")
    return _converted(input, dtype, copy)


@register("sparse", "to_other")
def to_other(input, other, non_blocking=False, copy=False, memory_format=None):
    return _converted(input, other.dtype, copy)


_BY_METHOD = {
    "bool": "bool", "byte": "uint8", "char": "int8", "short": "int16", "int": "int32", "long": "int64",
    "half": "float16", "bfloat16": "bfloat16", "float": "float32", "double": "float64", "cfloat": "complex64",
    "cdouble": "complex128",
}  # fmt: skip


def _as(dtype):
    return lambda input, *settings: _converted(input, dtype)


for _name, _dtype in _BY_METHOD.items():
    register("sparse", _name)(_as(getattr(_C, _dtype)))


@register("sparse", "copy_")
def copy_(input, src, non_blocking=False):
    if not is_sparse(input):
        return input.copy_(to_dense(src))
    if not is_sparse(src):
        raise RuntimeError(
            "copy_() between dense and sparse Tensors is not implemented! Found self of layout "
            f"{input.layout} and src of layout {src.layout}"
        )
    if src.layout is not input.layout:
        raise RuntimeError(
            f"copy_: expected src of layout {input.layout}, got {src.layout}. Convert it with to_sparse(layout=...)."
        )
    copied = clone(_converted(src, input.dtype))
    _C._set_extension(input, payload(copied), tuple(src.shape))
    return input


@register("sparse", "result_type")
def result_type(tensor1, tensor2):
    return ops.result_type(_meta(tensor1), _meta(tensor2))


def _meta(tensor):
    if not is_sparse(tensor):
        return tensor
    return ops.empty((1,) * tensor.ndim, dtype=tensor.dtype, device="meta")


@register("sparse", "_adam_step")
def adam_step(*arguments):
    raise RuntimeError("Adam does not support sparse gradients, please consider SparseAdam instead")


@register("sparse", "_write_out")
def write_out(input):
    return input


def resized(input, size, sparse_dim, dense_dim, keep):
    """Body of sparse_resize_ (keep) and sparse_resize_and_clear_."""
    parts(input).expect(_C.sparse_coo, "sparse_resize_", "sparse coordinate")
    if input.requires_grad:
        raise RuntimeError("sparse_resize_: cannot resize variables that require grad")
    size = tuple(int(n) for n in size)
    if sparse_dim + dense_dim != len(size):
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, sparse_dim = "
            f"{sparse_dim}, dense_dim = {dense_dim}"
        )
    content = payload(input)
    if keep and content.nnz:
        if (sparse_dim, dense_dim) != (content.sparse_dim, content.dense_dim):
            raise RuntimeError(
                "sparse_resize_: changing the number of sparse or dense dimensions on a non-empty sparse tensor is not "
                "supported."
            )
        if any(new < old for new, old in zip(size, content.size, strict=True)):
            raise RuntimeError(
                "shrinking the size of sparse or dense dimensions on a non-empty sparse tensor is not supported."
            )
        values = content.values.new_zeros((content.nnz, *size[sparse_dim:]))
        values[tuple(slice(n) for n in content.values.shape)] = content.values
        made = coo(content.indices, values, size, content.coalesced)
    else:
        empty = ops.empty((0, *size[sparse_dim:]), dtype=input.dtype)
        made = coo(ops.empty((sparse_dim, 0), dtype=_C.int64), empty, size, True)
    _C._set_extension(input, payload(made), size)
    return input


def resized_as(input, the_template):
    """Change the size in place to that of the_template; no entries are left."""
    content = parts(the_template)
    if isinstance(content, Compressed):
        return copy_(input, ops.zeros_like(the_template))
    return resized(input, content.size, content.sparse_dim, content.dense_dim, False)


# ---- Files


def rebuilt(layout, data):
    """The tensor that a pickle describes; the parts are checked as those of a user."""
    if layout is _C.sparse_coo:
        indices, values, size, *claim = data
        claimed = bool(claim and claim[0])
        return sparse_coo_tensor(
            indices, values, size, is_coalesced=claimed, check_invariants=claimed
        )
    if str(layout) not in LAYOUTS:
        raise NotImplementedError(f"rebuilding sparse tensor for layout {layout}")
    pointers, plain, values, size = data
    return sparse_compressed_tensor(pointers, plain, values, size, layout=layout)


def rebuilt_unchecked(layout, data):
    """The tensor that a pickle describes, over parts whose memory is filled later; see rebuilt()."""
    if layout is _C.sparse_coo:
        indices, values, size, *claim = data
        return coo(indices, values, tuple(size), bool(claim and claim[0]))
    if str(layout) not in LAYOUTS:
        raise NotImplementedError(f"rebuilding sparse tensor for layout {layout}")
    from ..ops import sparse_parts as native

    pointers, plain, values, size = data
    return native._compressed_from_parts(pointers, plain, values, tuple(size), str(layout))


@otherwise("sparse")
def no_form(op, arguments):
    """Ops that sparse tensors do not have."""
    layouts = sorted({SPELLED[value.layout] for value in arguments if is_sparse(value)}) or [
        "Sparse"
    ]
    raise NotImplementedError(
        f"{op.name}: expected strided tensors, got one of layout {', '.join(layouts)}. There is no such op for sparse "
        "tensors; use to_dense() first."
    )
