"""Order along a dim: sort, topk, kthvalue, medians and mode."""

from .reduce import _shared_among, scatter_selected
from .registry import composite, native, overload

__all__ = ["argsort", "kthvalue", "median", "mode", "msort", "nanmedian", "sort", "topk"]

sort = native(
    "sort(Tensor input, int dim=-1, bool descending=False, *, bool? stable=None) -> (Tensor values, Tensor indices)",
    methods=("sort",),
    return_type="sort",
    out=True,
    doc="""Sort along dim; also the positions in input.

    Args:
        descending: largest first.
        stable: keep the order of equal elements; always so here.
    Returns:
        values, and int64 indices with values = input.gather(dim, indices). NaN is larger than every number.
    Differentiable in input.
    Example:
        >>> sort(tensor([3.0, 1.0, 2.0])).indices
        tensor([1, 2, 0])
    """,
)


def _scatter_all(grad, indices, shape, dim):
    return grad if not shape else grad.new_zeros(shape).scatter(dim, indices, grad)


@sort.vjp
def _(grad_values, indices, input_meta, dim):
    return _scatter_all(grad_values, indices, input_meta.shape, dim)


@composite(methods=("argsort",))
def argsort(input, dim=-1, descending=False, *, stable=False):
    """Positions that sort input along dim."""
    return sort(input, dim, descending, stable=stable)[1]


@composite(methods=("msort",), out=True)
def msort(input):
    """Sort along the first dim."""
    return sort(input, 0)[0] if input.dim() else input.clone()


topk = native(
    "topk(Tensor input, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)",
    methods=("topk",),
    return_type="topk",
    out=True,
    doc="The k largest (or smallest) elements along dim in order, and their positions. NaN is the largest.",
)


@topk.vjp
def _(grad_values, indices, input_meta, dim):
    return _scatter_all(grad_values, indices, input_meta.shape, dim)


kthvalue = native(
    "kthvalue(Tensor input, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
    methods=("kthvalue",),
    return_type="kthvalue",
    out=True,
    doc="The k-th smallest element along dim (k counts from 1), and its position.",
)
mode = native(
    "mode(Tensor input, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
    methods=("mode",),
    return_type="mode",
    out=True,
    doc="The most frequent element along dim (the smallest of several), and a position of it.",
)
median_all = native(
    "median_all(Tensor input) -> Tensor", doc="Lower median of all elements; NaN if there is one."
)
median_dim = native(
    "median_dim(Tensor input, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    return_type="median",
    out=True,
    doc="Lower median along dim and its position; NaN if there is one.",
)
nanmedian_all = native(
    "nanmedian_all(Tensor input) -> Tensor", doc="Lower median of the elements that are not NaN."
)
nanmedian_dim = native(
    "nanmedian_dim(Tensor input, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    return_type="nanmedian",
    out=True,
    doc="Lower median along dim of the elements that are not NaN, and its position.",
)
median = overload("median", median_all, median_dim, methods=("median",))
nanmedian = overload("nanmedian", nanmedian_all, nanmedian_dim, methods=("nanmedian",))

for _op in (kthvalue, mode, median_dim, nanmedian_dim):

    @_op.vjp
    def _(grad_values, indices, input_meta, dim, keepdim):
        return scatter_selected(grad_values, indices, input_meta.shape, dim, keepdim)


for _op in (median_all, nanmedian_all):

    @_op.vjp
    def _(grad, result, input):
        return _shared_among(grad, result, input, None, False)
