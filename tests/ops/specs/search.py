"""Searching in sorted values, counting into bins, distinct values."""

import numpy as np

from flambeau.testing.opspec import FLOATING, Case, OpSpec, Sample


def int64(_):
    return "int64"


def searchsorted(edges, values, right=False):
    if edges.ndim == 1:
        return np.searchsorted(edges, values, side="right" if right else "left")
    return np.stack([searchsorted(e, v, right) for e, v in zip(edges, values, strict=True)])


def sorted_samples(draw):
    edges = np.sort(draw.array((6,)))
    for right in (False, True):
        yield Sample((edges, draw.array((3, 4))), {"right": right})
        yield Sample((np.sort(draw.array((2, 5)), 1), draw.array((2, 3))), {"right": right})
        yield Sample((edges, edges.copy()), {"right": right})


def bucket_samples(draw):
    edges = np.sort(draw.array((6,)))
    yield Sample((draw.array((3, 4)), edges), {})
    yield Sample((edges.copy(), edges), {"right": True})


def count_samples(draw):
    yield Sample((draw.index((20,), 6),), {})
    yield Sample((draw.index((20,), 6), draw.array((20,))), {})
    yield Sample((draw.index((4,), 6), None, 9), {})
    yield Sample((draw.index((0,), 6), None, 3), {})


def unique_samples(draw):
    for shape in ((12,), (3, 4), (0,), (100,)):
        yield Sample(
            (np.round(draw.array(shape)),), {"return_inverse": True, "return_counts": True}
        )


def unique(x, return_inverse, return_counts):
    values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    return values, inverse.reshape(x.shape), counts


def histogram(x, bins, range=None, density=False):
    counts, edges = np.histogram(x, bins, range, density=density)
    return counts.astype(x.dtype), edges


def histogram_samples(draw):
    yield Sample((draw.array((50,)), 5), {"range": (-3.0, 3.0)})
    yield Sample((draw.array((5, 10)), 7), {"range": (-1.0, 2.0), "density": True})
    yield Sample((draw.array((50,)), np.array([-2.0, -1.0, 0.5, 3.0])), {})


def isin_samples(draw):
    yield Sample((np.round(draw.array((3, 4))), np.round(draw.array((5,)))), {})
    yield Sample(
        (np.round(draw.array((3, 4))), np.round(draw.array((200,), 0, 3))), {"invert": True}
    )


SPECS = [
    OpSpec(
        "searchsorted",
        searchsorted,
        sorted_samples,
        grad=False,
        views=False,
        result_dtype=int64,
        errors=[Case(args=(np.zeros((2, 3)), np.zeros((3, 3))), match="boundaries tensor")],
    ),
    OpSpec(
        "bucketize",
        lambda x, edges, right=False: searchsorted(edges, x, right),
        bucket_samples,
        grad=False,
        views=False,
        result_dtype=int64,
        errors=[Case(args=(np.zeros(3), np.zeros((3, 3))), match="1 dimension")],
    ),
    OpSpec(
        "bincount",
        lambda x, weights=None, minlength=0: np.bincount(x, weights, minlength),
        count_samples,
        grad=False,
        views=False,
        meta=False,
        result_dtype=lambda d: None,
        errors=[
            Case(args=(np.array([-1]),), match="non-negative"),
            Case(args=(np.zeros((2, 2), np.int64),), match="1-d"),
            Case(args=(np.zeros(2),), match="not implemented"),
        ],
    ),
    OpSpec(
        "histc",
        lambda x, bins, low, high: np.histogram(x, bins, (low, high))[0].astype(x.dtype),
        lambda draw: [
            Sample((draw.array((40,)), 6, -2, 2), {}),
            Sample((draw.array((4, 5)), 3, -3, 3), {}),
        ],
        dtypes=FLOATING,
        grad=False,
        views=False,
        errors=[Case(args=(np.zeros(3), 0), match="bins")],
    ),
    OpSpec(
        "histogram",
        histogram,
        histogram_samples,
        grad=False,
        views=False,
        meta=False,
        k=8,
        errors=[Case(args=(np.zeros(3), 0), match="bins")],
    ),
    OpSpec(
        "unique",
        unique,
        unique_samples,
        dtypes=("int16", "int64", *FLOATING),
        grad=False,
        views=False,
        meta=False,
        result_dtype=lambda d: None,
        errors=[Case(args=(np.zeros(3),), kwargs={"dim": 1}, raises=IndexError, match="range")],
    ),
    OpSpec(
        "isin",
        lambda x, y, invert=False: np.isin(x, y, invert=invert),
        isin_samples,
        dtypes=("int64", *FLOATING),
        grad=False,
        views=False,
        result_dtype=lambda d: "bool",
        errors=[Case(args=(np.zeros(3, complex), np.zeros(3)), match="isin")],
    ),
]


def runs(x, return_inverse, return_counts):
    starts = np.flatnonzero(np.r_[True, x[1:] != x[:-1]])
    counts = np.diff(np.r_[starts, x.size])
    return x[starts], np.repeat(np.arange(starts.size), counts), counts


def run_samples(draw):
    yield Sample(
        (np.round(draw.array((30,), 0, 2)),), {"return_inverse": True, "return_counts": True}
    )


def histogramdd(x, bins, range=None, weight=None, density=False):
    bounds = None if range is None else np.reshape(range, (-1, 2))
    counts, edges = np.histogramdd(x, bins, bounds, density, weight)
    return counts.astype(x.dtype), list(edges)


def histogramdd_samples(draw):
    yield Sample((draw.array((40, 2)), [3, 4]), {"range": [-2.0, 2.0, -1.0, 3.0]})
    yield Sample((draw.array((40, 2)), [3, 2]), {"range": [-2.0, 2.0, -1.0, 3.0], "density": True})


SPECS += [
    OpSpec("unique_consecutive", runs, run_samples, dtypes=("int32", *FLOATING), meta=False, grad=False,
           errors=[Case(args=(np.zeros(2),), kwargs={"dim": 1}, raises=IndexError, match="out of range")]),
    OpSpec("histogramdd", histogramdd, histogramdd_samples, dtypes=FLOATING, meta=False, grad=False, method=False,
           k=16, errors=[Case(args=(np.zeros(3), [2]), match="2|dim")]),
]  # fmt: skip
