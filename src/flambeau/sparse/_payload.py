"""What a sparse tensor consists of: strided tensors of indices and values. Ops on them: the neighbouring files."""

from .. import _C, ops
from .._extension import Payload, make, payload

LAYOUTS = {
    str(layout): layout
    for layout in (_C.sparse_coo, _C.sparse_csr, _C.sparse_csc, _C.sparse_bsr, _C.sparse_bsc)
}


def layout_named(name):
    """The sparse layout of that name."""
    if name not in LAYOUTS:
        raise RuntimeError(
            f"expected the name of a sparse layout of {list(LAYOUTS)}, got {name!r}."
        )
    return LAYOUTS[name]


BY_ROW = (_C.sparse_csr, _C.sparse_bsr)
BLOCKS = (_C.sparse_bsr, _C.sparse_bsc)
# As PyTorch's messages spell them.
SPELLED = {
    _C.strided: "Strided",
    _C.sparse_coo: "Sparse",
    _C.sparse_csr: "SparseCsr",
    _C.sparse_csc: "SparseCsc",
    _C.sparse_bsr: "SparseBsr",
    _C.sparse_bsc: "SparseBsc",
}


class SparseParts(Payload):
    """Common to all sparse layouts."""

    kind = "sparse"
    device = _C.device("cpu")

    def strided(self, reader):
        """The dense values, for readers of one element; arrays and lists are never made without being asked for."""
        if reader == "numpy":
            raise TypeError(
                f"can't convert {SPELLED[self.layout]} layout tensor to numpy. Use Tensor.to_dense() first."
            )
        if reader == "tolist" or self.numel != 1:
            raise RuntimeError(
                f"{reader}: expected a strided tensor, got one of layout {self.layout}. Use Tensor.to_dense() first."
            )
        return self.values.sum()  # all entries are of the one element

    def reduce(self, tensor):
        """What pickles: the function that rebuilds the tensor, and its arguments."""
        from .._utils import _rebuild_sparse_tensor

        return _rebuild_sparse_tensor, self.pickled()

    def describe(self, tensor, prefix):
        """repr of the tensor."""
        from ..printing import sparse_repr

        return sparse_repr(tensor, prefix)

    def expect(self, layouts, name, wanted):
        """Raise unless the layout is one of these."""
        if self.layout is not layouts and not (
            isinstance(layouts, tuple) and self.layout in layouts
        ):
            raise RuntimeError(
                f"{name} expected {wanted} tensor layout but got {SPELLED[self.layout]}"
            )


class Coo(SparseParts):
    """indices (sparse_dim, nnz), int64; values (nnz, *dense sizes); coalesced: the indices are sorted and distinct."""

    layout = _C.sparse_coo

    def __init__(self, indices, values, size, coalesced):
        self.indices = indices
        self.values = values
        self.size = size
        self.coalesced = coalesced

    @property
    def sparse_dim(self):
        """Number of leading dims that have indices."""
        return self.indices.shape[0]

    @property
    def dense_dim(self):
        """Number of trailing dims that have none."""
        return self.values.ndim - 1

    @property
    def nnz(self):
        """Number of entries."""
        return self.indices.shape[1]

    @property
    def numel(self):
        """Number of elements of the tensor."""
        return _C.Size(self.size).numel()

    def pickled(self):
        """Layout and parts, as PyTorch's pickles have them."""
        return self.layout, (self.indices, self.values, _C.Size(self.size), self.coalesced)

    def declared(self, coalesced):
        """The same parts under another claim."""
        return Coo(self.indices, self.values, self.size, coalesced)


class Compressed(SparseParts):
    """compressed (*batch, rows + 1), plain (*batch, nnz), values (*batch, nnz, *block, *dense).

    Rows are columns for sparse_csc and sparse_bsc; they count blocks for sparse_bsr and sparse_bsc.
    """

    def __init__(self, layout, compressed, plain, values, size):
        self.layout = layout
        self.compressed = compressed
        self.plain = plain
        self.values = values
        self.size = size

    sparse_dim = 2

    @property
    def batch_dim(self):
        """Number of leading batch dims."""
        return self.compressed.ndim - 1

    @property
    def dense_dim(self):
        """Number of trailing dims without indices."""
        return len(self.size) - self.batch_dim - 2

    @property
    def nnz(self):
        """Number of entries, or blocks, of each batch."""
        return self.plain.shape[-1]

    @property
    def numel(self):
        """Number of elements of the tensor."""
        return _C.Size(self.size).numel()

    @property
    def blocksize(self):
        """Sizes of a block; (1, 1) without blocks."""
        at = self.batch_dim + 1
        return tuple(self.values.shape[at : at + 2]) if self.layout in BLOCKS else (1, 1)

    def pickled(self):
        """Layout and parts, as PyTorch's pickles have them."""
        return self.layout, (self.compressed, self.plain, self.values, _C.Size(self.size))

    def with_values(self, values):
        """The same indices with other values."""
        return make(
            Compressed(self.layout, self.compressed, self.plain, values, self.size),
            self.size,
            values.dtype,
        )


def coo(indices, values, size, coalesced=False):
    """A sparse_coo tensor over parts that are known to fit together."""
    size = tuple(size)
    return make(Coo(indices, values, size, coalesced), size, values.dtype)


def compressed(layout, compressed_indices, plain, values, size):
    """A tensor of a compressed layout over parts that are known to fit together."""
    size = tuple(size)
    return make(Compressed(layout, compressed_indices, plain, values, size), size, values.dtype)


def is_sparse(value):
    """Whether value is a tensor of any sparse layout."""
    return isinstance(value, _C.TensorBase) and isinstance(payload(value), SparseParts)


def parts(tensor):
    """The parts of a sparse tensor."""
    content = payload(tensor)
    if not isinstance(content, SparseParts):
        raise RuntimeError(f"expected a sparse tensor, got one of layout {tensor.layout}")
    return content


def blocksize_of(tensor):
    """Block sizes of a tensor with blocks, None for other layouts."""
    content = payload(tensor)
    return (
        content.blocksize if isinstance(content, Compressed) and content.layout in BLOCKS else None
    )


def with_values(tensor, values, coalesced=None):
    """A sparse tensor with the indices of `tensor` and other values of the same sizes."""
    content = parts(tensor)
    if isinstance(content, Compressed):
        return content.with_values(values)
    claim = content.coalesced if coalesced is None else coalesced
    return coo(content.indices, values, content.size, claim)


def coalesced(tensor):
    """The tensor itself if coalesced already, else a coalesced copy."""
    content = parts(tensor)
    if content.coalesced:
        return tensor
    indices, values = ops.sparse_parts._coalesced_parts(
        content.indices, content.values, content.size
    )
    return coo(indices, values, content.size, True)


def flat_index(indices, sizes):
    """One number per entry: its row-major place among these sparse sizes. Their product must fit into 63 bits."""
    if len(sizes) == 1:
        return indices[0]
    total = 1
    strides = []
    for size in reversed(sizes):
        strides.append(total)
        total *= size
    if total >= 2**63:
        raise RuntimeError(
            f"sparse: expected sparse sizes whose product is below 2**63, got {tuple(sizes)}."
        )
    steps = ops.tensor(strides[::-1], dtype=_C.int64).unsqueeze(1)  # (sparse_dim, 1)
    return (indices * steps).sum(0)


def unflat_index(places, sizes):
    """Inverse of flat_index: indices of shape (sparse_dim, nnz)."""
    rows = []
    for size in reversed(sizes):
        rows.append(places % size)
        places = places // size
    if not rows:
        return places.new_empty((0, places.shape[0]))
    return ops.stack(rows[::-1])
