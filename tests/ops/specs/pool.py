"""Pooling."""

import itertools
from dataclasses import replace

import numpy as np

from flambeau.testing.opspec import HALVES, Case, OpSpec, Sample, case_samples, keep

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
        Case(args=(np.zeros((1,) * rank + (6,)), 2), kwargs={"padding": 2}, match="at most half"),
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


def flat_positions(n, reference):
    """Flat positions of the winners: the pool of an array of positions, ranked like the values."""

    def both(x, *arguments, **options):
        values = reference(x, *arguments, **options)
        places = np.zeros(values.shape, np.int64)
        rows, cells = x.reshape(*x.shape[:-n], -1), values.reshape(*values.shape[:-n], -1)
        flat = places.reshape(cells.shape)
        for at in np.ndindex(*rows.shape[:-1]):  # no ties: a value stands at one place
            order = np.argsort(rows[at])
            flat[at] = order[np.searchsorted(rows[at][order], cells[at])]
        return values, places

    return both


def lp(n):
    def reference(x, norm_type, kernel_size, stride=None, ceil_mode=False):
        power = lambda window, extent: (window**norm_type).sum(-1) ** (1 / norm_type)
        return pool(n, power)(x, kernel_size, stride, 0, 1, ceil_mode)

    return reference


def positive(*cases):
    return case_samples(*cases, low=0.2, high=2)


def unpool_samples(n):
    """Distinct indices, so that every value has a place of its own."""

    def samples(draw):
        pooled, full = {1: ((2, 3, 3), 6), 2: ((2, 1, 2, 2), 16), 3: ((1, 2, 2, 1, 2), 32)}[n]
        rows = int(np.prod(pooled[:2]))
        indices = np.stack(
            [draw.rng.permutation(full)[: int(np.prod(pooled[2:]))] for _ in range(rows)]
        )
        places = Sample((draw.array(pooled), keep(indices.reshape(pooled).astype(np.int64)), 2))
        yield places

    return samples


def unpool(n):
    def reference(x, indices, kernel_size, stride=None, padding=0):
        size = tuple(s * k for s, k in zip(x.shape[2:], each(kernel_size, n), strict=True))
        result = np.zeros((*x.shape[:2], int(np.prod(size))), x.dtype)
        np.put_along_axis(
            result, indices.reshape(*x.shape[:2], -1), x.reshape(*x.shape[:2], -1), -1
        )
        return result.reshape(*x.shape[:2], *size)

    return reference


def fractional(n):
    """Windows start at floor((i + u) alpha) - floor(u alpha), the last one at the end (Graham 2014, eq. 2)."""

    def starts(size, out, kernel, u):
        alpha = (size - kernel) / (out - 1) if out > 1 else 0.0
        places = [int((i + u) * alpha) - int(u * alpha) for i in range(out - 1)]
        return [*places, size - kernel]

    def reference(x, kernel_size, output_size, _random_samples):
        kernel, outs = each(kernel_size, n), each(output_size, n)
        result = np.zeros((*x.shape[:2], *outs), x.dtype)
        for b, c in np.ndindex(*x.shape[:2]):
            # The samples count dims from the last.
            axes = [
                starts(s, o, k, _random_samples[b, c, d if n == 3 else 1 - d])
                for d, (s, o, k) in enumerate(zip(x.shape[2:], outs, kernel, strict=True))
            ]
            for at in np.ndindex(*outs):
                where = tuple(slice(axes[d][at[d]], axes[d][at[d]] + kernel[d]) for d in range(n))
                result[(b, c, *at)] = x[(b, c, *where)].max()
        return result

    return reference


def fractional_samples(n):
    shape, out = ((2, 2, 7, 6), (3, 4)) if n == 2 else ((1, 2, 5, 6, 5), (2, 3, 2))

    def samples(draw):
        # A kept array: where the windows lie is no differentiable input, and half types would move them.
        places = keep(draw.rng.uniform(0, 1, (*shape[:2], n)).astype(draw.dtype))
        yield Sample((draw.spread(shape), 2, out), {"_random_samples": places})

    return samples


def spec(name, reference, samples, errors, **options):
    options = {"dtypes": DTYPES, "method": False, "inplace": False, **options}
    return OpSpec(f"nn.functional.{name}", reference, samples, errors=errors, **options)


ADAPTIVE = {
    1: spread(((2, 3, 7), (3,), {}), ((3, 6), (2,), {})),
    2: spread(((2, 3, 7, 5), ((3, 2),), {}), ((3, 6, 6), (2,), {})),
    3: spread(((1, 2, 4, 5, 4), ((2, 3, 2),), {})),
}
NEGATIVE_SIZE = {
    n: [Case(args=(np.zeros((1,) * 2 + (4,) * n), (-1,) * n), match="output_size|output size")]
    for n in (1, 2, 3)
}
LP = {
    1: positive(((2, 3, 7), 2, 3, 2), ((3, 6), 3, 2)),
    2: positive(((2, 3, 7, 6), 2, 3, 2), ((1, 2, 5, 4), 3, (2, 1))),
    3: positive(((1, 2, 4, 5, 4), 2, 2)),
}
SAMPLES = {1: MAX_1D, 2: MAX_2D, 3: MAX_3D}

for n in (1, 2, 3):
    winners = flat_positions(n, pool(n, largest))
    adaptive_winners = flat_positions(n, adaptive(n, largest))
    # float16 and bfloat16 would round distinct values to ties.
    distinct = {"dtypes": ("float32", "float64"), "views": False}
    SPECS += [
        spec(f"max_pool{n}d_with_indices", winners, SAMPLES[n], errors("max_pool", n + 1), **distinct),
        spec(f"adaptive_max_pool{n}d_with_indices", adaptive_winners, ADAPTIVE[n], NEGATIVE_SIZE[n],
             **distinct),
        spec(f"lp_pool{n}d", lp(n), LP[n], [Case(args=(np.zeros((1,) * n), 2, 2), match="avg_pool")], k=16, floor=64,
             dtypes=("float32", "float64")),
        spec(f"max_unpool{n}d", unpool(n), unpool_samples(n),
             [Case(args=(np.zeros((1, 1) + (2,) * n), np.full((1, 1) + (2,) * n, 99), 2), match="index|indices")],
             meta=False),
        OpSpec(f"max_pool{n}d_with_indices", winners, SAMPLES[n], method=False, out=False,
               errors=errors("max_pool", n + 1), **distinct),
    ]  # fmt: skip
    if n > 1:
        SPECS += [
            spec(f"fractional_max_pool{n}d", fractional(n), fractional_samples(n),
                 [Case(args=(np.zeros((1, 1) + (4,) * n), 2), raises=ValueError,
                       match="requires specifying either an output_size or an output_ratio")],
                 dtypes=("float32", "float64")),
            spec(f"fractional_max_pool{n}d_with_indices", flat_positions(n, fractional(n)),
                 fractional_samples(n),
                 [Case(args=(np.zeros((1, 1) + (4,) * n), 2), raises=ValueError,
                       match="requires specifying either an output_size or an output_ratio")],
                 **distinct),
        ]  # fmt: skip

SPECS += [
    spec("adaptive_avg_pool1d", adaptive(1, lambda w, _: w.mean(-1)), ADAPTIVE[1], NEGATIVE_SIZE[1], floor=64),
    spec("adaptive_avg_pool3d", adaptive(3, lambda w, _: w.mean(-1)), ADAPTIVE[3], NEGATIVE_SIZE[3], floor=64),
    spec("adaptive_max_pool1d", adaptive(1, largest), ADAPTIVE[1], NEGATIVE_SIZE[1]),
    spec("adaptive_max_pool3d", adaptive(3, largest), ADAPTIVE[3], NEGATIVE_SIZE[3]),
]  # fmt: skip

BY_NAME = {spec.name: spec for spec in SPECS}
# The top level has the low-level forms.
SPECS += [
    replace(BY_NAME[f"nn.functional.max_pool{n}d"], name=f"max_pool{n}d", method=False) for n in (1, 2, 3)
] + [
    replace(BY_NAME["nn.functional.adaptive_max_pool1d_with_indices"], name="adaptive_max_pool1d"),
]  # fmt: skip
UNPOOL_SIZES = {2: (4, 4), 3: (4, 2, 4)}


def sized_unpool(n):
    def samples(draw):
        for sample in unpool_samples(n)(draw):
            x, indices, _ = sample.args
            strides = () if n == 2 else ((2, 2, 2), (0, 0, 0))
            yield Sample((x, indices, UNPOOL_SIZES[n], *strides))

    return OpSpec(
        f"max_unpool{n}d",
        lambda x, indices, size, *_: unpool(n)(x, indices, 2),
        samples,
        method=False,
        meta=False,
        errors=[
            Case(
                args=(np.zeros((1, 1) + (2,) * n), np.zeros((1, 1) + (2,) * n, np.int64), (4,)),
                match="output_size",
            )
        ],
    )


SPECS += [sized_unpool(n) for n in UNPOOL_SIZES]
