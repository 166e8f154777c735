"""A tensor in pieces (all views): split, chunk, tensor_split, unbind and the h/v/d forms."""

import builtins
from itertools import pairwise

from .join import cat, stack
from .registry import composite, native
from .view import slice_view


def _zeros_for_none(grads, shapes):
    known = next(g for g in grads if g is not None)
    return [
        known.new_zeros(shape) if g is None else g for g, shape in zip(grads, shapes, strict=True)
    ]


def _piece_shapes(shape, dim, lengths):
    shape = list(shape)
    return [[*shape[:dim], n, *shape[dim + 1 :]] for n in lengths]


def _even_pieces_vjp(grads, input_meta, dim, length):
    shape = input_meta.shape
    dim %= len(shape)
    size = shape[dim]
    lengths = [builtins.max(builtins.min(length, size - i * length), 0) for i in range(len(grads))]
    return cat(_zeros_for_none(grads, _piece_shapes(shape, dim, lengths)), dim)


split_int = native(
    "split(Tensor(a) tensor, int split_size_or_sections, int dim=0) -> Tensor(a)[]",
    handles_lazy_bits=True,
    doc="Pieces of the given size along dim (the last may be smaller), or of the given sizes.",
)


@split_int.vjp
def split_vjp(grad, tensor_meta, split_size_or_sections, dim):
    return _even_pieces_vjp(grad, tensor_meta, dim, split_size_or_sections)


split_with_sizes = native(
    "split_with_sizes(Tensor(a) input, int[] split_sizes, int dim=0) -> Tensor(a)[]",
    methods=("split_with_sizes",),
    handles_lazy_bits=True,
    doc="Pieces of the given sizes along dim; they must add up to its size.",
)


@split_with_sizes.vjp
def split_with_sizes_vjp(grad, input_meta, split_sizes, dim):
    shape = input_meta.shape
    dim %= len(shape)
    return cat(_zeros_for_none(grad, _piece_shapes(shape, dim, split_sizes)), dim)


@composite(methods=("split",))
def split(tensor, split_size_or_sections=None, dim=0, *, split_size=None):
    """Pieces of the given size along dim (the last may be smaller), or of the given sizes. Views."""
    sizes = split_size if split_size_or_sections is None else split_size_or_sections
    if isinstance(sizes, tuple | list):
        return split_with_sizes(tensor, sizes, dim)
    return split_int(tensor, sizes, dim)


chunk = native(
    "chunk(Tensor(a) input, int chunks, int dim=0) -> Tensor(a)[]",
    methods=("chunk",),
    handles_lazy_bits=True,
    doc="At most `chunks` pieces of equal size along dim; the last may be smaller. Views.",
)


@chunk.vjp
def chunk_vjp(grad, input_meta, chunks, dim):
    size = input_meta.shape[dim]
    return _even_pieces_vjp(grad, input_meta, dim, -(-size // chunks))


unbind = native(
    "unbind(Tensor(a) input, int dim=0) -> Tensor(a)[]",
    methods=("unbind",),
    handles_lazy_bits=True,
    doc="The slices along dim, without that dim, as a tuple of views.",
)


@unbind.vjp
def unbind_vjp(grad, input_meta, dim):
    shape = list(input_meta.shape)
    del shape[dim]
    return stack(_zeros_for_none(grad, [shape] * len(grad)), dim)


@composite(methods=("tensor_split",))
def tensor_split(input, indices_or_sections=None, dim=0, *, indices=None, sections=None):
    """Pieces along dim: n nearly equal ones, or cut at the given indices (as Python slices would). Views.

    Raises:
        RuntimeError: input is 0-d, or the number of sections is not positive.
    """
    from .. import Tensor

    cuts = next((c for c in (indices_or_sections, indices, sections) if c is not None), None)
    if input.ndim == 0:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    size = input.size(dim)
    if isinstance(cuts, Tensor):
        if cuts.dtype.is_floating_point or cuts.dtype.is_complex or cuts.dtype.itemsize != 8:
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to be on cpu and of long dtype"
            )
        if cuts.ndim > 1:
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, "
                f"but got a tensor with {cuts.ndim} dims"
            )
        cuts = cuts.tolist()
    if isinstance(cuts, int):
        if cuts <= 0:
            raise RuntimeError(
                f"tensor_split: number of sections must be larger than 0, got {cuts}"
            )
        if cuts > 2**26:
            raise MemoryError(f"tensor_split: not enough memory for {cuts} pieces")
        each, longer = divmod(size, cuts)
        cuts = [i * each + builtins.min(i, longer) for i in range(1, cuts)]
    bounds = [0, *cuts, size]
    return tuple(slice_view(input, dim, a, b) for a, b in pairwise(bounds))


def _checked_split(name, input, cuts, dim, least):
    if input.ndim < least:
        raise RuntimeError(
            f"torch.{name} requires a tensor with at least {least} dimension{'s' if least > 1 else ''}, "
            f"but got a tensor with {input.ndim} dimensions!"
        )
    if isinstance(cuts, int):
        if cuts == 0 or input.shape[dim] % cuts != 0:
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension "
                f"{input.shape[dim]} is not divisible by the split_size {cuts}!"
            )
    return tensor_split(input, cuts, dim)


@composite(methods=("hsplit",))
def hsplit(input, indices_or_sections):
    """tensor_split along dim 1 (dim 0 of a 1-d tensor); sections must divide the size."""
    return _checked_split("hsplit", input, indices_or_sections, 0 if input.ndim == 1 else 1, 1)


@composite(methods=("vsplit",))
def vsplit(input, indices_or_sections):
    """tensor_split along dim 0 of a tensor of 2 or more dims; sections must divide the size."""
    return _checked_split("vsplit", input, indices_or_sections, 0, 2)


@composite(methods=("dsplit",))
def dsplit(input, indices_or_sections):
    """tensor_split along dim 2 of a tensor of 3 or more dims; sections must divide the size."""
    return _checked_split("dsplit", input, indices_or_sections, 2, 3)


@composite(methods=("unsafe_split",))
def unsafe_split(input, split_size, dim=0):
    """Like split, but the pieces may be modified in place."""
    return tuple(slice_view(piece) for piece in split_int(input, split_size, dim))


@composite(methods=("unsafe_chunk",))
def unsafe_chunk(input, chunks, dim=0):
    """Like chunk, but the pieces may be modified in place."""
    return tuple(slice_view(piece) for piece in chunk(input, chunks, dim))


@composite(methods=("unsafe_split_with_sizes",))
def unsafe_split_with_sizes(input, split_sizes, dim=0):
    """Like split_with_sizes, but the pieces may be modified in place."""
    return tuple(slice_view(piece) for piece in split_with_sizes(input, split_sizes, dim))


__all__ = [
    "chunk", "dsplit", "hsplit", "split", "split_with_sizes", "tensor_split", "unbind", "unsafe_chunk",
    "unsafe_split", "unsafe_split_with_sizes", "vsplit",
]  # fmt: skip
