"""Advanced indexing and indexing along one dim. x[...] itself is in csrc/bindings/indexing.cpp; it calls these ops."""

import builtins
import math

from .registry import composite, native, overload

index = native(
    "index(Tensor input, Tensor?[] indices) -> Tensor",
    doc="input[indices]: None keeps a dim; integer tensors broadcast together; masks select where they are true.",
)


@index.vjp("input")
def index_vjp(grad, input_meta, indices):
    return index_put(grad.new_zeros(input_meta.shape), indices, grad, True)


index_put = native(
    "index_put(Tensor input, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
    methods=("index_put",),
    inplace=True,
    doc="input with input[indices] = values (broadcast); accumulate adds, repeated indices too.",
)


@index_put.vjp("input")
def index_put_vjp_input(grad, indices, values_meta, accumulate):
    return grad if accumulate else index_put(grad, indices, grad.new_zeros(()), False)


@index_put.vjp("values")
def index_put_vjp_values(grad, indices):
    return index(grad, indices)


index_select = native(
    "index_select(Tensor input, int dim, Tensor index) -> Tensor",
    methods=("index_select",),
    out=True,
    doc="The slices of dim at the positions in a 1-d index.",
)


@index_select.vjp("input")
def index_select_vjp(grad, input_meta, dim, index):
    return grad.new_zeros(input_meta.shape).index_add(dim, index, grad)


index_add = native(
    "index_add(Tensor input, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
    methods=("index_add",),
    inplace=True,
    out=True,
    doc="input with alpha * source added to its slices of dim at the positions in index; repeated ones add up.",
)


@index_add.vjp("input")
def index_add_vjp_input(grad):
    return grad


def _selected_like(grad, dim, index, source_meta):
    picked = grad.index_select(dim, index)
    return picked if picked.ndim == source_meta.ndim else picked.reshape(source_meta.shape)


@index_add.vjp("source")
def index_add_vjp_source(grad, dim, index, source_meta, alpha):
    picked = _selected_like(grad, dim, index, source_meta)
    return (
        picked
        if alpha == 1
        else picked * (alpha.conjugate() if isinstance(alpha, complex) else alpha)
    )


index_copy = native(
    "index_copy(Tensor input, int dim, Tensor index, Tensor source) -> Tensor",
    methods=("index_copy",),
    inplace=True,
    out=True,
    doc="input with its slices of dim at the positions in index replaced by those of source.",
)


@index_copy.vjp("input")
def index_copy_vjp_input(grad, dim, index):
    return grad.index_fill(dim, index, 0)


@index_copy.vjp("source")
def index_copy_vjp_source(grad, dim, index, source_meta):
    if source_meta.ndim == 0:
        return grad.index_select(dim, index).reshape(())
    return _selected_like(grad, dim, index, source_meta)


index_fill_number = native(
    "index_fill(Tensor input, int dim, Tensor index, Scalar value) -> Tensor",
    inplace=True,
    doc="input with its slices of dim at the positions in index set to value.",
)
index_fill_tensor = native(
    "index_fill_tensor(Tensor input, int dim, Tensor index, Tensor value) -> Tensor",
    inplace=True,
    doc="index_fill with a 0-d tensor as value.",
)


@index_fill_number.vjp("input")
@index_fill_tensor.vjp("input")
def index_fill_vjp(grad, dim, index):
    return grad.index_fill(dim, index, 0)


@index_fill_tensor.vjp("value")
def index_fill_vjp_value(grad, dim, index):
    # Positions may repeat; each counts once. So: everything but the other positions.
    others = (
        index.new_ones(grad.shape[dim] if grad.ndim else 1)
        .index_fill(0, index, 0)
        .nonzero()
        .reshape(-1)
    )
    return grad.index_fill(dim, others, 0).sum()


index_fill = overload("index_fill", index_fill_tensor, index_fill_number, methods=("index_fill",))
index_fill_ = overload(
    "index_fill_", index_fill_tensor.inplace, index_fill_number.inplace, methods=("index_fill_",)
)

index_reduce = native(
    "index_reduce(Tensor input, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor",
    methods=("index_reduce",),
    inplace=True,
    out=True,
    doc="input with slices of source reduced into its slices at index: prod, mean, amax or amin.",
)


class _Slices:
    """The positions that a 1-d index means along dim, for reduced_vjp."""

    def __init__(self, dim, index):
        self.at = (dim, index)

    def take(self, x):
        return x.index_select(*self.at)

    def add(self, x, source):
        return x.index_add(*self.at, source)

    def prod(self, x, source, include_self):
        return x.index_reduce(*self.at, source, "prod", include_self=include_self)

    def zero(self, x):
        return x.index_fill(*self.at, 0)


@index_reduce.vjp
def index_reduce_vjp(grad, input, dim, index, source, reduce, include_self, result, needs):
    return reduced_vjp(
        grad, input, source, result, reduce, include_self, needs, _Slices(dim, index)
    )


def reduced_vjp(grad, input, source, result, reduce, include_self, needs, places):
    """Gradient of scatter_reduce and index_reduce; `places` says where the elements of source went."""
    from .create import ones_like, zeros_like

    if reduce == "sum":
        grad_input, grad_source = grad, places.take(grad)
    elif reduce == "prod":
        input_without_zeros = input.masked_fill(input == 0, 1)
        without_self = places.prod(input_without_zeros, source, include_self) / input_without_zeros
        grad_input = grad * without_self.conj()
        # A factor that is the only zero of its product gets the product of the others; elsewhere, divide.
        is_zero = source == 0
        zeros_beside = places.take(places.add(zeros_like(input), is_zero.to(input.dtype)))
        only_zero = is_zero & (zeros_beside == 1)
        others = places.take(
            grad * places.prod(input, source.masked_fill(only_zero, 1), include_self).conj()
        )
        divided = places.take(grad * result.conj()) / source.masked_fill(is_zero, 1).conj()
        grad_source = others.masked_fill(~only_zero, 0) + divided.masked_fill(only_zero, 0)
    elif reduce == "mean":
        count = places.add(ones_like(grad) if include_self else zeros_like(grad), ones_like(source))
        shares = grad / count.masked_fill(count == 0, 1)
        grad_input, grad_source = shares, places.take(shares)
    else:  # amax, amin: equal extremes share evenly
        input_is_it = (input == result).to(grad.dtype)
        source_is_it = (source == places.take(result)).to(grad.dtype)
        shares = grad / places.add(input_is_it, source_is_it)
        grad_input, grad_source = input_is_it * shares, source_is_it * places.take(shares)
    if not include_self:
        grad_input = places.zero(grad_input)
    return (grad_input if needs[0] else None, None, grad_source if needs[2] else None)


take_op = native(
    "take(Tensor input, Tensor index) -> Tensor",
    methods=("take",),
    out=True,
    doc="Elements at flat (row-major) positions; the result has the shape of index.",
)
take = take_op


@take_op.vjp("input")
def take_vjp(grad, input_meta, index):
    return grad.new_zeros(input_meta.shape).put(index, grad, True)


put = native(
    "put(Tensor input, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
    methods=("put",),
    inplace=True,
    doc="input with the elements at flat positions replaced by those of source, or increased by them.",
)


@put.vjp("input")
def put_vjp_input(grad, index, source_meta, accumulate):
    return grad if accumulate else grad.put(index, grad.new_zeros(source_meta.shape), False)


@put.vjp("source")
def put_vjp_source(grad, index, source_meta):
    return grad.take(index).reshape(source_meta.shape)


@composite(methods=("take_along_dim",), out=True)
def take_along_dim(input, indices, dim=None):
    """Gather along dim with broadcasting of the other dims; without dim, from the flattened input."""
    from .view import broadcast_shapes

    if not indices.dtype.is_signed or indices.dtype.is_floating_point or indices.dtype.itemsize < 4:
        raise RuntimeError(
            "torch.take_along_dim(): dtype of indices should be Long or Int but got "
            + str(indices.dtype)
        )
    if dim is None:
        return input.reshape(-1).gather(0, indices.reshape(-1))
    if input.ndim != indices.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {input.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    if not -input.ndim <= dim < input.ndim:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-input.ndim}, {input.ndim - 1}], but got {dim})"
        )
    dim %= input.ndim
    size = input.shape[dim]
    index = indices % size if indices.numel() and size else indices
    own = list(broadcast_shapes(input.shape, [*index.shape[:dim], size, *index.shape[dim + 1 :]]))
    wanted = [*own[:dim], index.shape[dim], *own[dim + 1 :]]
    return input.expand(own).gather(dim, index.expand(wanted))


nonzero_native = native(
    "nonzero(Tensor input) -> Tensor",
    out=True,
    non_differentiable="positions are integers",
    doc="Positions of non-zero elements, one row each, in row-major order.",
)


@composite(methods=("nonzero",))
def nonzero(input, *, as_tuple=False, out=None):
    """Positions of non-zero elements: one row each, or (as_tuple) a tuple with one index tensor per dim."""
    if as_tuple:
        found = nonzero_native(input.reshape(1) if input.ndim == 0 else input)
        return found.unbind(1)
    return nonzero_native(input) if out is None else nonzero_native(input, out=out)


nonzero_static_op = native(
    "nonzero_static(Tensor input, *, int size, int fill_value=-1) -> Tensor",
    methods=("nonzero_static",),
    non_differentiable="positions are integers",
    doc="nonzero with a fixed number of rows: cut off, or filled with fill_value.",
)
nonzero_static = nonzero_static_op


@composite(methods=("argwhere",))
def argwhere(input):
    """Positions of non-zero elements, one row each."""
    return nonzero_native(input)


masked_fill_number = native(
    "masked_fill(Tensor input, Tensor mask, Scalar value) -> Tensor",
    inplace=True,
    doc="input with value where the (broadcast) mask is true.",
)
masked_fill_tensor = native(
    "masked_fill_tensor(Tensor input, Tensor mask, Tensor value) -> Tensor",
    inplace=True,
    doc="masked_fill with a 0-d tensor as value.",
)


@masked_fill_number.vjp("input")
@masked_fill_tensor.vjp("input")
def masked_fill_vjp(grad, mask):
    return grad.masked_fill(mask, 0)


@masked_fill_tensor.vjp("value")
def masked_fill_vjp_value(grad, mask):
    return grad.masked_fill(~mask, 0).sum()


masked_fill = overload(
    "masked_fill", masked_fill_tensor, masked_fill_number, methods=("masked_fill",)
)
masked_fill_ = overload(
    "masked_fill_",
    masked_fill_tensor.inplace,
    masked_fill_number.inplace,
    methods=("masked_fill_",),
)

masked_select = native(
    "masked_select(Tensor input, Tensor mask) -> Tensor",
    methods=("masked_select",),
    out=True,
    doc="The elements where the mask is true, as one dim; input and mask broadcast together.",
)


@masked_select.vjp("input")
def masked_select_vjp(grad, input_meta, mask):
    from .view import broadcast_shapes

    shape = broadcast_shapes(input_meta.shape, mask.shape)
    return grad.new_zeros(shape).masked_scatter(mask, grad)


masked_scatter = native(
    "masked_scatter(Tensor input, Tensor mask, Tensor source) -> Tensor",
    methods=("masked_scatter",),
    inplace=True,
    doc="input with the elements where mask is true replaced by those of source, in order.",
)


@masked_scatter.vjp("input")
def masked_scatter_vjp_input(grad, mask):
    return grad.masked_fill(mask, 0)


@masked_scatter.vjp("source")
def masked_scatter_vjp_source(grad, mask, source_meta):
    return masked_scatter_backward(grad, mask, source_meta.shape)


masked_scatter_backward = native(
    "masked_scatter_backward(Tensor grad, Tensor mask, int[] sizes) -> Tensor",
    doc="The masked elements in order, then zeros: the gradient of masked_scatter's source.",
)


@masked_scatter_backward.vjp("grad")
def masked_scatter_backward_vjp(grad, grad_meta, mask):
    return grad.new_zeros(grad_meta.shape).masked_scatter(mask, grad)


@composite
def unravel_index(indices, shape):
    """The coordinates of flat (row-major) positions in a tensor of the given shape, one tensor per dim."""
    if (
        indices.dtype.is_floating_point
        or indices.dtype.is_complex
        or str(indices.dtype).endswith("bool")
    ):
        raise ValueError(
            f"unravel_index(): expected 'indices' to be an integer, but got {indices.dtype}"
        )
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if builtins.any(n < 0 for n in shape):
        raise ValueError(
            "unravel_index: 'shape' cannot have negative values, but got " + str(shape)
        )
    indices = indices.long()
    coordinates, step = [], math.prod(shape)
    for n in shape:
        step = step // n if n else 1
        coordinates.append(indices // step % n)
    return tuple(coordinates)


__all__ = [
    "argwhere", "index_add", "index_copy", "index_fill", "index_put", "index_reduce", "index_select",
    "masked_fill", "masked_scatter", "masked_select", "nonzero", "nonzero_static", "put", "take", "take_along_dim",
    "unravel_index",
]  # fmt: skip
