"""Views of one result: the same storage under new sizes, strides and offset, with their gradients.

Pieces (split, chunk, unbind) are in split.py, dtype and complex views in view_dtype.py, copies in convert.py.
"""

import builtins
import math

from .registry import composite, native, overload

view_sizes = native(
    "view(Tensor(a) input, int[*] size) -> Tensor(a)",
    handles_lazy_bits=True,
    doc="""View under other sizes with the same elements in the same order; one size may be -1.

    Raises:
        RuntimeError: the sizes do not fit, or strides allow no view; reshape copies then.
    """,
)


@view_sizes.vjp
def view_vjp(grad, input_meta):
    return grad.reshape(input_meta.shape)


view_dtype = native(
    "view_dtype(Tensor(a) input, dtype dtype) -> Tensor(a)",
    handles_lazy_bits=True,
    non_differentiable="the bits of one dtype are read as another",
    doc="View the same bytes as another dtype; the last dim is scaled when element sizes differ.",
)
view = overload("view", view_dtype, view_sizes, methods=("view",))

reshape = native(
    "reshape(Tensor(a) input, int[*] shape) -> Tensor(a)",
    methods=("reshape",),
    handles_lazy_bits=True,
    doc="Same elements in the same order under other sizes: a view where strides allow one, else a copy.",
)


@reshape.vjp
def reshape_vjp(grad, input_meta):
    return grad.reshape(input_meta.shape)


flatten = native(
    "flatten(Tensor(a) input, int start_dim=0, int end_dim=-1) -> Tensor(a)",
    methods=("flatten",),
    handles_lazy_bits=True,
    doc="Join the dims from start_dim to end_dim into one; a 0-d tensor becomes 1-d.",
)


@flatten.vjp
def flatten_vjp(grad, input_meta):
    return grad.reshape(input_meta.shape)


unflatten = native(
    "unflatten(Tensor(a) input, int dim, int[] sizes) -> Tensor(a)",
    methods=("unflatten",),
    handles_lazy_bits=True,
    doc="Split one dim into several; one of the sizes may be -1.",
)


@unflatten.vjp
def unflatten_vjp(grad, input_meta):
    return grad.reshape(input_meta.shape)


expand = native(
    "expand(Tensor(a) input, int[*] size, *, bool implicit=False) -> Tensor(a)",
    methods=("expand",),
    handles_lazy_bits=True,
    doc="Repeat dims of size 1 (and new leading dims) without a copy: their stride is 0. -1 keeps a size.",
)


@expand.vjp
def expand_vjp(grad):
    return grad  # the engine sums over what was repeated


permute = native(
    "permute(Tensor(a) input, int[*] dims) -> Tensor(a)",
    methods=("permute",),
    handles_lazy_bits=True,
    doc="Reorder the dims: dim i of the result is dim dims[i] of input.",
)


@permute.vjp
def permute_vjp(grad, dims):
    rank = len(dims)
    inverse = [0] * rank
    for i, d in enumerate(dims):
        inverse[d % rank] = i
    return grad.permute(inverse)


transpose = native(
    "transpose(Tensor(a) input, int dim0, int dim1) -> Tensor(a)",
    methods=("transpose", "swapaxes", "swapdims"),
    inplace=True,
    handles_lazy_bits=True,
    doc="Swap two dims.",
)


@transpose.vjp
def transpose_vjp(grad, dim0, dim1):
    return grad.transpose(dim0, dim1)


@composite
def swapaxes(input, axis0, axis1):
    """Swap two dims; NumPy's name of transpose."""
    return transpose(input, axis0, axis1)


@composite
def swapdims(input, dim0, dim1):
    """Swap two dims; another name of transpose."""
    return transpose(input, dim0, dim1)


t = native(
    "t(Tensor(a) input) -> Tensor(a)",
    methods=("t",),
    inplace=True,
    handles_lazy_bits=True,
    doc="Transpose a matrix; tensors of 0 or 1 dims stay as they are.",
)


@t.vjp
def t_vjp(grad):
    return grad.t()


numpy_T = native(
    "numpy_T(Tensor(a) input) -> Tensor(a)",
    properties=("T",),
    handles_lazy_bits=True,
    doc="All dims reversed.",
)


@numpy_T.vjp
def numpy_T_vjp(grad):
    return grad.T


matrix_transpose = native(
    "matrix_transpose(Tensor(a) input) -> Tensor(a)",
    properties=("mT",),
    handles_lazy_bits=True,
    doc="The last two dims swapped.",
)


@matrix_transpose.vjp
def matrix_transpose_vjp(grad):
    return grad.mT


@composite(methods=("adjoint",))
def adjoint(input):
    """Swap the last two dims and conjugate."""
    if input.ndim == 0:
        return input.conj() if input.is_complex() else view_sizes(input, ())
    if input.ndim == 1:
        raise RuntimeError(
            "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor. "
            "For a vector take conj()."
        )
    swapped = input.transpose(-2, -1)
    return swapped.conj() if input.is_complex() else swapped


@composite(properties=("mH",))
def matrix_H(input):
    """Swap the last two dims and conjugate."""
    if input.ndim < 2:
        raise RuntimeError(
            f"tensor.mH is only supported on matrices or batches of matrices. Got {input.ndim}-D tensor."
        )
    return adjoint(input)


@composite(properties=("H",))
def hermitian(input):
    """Conjugate transpose of a matrix."""
    if input.ndim not in (0, 2):
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {input.ndim}-D tensor."
        )
    return adjoint(input)


movedim = native(
    "movedim(Tensor(a) input, int[] source, int[] destination) -> Tensor(a)",
    methods=("movedim", "moveaxis"),
    handles_lazy_bits=True,
    doc="Move dims to other positions; the rest keep their order.",
)


@movedim.vjp
def movedim_vjp(grad, source, destination):
    return grad.movedim(destination, source)


moveaxis = movedim

squeeze_all = native(
    "squeeze(Tensor(a) input) -> Tensor(a)",
    inplace=True,
    handles_lazy_bits=True,
    doc="Drop dims of size 1: all of them, or only `dim` (an int or several).",
)
squeeze_dims = native(
    "squeeze_dims(Tensor(a) input, int[] dim) -> Tensor(a)",
    inplace=True,
    handles_lazy_bits=True,
    doc="Drop the given dims where their size is 1.",
)


@squeeze_all.vjp
@squeeze_dims.vjp
def squeeze_vjp(grad, input_meta):
    return grad.reshape(input_meta.shape)


squeeze = overload("squeeze", squeeze_all, squeeze_dims, methods=("squeeze",))
squeeze_ = overload("squeeze_", squeeze_all.inplace, squeeze_dims.inplace, methods=("squeeze_",))

unsqueeze = native(
    "unsqueeze(Tensor(a) input, int dim) -> Tensor(a)",
    methods=("unsqueeze",),
    inplace=True,
    handles_lazy_bits=True,
    doc="Insert a dim of size 1 before position dim.",
)


@unsqueeze.vjp
def unsqueeze_vjp(grad, input_meta):
    return grad.reshape(input_meta.shape)


select_backward = native(
    "select_backward(Tensor grad, int[] sizes, int dim, int index) -> Tensor",
    doc="Zeros of the given sizes with grad at one index of dim: the gradient of select.",
)


@select_backward.vjp
def select_backward_vjp(grad, dim, index):
    return grad.select(dim, index)


select = native(
    "select(Tensor(a) input, int dim, int index) -> Tensor(a)",
    methods=("select",),
    handles_lazy_bits=True,
    doc="The slice at one index of dim, without that dim.",
)


@select.vjp
def select_vjp(grad, input_meta, dim, index):
    return select_backward(grad, input_meta.shape, dim, index)


slice_backward = native(
    "slice_backward(Tensor grad, int[] sizes, int dim, int? start, int? end, int step) -> Tensor",
    doc="Zeros of the given sizes with grad in a slice: the gradient of slice.",
)


@slice_backward.vjp
def slice_backward_vjp(grad, dim, start, end, step):
    return slice_view(grad, dim, start, end, step)


slice_view = native(
    "slice(Tensor(a) input, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor(a)",
    handles_lazy_bits=True,
    doc="input[start:end:step] along dim.",
)


@slice_view.vjp
def slice_vjp(grad, input_meta, dim, start, end, step):
    return slice_backward(grad, input_meta.shape, dim, start, end, step)


narrow_int = native(
    "narrow(Tensor(a) input, int dim, int start, int length) -> Tensor(a)",
    handles_lazy_bits=True,
    doc="The `length` indices of dim from `start` on.",
)


@narrow_int.vjp
def narrow_vjp(grad, input_meta, dim, start, length):
    if start < 0:
        start += input_meta.shape[dim]
    return slice_backward(grad, input_meta.shape, dim, start, start + length, 1)


narrow_tensor = native(
    "narrow_tensor(Tensor(a) input, int dim, Tensor start, int length) -> Tensor(a)",
    handles_lazy_bits=True,
    doc="narrow with a 0-d integer tensor as start.",
)


@narrow_tensor.vjp("input")
def narrow_tensor_vjp(grad, input_meta, dim, start, length):
    return narrow_vjp(grad, input_meta, dim, int(start), length)


narrow = overload("narrow", narrow_int, narrow_tensor, methods=("narrow",))

diagonal_backward = native(
    "diagonal_backward(Tensor grad, int[] sizes, int offset, int dim1, int dim2) -> Tensor",
    doc="Zeros of the given sizes with grad on a diagonal: the gradient of diagonal.",
)


@diagonal_backward.vjp
def diagonal_backward_vjp(grad, offset, dim1, dim2):
    return grad.diagonal(offset, dim1, dim2)


diagonal = native(
    "diagonal(Tensor(a) input, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
    methods=("diagonal",),
    handles_lazy_bits=True,
    doc="The diagonal over dim1 and dim2, as the last dim; offset > 0 lies above the main one.",
)


@diagonal.vjp
def diagonal_vjp(grad, input_meta, offset, dim1, dim2):
    return diagonal_backward(grad, input_meta.shape, offset, dim1, dim2)


unfold_backward = native(
    "unfold_backward(Tensor grad, int[] sizes, int dim, int size, int step) -> Tensor",
    doc="Add overlapping windows back together: the gradient of Tensor.unfold.",
)


@unfold_backward.vjp
def unfold_backward_vjp(grad, dim, size, step):
    return grad.unfold(dim, size, step)


unfold = native(
    "unfold(Tensor(a) input, int dimension, int size, int step) -> Tensor(a)",
    methods=("unfold",),
    handles_lazy_bits=True,
    doc="Windows of `size` elements, `step` apart, along a dim; the window is the last dim.",
)


@unfold.vjp
def unfold_vjp(grad, input_meta, dimension, size, step):
    return unfold_backward(grad, input_meta.shape, dimension, size, step)


as_strided = native(
    "as_strided(Tensor(a) input, int[] size, int[] stride, int? storage_offset=None) -> Tensor(a)",
    methods=("as_strided",),
    inplace=True,
    handles_lazy_bits=True,
    doc="View of the storage with any sizes, strides and offset within it, overlapping ones too.",
)


def _reach(size, stride):
    return -1 if 0 in size else builtins.sum((n - 1) * s for n, s in zip(size, stride, strict=True))


def _overlaps(size, stride):
    """Whether two indices may mean one element (true for some geometries where they do not)."""
    covered = 0
    for s, n in sorted((s, n) for n, s in zip(size, stride, strict=True) if n > 1):
        if s <= covered:
            return True
        covered += (n - 1) * s
    return False


@as_strided.vjp
def as_strided_vjp(grad, input_meta, size, stride, storage_offset):
    # In a flat buffer that spans both geometries: elements that several outputs show add up; a gradient of an
    # element that the input itself shows several times is shared between its places.
    from .create import arange

    own = input_meta.storage_offset()
    offset = own if storage_offset is None else storage_offset
    in_size, in_stride = tuple(input_meta.shape), input_meta.stride()
    if 0 in size or 0 in in_size:
        return grad.new_zeros(in_size)
    low = min(own, offset)
    extent = max(own - low + _reach(in_size, in_stride), offset - low + _reach(size, stride)) + 1
    buffer = grad.new_zeros(extent)
    if _overlaps(size, stride):
        places = as_strided(arange(extent), size, stride, offset - low)
        buffer = buffer.index_add(0, places.reshape(-1), grad.reshape(-1))
    else:
        buffer = buffer.as_strided_scatter(grad, size, stride, offset - low)
    if _overlaps(in_size, in_stride):
        places = as_strided(arange(extent), in_size, in_stride, own - low).reshape(-1)
        counts = grad.new_zeros(extent).index_add(0, places, grad.new_ones(math.prod(in_size)))
        buffer = (
            buffer / counts.clamp(min=1)
            if not counts.is_complex()
            else buffer / counts.real.clamp(min=1)
        )
    return as_strided(buffer, in_size, in_stride, own - low)


alias = native(
    "alias(Tensor(a) input) -> Tensor(a)",
    handles_lazy_bits=True,
    doc="A view of all of input.",
)


@alias.vjp
def alias_vjp(grad):
    return grad


detach = native(
    "detach(Tensor input) -> Tensor",
    methods=("detach",),
    handles_lazy_bits=True,
    non_differentiable="it cuts the graph: that is its purpose",
    doc="The same memory without history: never requires grad.",
)


@composite(methods=("view_as",))
def view_as(input, other):
    """View with the sizes of other."""
    return view_sizes(input, other.shape)


@composite(methods=("reshape_as",))
def reshape_as(input, other):
    """Reshape to the sizes of other."""
    return reshape(input, other.shape)


@composite(methods=("expand_as",))
def expand_as(input, other):
    """Expand to the sizes of other."""
    return expand(input, other.shape)


@composite(methods=("broadcast_to",))
def broadcast_to(input, size):
    """Expand to `size` by the broadcasting rules."""
    return expand(input, size)


@composite(methods=("ravel",))
def ravel(input):
    """All elements as one dim, in row-major order; a view where possible."""
    return reshape(input.contiguous(), (-1,))


@composite
def broadcast_shapes(*shapes):
    """The size that tensors of these shapes broadcast to.

    Raises:
        RuntimeError: two sizes differ and neither is 1.
    """
    from .. import _C

    shapes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    rank = builtins.max((len(s) for s in shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for i, n in enumerate(shape, rank - len(shape)):
            if n < 0:
                raise RuntimeError(f"Trying to create tensor with negative dimension ({n}): ({n})")
            if n != 1 and result[i] not in (1, n):
                raise RuntimeError(
                    "broadcast_shapes: Shape mismatch: objects cannot be broadcast to a single shape: "
                    f"broadcast_shapes: expected equal sizes or 1 at dim {i - rank}, got {shapes}."
                )
            result[i] = n if n != 1 else result[i]
    return _C.Size(result)


@composite
def broadcast_tensors(*tensors):
    """Expand tensors to their common broadcast size."""
    if len(tensors) == 1 and isinstance(tensors[0], tuple | list):
        tensors = tuple(tensors[0])
    shape = broadcast_shapes(*(x.shape for x in tensors))
    return tuple(expand(x, shape) for x in tensors)


__all__ = [
    "adjoint",
    "as_strided",
    "broadcast_shapes",
    "broadcast_tensors",
    "broadcast_to",
    "detach",
    "diagonal",
    "flatten",
    "moveaxis",
    "movedim",
    "narrow",
    "permute",
    "ravel",
    "reshape",
    "select",
    "squeeze",
    "swapaxes",
    "swapdims",
    "t",
    "transpose",
    "unflatten",
    "unsqueeze",
]  # fmt: skip
