"""Joining and repeating: cat, stack and their h/v/d forms, repeat, tile, flip, roll, meshgrid, block_diag."""

import builtins
import itertools

from .. import _C
from .registry import composite, native

cat = native(
    "cat(Tensor[] tensors, int dim=0) -> Tensor",
    out=True,
    doc="Join tensors along an existing dim; dtypes promote, other sizes must agree.",
)


@cat.vjp
def cat_vjp(grad, tensors_meta, dim):
    from .view import slice_view

    # An old rule lets empty 1-d tensors join anything: they take no part in the sizes.
    skipped = [m.ndim == 1 and m.shape[0] == 0 for m in tensors_meta]
    grads, start = [], 0
    for meta, skip in zip(tensors_meta, skipped, strict=True):
        if skip:
            grads.append(grad.new_zeros((0,), dtype=meta.dtype))
            continue
        length = meta.shape[dim]
        piece = slice_view(grad, dim, start, start + length)
        grads.append(piece.real if grad.is_complex() and not meta.is_complex() else piece)
        start += length
    return grads


concat = concatenate = cat

stack = native(
    "stack(Tensor[] tensors, int dim=0) -> Tensor",
    out=True,
    doc="Join tensors of one size along a new dim.",
)


@stack.vjp
def stack_vjp(grad, tensors_meta, dim):
    return [
        piece.real if grad.is_complex() and not meta.is_complex() else piece
        for piece, meta in zip(grad.unbind(dim), tensors_meta, strict=True)
    ]


def _sequence(name, tensors):
    from .. import Tensor

    if not isinstance(tensors, tuple | list):
        raise TypeError(
            f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not {type(tensors).__name__}"
        )
    for i, item in enumerate(tensors):
        if not isinstance(item, Tensor):
            raise TypeError(
                f"{name}(): expected Tensor as element {i} in argument 0, but got {type(item).__name__}"
            )
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return tensors


@composite
def atleast_1d(*tensors):
    """View 0-d tensors as 1-d; others as they are. One result for one tensor, a tuple for several."""
    if len(tensors) != 1:
        return tuple(atleast_1d(x) for x in tensors)
    (x,) = tensors
    if isinstance(x, tuple | list):
        return tuple(atleast_1d(y) for y in x)
    return x.reshape(1) if x.ndim == 0 else x


@composite
def atleast_2d(*tensors):
    """View tensors of fewer dims as 2-d, with new leading dims."""
    if len(tensors) != 1:
        return tuple(atleast_2d(x) for x in tensors)
    (x,) = tensors
    if isinstance(x, tuple | list):
        return tuple(atleast_2d(y) for y in x)
    return x.reshape(1, 1) if x.ndim == 0 else x.unsqueeze(0) if x.ndim == 1 else x


@composite
def atleast_3d(*tensors):
    """View tensors of fewer dims as 3-d: (n) as (1, n, 1), (m, n) as (m, n, 1)."""
    if len(tensors) != 1:
        return tuple(atleast_3d(x) for x in tensors)
    (x,) = tensors
    if isinstance(x, tuple | list):
        return tuple(atleast_3d(y) for y in x)
    if x.ndim == 0:
        return x.reshape(1, 1, 1)
    if x.ndim == 1:
        return x.unsqueeze(0).unsqueeze(-1)
    return x.unsqueeze(-1) if x.ndim == 2 else x


@composite(out=True)
def hstack(tensors):
    """Join along dim 1 (dim 0 for 1-d tensors)."""
    rows = [atleast_1d(x) for x in _sequence("hstack", tensors)]
    return cat(rows, 0 if rows[0].ndim == 1 else 1)


@composite(out=True)
def vstack(tensors):
    """Join along dim 0, 1-d tensors as rows."""
    return cat([atleast_2d(x) for x in _sequence("vstack", tensors)], 0)


row_stack = vstack


@composite(out=True)
def dstack(tensors):
    """Join along dim 2."""
    return cat([atleast_3d(x) for x in _sequence("dstack", tensors)], 2)


@composite(out=True)
def column_stack(tensors):
    """Join along dim 1, tensors of 0 or 1 dims as columns."""
    columns = [
        x.reshape(x.numel(), 1) if x.ndim <= 1 else x for x in _sequence("column_stack", tensors)
    ]
    return cat(columns, 1)


repeat = native(
    "repeat(Tensor input, int[*] repeats) -> Tensor",
    methods=("repeat",),
    doc="Copies of input, repeats[i] times along dim i; extra leading repeats add dims.",
)


@repeat.vjp
def repeat_vjp(grad, input_meta, repeats):
    lead = len(repeats) - input_meta.ndim
    sizes, summed = [], []
    for i, r in enumerate(repeats):
        own = input_meta.shape[i - lead] if i >= lead else 1
        if r != 1 or i < lead:
            summed.append(len(sizes))
        sizes += [r, own] if (r != 1 or i < lead) else [own]
    if 0 in repeats:
        return grad.new_zeros(input_meta.shape)
    total = grad.reshape(sizes)
    return (total.sum(summed) if summed else total).reshape(input_meta.shape)


@composite(methods=("tile",))
def tile(input, *dims):
    """Repeat input dims[i] times along the last dims; missing leading counts are 1."""
    if len(dims) == 1 and isinstance(dims[0], tuple | list):
        dims = tuple(dims[0])
    return repeat(input, (1,) * (input.ndim - len(dims)) + tuple(dims))


interleave_index = native(
    "interleave_index(Tensor repeats, int? output_size=None) -> Tensor",
    non_differentiable="counts in, positions out",
    doc="Position i, repeats[i] times: the index that repeat_interleave selects by.",
)


@composite(methods=("repeat_interleave",))
def repeat_interleave(input, repeats=None, dim=None, *, output_size=None):
    """Repeat each element (each slice along dim) repeats times, or repeats[i] times.

    Raises:
        RuntimeError: repeats is negative, has the wrong number of elements or is no integer tensor.
    """
    from .. import Tensor

    if repeats is None:
        return interleave_index(input, output_size)
    if dim is None:
        input, dim = input.flatten(), 0
    size = input.size(dim) if input.ndim else 1
    if isinstance(repeats, Tensor):
        if repeats.ndim == 0 or (repeats.ndim == 1 and repeats.shape[0] == 1):
            repeats = repeats.reshape(1).expand(size)
        elif repeats.ndim != 1:
            raise RuntimeError("repeat_interleave: repeats must be 0-dim or 1-dim tensor")
        elif repeats.shape[0] != size:
            raise RuntimeError(
                "repeat_interleave: repeats must have the same size as input along dim, but got "
                f"repeats.size(0) = {repeats.shape[0]} "
                f"and input.size({dim}) = {size}"
            )
        return input.index_select(dim, interleave_index(repeats, output_size))
    if repeats < 0:
        raise RuntimeError("repeat_interleave: Repeats must be non-negative")
    if output_size is not None and output_size != repeats * size:
        raise RuntimeError(
            f"repeat_interleave: expected output_size {repeats * size}, got {output_size}."
        )
    if input.ndim == 0:
        return input.reshape(1).expand(repeats).clone()
    dim %= input.ndim
    sizes = list(input.shape)
    sizes.insert(dim + 1, repeats)
    return (
        input.unsqueeze(dim + 1)
        .expand(sizes)
        .clone(memory_format=_C.contiguous_format)
        .flatten(dim, dim + 1)
    )


flip = native(
    "flip(Tensor input, int[*] dims) -> Tensor",
    methods=("flip",),
    doc="Reverse the order along dims; a copy.",
)


@flip.vjp
def flip_vjp(grad, dims):
    return grad.flip(dims)


@composite(methods=("fliplr",))
def fliplr(input):
    """Reverse dim 1."""
    if input.ndim < 2:
        raise RuntimeError(f"fliplr: Input must be >= 2-d., but got shape {tuple(input.shape)}.")
    return flip(input, 1)


@composite(methods=("flipud",))
def flipud(input):
    """Reverse dim 0."""
    if input.ndim < 1:
        raise RuntimeError(f"flipud: Input must be >= 1-d., but got shape {tuple(input.shape)}.")
    return flip(input, 0)


roll = native(
    "roll(Tensor input, int[] shifts, int[] dims=[]) -> Tensor",
    methods=("roll",),
    doc="Shift elements along dims; what falls off one end comes in at the other. Without dims, of the flat tensor.",
)


@roll.vjp
def roll_vjp(grad, shifts, dims):
    return roll(grad, [-s for s in shifts], dims)


@composite(methods=("rot90",))
def rot90(input, k=1, dims=(0, 1)):
    """Rotate by k quarter turns in the plane of two dims, from the first towards the second."""
    if len(dims) != 2:
        raise RuntimeError(f"rot90: expected total rotation dims == 2, but got dims = {len(dims)}")
    if input.ndim < 2:
        raise RuntimeError(f"rot90: expected total dims >= 2, but got total dims = {input.ndim}")
    a, b = dims
    if a == b or builtins.abs(a - b) == input.ndim:
        raise RuntimeError(
            f"rot90: expected rotation dims to be different, but got dim0 = {a} and dim1 = {b}"
        )
    for d in dims:
        if not -input.ndim <= d < input.ndim:
            raise RuntimeError(f"rot90: Rotation dim out of range, dim = {d}")
    k %= 4
    if k == 0:
        return input.clone(memory_format=_C.contiguous_format)
    if k == 1:
        return flip(input, b).transpose(a, b)
    if k == 2:
        return flip(input, dims)
    return flip(input, a).transpose(a, b)


@composite
def meshgrid(*tensors, indexing="ij"):
    """Grids of coordinates: result i is tensor i along dim i, expanded. "xy" swaps the first two dims."""
    if len(tensors) == 1 and isinstance(tensors[0], tuple | list):
        tensors = tuple(tensors[0])
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for x in tensors:
        if x.ndim > 1:
            raise RuntimeError(
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {tuple(x.shape)}"
            )
        if x.dtype != tensors[0].dtype:
            raise RuntimeError("torch.meshgrid expects all tensors to have the same dtype")
    if indexing not in ("ij", "xy"):
        raise RuntimeError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    swap = indexing == "xy" and len(tensors) >= 2
    if swap:
        tensors = (tensors[1], tensors[0], *tensors[2:])
    shape = [x.numel() for x in tensors]
    grids = []
    for i, x in enumerate(tensors):
        sizes = [1] * len(tensors)
        sizes[i] = shape[i]
        grids.append(x.reshape(sizes).expand(shape))
    if swap:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


@composite(methods=("kron",), out=True)
def kron(input, other):
    """Kronecker product: each element of input times all of other, as blocks. Missing leading dims count as 1."""
    rank = builtins.max(input.ndim, other.ndim)
    a = (1,) * (rank - input.ndim) + tuple(input.shape)
    b = (1,) * (rank - other.ndim) + tuple(other.shape)
    left = input.reshape([n for size in a for n in (size, 1)])
    right = other.reshape([n for size in b for n in (1, size)])
    return (left * right).reshape([m * n for m, n in zip(a, b, strict=True)])


@composite
def cartesian_prod(*tensors):
    """All combinations of the elements of 1-d tensors, as rows (as the elements themselves for one tensor)."""
    for x in tensors:
        if x.ndim != 1:
            raise RuntimeError(f"cartesian_prod: Expect a 1D vector, but got shape {list(x.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    return stack([g.flatten() for g in meshgrid(*tensors, indexing="ij")], dim=1)


@composite
def combinations(input, r=2, with_replacement=False):
    """All r-element combinations of a 1-d tensor's elements, as rows in lexicographic order."""
    from .create import tensor

    if input.ndim != 1:
        raise RuntimeError(f"combinations: Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise RuntimeError(f"combinations: Expect a non-negative number r, got {r}.")
    if r == 0:
        return input.new_empty(0)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(choose(range(input.shape[0]), r))
    if not rows:
        return input.new_empty((0, r))
    return input[tensor(rows)]


@composite
def block_diag(*tensors):
    """A matrix with the given matrices (0-d and 1-d tensors as rows) along its diagonal."""
    from .convert import result_type_of
    from .create import zeros
    from .pad import constant_pad_nd

    if len(tensors) == 1 and isinstance(tensors[0], tuple | list):
        tensors = tuple(tensors[0])
    if not tensors:
        return zeros(1, 0)
    blocks = []
    for i, x in enumerate(tensors):
        if x.ndim > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {x.ndim} dimensions"
            )
        blocks.append(atleast_2d(x))
    dtype = result_type_of(tensors)
    width, column, rows = builtins.sum(b.shape[1] for b in blocks), 0, []
    for block in blocks:
        rows.append(constant_pad_nd(block.to(dtype), (column, width - column - block.shape[1])))
        column += block.shape[1]
    return cat(rows, 0)


__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "cartesian_prod", "cat", "column_stack", "combinations",
    "concat", "concatenate", "dstack", "flip", "fliplr", "flipud", "hstack", "kron", "meshgrid", "repeat_interleave",
    "roll",
    "rot90", "row_stack", "stack", "tile", "vstack",
]  # fmt: skip
