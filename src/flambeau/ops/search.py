"""Searching in sorted values, counting into bins, and distinct values."""

from operator import itemgetter

from .. import _C
from .registry import composite, native, overload

__all__ = [
    "bincount",
    "bucketize",
    "equal",
    "histc",
    "histogram",
    "histogramdd",
    "isin",
    "searchsorted",
    "unique",
    "unique_consecutive",
]

_DISCRETE = "positions and counts are integers"

searchsorted = native(
    "searchsorted(Tensor sorted_sequence, Tensor input, *, bool out_int32=False, bool right=False, str? side=None, "
    "Tensor? sorter=None) -> Tensor",
    out=True,
    non_differentiable=_DISCRETE,
    doc="""Positions at which input would be inserted into sorted_sequence (last dim) to keep it sorted.

    Args:
        sorted_sequence: 1-d, or of input's leading dims.
        input: a tensor or a number.
        right: the last suitable position instead of the first; the same as side="right".
        sorter: positions that sort sorted_sequence, if it is not sorted.
    Returns:
        int64 positions (int32 if out_int32) of input's shape.
    """,
)
bucketize_tensor = native(
    "bucketize(Tensor input, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
    out=True,
    non_differentiable=_DISCRETE,
    doc="Index of the bucket between sorted 1-d boundaries that each element falls into.",
)


def _bucketize_number(input, boundaries, *, out_int32=False, right=False, out=None):
    extra = {} if out is None else {"out": out}
    return searchsorted(boundaries, input, out_int32=out_int32, right=right, **extra)


bucketize = overload("bucketize", bucketize_tensor, _bucketize_number)
bincount = native(
    "bincount(Tensor input, Tensor? weights=None, int minlength=0) -> Tensor",
    methods=("bincount",),
    non_differentiable=_DISCRETE,
    doc="Number (or sum of weights) of each value of a 1-d tensor of non-negative integers.",
)
histc = native(
    "histc(Tensor input, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
    methods=("histc",),
    out=True,
    non_differentiable=_DISCRETE,
    doc="Counts in equal bins from min to max (of the data if both are 0); elements outside are not counted.",
)
_histogram_count = native(
    "_histogram_count(Tensor input, Tensor[] edges, Tensor? weight=None) -> Tensor",
    non_differentiable=_DISCRETE,
    doc="Counts (or sums of weights) of points (n, dims) in the bins between sorted edges, one list per dim.",
)


def _outer_edges(points, dims, range):
    """(low, high) per dim: given, or of the data; an empty span is widened by one half each way."""
    from math import isfinite

    if range is not None:
        if len(range) != 2 * dims:
            raise RuntimeError(
                f"histogramdd: for a {dims}-dimensional histogram range should have {2 * dims} elements, "
                f"but got {len(range)}"
            )
        spans = [(range[2 * d], range[2 * d + 1]) for d in list_range(dims)]
    elif points.numel() == 0:
        spans = [(0.0, 1.0)] * dims
    else:
        low, high = points.amin(0).tolist(), points.amax(0).tolist()
        spans = list(zip(low, high, strict=True))
    for low, high in spans:
        if not (isfinite(low) and isfinite(high)):
            raise RuntimeError(
                f"torch.histogramdd: dimension's range [{low}, {high}] is not finite"
            )
        if low > high:
            raise RuntimeError("torch.histogramdd: min should not exceed max")
    return [(low - 0.5, high + 0.5) if low == high else (low, high) for low, high in spans]


list_range = range


def _pair_type(name):
    """A named pair made of one sequence, as PyTorch's result types are."""
    fields = {
        "hist": property(itemgetter(0)),
        "bin_edges": property(itemgetter(1)),
        "__slots__": (),
        "__reduce__": lambda self: (_pair, (name, tuple(self))),
    }
    return type(name, (tuple,), {**fields, "__module__": "torch.return_types"})


def _pair(name, values):
    return {"histogram": _Histogram, "histogramdd": _HistogramDd}[name](values)


_Histogram = _pair_type("histogram")
_HistogramDd = _pair_type("histogramdd")


def _edges(points, bins, range):
    from .create import linspace

    dims = points.shape[1]
    if isinstance(bins, int):
        bins = [bins] * dims
    if len(bins) != dims:
        raise RuntimeError(
            f"histogramdd: expected {dims} sequences of bin edges or counts, got {len(bins)}"
        )
    if all(isinstance(count, int) for count in bins):
        for count in bins:
            if count <= 0:
                raise RuntimeError(f"torch.histogramdd(): bins must be > 0, but got {count}")
        spans = _outer_edges(points, dims, range)
        return [
            linspace(low, high, n + 1, dtype=points.dtype)
            for (low, high), n in zip(spans, bins, strict=True)
        ]
    if range is not None:
        raise TypeError(
            "histogram: expected range only with a number of bins, got range with bin edges."
        )
    return list(bins)


def _density(counts, edges):
    """Counts over their sum and the volume of their bin."""
    counts = counts / counts.sum()
    for d, edge in enumerate(edges):
        widths = edge[1:] - edge[:-1]
        counts = counts / widths.reshape([-1 if i == d else 1 for i in list_range(counts.dim())])
    return counts


def _histogram(input, bins, range, weight, density):
    if input.dim() < 2:
        raise RuntimeError(
            f"torch.histogramdd: input tensor should have at least 2 dimensions, but got {input.dim()}"
        )
    points = (
        input.reshape(-1, input.shape[-1]) if input.numel() else input.reshape(0, input.shape[-1])
    )
    if weight is not None:
        if weight.shape != input.shape[:-1]:
            raise RuntimeError(
                f"torch.histogramdd(): if weight tensor is provided it should have the same shape as the input tensor "
                f"excluding its innermost dimension, but got input with shape {list(input.shape)} and weight with "
                f"shape {list(weight.shape)}"
            )
        if weight.dtype != input.dtype:
            raise RuntimeError(
                "torch.histogramdd(): if weight tensor is provided, input tensor and weight tensor should have the "
                "same dtype"
            )
        weight = weight.reshape(-1)
    edges = _edges(points.detach(), bins, range)
    counts = _histogram_count(points, edges, weight)
    return (_density(counts, edges) if density else counts), edges


@composite(methods=("histogram",), out=True)
def histogram(input, bins=100, *, range=None, weight=None, density=False):
    """Histogram of all elements over `bins` equal bins of range, or between given bin edges.

    Returns:
        hist and bin_edges, both of input's dtype; elements outside are not counted, the last edge is inside.
    """
    edges = [bins] if not isinstance(bins, (int, list, tuple)) else bins
    if weight is not None and weight.shape != input.shape:
        raise RuntimeError(
            f"histogram: expected weight of input's shape, got {list(weight.shape)} and {list(input.shape)}."
        )
    counts, edges = _histogram(
        input.reshape(-1, 1), edges, range, None if weight is None else weight.reshape(-1), density
    )
    return _Histogram((counts, edges[0]))


@composite
def histogramdd(input, bins, range=None, weight=None, density=False):
    """Histogram of points (..., dims) in dims dimensions; see histogram.

    Args:
        bins: number of bins, for all dims or per dim, or a list of edges per dim.
    """
    counts, edges = _histogram(input, bins, range, weight, density)
    return _HistogramDd((counts, edges))


_THREE = "-> (Tensor output, Tensor inverse_indices, Tensor counts)"
_unique2 = native(
    f"_unique2(Tensor input, bool sorted=True, bool return_inverse=False, bool return_counts=False) {_THREE}",
    non_differentiable="the result's size depends on the values",
    doc="Distinct elements, where each element went, and how often it came.",
)
unique_dim = native(
    "unique_dim(Tensor input, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) "
    f"{_THREE}",
    non_differentiable="the result's size depends on the values",
    doc="Distinct slices along dim, in lexical order.",
)
_unique_consecutive = native(
    f"unique_consecutive(Tensor input, bool return_inverse=False, bool return_counts=False, int? dim=None) {_THREE}",
    non_differentiable="the result's size depends on the values",
    doc="First of every run of equal elements (or slices along dim).",
)


def _chosen(three, inverse, counts):
    chosen = [three[0]]
    if inverse:
        chosen.append(three[1])
    if counts:
        chosen.append(three[2])
    return chosen[0] if len(chosen) == 1 else tuple(chosen)


@composite(methods=("unique",))
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """Distinct elements in ascending order, or distinct slices along dim in lexical order.

    Args:
        return_inverse: also give, for each element of input, its position in the result.
        return_counts: also give how often each came.
    """
    if dim is None:
        three = _unique2(input, sorted, return_inverse, return_counts)
    else:
        three = unique_dim(input, dim, sorted, return_inverse, return_counts)
    return _chosen(three, return_inverse, return_counts)


@composite(methods=("unique_consecutive",))
def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The first of every run of equal elements (or slices along dim); see unique."""
    return _chosen(
        _unique_consecutive(input, return_inverse, return_counts, dim),
        return_inverse,
        return_counts,
    )


equal = native(
    "equal(Tensor input, Tensor other) -> bool",
    methods=("equal",),
    non_differentiable=_DISCRETE,
    doc="Same shape and same elements? NaN differs from itself.",
)


@composite(out=True)
def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """For each of elements: is it among test_elements? Both may be numbers (not at once)."""
    from .create import tensor

    if not hasattr(elements, "dim"):
        elements = tensor(elements)
    if not hasattr(test_elements, "dim"):
        test_elements = tensor(test_elements)
    if elements.is_complex() or test_elements.is_complex():
        raise RuntimeError(
            "isin: Unsupported input type encountered for isin(): complex dtypes have no order"
        )
    flat = test_elements.reshape(-1)
    if elements.numel() == 0 or flat.numel() == 0:
        found = elements.new_zeros(elements.shape, dtype=_C.bool)
    elif flat.numel() < 64:
        found = (elements.unsqueeze(-1) == flat).any(-1)
    else:
        common = (elements.new_empty(()) + flat.new_empty(())).dtype
        ordered = flat.to(common).sort()[0]
        values = elements.to(common).contiguous()
        at = searchsorted(ordered, values).clamp_max(flat.numel() - 1)
        found = ordered[at] == values
    return found.logical_not() if invert else found
