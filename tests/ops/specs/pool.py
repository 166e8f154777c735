"""Pooling."""

import itertools

import numpy as np

from flambeau.testing.opspec import HALVES, Case, OpSpec, Sample

DTYPES = ("float32", "float64", *HALVES)


def each(value, n):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * n


def out_size(size, kernel, stride, padding, dilation, ceil_mode):
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    out = -(-room // stride) + 1 if ceil_mode else room // stride + 1
    return out - 1 if ceil_mode and (out - 1) * stride >= size + padding else out


def windows(x, kernel, stride, padding, dilation, ceil_mode):
    """(output position, input slices, padded extents) of every window of the trailing dims."""
    n = len(kernel)
    sizes = x.shape[-n:]
    outs = [
        out_size(*arguments, ceil_mode)
        for arguments in zip(sizes, kernel, stride, padding, dilation, strict=True)
    ]
    for at in itertools.product(*(range(o) for o in outs)):
        slices, extent = [], 1
        for o, size, k, s, p, d in zip(at, sizes, kernel, stride, padding, dilation, strict=True):
            start = o * s - p
            places = [start + i * d for i in range(k)]
            slices.append([q for q in places if 0 <= q < size])
            extent *= min(start + k, size + p) - start
        yield at, outs, slices, extent


def pool(n, combine):
    def reference(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, **options):
        kernel = each(kernel_size, n)
        stride = kernel if stride is None else each(stride, n)
        result = None
        for at, outs, slices, extent in windows(
            x, kernel, stride, each(padding, n), each(dilation, n), ceil_mode
        ):
            if result is None:
                result = np.zeros((*x.shape[:-n], *outs), x.dtype)
            window = x[(..., *np.ix_(*slices))].reshape((*x.shape[:-n], -1))
            result[(..., *at)] = combine(window, extent, **options)
        return result

    return reference


def largest(window, extent):
    return window.max(-1)


def mean(window, extent, count_include_pad=True, divisor_override=None):
    count = divisor_override or (extent if count_include_pad else window.shape[-1])
    return window.sum(-1) / count


def avg(n):
    reference = pool(n, mean)

    def average(x, kernel_size, stride=None, padding=0, ceil_mode=False, **options):
        return reference(x, kernel_size, stride, padding, 1, ceil_mode, **options)

    return average


def adaptive(n, combine):
    def reference(x, output_size):
        sizes, outs = x.shape[-n:], each(output_size, n)
        result = np.zeros((*x.shape[:-n], *outs), x.dtype)
        for at in itertools.product(*(range(o) for o in outs)):
            where = tuple(
                slice(a * s // o, -(-(a + 1) * s // o))
                for a, s, o in zip(at, sizes, outs, strict=True)
            )
            result[(..., *at)] = combine(x[(..., *where)].reshape((*x.shape[:-n], -1)), -1)
        return result

    return reference


def spread(*cases):
    """Samples without near ties, so that the winner of a window does not move."""
    return lambda draw: [
        Sample((draw.spread(shape), *arguments), kwargs) for shape, arguments, kwargs in cases
    ]


def errors(name, rank):
    return [
        Case(args=(np.zeros((1,) * (rank - 1)), 2), match=name),
        Case(args=(np.zeros((1,) * rank + (6,)), 2), kwargs={"padding": 2}, match=""),
    ]


MAX_1D = spread(((2, 3, 7), (3,), {"stride": 2, "padding": 1}), ((3, 6), (2,), {}))
MAX_2D = spread(
    ((2, 3, 7, 6), (3, 2, 1), {}),
    ((3, 6, 7), ((2, 3),), {"ceil_mode": True}),
    ((1, 2, 8, 9), (2,), {"stride": 1, "dilation": 2}),
    ((1, 1, 20, 40), (3,), {"stride": 2, "padding": 1}),
)
MAX_3D = spread(((1, 2, 4, 5, 4), (2,), {"stride": 1, "padding": 1}))
AVG_2D = spread(
    ((2, 3, 7, 6), (3, 2, 1), {}),
    ((2, 3, 7, 6), (3, 2, 1), {"count_include_pad": False, "ceil_mode": True}),
    ((3, 6, 7), ((2, 3),), {"divisor_override": 5}),
)

SPECS = [
    OpSpec(
        "nn.functional.max_pool1d",
        pool(1, largest),
        MAX_1D,
        dtypes=DTYPES,
        errors=errors("max_pool1d", 2),
    ),
    OpSpec(
        "nn.functional.max_pool2d",
        pool(2, largest),
        MAX_2D,
        dtypes=DTYPES,
        errors=errors("max_pool2d", 3),
    ),
    OpSpec(
        "nn.functional.max_pool3d",
        pool(3, largest),
        MAX_3D,
        dtypes=DTYPES,
        errors=errors("max_pool3d", 4),
    ),
    OpSpec(
        "nn.functional.avg_pool1d",
        avg(1),
        spread(((2, 3, 7), (3, 2, 1), {})),
        dtypes=DTYPES,
        floor=16,
        errors=errors("avg_pool1d", 2),
    ),
    OpSpec(
        "nn.functional.avg_pool2d",
        avg(2),
        AVG_2D,
        dtypes=DTYPES,
        floor=16,
        errors=errors("avg_pool2d", 3),
    ),
    OpSpec(
        "nn.functional.avg_pool3d",
        avg(3),
        spread(((1, 2, 4, 5, 4), (2,), {})),
        dtypes=DTYPES,
        floor=16,
        errors=errors("avg_pool3d", 4),
    ),
    OpSpec(
        "nn.functional.adaptive_avg_pool2d",
        adaptive(2, lambda window, _: window.mean(-1)),
        spread(((2, 3, 7, 5), ((3, 2),), {}), ((2, 3, 7, 7), (1,), {})),
        dtypes=DTYPES,
        floor=64,
        errors=[Case(args=(np.zeros((1, 1, 4, 4)), (-1, 2)), match="output_size")],
    ),
    OpSpec(
        "nn.functional.adaptive_max_pool2d",
        adaptive(2, largest),
        spread(((2, 3, 7, 5), ((3, 2),), {})),
        dtypes=DTYPES,
        errors=[Case(args=(np.zeros((1, 1, 4, 4)), (-1, 2)), match="output_size")],
    ),
]
