"""Between layouts: dense and sparse_coo, the compressed layouts, and sparse_mask."""

import math

from .. import _C, ops
from .._extension import payload, register
from ..ops import sparse_parts as native
from ..ops.embedding import bag_numbers
from ._payload import (
    BLOCKS,
    BY_ROW,
    SPELLED,
    Compressed,
    blocksize_of,
    coalesced,
    compressed,
    coo,
    flat_index,
    is_sparse,
    layout_named,
    parts,
    with_values,
)


def convert(input, sparse_dim, layout, blocksize, dense_dim):
    """Body of Tensor.to_sparse: check the arguments, then the op that autograd records."""
    source = input.layout
    if sparse_dim is not None:
        if layout is not None and layout is not _C.sparse_coo:
            raise RuntimeError(
                f"to_sparse: expected layout sparse_coo with sparse_dim, got {layout}."
            )
        layout = _C.sparse_coo
    layout = _C.sparse_coo if layout is None else layout
    if layout is _C.strided:
        return native.to_dense_op(input)
    if layout not in SPELLED:
        raise RuntimeError(f"to_sparse: expected a sparse layout, got {layout}.")
    _check_target(input, source, sparse_dim, layout, blocksize, dense_dim)
    if source is layout and (layout not in BLOCKS or tuple(blocksize) == blocksize_of(input)):
        return input
    return native._to_layout(
        input, str(layout), sparse_dim, blocksize, dense_dim, str(source), blocksize_of(input)
    )


def _check_target(input, source, sparse_dim, layout, blocksize, dense_dim):
    name = SPELLED[layout].replace("Sparse", "sparse_").lower().rstrip("_")
    if layout is _C.sparse_coo:
        if source is _C.strided:
            _check_sparse_dim(input, sparse_dim)
        elif sparse_dim is not None and sparse_dim != input.sparse_dim():
            raise RuntimeError(
                f"to_sparse: conversion from {SPELLED[source]} to Sparse with sparse_dim argument !=self.sparse_dim() "
                "is not supported"
            )
        return
    lead = input.ndim - (dense_dim or 0)
    if lead < 2:
        raise RuntimeError(
            f"to_{name}: expected at least 2 dims besides the dense ones, got shape {tuple(input.shape)}."
        )
    if dense_dim is not None and dense_dim < 0:
        raise RuntimeError(f"to_{name}: expected dense_dim >= 0, got {dense_dim}.")
    if layout in BLOCKS:
        if blocksize is None or len(blocksize) != 2:
            raise RuntimeError(f"to_{name}: expected blocksize of two sizes, got {blocksize}.")
        rows, columns = input.shape[lead - 2 : lead]
        if blocksize[0] <= 0 or blocksize[1] <= 0 or rows % blocksize[0] or columns % blocksize[1]:
            raise RuntimeError(
                f"dense_to_{name}: tensor sparse size ({rows},{columns}) must be divisible by given blocksize "
                f"({blocksize[0]},{blocksize[1]})"
            )
    elif blocksize is not None:
        raise RuntimeError(
            f"to_sparse for {SPELLED[source]} to {SPELLED[layout]} conversion does not use specified blocksize"
        )


def _check_sparse_dim(input, sparse_dim):
    if sparse_dim is None:
        return
    if not 0 <= sparse_dim <= input.ndim:
        raise RuntimeError(
            f"dense_to_sparse: sparse_dim argument must be in [0,{input.ndim}] range, but {sparse_dim} is given"
        )
    if sparse_dim == 0 and input.ndim:
        raise RuntimeError("dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0")


@register("sparse", "_to_layout")
def to_layout(input, layout, sparse_dim, blocksize, dense_dim, source, source_blocksize):
    target = layout_named(layout)
    content = payload(input)
    if content is None:
        if target is _C.sparse_coo:
            return dense_to_coo(input, input.ndim if sparse_dim is None else sparse_dim)
        return dense_to_compressed(input, target, blocksize or (1, 1), dense_dim or 0)
    if target is _C.sparse_coo:
        return to_coo(input)
    if isinstance(content, Compressed) and content.batch_dim:
        return dense_to_compressed(to_dense(input), target, blocksize or (1, 1), content.dense_dim)
    return coo_to_compressed(to_coo(input), target, blocksize or (1, 1))


# ---- From dense


def dense_to_coo(dense, sparse_dim):
    """The non-zero elements, or slices, of a strided tensor."""
    dense = dense.resolve_conj().resolve_neg()
    if dense.ndim == 0:
        count = int(bool(dense != 0))
        return coo(
            ops.empty((0, count), dtype=_C.int64), dense.reshape(1)[:count].clone(), (), True
        )
    mask = dense != 0
    if sparse_dim < dense.ndim:
        mask = mask.flatten(sparse_dim).any(-1)
    indices = mask.nonzero().t().contiguous()  # (sparse_dim, nnz)
    return coo(indices, dense[tuple(indices)], dense.shape, True)


def dense_to_compressed(dense, layout, blocksize, dense_dim):
    """The non-zero elements, or blocks, of a strided tensor; each batch must have as many."""
    dense = dense.resolve_conj().resolve_neg()
    lead = dense.ndim - dense_dim - 2
    batch, tail = dense.shape[:lead], dense.shape[lead + 2 :]
    (m, n), (r, c) = dense.shape[lead : lead + 2], blocksize
    flat = (
        dense.reshape(-1, m // r, r, n // c, c, *tail)
        if dense.numel()
        else dense.new_zeros((math.prod(batch), m // r, r, n // c, c, *tail))
    )
    by_row = layout in BY_ROW
    order = (0, 1, 3, 2, 4) if by_row else (0, 3, 1, 2, 4)
    blocks = flat.permute(*order, *range(5, flat.ndim))  # (batch, rows, columns, r, c, *dense)
    mask = (blocks != 0).flatten(3).any(-1)
    which = mask.nonzero().t()  # (3, nnz of all batches)
    values = blocks[tuple(which)]
    if layout not in BLOCKS:
        values = values.reshape(values.shape[0], *tail)
    batches, rows = mask.shape[:2]
    pointers = native._row_pointers(which[0] * rows + which[1], batches * rows)
    nnz = which.shape[1] // batches if batches else 0
    starts = pointers[:-1].reshape(batches, rows)
    firsts = ops.arange(batches + 1) * nnz
    if batches and not ops.equal(pointers[:: rows or 1][: batches + 1] if rows else firsts, firsts):
        raise RuntimeError("Expect the same number of specified elements per batch.")
    ends = starts.new_full((batches, 1), nnz)
    own = ops.cat([starts - firsts[:-1].unsqueeze(1), ends], 1)  # (batches, rows + 1)
    return compressed(
        layout,
        own.reshape(*batch, rows + 1),
        which[2].reshape(*batch, nnz),
        values.reshape(*batch, nnz, *values.shape[1:]),
        dense.shape,
    )


# ---- From sparse


@register("sparse", "to_dense")
def to_dense(input, dtype=None, masked_grad=None):
    content = payload(input)
    if content is None:
        return input if dtype is None else input.to(dtype)
    if isinstance(content, Compressed):
        content = payload(to_coo(input))
    values = content.values if dtype is None else content.values.to(dtype)
    result = ops.zeros(content.size, dtype=values.dtype)
    return native._scatter_rows.inplace(result, content.indices, values)


@register("sparse", "coalesce")
def coalesce(input):
    parts(input).expect(_C.sparse_coo, "coalesce", "sparse coordinate")
    return coalesced(input)


@register("sparse", "values")
def values(input):
    content = parts(input)
    if content.layout is _C.sparse_coo and not content.coalesced:
        raise RuntimeError(
            "Cannot get values on an uncoalesced tensor, please call .coalesce() first"
        )
    return content.values.detach()


@register("sparse", "_raw_values")
def raw_values(input):
    return parts(input).values.detach()


def to_coo(input):
    """Any sparse tensor as sparse_coo."""
    content = parts(input)
    if not isinstance(content, Compressed):
        return input
    batch = content.size[: content.batch_dim]
    m, n = content.size[content.batch_dim : content.batch_dim + 2]
    r, c = content.blocksize
    by_row = content.layout in BY_ROW
    rows = m // r if by_row else n // c
    batches, nnz = math.prod(batch), content.nnz
    starts = content.compressed[..., :-1].reshape(batches, rows)
    starts = (starts + (ops.arange(batches) * nnz).unsqueeze(1)).reshape(-1)
    plain = content.plain.reshape(-1)
    values = content.values.reshape(batches * nnz, *content.values.shape[content.batch_dim + 1 :])
    row = bag_numbers(starts, batches * nnz) if batches * nnz else plain
    which = [row // rows] if batch else []
    row = row % rows if batch else row
    pair = [row, plain] if by_row else [plain, row]
    if content.layout in BLOCKS:
        pair, values, which = _without_blocks(pair, values, which, (r, c))
    lead = [] if not batch else list(_unravel(which[0], batch))
    indices = ops.stack([*lead, *pair])
    sorted_already = (
        content.layout is _C.sparse_csr
        and native._check_compressed(content.compressed, content.plain, n, True) == 0
    )
    result = coo(indices, values, content.size, sorted_already)
    return coalesced(result)


def _without_blocks(pair, values, which, blocksize):
    """Entries of single elements for entries of blocks; the elements of a block stay together."""
    r, c = blocksize
    nnz = values.shape[0]
    row = pair[0].unsqueeze(1) * r + ops.arange(r * c) // c  # (nnz, r * c)
    column = pair[1].unsqueeze(1) * c + ops.arange(r * c) % c
    which = [w.unsqueeze(1).expand(nnz, r * c).reshape(-1) for w in which]
    return (
        [row.reshape(-1), column.reshape(-1)],
        values.reshape(nnz * r * c, *values.shape[3:]),
        which,
    )


def _unravel(places, sizes):
    rows = []
    for size in reversed(sizes):
        rows.append(places % size)
        places = places // size
    return reversed(rows)


def coo_to_compressed(input, layout, blocksize=(1, 1)):
    """A sparse_coo matrix, possibly with dense dims, in a compressed layout."""
    content = payload(coalesced(input))
    if content.sparse_dim != 2:
        raise RuntimeError(
            f"to_sparse: expected a sparse_coo tensor with sparse_dim 2 to get layout {layout}, got sparse_dim "
            f"{content.sparse_dim}."
        )
    if layout in BLOCKS:
        content = _with_blocks(content, blocksize)
    (row, column), values = content.indices, content.values
    rows = content.size[0] // blocksize[0]
    if layout not in BY_ROW:
        rows = content.size[1] // blocksize[1]
        pointers, order = native._order_by_row(column, rows)
        column, values = row.index_select(0, order), values.index_select(0, order)
    else:
        pointers = native._row_pointers(row, rows)
    return compressed(layout, pointers, column.contiguous(), values, content.size)


def _with_blocks(content, blocksize):
    """Entries of blocks, sorted by row and column of blocks; the size stays that in elements."""
    r, c = blocksize
    m, n = content.size[:2]
    row, column = content.indices
    places = flat_index(ops.stack([row // r, column // c]), (m // r, n // c))
    kept, inverse = ops.unique(places, return_inverse=True)
    values = content.values.new_zeros((kept.shape[0], r, c, *content.values.shape[1:]))
    values[inverse, row % r, column % c] = content.values
    columns = n // c or 1
    indices = ops.stack([kept // columns, kept % columns])
    return type(content)(indices, values, content.size, True)


# ---- sparse_mask


@register("sparse", "_sparse_mask")
def sparse_mask(input, mask, strided=None):
    content = parts(mask)
    if tuple(input.shape) != content.size:
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(input.shape)} but mask has size "
            f"{list(content.size)}"
        )
    if isinstance(content, Compressed):
        return _mask_compressed(input, mask, content)
    if is_sparse(input):
        found = sparse_values_at(to_coo(input), content.indices, content.size)
    else:
        found = native._gather_rows(input, content.indices)
    return with_values(mask, found)


def _mask_compressed(input, mask, content):
    dense = to_dense(input) if is_sparse(input) else input
    if content.batch_dim == 0 and content.layout not in BLOCKS:
        rows = bag_numbers(content.compressed, content.nnz, True)
        at = (rows, content.plain) if content.layout in BY_ROW else (content.plain, rows)
        return content.with_values(
            native._gather_rows(dense, ops.stack([at[0], at[1].to(_C.int64)]))
        )
    # Positions of the elements in the values, found by converting a tensor that holds them.
    count = content.values.numel()
    places = ops.arange(1, count + 1).reshape(content.values.shape)
    entries = parts(to_coo(content.with_values(places)))
    found = native._gather_rows(dense, entries.indices).reshape(-1)
    made = dense.new_zeros(count).index_put((entries.values.reshape(-1) - 1,), found)
    return content.with_values(made.reshape(content.values.shape))


def sparse_values_at(input, indices, size):
    """The values of a sparse tensor at these indices, zero where it has none."""
    content = payload(coalesced(to_coo(input)))
    count = indices.shape[0]
    if count != content.sparse_dim:
        return native._gather_rows(to_dense(input), indices)
    if content.indices is indices or (
        content.nnz == indices.shape[1] and ops.equal(content.indices, indices)
    ):
        return content.values
    tail = content.values.shape[1:]
    if content.nnz == 0:
        return content.values.new_zeros((indices.shape[1], *tail))
    have, want = flat_index(content.indices, size[:count]), flat_index(indices, size[:count])
    at = native._places_in(have, want)
    found = content.values.index_select(0, at.clamp(min=0))
    return found.masked_fill((at < 0).reshape(-1, *(1 for _ in tail)), 0)
