"""Gather and scatter along one dim by an index of the same rank, and into a slice, a diagonal or any geometry."""

from .index import reduced_vjp
from .registry import native, overload
from .view import slice_view

gather = native(
    "gather(Tensor input, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
    methods=("gather",),
    out=True,
    doc="result[i][j] = input[index[i][j]][j] for dim 0, and so on; the result has the shape of index.",
)


@gather.vjp("input")
def gather_vjp(grad, input_meta, dim, index):
    return grad.new_zeros(input_meta.shape).scatter_add(dim, index, grad)


scatter_src = native(
    "scatter_src(Tensor input, int dim, Tensor index, OnlyTensor src) -> Tensor",
    inplace=True,
    out=True,
    doc="input with result[index[i][j]][j] = src[i][j] for dim 0, and so on.",
)


@scatter_src.vjp("input")
def scatter_vjp_input(grad, dim, index):
    return grad.scatter(dim, index, 0)


@scatter_src.vjp("src")
def scatter_vjp_src(grad, dim, index, src_meta):
    return _gathered(grad, dim, index, src_meta.shape)


def _gathered(grad, dim, index, shape):
    """grad at index; src may be larger than index, and what lies outside was not used."""
    picked = grad.gather(dim, index)
    if tuple(picked.shape) == tuple(shape):
        return picked
    if picked.numel() == 0:
        return grad.new_zeros(shape)
    from .pad import constant_pad_nd

    return constant_pad_nd(
        picked, [n for i in range(len(shape) - 1, -1, -1) for n in (0, shape[i] - picked.shape[i])]
    )


scatter_value = native(
    "scatter_value(Tensor input, int dim, Tensor index, Scalar value) -> Tensor",
    inplace=True,
    out=True,
    doc="input with value at the positions in index.",
)


@scatter_value.vjp("input")
def scatter_value_vjp(grad, dim, index):
    return grad.scatter(dim, index, 0)


scatter_src_reduce = native(
    "scatter_src_reduce(Tensor input, int dim, Tensor index, OnlyTensor src, *, str reduce) -> Tensor",
    inplace=True,
    out=True,
    doc="scatter that adds or multiplies.",
)


@scatter_src_reduce.vjp
def scatter_src_reduce_vjp(grad, input, dim, index, src, reduce, result, needs):
    kind = "sum" if reduce == "add" else "prod"
    return reduced_vjp(grad, input, src, result, kind, True, needs, Places(dim, index, src.shape))


scatter_value_reduce = native(
    "scatter_value_reduce(Tensor input, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
    inplace=True,
    out=True,
    doc="scatter of a number that adds or multiplies.",
)


@scatter_value_reduce.vjp("input")
def scatter_value_reduce_vjp(grad, dim, index, value, reduce):
    return grad if reduce == "add" else grad.scatter(dim, index, value, reduce="multiply")


_SCATTER = (scatter_src, scatter_src_reduce, scatter_value, scatter_value_reduce)
scatter = overload("scatter", *_SCATTER, methods=("scatter",))
scatter_ = overload("scatter_", *(op.inplace for op in _SCATTER), methods=("scatter_",))

scatter_add = native(
    "scatter_add(Tensor input, int dim, Tensor index, Tensor src) -> Tensor",
    methods=("scatter_add",),
    inplace=True,
    out=True,
    doc="input with src added at the positions in index; repeated positions add up.",
)


@scatter_add.vjp("input")
def scatter_add_vjp_input(grad):
    return grad


@scatter_add.vjp("src")
def scatter_add_vjp_src(grad, dim, index, src_meta):
    return _gathered(grad, dim, index, src_meta.shape)


scatter_reduce = native(
    "scatter_reduce(Tensor input, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor",
    methods=("scatter_reduce",),
    inplace=True,
    out=True,
    doc="input with src reduced into it at the positions in index: sum, prod, mean, amax or amin.",
)


class Places:
    """The positions that an index of the same rank means along dim, for reduced_vjp."""

    def __init__(self, dim, index, shape):
        self.at = (dim, index)
        self.shape = shape

    def take(self, x):
        return _gathered(x, *self.at, self.shape)

    def add(self, x, source):
        return x.scatter_add(*self.at, source)

    def prod(self, x, source, include_self):
        return x.scatter_reduce(*self.at, source, "prod", include_self=include_self)

    def zero(self, x):
        return x.scatter(*self.at, 0)


@scatter_reduce.vjp
def scatter_reduce_vjp(grad, input, dim, index, src, reduce, include_self, result, needs):
    return reduced_vjp(
        grad, input, src, result, reduce, include_self, needs, Places(dim, index, src.shape)
    )


select_scatter = native(
    "select_scatter(Tensor input, Tensor src, int dim, int index) -> Tensor",
    methods=("select_scatter",),
    doc="input with src as the slice at one index of dim.",
)


@select_scatter.vjp("input")
def select_scatter_vjp_input(grad, src_meta, dim, index):
    return select_scatter(grad, grad.new_zeros(src_meta.shape), dim, index)


@select_scatter.vjp("src")
def select_scatter_vjp_src(grad, dim, index):
    return grad.select(dim, index)


slice_scatter = native(
    "slice_scatter(Tensor input, Tensor src, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor",
    methods=("slice_scatter",),
    doc="input with src as the slice start:end:step of dim.",
)


@slice_scatter.vjp("input")
def slice_scatter_vjp_input(grad, src_meta, dim, start, end, step):
    return slice_scatter(grad, grad.new_zeros(src_meta.shape), dim, start, end, step)


@slice_scatter.vjp("src")
def slice_scatter_vjp_src(grad, dim, start, end, step):
    return slice_view(grad, dim, start, end, step)


diagonal_scatter = native(
    "diagonal_scatter(Tensor input, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    methods=("diagonal_scatter",),
    doc="input with src as a diagonal.",
)


@diagonal_scatter.vjp("input")
def diagonal_scatter_vjp_input(grad, src_meta, offset, dim1, dim2):
    return diagonal_scatter(grad, grad.new_zeros(src_meta.shape), offset, dim1, dim2)


@diagonal_scatter.vjp("src")
def diagonal_scatter_vjp_src(grad, offset, dim1, dim2):
    return grad.diagonal(offset, dim1, dim2)


as_strided_scatter = native(
    "as_strided_scatter(Tensor input, Tensor src, int[] size, int[] stride, int? storage_offset=None) -> Tensor",
    methods=("as_strided_scatter",),
    doc="input with src written through as_strided(size, stride, storage_offset).",
)


@as_strided_scatter.vjp("input")
def as_strided_scatter_vjp_input(grad, src_meta, size, stride, storage_offset):
    return as_strided_scatter(
        grad.contiguous(), grad.new_zeros(src_meta.shape), size, stride, storage_offset
    )


@as_strided_scatter.vjp("src")
def as_strided_scatter_vjp_src(grad, size, stride, storage_offset):
    return grad.contiguous().as_strided(size, stride, storage_offset)


__all__ = [
    "as_strided_scatter", "diagonal_scatter", "gather", "scatter", "scatter_add", "scatter_reduce", "select_scatter",
    "slice_scatter",
]  # fmt: skip
