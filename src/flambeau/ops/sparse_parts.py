"""Sparse tensors as seen by autograd: making them out of strided parts, taking them apart, and products of the parts.

The forms of all other ops for sparse tensors, and the public names, are in flambeau/sparse.
"""

import builtins

from .. import _C
from .matmul import addmm, mm
from .registry import composite, native

_NUMBERS = "positions in, positions out"

_check_coo = native(
    "_check_coo(Tensor indices, int[] size) -> bool",
    doc="True; RuntimeError unless every index (sparse_dim, nnz) is in the range of its dim.",
)
_check_compressed = native(
    "_check_compressed(Tensor compressed, Tensor plain, int limit, bool sorted) -> int",
    doc="0, or the number of the first invariant of compressed indices that does not hold.",
)
_row_pointers = native(
    "_row_pointers(Tensor rows, int count) -> Tensor",
    non_differentiable=_NUMBERS,
    doc="For each row the number of entries before it, and the number of all.",
)

_order_by_row = native(
    "_order_by_row(Tensor rows, int count) -> (Tensor pointers, Tensor order)",
    non_differentiable=_NUMBERS,
    doc="_row_pointers, and the entries sorted by row, stably.",
)
_places_in = native(
    "_places_in(Tensor sorted, Tensor wanted) -> Tensor",
    non_differentiable=_NUMBERS,
    doc="For each wanted number its place in an ascending list, or -1.",
)

_coalesced_parts = native(
    "_coalesced_parts(Tensor indices, Tensor values, int[] size) -> (Tensor, Tensor)",
    non_differentiable="the rule belongs to coalesce, which calls it",
    doc="Sorted distinct indices and the sums of their values.",
)
_scatter_rows = native(
    "_scatter_rows(Tensor input, Tensor indices, Tensor values, Scalar alpha=1) -> Tensor",
    inplace=True,
    doc="Add alpha * values to the elements, or slices, of a dense input that the indices (sparse_dim, nnz) name.",
)


@_scatter_rows.vjp("input")
def _(grad):
    return grad


@_scatter_rows.vjp("values")
def _(grad, indices, alpha):
    found = _gather_rows(grad, indices)
    return found * (alpha.conjugate() if isinstance(alpha, complex) else alpha)


_gather_rows = native(
    "_gather_rows(Tensor input, Tensor indices) -> Tensor",
    doc="The elements, or slices, of a dense input that the indices (sparse_dim, nnz) name.",
)


@_gather_rows.vjp("input")
def _(grad, input_meta, indices):
    return _scatter_rows(grad.new_zeros(input_meta.shape), indices, grad)


_csr_mm = native(
    "_csr_mm(Tensor pointers, Tensor columns, Tensor values, Tensor other) -> Tensor",
    doc="Product of a CSR matrix, given by its parts, and a dense matrix.",
)
_sampled_mm = native(
    "_sampled_mm(Tensor input, Tensor other, Tensor rows, Tensor columns) -> Tensor",
    doc="The elements (rows[e], columns[e]) of input @ other.mT.",
)
_csr_matmul = native(
    "_csr_matmul(Tensor pointers, Tensor columns, Tensor values, Tensor other_pointers, Tensor other_columns, "
    "Tensor other_values, int n) -> (Tensor pointers, Tensor columns, Tensor values)",
    non_differentiable="the rules belong to mm, whose form calls it",
    doc="Product of two CSR matrices, the second one of n columns, as the parts of a CSR matrix.",
)


def _coo_mm(rows, columns, values, count, other):
    """Product of the (count, other.shape[0]) matrix with these entries, in any order, and a dense matrix."""
    pointers, order = _order_by_row(rows, count)
    return _csr_mm(pointers, columns.index_select(0, order), values.index_select(0, order), other)


def _rows_of(pointers, nnz):
    from .embedding import bag_numbers

    return bag_numbers(pointers, nnz, True)


@_csr_mm.vjp("values")
def _(grad, pointers, columns, other):
    return _sampled_mm(grad, other.conj(), _rows_of(pointers, columns.shape[0]), columns)


@_csr_mm.vjp("other")
def _(grad, pointers, columns, values, other_meta):
    rows = _rows_of(pointers, columns.shape[0])
    return _coo_mm(columns, rows, values.conj(), other_meta.shape[0], grad)


@_sampled_mm.vjp("input")
def _(grad, input_meta, other, rows, columns):
    return _coo_mm(rows, columns, grad, input_meta.shape[0], other.conj())


@_sampled_mm.vjp("other")
def _(grad, input, other_meta, rows, columns):
    return _coo_mm(columns, rows, grad, other_meta.shape[0], input.conj())


# ---- Tensors out of parts and parts out of tensors

_coo_from_parts = native(
    "_coo_from_parts(Tensor indices, Tensor values, int[] size, bool coalesced) -> Tensor",
    doc="A sparse_coo tensor over these parts; the indices must be in range.",
)


@_coo_from_parts.vjp("values")
def _(grad, indices, size):
    return _values_at(grad, indices, size)


def _values_at(grad, indices, size):
    """The elements of a strided or sparse tensor at these indices, shape (nnz, *dense)."""
    if grad.layout is _C.strided:
        return _gather_rows(grad, indices)
    from ..sparse._convert import sparse_values_at

    return sparse_values_at(grad, indices, size)


_compressed_from_parts = native(
    "_compressed_from_parts(Tensor compressed, Tensor plain, Tensor values, int[] size, str layout) -> Tensor",
    doc="A tensor of a compressed sparse layout over these parts.",
)


@_compressed_from_parts.vjp("values")
def _(grad, compressed, plain, values, size, layout):
    pattern = _compressed_from_parts(compressed, plain, values.detach(), size, layout)
    return _raw_values(_mask(grad, pattern))


coalesce = native(
    "coalesce(Tensor input) -> Tensor",
    methods=("coalesce",),
    doc="The sparse_coo tensor with sorted, distinct indices; values of equal indices are added.",
)


@coalesce.vjp
def _(grad):
    return grad


values = native(
    "values(Tensor input) -> Tensor",
    methods=("values",),
    doc="The specified values of a sparse tensor: (nnz, *dense), for compressed layouts (*batch, nnz, *block, *dense).",
)
_raw_values = native(
    "_raw_values(Tensor input) -> Tensor", doc="values, also of uncoalesced tensors."
)


def _like(input, new_values):
    """A sparse tensor with the indices of input."""
    from ..sparse._payload import parts

    content = parts(input)
    if content.layout is _C.sparse_coo:
        return _coo_from_parts(content.indices, new_values, input.shape, content.coalesced)
    return _compressed_from_parts(
        content.compressed, content.plain, new_values, input.shape, str(content.layout)
    )


@values.vjp
def _(grad, input):
    return _like(input, grad)


@_raw_values.vjp
def _(grad, input):
    return _like(input, grad)


to_dense_op = native(
    "to_dense(Tensor input, dtype? dtype=None, *, bool? masked_grad=None) -> Tensor",
    methods=("to_dense",),
    doc="A strided tensor of the same values; masked_grad=False gives gradients of unspecified elements, too.",
)


@to_dense_op.vjp
def _(grad, input, masked_grad):
    if input.layout is _C.strided:
        return grad
    if masked_grad is None or masked_grad:
        return _mask(grad, input.coalesce() if input.is_sparse else input)
    from ..sparse._payload import blocksize_of

    if input.is_sparse:
        return to_sparse(grad, input.sparse_dim())
    return to_sparse(
        grad, layout=input.layout, blocksize=blocksize_of(input), dense_dim=input.dense_dim()
    )


_to_layout = native(
    "_to_layout(Tensor input, str layout, int? sparse_dim, int[]? blocksize, int? dense_dim, str source, "
    "int[]? source_blocksize) -> Tensor",
    doc="input, whose layout is `source`, in another layout.",
)


@_to_layout.vjp
def _(grad, sparse_dim, source, source_blocksize):
    if source == "torch.strided":
        return to_dense_op(grad)
    return to_sparse(
        grad, layout=getattr(_C, source.removeprefix("torch.")), blocksize=source_blocksize
    )


_sparse_mask = native(
    "_sparse_mask(Tensor input, Tensor mask, bool strided) -> Tensor",
    doc="The values of input at the indices of mask; `strided` says whether input is.",
)


@_sparse_mask.vjp("input")
def _(grad, mask, strided):
    kept = _mask(grad, mask)
    return to_dense_op(kept) if strided else kept


@_sparse_mask.vjp("mask")
def _(grad):
    return None


def _mask(input, mask):
    return _sparse_mask(input, mask, input.layout is _C.strided)


# ---- Methods


def _parts(input, name, wanted="sparse"):
    content = _C._extension(input)
    if content is None or content.kind != "sparse":
        raise RuntimeError(f"{name} expected {wanted} tensor layout but got Strided")
    return content


@composite(methods=("to_sparse", "_to_sparse"))
def to_sparse(input, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
    """input with a sparse layout.

    Args:
        sparse_dim: number of leading dims with indices, for sparse_coo; all dims by default. A layout is taken, too.
        layout: sparse_coo (the default), sparse_csr, sparse_csc, sparse_bsr, sparse_bsc or strided.
        blocksize: sizes of the blocks of sparse_bsr and sparse_bsc.
        dense_dim: number of trailing dims without indices, for the compressed layouts.
    Raises:
        RuntimeError: the arguments contradict each other or the shape.
    Differentiable in input.
    """
    from ..sparse._convert import convert

    if isinstance(sparse_dim, _C.layout):
        sparse_dim, layout = None, sparse_dim
    return convert(input, sparse_dim, layout, blocksize, dense_dim)


@composite(methods=("to_sparse_coo",))
def to_sparse_coo(input):
    """input as a sparse_coo tensor."""
    return to_sparse(input, layout=_C.sparse_coo)


@composite(methods=("to_sparse_csr", "_to_sparse_csr"))
def to_sparse_csr(input, dense_dim=None):
    """input with compressed rows."""
    return to_sparse(input, layout=_C.sparse_csr, dense_dim=dense_dim)


@composite(methods=("to_sparse_csc", "_to_sparse_csc"))
def to_sparse_csc(input, dense_dim=None):
    """input with compressed columns."""
    return to_sparse(input, layout=_C.sparse_csc, dense_dim=dense_dim)


@composite(methods=("to_sparse_bsr", "_to_sparse_bsr"))
def to_sparse_bsr(input, blocksize, dense_dim=None):
    """input in blocks with compressed rows of blocks."""
    return to_sparse(input, layout=_C.sparse_bsr, blocksize=blocksize, dense_dim=dense_dim)


@composite(methods=("to_sparse_bsc", "_to_sparse_bsc"))
def to_sparse_bsc(input, blocksize, dense_dim=None):
    """input in blocks with compressed columns of blocks."""
    return to_sparse(input, layout=_C.sparse_bsc, blocksize=blocksize, dense_dim=dense_dim)


@composite(methods=("to_mkldnn",))
def to_mkldnn(input, dtype=None):
    """Not supported: there is no layout of blocked oneDNN tensors; ops call oneDNN on strided ones by themselves."""
    raise NotImplementedError(
        "to_mkldnn: expected no conversion: ops use oneDNN on strided tensors where that is fastest. Leave it out."
    )


@composite(methods=("sparse_mask",))
def sparse_mask(input, mask):
    """A sparse tensor with the indices of mask and the values of input, strided or sparse, at them.

    Raises:
        RuntimeError: the shapes differ, or mask is not sparse.
    Differentiable in input.
    """
    _parts(mask, "sparse_mask", "sparse mask")
    return _mask(input, mask)


@composite(methods=("indices",))
def _indices_of(input):
    """The indices of a coalesced sparse_coo tensor, shape (sparse_dim, nnz)."""
    content = _parts(input, "indices", "sparse coordinate")
    content.expect(_C.sparse_coo, "indices", "sparse coordinate")
    if not content.coalesced:
        raise RuntimeError(
            "Cannot get indices on an uncoalesced tensor, please call .coalesce() first"
        )
    return content.indices.detach()


@composite(methods=("_indices",))
def _indices(input):
    """The indices of a sparse_coo tensor, coalesced or not."""
    content = _parts(input, "_indices", "sparse coordinate")
    content.expect(_C.sparse_coo, "_indices", "sparse coordinate")
    return content.indices.detach()


@composite(methods=("_values",))
def _values(input):
    """The values of a sparse_coo tensor, coalesced or not, without history."""
    content = _parts(input, "_values", "sparse coordinate")
    content.expect(_C.sparse_coo, "_values", "sparse coordinate")
    return content.values.detach()


def _index_method(name, part, layouts, direction):
    @composite(methods=(name,))
    def indices(input):
        wanted = f"sparse {direction} compressed"
        content = _parts(input, name, wanted)
        content.expect(layouts, name, wanted)
        return getattr(content, part).detach()

    indices.__name__ = name
    indices.__doc__ = f"The {part} indices of a tensor of {direction} compressed layout."
    return indices


_BY_ROW, _BY_COLUMN = (_C.sparse_csr, _C.sparse_bsr), (_C.sparse_csc, _C.sparse_bsc)
crow_indices = _index_method("crow_indices", "compressed", _BY_ROW, "row")
col_indices = _index_method("col_indices", "plain", _BY_ROW, "row")
ccol_indices = _index_method("ccol_indices", "compressed", _BY_COLUMN, "column")
row_indices = _index_method("row_indices", "plain", _BY_COLUMN, "column")


def _copy_of(method, name):
    def copies(input):
        return method(input).clone()

    copies.__name__ = copies.__qualname__ = name
    copies.__doc__ = f"Like Tensor.{name.removesuffix('_copy')}, but the result has its own memory."
    return composite(copies, out=True)


indices_copy = _copy_of(_indices_of, "indices_copy")
values_copy = _copy_of(values, "values_copy")
crow_indices_copy = _copy_of(crow_indices, "crow_indices_copy")
col_indices_copy = _copy_of(col_indices, "col_indices_copy")
ccol_indices_copy = _copy_of(ccol_indices, "ccol_indices_copy")
row_indices_copy = _copy_of(row_indices, "row_indices_copy")


@composite(methods=("is_coalesced",))
def _is_coalesced(input):
    """Whether the indices of a sparse_coo tensor are sorted and distinct, as far as known."""
    content = _parts(input, "is_coalesced", "sparse coordinate")
    content.expect(_C.sparse_coo, "is_coalesced", "sparse coordinate")
    return content.coalesced


@composite(methods=("_coalesced_",))
def _coalesced_(input, coalesced):
    """Declare that the indices are sorted and distinct, or not."""
    content = _parts(input, "_coalesced_", "sparse coordinate")
    content.expect(_C.sparse_coo, "_coalesced_", "sparse coordinate")
    _C._set_extension(input, content.declared(builtins.bool(coalesced)))
    return input


@composite(methods=("_nnz",))
def _nnz(input):
    """The number of specified elements, blocks or slices (per batch)."""
    return _parts(input, "_nnz").nnz


@composite(methods=("sparse_dim",))
def _sparse_dim(input):
    """The number of dims that have indices; 0 for strided tensors."""
    content = _C._extension(input)
    return content.sparse_dim if content is not None and content.kind == "sparse" else 0


@composite(methods=("dense_dim",))
def _dense_dim(input):
    """The number of trailing dims that have no indices; all for strided tensors."""
    content = _C._extension(input)
    return content.dense_dim if content is not None and content.kind == "sparse" else input.ndim


@composite(methods=("sparse_resize_",))
def sparse_resize_(input, size, sparse_dim, dense_dim):
    """Change size, sparse_dim and dense_dim of a sparse_coo tensor in place; its entries stay."""
    from ..sparse._storage import resized

    return resized(input, size, sparse_dim, dense_dim, True)


@composite(methods=("sparse_resize_and_clear_",))
def sparse_resize_and_clear_(input, size, sparse_dim, dense_dim):
    """Change size, sparse_dim and dense_dim of a sparse_coo tensor in place; no entries are left."""
    from ..sparse._storage import resized

    return resized(input, size, sparse_dim, dense_dim, False)


@composite(methods=("resize_as_sparse_",))
def resize_as_sparse_(input, the_template):
    """Change the size of a sparse tensor in place to that of the_template; no entries are left."""
    from ..sparse._storage import resized_as

    return resized_as(input, the_template)


@composite(methods=("smm",))
def smm(input, mat2):
    """Product of a sparse and a dense matrix, as a sparse matrix."""
    from ..sparse._products import sspaddmm as form

    return form(None, input, mat2, beta=0)


@composite(methods=("sspaddmm",), out=True)
def sspaddmm(input, mat1, mat2, *, beta=1, alpha=1):
    """beta * input + alpha * (mat1 @ mat2), sparse, for sparse input and mat1 and dense mat2."""
    from ..sparse._products import sspaddmm as form

    return form(input, mat1, mat2, beta=beta, alpha=alpha)


@composite(out=True)
def hspmm(mat1, mat2):
    """Product of a sparse and a dense matrix as a hybrid sparse tensor: indices for rows, dense columns."""
    from ..sparse._products import hspmm as form

    return form(mat1, mat2)


# Older names, by which graph networks multiply with a sparse adjacency matrix.
spmm = dsmm = mm
saddmm = addmm
hsmm = hspmm

__all__ = [
    "ccol_indices_copy", "col_indices_copy", "crow_indices_copy", "dsmm", "hsmm", "hspmm", "indices_copy",
    "resize_as_sparse_", "row_indices_copy", "saddmm", "smm", "spmm", "sspaddmm", "values_copy",
]  # fmt: skip
