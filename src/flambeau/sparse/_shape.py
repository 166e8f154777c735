"""Ops that move entries: transposes, selections, joins."""

from .. import _C, ops
from .._extension import payload, register
from ..ops import sparse_parts as native
from ._convert import to_coo, to_dense
from ._payload import (
    BLOCKS,
    Compressed,
    compressed,
    coo,
    flat_index,
    is_sparse,
    parts,
    unflat_index,
)  # fmt: skip

_FLIPPED = {
    _C.sparse_csr: _C.sparse_csc,
    _C.sparse_csc: _C.sparse_csr,
    _C.sparse_bsr: _C.sparse_bsc,
    _C.sparse_bsc: _C.sparse_bsr,
}


def _wrap(dim, ndim, name):
    count = max(ndim, 1)
    if not -count <= dim < count:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got {dim})"
        )
    return dim % count


def _restored(result, source):
    """A sparse_coo result of an op on a compressed matrix, compressed again if it is still a matrix."""
    content = payload(source)
    if not isinstance(content, Compressed) or not is_sparse(result):
        return result
    if content.layout in BLOCKS or parts(result).sparse_dim != 2 or result.ndim != source.ndim:
        return result
    return native.to_sparse(result, layout=content.layout)


@register("sparse", "permute")
def permute(input, dims):
    content = payload(to_coo(input))
    dims = [_wrap(dim, input.ndim, "permute") for dim in dims]
    if sorted(dims) != list(range(input.ndim)):
        raise RuntimeError(f"permute: expected a permutation of the dims, got {tuple(dims)}.")
    lead = content.sparse_dim
    if any(dim >= lead for dim in dims[:lead]):
        raise RuntimeError(
            "permute: expected sparse dims to stay before dense ones; transpositions between sparse and dense "
            "dimensions are not supported. Use to_dense() first."
        )
    indices = content.indices[dims[:lead]] if lead else content.indices
    values = content.values.permute(0, *(dim - lead + 1 for dim in dims[lead:]))
    size = tuple(input.shape[dim] for dim in dims)
    unchanged = dims[:lead] == list(range(lead))
    result = coo(indices, values, size, content.coalesced and (unchanged or content.nnz < 2))
    return _restored(result, input)


@register("sparse", "transpose")
def transpose(input, dim0, dim1):
    content = parts(input)
    first, second = (_wrap(dim, input.ndim, "transpose") for dim in (dim0, dim1))
    if isinstance(content, Compressed) and first != second:
        at = content.batch_dim
        if {first, second} != {at, at + 1}:
            raise RuntimeError(
                "transpose(): can only transpose the two sparse dims of a compressed tensor, got dims "
                f"{dim0} and {dim1}."
            )
        values = content.values
        if content.layout in BLOCKS:
            values = values.transpose(at + 1, at + 2)
        size = list(content.size)
        size[first], size[second] = size[second], size[first]
        return compressed(_FLIPPED[content.layout], content.compressed, content.plain, values, size)
    dims = list(range(input.ndim))
    if dims:
        dims[first], dims[second] = dims[second], dims[first]
    return permute(input, dims) if first != second else detach(input)


@register("sparse", "t")
def t(input):
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return transpose(input, 0, 1) if input.ndim == 2 else detach(input)


@register("sparse", "matrix_transpose")
def matrix_transpose(input):
    return transpose(input, -2, -1)


@register("sparse", "numpy_T")
def numpy_t(input):
    return permute(input, range(input.ndim)[::-1]) if input.ndim != 2 else transpose(input, 0, 1)


@register("sparse", "detach", "alias")
def detach(input):
    content = payload(input)
    return _C._make_extended(content, content.size, input.dtype)


@register("sparse", "movedim")
def movedim(input, source, destination):
    count = input.ndim
    order = [None] * count
    for old, new in zip(source, destination, strict=True):
        order[new % count] = old % count
    left = iter(d for d in range(count) if d not in {s % count for s in source})
    return permute(input, [next(left) if d is None else d for d in order])


# ---- Selections


@register("sparse", "select")
def select(input, dim, index):
    content = payload(to_coo(input))
    dim = _wrap(dim, input.ndim, "select")
    size = input.shape[dim]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.shape)} at dimension {dim}"
        )
    index %= size
    rest = (*content.size[:dim], *content.size[dim + 1 :])
    if dim >= content.sparse_dim:
        values = content.values.select(dim - content.sparse_dim + 1, index)
        return coo(content.indices, values, rest, content.coalesced)
    kept = (content.indices[dim] == index).nonzero().squeeze(1)
    values = content.values.index_select(0, kept)
    if content.sparse_dim == 1:  # nothing sparse is left
        return (
            values.sum(0, dtype=values.dtype)
            if not content.dense_dim or kept.numel()
            else values.new_zeros(rest)
        )
    left = [d for d in range(content.sparse_dim) if d != dim]
    return coo(content.indices[left][:, kept], values, rest, content.coalesced)


@register("sparse", "unbind")
def unbind(input, dim=0):
    return [select(input, dim, index) for index in range(input.shape[dim])]


@register("sparse", "index_select")
def index_select(input, dim, index):
    content = payload(to_coo(input))
    if input.ndim == 0:
        raise IndexError("index_select() cannot be applied to a 0-dim tensor.")
    dim = _wrap(dim, input.ndim, "index_select")
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector, got a matrix")
    index = index.reshape(-1).to(_C.int64)
    length = input.shape[dim]
    if index.numel() and not -length <= int(index.min()) <= int(index.max()) < length:
        raise IndexError(
            f"index_select(): index contains a value that is out of range for dimension of size {length}"
        )
    size = list(content.size)
    size[dim] = index.shape[0]
    if dim >= content.sparse_dim:
        values = content.values.index_select(
            dim - content.sparse_dim + 1, index % length if length else index
        )
        return coo(content.indices, values, size, content.coalesced)
    index = index % length if length else index
    # Entries by their place along dim; for each selected index all the entries there.
    place, length = content.indices[dim], max(length, 1)
    if length > 4 * content.nnz + 1024:  # too long for a list of starts: number the places in use
        kept, place = ops.unique(place, return_inverse=True)
        length = kept.shape[0] + 1  # the last one is empty
        index = native._places_in(kept, index) % length
    starts, order = native._order_by_row(place, length)
    counts = (starts[1:] - starts[:-1])[index]
    new = ops.arange(index.shape[0]).repeat_interleave(counts)
    total = new.shape[0]
    within = ops.arange(total) - (counts.cumsum(0) - counts).repeat_interleave(counts)
    entries = order[starts[:-1][index].repeat_interleave(counts) + within]
    indices = content.indices[:, entries].clone()
    indices[dim] = new
    return _restored(
        coo(indices, content.values[entries], size, content.coalesced and dim == 0), input
    )


@register("sparse", "slice", "narrow_copy")
def slice_(input, dim=0, start=None, end=None, step=1):
    dim = _wrap(dim, input.ndim, "slice")
    if step <= 0:
        raise ValueError("step must be greater than zero")
    first, last, step = slice(start, end, step).indices(input.shape[dim])
    return _sliced(input, dim, first, max(last, first), step)


@register("sparse", "narrow")
def narrow(input, dim, start, length):
    dim = _wrap(dim, input.ndim, "narrow")
    size = input.shape[dim]
    start = start + size if start < 0 else start
    if length < 0 or not 0 <= start <= size or start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return _sliced(input, dim, start, start + length, 1)


def _sliced(input, dim, first, last, step):
    content = payload(to_coo(input))
    size = list(content.size)
    size[dim] = len(range(first, last, step))
    if dim >= content.sparse_dim:
        values = (
            content.values.slice(dim - content.sparse_dim + 1, first, last, step)
            if hasattr(content.values, "slice")
            else ops.registry.OPS["slice"](
                content.values, dim - content.sparse_dim + 1, first, last, step
            )
        )
        return coo(content.indices, values, size, content.coalesced)
    place = content.indices[dim] - first
    kept = (place >= 0) & (place < last - first)
    if step != 1:
        kept &= place % step == 0
    indices = content.indices[:, kept].clone()
    indices[dim] = place[kept] // step
    return _restored(coo(indices, content.values[kept], size, content.coalesced), input)


# ---- Joins and new dims


@register("sparse", "cat")
def cat(tensors, dim=0):
    if not all(is_sparse(tensor) for tensor in tensors):
        raise NotImplementedError(
            "cat: expected all tensors sparse, or none. Use to_dense() first."
        )
    like = tensors[0]
    dim = _wrap(dim, like.ndim, "cat")
    contents = [payload(to_coo(tensor)) for tensor in tensors]
    first = contents[0]
    for i, other in enumerate(contents):
        same = (*other.size[:dim], *other.size[dim + 1 :]) == (
            *first.size[:dim],
            *first.size[dim + 1 :],
        )
        if len(other.size) != len(first.size) or not same or other.sparse_dim != first.sparse_dim:
            raise RuntimeError(
                f"cat: expected tensors of equal sizes except in dim {dim} and of equal sparse_dim, got "
                f"{list(first.size)} and at position {i} {list(other.size)}."
            )
    size = list(first.size)
    size[dim] = sum(content.size[dim] for content in contents)
    if dim >= first.sparse_dim:
        return _restored(_cat_dense(contents, dim, size), like)
    indices, values, offset = [], [], 0
    for content in contents:
        moved = content.indices.clone()
        moved[dim] += offset
        indices.append(moved)
        values.append(content.values)
        offset += content.size[dim]
    claim = dim == 0 and all(content.coalesced for content in contents)
    return _restored(coo(ops.cat(indices, 1), ops.cat(values), size, claim), like)


def _cat_dense(contents, dim, size):
    """Along a dense dim: each tensor's values with zeros where the others are."""
    values, offset = [], 0
    at = dim - contents[0].sparse_dim + 1
    for content in contents:
        shape = list(content.values.shape)
        shape[at] = size[dim]
        padded = content.values.new_zeros(shape)
        padded.narrow(at, offset, content.size[dim]).copy_(content.values)
        values.append(padded)
        offset += content.size[dim]
    return coo(ops.cat([content.indices for content in contents], 1), ops.cat(values), size)


@register("sparse", "unsqueeze")
def unsqueeze(input, dim):
    content = payload(to_coo(input))
    dim = _wrap(dim, input.ndim + 1, "unsqueeze")
    size = list(content.size)
    size.insert(dim, 1)
    if dim > content.sparse_dim:
        values = content.values.unsqueeze(dim - content.sparse_dim + 1)
        return coo(content.indices, values, size, content.coalesced)
    zeros = content.indices.new_zeros((1, content.nnz))
    indices = ops.cat([content.indices[:dim], zeros, content.indices[dim:]])
    return coo(indices, content.values, size, content.coalesced)


@register("sparse", "squeeze_dims")
def squeeze_dims(input, dim):
    dims = {_wrap(d, input.ndim, "squeeze") for d in dim}
    content = payload(to_coo(input))
    gone = [d for d in dims if content.size[d] == 1]
    lead = content.sparse_dim
    left = [d for d in range(lead) if d not in gone]
    values = content.values
    for d in sorted((d for d in gone if d >= lead), reverse=True):
        values = values.squeeze(d - lead + 1)
    size = [n for d, n in enumerate(content.size) if d not in gone]
    indices = content.indices[left] if left else content.indices[:0]
    return coo(indices, values, size, content.coalesced)


@register("sparse", "squeeze")
def squeeze(input):
    return squeeze_dims(input, range(input.ndim))


@register("sparse", "stack")
def stack(tensors, dim=0):
    return cat([unsqueeze(tensor, dim) for tensor in tensors], dim)


@register("sparse", "expand")
def expand(input, size, implicit=False):
    if tuple(size) == tuple(input.shape):
        return detach(input)
    raise RuntimeError("expand is unsupported for Sparse tensors")


@register("sparse", "reshape")
def reshape(input, shape):
    """Of sparse_coo tensors, as long as the dense dims stay: entries keep their row-major place."""
    content = payload(to_coo(input))
    lead, tail = content.sparse_dim, content.size[content.sparse_dim :]
    shape = list(ops.empty(input.shape, device="meta").reshape(shape).shape)
    kept = len(shape) - len(tail)
    if kept < 0 or tuple(shape[kept:]) != tail:
        raise RuntimeError(
            f"reshape: expected a shape that ends with the dense sizes {list(tail)}, got {shape}. Use to_dense() first."
        )
    if not lead or not kept:
        indices = content.indices.new_zeros((kept, content.nnz))
    else:
        indices = unflat_index(flat_index(content.indices, content.size[:lead]), shape[:kept])
    return coo(indices, content.values, shape, content.coalesced)


@register("sparse", "view", "flatten", "unflatten")
def view(input, *sizes):
    raise RuntimeError(
        "view: expected a strided tensor; the entries of a sparse one have no other shape. Use reshape()."
    )


@register("sparse", "contiguous")
def contiguous(input, memory_format=None):
    return input


@register("sparse", "select_backward")
def select_backward(grad, sizes, dim, index):
    """The cotangent of select: grad at one index of dim."""
    return ops.registry.OPS["select_backward"](to_dense(grad), sizes, dim, index)


@register("sparse", "slice_backward")
def slice_backward(grad, sizes, *settings):
    return ops.registry.OPS["slice_backward"](to_dense(grad), sizes, *settings)


@register("sparse", "index_add")
def index_add(input, dim, index, source, alpha=1):
    """Of dense tensors, where one is sparse (the gradient of index_select)."""
    first = to_dense(input) if is_sparse(input) else input
    second = to_dense(source) if is_sparse(source) else source
    places = to_dense(index) if is_sparse(index) else index
    return first.index_add(dim, places, second, alpha=alpha)
