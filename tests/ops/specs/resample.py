"""Resampling of images."""

import itertools
import warnings

import numpy as np
import scipy.ndimage

import flambeau
from flambeau.testing.opspec import HALVES, Case, OpSpec, Sample, case_samples

DTYPES = ("float32", "float64", *HALVES)
# Positions are computed in the dtype itself: an error of one unit there moves a weight by size * eps.
POSITIONS = 32


def axis_weights(size, out, mode, align_corners, scale):
    """(out, size) matrix of one axis, by PyTorch's formulas."""
    if align_corners:
        ratio = (size - 1) / (out - 1) if out > 1 else 0.0
    else:
        ratio = 1 / scale if scale else size / out
    matrix = np.zeros((out, size))
    for o in range(out):
        if mode == "nearest":
            matrix[o, min(int(o * ratio), size - 1)] = 1
        elif mode == "nearest-exact":
            matrix[o, min(int((o + 0.5) * ratio), size - 1)] = 1
        else:
            x = o * ratio if align_corners else (o + 0.5) * ratio - 0.5
            if mode == "bicubic":
                base, a = int(np.floor(x)), -0.75
                for j in range(-1, 3):
                    d = abs(x - base - j)
                    w = (
                        ((a + 2) * d - (a + 3)) * d * d + 1
                        if d <= 1
                        else ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
                    )
                    matrix[o, np.clip(base + j, 0, size - 1)] += w
            else:
                x = max(x, 0.0)
                base = min(int(x), size - 1)
                matrix[o, base] += 1 - (x - base)
                matrix[o, min(base + 1, size - 1)] += x - base
    return matrix


def interpolate(x, size=None, scale_factor=None, mode="nearest", align_corners=None):
    n = x.ndim - 2
    scales = [None] * n
    if size is None:
        scales = [float(scale_factor)] * n
        size = [int(s * f) for s, f in zip(x.shape[2:], scales, strict=True)]
    size = [size] * n if isinstance(size, int) else size
    for d in range(n):
        matrix = axis_weights(x.shape[2 + d], size[d], mode, bool(align_corners), scales[d])
        x = np.moveaxis(np.tensordot(matrix, x, (1, 2 + d)), 0, 2 + d)
    return x


def interpolate_samples(draw):
    yield Sample((draw.array((2, 3, 5)), 8), {"mode": "linear"})
    yield Sample((draw.array((2, 3, 5, 4)), (3, 8)), {"mode": "nearest"})
    yield Sample((draw.array((1, 2, 5, 4)), (7, 7)), {"mode": "nearest-exact"})
    yield Sample((draw.array((2, 3, 4, 5)),), {"scale_factor": 2, "mode": "bilinear"})
    yield Sample((draw.array((1, 2, 4, 5)), (7, 3)), {"mode": "bilinear", "align_corners": True})
    yield Sample((draw.array((1, 2, 4, 5)), (7, 9)), {"mode": "bicubic", "align_corners": False})
    yield Sample((draw.array((1, 2, 2, 3, 2)), (3, 4, 5)), {"mode": "trilinear"})


def grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    result = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    n = x.ndim - 2
    for b, c in itertools.product(range(x.shape[0]), range(x.shape[1])):
        places = []
        for d in range(n):
            size, t = x.shape[2 + d], grid[b, ..., n - 1 - d]
            places.append((t + 1) / 2 * (size - 1) if align_corners else ((t + 1) * size - 1) / 2)
        if padding_mode == "border":
            places = [np.clip(p, 0, s - 1) for p, s in zip(places, x.shape[2:], strict=True)]
        padded = np.pad(x[b, c], 4)
        result[b, c] = scipy.ndimage.map_coordinates(
            padded, [p + 4 for p in places], order=1, mode="constant"
        )
    return result


def grid_samples(draw):
    for padding in ("zeros", "border"):
        for corners in (False, True):
            options = {"padding_mode": padding, "align_corners": corners}
            yield Sample((draw.array((2, 3, 5, 4)), draw.array((2, 3, 6, 2), -1.2, 1.2)), options)
    yield Sample(
        (draw.array((1, 2, 3, 4, 3)), draw.array((1, 2, 2, 3, 3), -1.2, 1.2)),
        {"align_corners": False},
    )


def affine_grid(theta, size, align_corners):
    axes = []
    for s in size[2:]:
        steps = np.linspace(-1, 1, s) if s > 1 else np.zeros(1)
        axes.append(steps if align_corners else steps * (s - 1) / s)
    mesh = np.meshgrid(*axes, indexing="ij")
    base = np.stack([*mesh[::-1], np.ones(size[2:])], -1)
    return np.einsum("...j,nij->n...i", base, theta)


SPECS = [
    OpSpec(
        "nn.functional.interpolate",
        interpolate,
        interpolate_samples,
        dtypes=DTYPES,
        floor=POSITIONS,
        errors=[
            Case(args=(np.zeros((1, 1, 4, 4)),), raises=ValueError, match="size or scale_factor"),
            Case(
                args=(np.zeros((1, 1, 4)), 5),
                kwargs={"mode": "bilinear"},
                raises=NotImplementedError,
                match="bilinear mode needs 4D input",
            ),
            Case(args=(np.zeros((1, 1, 4, 4)), 0), match="greater than 0"),
        ],
    ),
    OpSpec(
        "nn.functional.grid_sample",
        grid_sample,
        grid_samples,
        dtypes=("float32", "float64"),
        floor=POSITIONS,
        errors=[
            Case(
                args=(np.zeros((1, 1, 4, 4)), np.zeros((2, 3, 3, 2))),
                kwargs={"align_corners": False},
                match="batch size",
            ),
            Case(
                args=(np.zeros((1, 1, 4, 4)), np.zeros((1, 3, 3, 3))),
                kwargs={"align_corners": False},
                match="last dimension",
            ),
        ],
    ),
    OpSpec(
        "nn.functional.affine_grid",
        affine_grid,
        case_samples(
            ((2, 2, 3), (2, 1, 3, 4), {"align_corners": False}),
            ((1, 3, 4), (1, 1, 2, 3, 2), {"align_corners": True}),
        ),
        dtypes=("float32", "float64"),
        floor=16,
        errors=[
            Case(
                args=(np.zeros((1, 2, 2)), (1, 1, 2, 2)),
                kwargs={"align_corners": False},
                raises=ValueError,
                match="affine",
            )
        ],
    ),
]


# ---- the low-level forms ----

MODES = {
    "nearest": "nearest",
    "nearest_exact": "nearest-exact",
    "linear": "linear",
    "bilinear": "bilinear",
    "trilinear": "trilinear",
    "bicubic": "bicubic",
}


def upsample(name, dims):
    """upsample_<mode><dims>d(input, output_size[, align_corners]); one of the two ways to say the size must be None."""
    mode, smooth = MODES[name], not name.startswith("nearest")
    sizes = (7, 3, 5)[:dims]

    def reference(x, output_size, align_corners=False, scale_factors=None):
        if scale_factors is not None:
            return interpolate(x, None, scale_factors[0], mode, align_corners)
        return interpolate(x, sizes, None, mode, align_corners)

    def samples(draw):
        x = draw.array((2, 2, 4, 5, 3)[: dims + 2])
        yield Sample((x, sizes, False) if smooth else (x, sizes))
        yield Sample((x, None), {"scale_factors": [2.0] * dims})
        if smooth:
            yield Sample((x, sizes, True))

    shape = (1, 1, *(4,) * dims)
    return OpSpec(
        f"upsample_{name}{dims}d",
        reference,
        samples,
        dtypes=DTYPES,
        floor=POSITIONS,
        errors=[
            Case(
                args=(np.zeros(shape), None), match="exactly one of output_size and scale_factors"
            ),
            Case(args=(np.zeros(shape[1:]), (2,) * dims), match="expected input with"),
        ],
    )


def antialiased(name, kernel, support):
    """Each output is the weighted mean of the inputs under a kernel as wide as the step (Pillow's rule)."""

    def matrix(size, out):
        scale = size / out
        width = max(scale, 1.0)
        centres = (np.arange(out) + 0.5) * scale
        weights = np.zeros((out, size))
        for o, centre in enumerate(centres):
            first = max(int(centre - support * width + 0.5), 0)
            last = min(int(centre + support * width + 0.5), size)
            places = np.arange(first, last)
            weights[o, first:last] = kernel((places + 0.5 - centre) / width)
        return weights / weights.sum(1, keepdims=True)

    def reference(x, output_size, align_corners=False):
        for d, out in enumerate(output_size):
            x = np.moveaxis(np.tensordot(matrix(x.shape[2 + d], out), x, (1, 2 + d)), 0, 2 + d)
        return x

    return OpSpec(
        f"upsample_{name}2d_aa",
        reference,
        case_samples(((2, 2, 9, 7), (4, 3), False), ((1, 2, 4, 5), (6, 5), False)),
        dtypes=("float32", "float64"),
        floor=POSITIONS,
        errors=[
            Case(
                args=(np.zeros((1, 1, 4, 4)), None),
                match="exactly one of output_size and scale_factors",
            )
        ],
    )


def triangle(t):
    return np.maximum(1 - np.abs(t), 0)


def cubic(t):
    """Keys' kernel with a = -0.5."""
    t = np.abs(t)
    near = (1.5 * t - 2.5) * t * t + 1
    far = ((-0.5 * t + 2.5) * t - 4) * t + 2
    return np.where(t < 1, near, np.where(t < 2, far, 0))


def old_upsample(name, reference, samples):
    return OpSpec(
        f"nn.functional.{name}",
        reference,
        samples,
        dtypes=("float32", "float64"),
        floor=POSITIONS,
        function=quiet(name),
        errors=[
            Case(args=(np.zeros((1, 1, 4, 4)),), raises=ValueError, match="size or scale_factor")
        ],
    )


def quiet(name):
    """They are deprecated, and say so: tests/nn."""

    def call(*args, **kwargs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return getattr(flambeau.nn.functional, name)(*args, **kwargs)

    return call


def grid_sampler(x, grid, interpolation_mode, padding_mode, align_corners):
    return grid_sample(x, grid, "bilinear", ("zeros", "border")[padding_mode], align_corners)


def grid_sampler_samples(dims):
    def samples(draw):
        shape, grid = (
            ((2, 3, 5, 4), (2, 3, 6, 2)) if dims == 2 else ((1, 2, 3, 4, 3), (1, 2, 2, 3, 3))
        )
        for padding in (0, 1):
            for corners in (False, True):
                yield Sample((draw.array(shape), draw.array(grid, -1.2, 1.2), 0, padding, corners))

    return samples


def grid_sampler_spec(name, dims):
    x, grid = np.zeros((1, 1) + (4,) * dims), np.zeros((2, *(3,) * dims, dims))
    return OpSpec(
        name,
        grid_sampler,
        grid_sampler_samples(dims),
        dtypes=("float32", "float64"),
        floor=POSITIONS,
        errors=[Case(args=(x, grid, 0, 0, False), match="batch size")],
    )


SPECS += [
    *(upsample("nearest", n) for n in (1, 2, 3)),
    *(upsample("nearest_exact", n) for n in (1, 2, 3)),
    upsample("linear", 1),
    upsample("bilinear", 2),
    upsample("trilinear", 3),
    upsample("bicubic", 2),
    antialiased("bilinear", triangle, 1),
    antialiased("bicubic", cubic, 2),
    old_upsample("upsample", interpolate, interpolate_samples),
    old_upsample(
        "upsample_nearest",
        interpolate,
        case_samples(((2, 3, 5, 4), (3, 8)), ((1, 2, 5, 4), None, 2)),
    ),
    old_upsample(
        "upsample_bilinear",
        lambda x, size=None, scale_factor=None: interpolate(
            x, size, scale_factor, "bilinear", True
        ),
        case_samples(((2, 3, 5, 4), (3, 8))),
    ),
    grid_sampler_spec("grid_sampler", 2),
    grid_sampler_spec("grid_sampler_2d", 2),
    grid_sampler_spec("grid_sampler_3d", 3),
]
