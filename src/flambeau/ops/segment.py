"""Reductions of consecutive segments of a dimension."""

import math

from .create import arange, full
from .join import cat
from .registry import composite
from .scatter import scatter_reduce
from .search import searchsorted
from .ternary import where

_KINDS = {
    "sum": ("sum", 0.0),
    "mean": ("sum", 0.0),
    "prod": ("prod", 1.0),
    "max": ("amax", -math.inf),
    "amax": ("amax", -math.inf),
    "min": ("amin", math.inf),
    "amin": ("amin", math.inf),
}


def _bounds(data, lengths, offsets, axis, unsafe):
    """Starts of the segments and, last, their end, along the last dimension."""
    if lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    given = offsets if offsets is not None else lengths
    if given.is_floating_point() or given.is_complex():
        raise NotImplementedError(
            f"segment_reduce(): expected integer lengths or offsets, got {given.dtype}"
        )
    if given.dim() - 1 != axis:
        raise RuntimeError(
            f"segment_reduce(): Expected axis to be the last dimension of lengths but got {axis}."
        )
    if offsets is not None:
        return offsets.long()
    lengths = lengths.long()
    if not unsafe and not data.is_meta:
        if (lengths < 0).any():
            raise RuntimeError("segment_reduce: lengths contains negative value!")
        if (lengths.sum(-1) != data.shape[axis]).any():
            raise RuntimeError(
                "segment_reduce(): Expected all rows of lengths along axis to sum to "
                "data.size(lengths.dim()-1) when !unsafe."
            )
    ends = lengths.cumsum(-1)
    return cat([ends.new_zeros((*ends.shape[:-1], 1)), ends], -1)


@composite()
def segment_reduce(
    data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None
):
    """Reduce consecutive segments of data along axis: sum, mean, prod, max or min of each.

    Args:
        data: floating point, shape (*batch, n, *rest).
        reduce: "sum", "mean", "prod", "max" or "min".
        lengths: integers, shape (*batch, segments); each row adds up to n unless unsafe.
        indices: not supported, as in PyTorch.
        offsets: starts of the segments and the end of the last one, shape (*batch, segments + 1); instead of lengths.
        axis: the dimension of n: the last one of lengths.
        unsafe: skip the checks of lengths.
        initial: what each segment starts from, and the result of an empty one; without it empty ones give 0, NaN, 1,
            -inf and inf.
    Returns:
        Shape (*batch, segments, *rest). Differentiable in data; equal extremes share the gradient.
    """
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if reduce not in _KINDS:
        raise RuntimeError(
            f"segment_reduce: reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    if not data.is_floating_point():
        raise NotImplementedError(f'"segment_reduce" not implemented for {data.dtype}')
    if not -data.dim() <= axis < data.dim():
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-data.dim()}, {data.dim() - 1}], but got {axis})"
        )
    axis %= data.dim()
    bounds = _bounds(data, lengths, offsets, axis, unsafe)
    return _reduced(data, reduce, bounds, axis, initial)


def _reduced(data, reduce, bounds, axis, initial):
    kind, neutral = _KINDS[reduce]
    batch, rest = data.shape[:axis], data.shape[axis + 1 :]
    segments = bounds.shape[-1] - 1
    positions = arange(data.shape[axis], device=data.device).expand(*batch, data.shape[axis])
    place = searchsorted(bounds.contiguous(), positions.contiguous(), right=True) - 1
    place = where(
        place < 0, segments, place
    )  # before the first segment, like after the last: dropped
    place = place.reshape(*place.shape, *[1] * len(rest)).expand(data.shape)
    start = neutral if initial is None or kind in ("amax", "amin") else float(initial)
    room = full((*batch, segments + 1, *rest), start, dtype=data.dtype, device=data.device)
    result = scatter_reduce(room, axis, place, data, kind).narrow(axis, 0, segments)
    if kind in ("amax", "amin") and initial is not None:
        # Not maximum(): the initial value takes no share of the gradient where it is equal.
        keep = (result >= initial) if kind == "amax" else (result <= initial)
        return where(keep | result.isnan(), result, initial)
    if reduce != "mean":
        return result
    count = (bounds.narrow(-1, 1, segments) - bounds.narrow(-1, 0, segments)).reshape(
        *batch, segments, *[1] * len(rest)
    )
    empty = math.nan if initial is None else float(initial)
    return where(count == 0, empty, result / count.clamp(min=1))


_segment_reduce = segment_reduce

__all__ = ["_segment_reduce", "segment_reduce"]
