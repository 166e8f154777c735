"""Sparse tensors from indices and values, and the factories with layout=."""

import functools

from .. import _C, ops
from .._extension import payload, register
from ..ops import sparse_parts as native
from ._payload import BLOCKS, BY_ROW, LAYOUTS, Compressed, compressed, coo, layout_named, parts

_INVARIANTS = {
    1: "`{c}_indices[..., 0] == 0` is not satisfied.",
    2: "`{c}_indices[..., -1] == nnz` is not satisfied.",
    3: "`0 <= {c}_indices[..., 1:] - {c}_indices[..., :-1] <= n{p}s` is not satisfied.",
    4: "`0 <= {p}_indices < n{p}s` is not satisfied.",
    5: "`{p}_indices[..., {c}_indices[..., i - 1]:{c}_indices[..., i]] for all i = 1, ..., n{o}s are sorted and "
    "distinct along the last dimension values` is not satisfied.",
}  # fmt: skip


class check_sparse_tensor_invariants:
    """Context manager, decorator and switches: whether constructors check that a sparse tensor is well-formed.

    That indices are within the size is checked always; this adds what only costs time if it is broken: order and
    distinctness.
    """

    _enabled = False

    @staticmethod
    def is_enabled():
        """Whether constructors check all invariants."""
        return check_sparse_tensor_invariants._enabled

    @staticmethod
    def enable():
        """Let constructors check all invariants."""
        check_sparse_tensor_invariants._enabled = True

    @staticmethod
    def disable():
        """Let constructors check ranges only."""
        check_sparse_tensor_invariants._enabled = False

    def __init__(self, enable=True):
        self.state = enable
        self.saved_state = None

    def __enter__(self):
        if self.saved_state is not None:
            raise RuntimeError(
                "This context manager instance is already activated. Use a different context manager instance for "
                "context nesting."
            )
        self.saved_state = self.is_enabled()
        check_sparse_tensor_invariants._enabled = self.state

    def __exit__(self, kind, value, traceback):
        check_sparse_tensor_invariants._enabled = self.saved_state
        self.saved_state = None

    def __call__(self, function):
        @functools.wraps(function)
        def checked(*args, **kwargs):
            with type(self)(self.state):
                return function(*args, **kwargs)

        return checked


def _all_invariants(asked):
    return check_sparse_tensor_invariants.is_enabled() if asked is None else asked


def _indices(data, device, keep_int32=False):
    made = data.detach() if isinstance(data, _C.TensorBase) else _C.tensor(data, device=device)
    if made.numel() == 0 and not made.dtype.is_floating_point and keep_int32 is False:
        return made.to(_C.int64)
    if keep_int32:
        if made.numel() and made.dtype not in (_C.int32, _C.int64):
            raise RuntimeError(
                f"sparse_compressed_tensor: expected indices of dtype int32 or int64, got {made.dtype}."
            )
        return made if made.dtype in (_C.int32, _C.int64) else made.to(_C.int64)
    if made.is_complex():
        raise RuntimeError(f"sparse_coo_tensor: expected integer indices, got {made.dtype}.")
    return made.to(_C.int64)


def _values(data, dtype, device):
    if isinstance(data, _C.TensorBase):
        made = (
            data.to(device=device, dtype=dtype) if dtype is not None or device is not None else data
        )
    else:
        made = _C.tensor(data, dtype=dtype, device=device)
    if made.layout is not _C.strided:
        raise RuntimeError(f"expected values to be a strided tensor, got layout {made.layout}")
    return made.resolve_conj() if made.is_complex() else made


def _finished(result, requires_grad):
    if requires_grad and not result.requires_grad:
        result.requires_grad_()
    return result


def sparse_coo_tensor(
    indices=None, values=None, size=None, *, dtype=None, device=None, pin_memory=False, requires_grad=False,
    check_invariants=None, is_coalesced=None,
):  # fmt: skip
    """A tensor of layout sparse_coo.

    Args:
        indices: shape (sparse_dim, nnz); a size alone gives a tensor without entries.
        values: shape (nnz, *dense sizes); values of equal indices add up.
        size: inferred as the smallest that fits if not given.
        check_invariants: also check what is_coalesced claims.
        is_coalesced: the indices are sorted and distinct.
    Raises:
        RuntimeError: sizes do not fit together, or an index is out of range.
    Differentiable in values.
    """
    if values is None:
        size = indices if size is None else size
        if size is None or isinstance(size, _C.TensorBase):
            raise TypeError("sparse_coo_tensor: expected indices and values, or a size.")
        return _finished(_empty(size, dtype, _C.sparse_coo), requires_grad)
    indices, values = _indices(indices, device), _values(values, dtype, device)
    values = values.unsqueeze(0) if values.ndim == 0 else values
    if indices.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}")
    sparse_dim, nnz = indices.shape
    if values.shape[0] != nnz:
        raise RuntimeError(
            "indices and values must have same nnz, but got nnz from indices: "
            f"{nnz}, nnz from values: {values.shape[0]}"
        )
    if size is None:
        size = _inferred(indices, values)
    size = tuple(int(n) for n in size)
    if len(size) != sparse_dim + values.ndim - 1:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, sparse_dim = "
            f"{sparse_dim}, dense_dim = {values.ndim - 1}"
        )
    if tuple(values.shape[1:]) != size[sparse_dim:]:
        raise RuntimeError(
            f"values has incorrect size, expected {[nnz, *size[sparse_dim:]]}, got {list(values.shape)}"
        )
    native._check_coo(indices, size)
    claim = bool(is_coalesced) or nnz < 2
    if is_coalesced and _all_invariants(check_invariants) and nnz > 1:
        distinct, _ = native._coalesced_parts(indices, values.detach(), size)
        if not ops.equal(distinct, indices):
            raise RuntimeError(
                "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor"
            )
    return _finished(native._coo_from_parts(indices, values, size, claim), requires_grad)


def _inferred(indices, values):
    if indices.numel() == 0:
        return (*(0 for _ in range(indices.shape[0])), *values.shape[1:])
    least = indices.amin(1).tolist()
    for dim, index in enumerate(least):
        if index < 0:
            raise RuntimeError(f"found negative index {index} for dim {dim}")
    return (*(n + 1 for n in indices.amax(1).tolist()), *values.shape[1:])


@register("sparse", "_coo_from_parts")
def coo_from_parts(indices, values, size, is_coalesced):
    return coo(indices, values.detach(), size, is_coalesced)


def sparse_compressed_tensor(
    compressed_indices, plain_indices, values, size=None, *, dtype=None, layout=None, device=None, pin_memory=False,
    requires_grad=False, check_invariants=None,
):  # fmt: skip
    """A tensor of layout sparse_csr, sparse_csc, sparse_bsr or sparse_bsc.

    Args:
        compressed_indices: shape (*batch, rows + 1): where each row (column, row or column of blocks) begins.
        plain_indices: shape (*batch, nnz): the other index of each entry or block.
        values: shape (*batch, nnz, *block, *dense).
        size: (*batch, rows, columns, *dense), in elements; inferred if not given.
        check_invariants: also check that plain indices ascend within a row.
    Raises:
        RuntimeError: sizes do not fit together, or an index is out of range.
    Differentiable in values.
    """
    if layout is None:
        raise RuntimeError(
            "sparse_compressed_tensor expected sparse compressed tensor layout but got none"
        )
    if str(layout) not in LAYOUTS or layout is _C.sparse_coo:
        raise RuntimeError(
            f"sparse_compressed_tensor expected sparse compressed tensor layout but got {layout}"
        )
    pointers, plain = (
        _indices(compressed_indices, device, True),
        _indices(plain_indices, device, True),
    )
    values = _values(values, dtype, device)
    batch = pointers.ndim - 1
    block = 2 if layout in BLOCKS else 0
    names = (
        {"c": "crow", "p": "col", "o": "row"}
        if layout in BY_ROW
        else {"c": "ccol", "p": "row", "o": "col"}
    )
    _check_dims(pointers, plain, values, batch, block, names)
    r, c = values.shape[batch + 1 : batch + 3] if block else (1, 1)
    if size is None:
        size = _inferred_matrix(pointers, plain, values, layout, (r, c))
    size = tuple(int(n) for n in size)
    expected = batch + 2 + values.ndim - batch - 1 - block
    if len(size) != expected or tuple(values.shape[batch + 1 + block :]) != size[batch + 2 :]:
        raise RuntimeError(
            f"sparse_compressed_tensor: expected a size of {expected} dims that ends as values do, got {list(size)} "
            f"for values of shape {list(values.shape)}."
        )
    _check_matrix(pointers, plain, size, layout, (r, c), names, _all_invariants(check_invariants))
    made = native._compressed_from_parts(pointers, plain, values, size, str(layout))
    return _finished(made, requires_grad)


def _check_dims(pointers, plain, values, batch, block, names):
    if pointers.ndim < 1 or pointers.shape[-1] < 1:
        raise RuntimeError(
            f"{names['c']}_indices must have dimensionality >= 1 and at least one element, but got shape "
            f"{list(pointers.shape)}"
        )
    if plain.ndim != pointers.ndim:
        raise RuntimeError(
            f"{names['c']}_indices and {names['p']}_indices dimensionalities must be equal but got {pointers.ndim} and "
            f"{plain.ndim}, respectively"
        )
    if values.ndim < batch + 1 + block:
        raise RuntimeError(
            f"values must have dimensionality > sum of batch and block dimensionalities (={batch} + {block}), but got "
            f"{values.ndim}"
        )
    if not pointers.shape[:-1] == plain.shape[:-1] == values.shape[:batch]:
        raise RuntimeError(
            f"all batch dimensions of {names['c']}_indices ({list(pointers.shape[:-1])}), {names['p']}_indices "
            f"({list(plain.shape[:-1])}), and values ({list(values.shape[:batch])}) must be equal"
        )
    if plain.shape[-1] != values.shape[batch] or pointers.dtype is not plain.dtype:
        raise RuntimeError(
            f"sparse_compressed_tensor: expected as many {names['p']}_indices as values and indices of one dtype, got "
            f"{plain.shape[-1]} and {values.shape[batch]}, {pointers.dtype} and {plain.dtype}."
        )


def _inferred_matrix(pointers, plain, values, layout, block):
    batch = pointers.ndim - 1
    rows = pointers.shape[-1] - 1
    columns = int(plain.max()) + 1 if plain.numel() else 0
    if layout not in BY_ROW:
        rows, columns = columns, rows
    tail = values.shape[batch + (3 if layout in BLOCKS else 1) :]
    return (*pointers.shape[:-1], rows * block[0], columns * block[1], *tail)


def _check_matrix(pointers, plain, size, layout, block, names, everything):
    batch = pointers.ndim - 1
    if tuple(pointers.shape[:-1]) != size[:batch]:
        raise RuntimeError(
            f"sparse_compressed_tensor: expected batch sizes {list(size[:batch])}, got {list(pointers.shape[:-1])}."
        )
    m, n = size[batch : batch + 2]
    if 0 in block or m % block[0] or n % block[1]:
        raise RuntimeError(
            f"tensor shape[{batch}:{batch + 2}] ({m}, {n}) must be divisible by blocksize {tuple(block)}"
        )
    rows, columns = m // block[0], n // block[1]
    if layout not in BY_ROW:
        rows, columns = columns, rows
    if pointers.shape[-1] != rows + 1:
        raise RuntimeError(
            f"{names['c']}_indices.shape[-1] must be equal to the number of {names['o']}s + 1 (={rows + 1}), but got "
            f"{pointers.shape[-1]}"
        )
    broken = native._check_compressed(pointers, plain, columns, everything)
    if broken:
        raise RuntimeError(_INVARIANTS[broken].format(**names))


@register("sparse", "_compressed_from_parts")
def compressed_from_parts(pointers, plain, values, size, layout):
    return compressed(layout_named(layout), pointers, plain, values.detach(), size)


def _of_layout(name, layout, compressed_name, plain_name):
    def make(
        compressed_indices, plain_indices, values, size=None, *, dtype=None, device=None, pin_memory=False,
        requires_grad=False, check_invariants=None, layout=layout,
    ):  # fmt: skip
        return sparse_compressed_tensor(
            compressed_indices, plain_indices, values, size, dtype=dtype, layout=layout, device=device,
            requires_grad=requires_grad, check_invariants=check_invariants,
        )  # fmt: skip

    def with_names(*args, **kwargs):
        given = [kwargs.pop(key) for key in (compressed_name, plain_name) if key in kwargs]
        return make(*args, *given, **kwargs) if given else make(*args, **kwargs)

    with_names.__name__ = with_names.__qualname__ = name
    source = f"{compressed_name}, {plain_name} and values"
    with_names.__doc__ = f"A tensor of layout {layout} from {source}: see sparse_compressed_tensor."
    return with_names


sparse_csr_tensor = _of_layout("sparse_csr_tensor", _C.sparse_csr, "crow_indices", "col_indices")
sparse_csc_tensor = _of_layout("sparse_csc_tensor", _C.sparse_csc, "ccol_indices", "row_indices")
sparse_bsr_tensor = _of_layout("sparse_bsr_tensor", _C.sparse_bsr, "crow_indices", "col_indices")
sparse_bsc_tensor = _of_layout("sparse_bsc_tensor", _C.sparse_bsc, "ccol_indices", "row_indices")


# ---- Factories


def _empty(size, dtype, layout, sparse_dim=None):
    """A tensor without entries."""
    size = tuple(int(n) for n in size)
    if any(n < 0 for n in size):
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {min(size)}: {list(size)}"
        )
    dtype = dtype or _C.get_default_dtype()
    if layout is _C.sparse_coo:
        lead = len(size) if sparse_dim is None else sparse_dim
        indices = ops.empty((lead, 0), dtype=_C.int64)
        return coo(indices, ops.empty((0, *size[lead:]), dtype=dtype), size, True)
    if layout in BLOCKS:
        name = "SparseBsr" if layout is _C.sparse_bsr else "SparseBsc"
        raise RuntimeError(
            f"empty_sparse_compressed expected sparse compressed (non-block) tensor layout but got {name}"
        )
    if len(size) < 2:
        raise RuntimeError(
            f"torch.empty: Only batched sparse compressed (non-block) tensors are supported, but got size {list(size)}"
        )
    *batch, m, n = size
    rows = m if layout in BY_ROW else n
    pointers = ops.zeros((*batch, rows + 1), dtype=_C.int64)
    return compressed(
        layout,
        pointers,
        ops.empty((*batch, 0), dtype=_C.int64),
        ops.empty((*batch, 0), dtype=dtype),
        size,
    )


@register("sparse", "factory")
def factory(op, arguments, layout):
    """zeros, empty and their kin with layout=: a sparse tensor without entries, or a strided one like a sparse one."""
    named = dict(zip(op.parameters, arguments, strict=True))
    like = named.get("input")
    name = op.name
    if layout is _C.strided:
        stand_in = ops.empty((), dtype=like.dtype).expand(like.shape)
        return op(stand_in, **{key: value for key, value in named.items() if key != "input"})
    if name in ("ones", "full", "ones_like", "full_like", "new_ones", "new_full"):
        kind = RuntimeError if like is None else NotImplementedError
        raise kind("full(...) is not implemented for sparse layout")
    if name not in ("empty", "zeros", "empty_like", "zeros_like", "new_empty", "new_zeros"):
        raise NotImplementedError(
            f"{name}: expected layout strided, got {layout}. Make it strided and convert it with to_sparse()."
        )
    dtype = named.get("dtype") or (like.dtype if like is not None else None)
    size = named["size"] if "size" in named else like.shape
    return _empty(size, dtype, layout)


@register("sparse", "zeros_like", "empty_like")
def zeros_like(input, dtype=None, device=None, memory_format=None):
    content = parts(input)
    dtype = dtype or input.dtype
    if not isinstance(content, Compressed):
        return _empty(content.size, dtype, _C.sparse_coo, content.sparse_dim)
    pointers = ops.zeros_like(content.compressed)
    at = content.batch_dim
    shape = (*content.values.shape[:at], 0, *content.values.shape[at + 1 :])
    return compressed(
        content.layout,
        pointers,
        content.plain[..., :0],
        ops.empty(shape, dtype=dtype),
        content.size,
    )


@register("sparse", "new_zeros", "new_empty")
def new_zeros(input, size, dtype=None, device=None):
    layout = payload(input).layout
    return _empty(size, dtype or input.dtype, layout)


def spdiags(diagonals, offsets, shape, layout=None):
    """A sparse matrix with the rows of `diagonals` on the diagonals that `offsets` names (0: the main one).

    The element in column j of the result comes from column j of `diagonals`.

    Raises:
        RuntimeError: an offset is repeated, or the shapes do not fit.
    """
    diagonals = diagonals.unsqueeze(0) if diagonals.ndim == 1 else diagonals
    offsets = offsets.unsqueeze(0) if offsets.ndim == 0 else offsets
    if diagonals.ndim != 2:
        raise RuntimeError("Diagonals must be vector or matrix")
    if len(shape) != 2:
        raise RuntimeError("Output shape must be 2d")
    if offsets.ndim != 1:
        raise RuntimeError("Offsets must be scalar or vector")
    if diagonals.shape[0] != offsets.shape[0]:
        raise RuntimeError(
            f"Number of diagonals ({diagonals.shape[0]}) does not match the number of offsets ({offsets.shape[0]})"
        )
    if offsets.dtype is not _C.int64:
        raise RuntimeError(f"Offset Tensor must have dtype Long but got {offsets.dtype}")
    numbers = offsets.tolist()
    if len(set(numbers)) != len(numbers):
        raise RuntimeError("Offset tensor contains duplicate values")
    if layout not in (None, _C.sparse_coo, _C.sparse_csr, _C.sparse_csc):
        raise RuntimeError(
            f"Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got {layout}"
        )
    m, n = shape
    width = diagonals.shape[1]
    rows, columns, picked = [], [], []
    for which, offset in enumerate(numbers):
        first = max(0, offset)
        last = min(n, m + offset, width)
        column = ops.arange(first, max(first, last))
        columns.append(column)
        rows.append(column - offset)
        picked.append(diagonals[which, first : max(first, last)])
    if numbers:
        indices, values = ops.stack([ops.cat(rows), ops.cat(columns)]), ops.cat(picked)
    else:
        indices, values = ops.empty((2, 0), dtype=_C.int64), diagonals.reshape(-1)[:0]
    result = sparse_coo_tensor(indices, values, (m, n))
    return result if layout in (None, _C.sparse_coo) else native.to_sparse(result, layout=layout)
