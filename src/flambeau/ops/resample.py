"""Resampling of images: the upsample family and grid_sampler. interpolate and grid_sample are in nn.functional."""

import itertools
import math

from .. import _C
from .recompute import recomputed_vjp
from .registry import composite, native

__all__ = [
    "grid_sampler",
    "grid_sampler_2d",
    "grid_sampler_3d",
    "upsample_bicubic2d",
    "upsample_bicubic2d_aa",
    "upsample_bilinear2d",
    "upsample_bilinear2d_aa",
    "upsample_linear1d",
    "upsample_nearest1d",
    "upsample_nearest2d",
    "upsample_nearest3d",
    "upsample_nearest_exact1d",
    "upsample_nearest_exact2d",
    "upsample_nearest_exact3d",
    "upsample_trilinear3d",
]

_ARGUMENTS = "str mode, bool align_corners=False, float[]? scales=None, bool antialias=False"

interpolate_to = native(
    f"interpolate_to(Tensor input, int[] size, {_ARGUMENTS}) -> Tensor",
    doc="""Resample the trailing dims of (N, C, *) to `size`; the upsample ops resolve their arguments into this.

    Args:
        input: float or uint8, shape (N, C, *) with 1 to 3 trailing dims.
        size: the new trailing sizes.
        mode: nearest, nearest-exact, linear (any number of dims) or bicubic.
        align_corners: corners of the first and last element coincide, instead of their outer edges.
        scales: out / in per dim, used for positions where the user gave it; 0 means from the sizes.
        antialias: widen the filter when shrinking.
    Differentiable in input; supports second derivatives.
    """,
)
interpolate_to_grad = native(
    f"interpolate_to_grad(Tensor cotangent, int[] input_size, {_ARGUMENTS}) -> Tensor",
    doc="Gradient of interpolate_to: its transpose.",
)


@interpolate_to.vjp("input")
def _(grad, input_meta, mode, align_corners, scales, antialias):
    return interpolate_to_grad(grad, input_meta.shape, mode, align_corners, scales, antialias)


@interpolate_to_grad.vjp("cotangent")
def _(grad, cotangent_meta, mode, align_corners, scales, antialias):
    return interpolate_to(
        grad, tuple(cotangent_meta.shape)[2:], mode, align_corners, scales, antialias
    )


def _target(name, input, output_size, scale_factors):
    """Sizes and scales, from whichever of the two was given."""
    spatial = tuple(input.shape)[2:]
    if (output_size is None) == (scale_factors is None):
        raise RuntimeError(
            f"{name}: Must specify exactly one of output_size and scale_factors, got {output_size} and {scale_factors}."
        )
    given = output_size if scale_factors is None else scale_factors
    if len(given) != len(spatial):
        raise RuntimeError(
            f"{name}: expected {len(spatial)} {'sizes' if scale_factors is None else 'scale_factors'}, one per "
            f"spatial dimension, got {list(given)}."
        )
    if scale_factors is not None:
        scales = [float(scale) for scale in scale_factors]
        if output_size is None:
            output_size = [math.floor(float(s) * f) for s, f in zip(spatial, scales, strict=True)]
        return list(output_size), scales
    return list(output_size), None


def _check_rank(name, input, n):
    if input.dim() != n + 2:
        raise RuntimeError(
            f"{name}: expected input with {n + 2} dims, got shape {tuple(input.shape)}."
        )


def _declare_nearest(n, exact):
    name = f"upsample_nearest{'_exact' if exact else ''}{n}d"

    def upsample(input, output_size=None, scale_factors=None):
        _check_rank(name, input, n)
        size, scales = _target(name, input, output_size, scale_factors)
        return interpolate_to(input, size, "nearest-exact" if exact else "nearest", False, scales)

    upsample.__name__ = upsample.__qualname__ = name
    upsample.__doc__ = (
        f"Nearest-neighbour resampling of {n} trailing dims to output_size or by scale_factors."
    )
    return composite(upsample)


def _declare_smooth(name, n, mode, antialias):
    def upsample(input, output_size=None, align_corners=False, scale_factors=None):
        _check_rank(name, input, n)
        size, scales = _target(name, input, output_size, scale_factors)
        return interpolate_to(input, size, mode, align_corners, scales, antialias)

    upsample.__name__ = upsample.__qualname__ = name
    kind = "Cubic" if mode == "bicubic" else "Linear"
    filtered = ", with antialiasing" if antialias else ""
    upsample.__doc__ = (
        f"{kind} resampling of {n} trailing dims to output_size or by scale_factors{filtered}."
    )
    return composite(upsample)


upsample_nearest1d = _declare_nearest(1, False)
upsample_nearest2d = _declare_nearest(2, False)
upsample_nearest3d = _declare_nearest(3, False)
upsample_nearest_exact1d = _declare_nearest(1, True)
upsample_nearest_exact2d = _declare_nearest(2, True)
upsample_nearest_exact3d = _declare_nearest(3, True)
upsample_linear1d = _declare_smooth("upsample_linear1d", 1, "linear", False)
upsample_bilinear2d = _declare_smooth("upsample_bilinear2d", 2, "linear", False)
upsample_trilinear3d = _declare_smooth("upsample_trilinear3d", 3, "linear", False)
upsample_bicubic2d = _declare_smooth("upsample_bicubic2d", 2, "bicubic", False)
upsample_bilinear2d_aa = _declare_smooth("upsample_bilinear2d_aa", 2, "linear", True)
upsample_bicubic2d_aa = _declare_smooth("upsample_bicubic2d_aa", 2, "bicubic", True)


_GRID = "str mode, str padding_mode, bool align_corners"
grid_sample_to = native(
    f"grid_sample_to(Tensor input, Tensor grid, {_GRID}) -> Tensor",
    doc="Values of (N, C, [D,] H, W) at the places in grid (N, [D,] H, W, 2 or 3).",
)
grid_sample_to_grad = native(
    f"grid_sample_to_grad(Tensor cotangent, Tensor input, Tensor grid, {_GRID}) -> (Tensor input, Tensor grid)",
    non_differentiable="grid_sample_to's rule takes the differentiable path when a graph is asked for",
    doc="Gradients of grid_sample_to in input and grid.",
)


@grid_sample_to.vjp
def _(grad, input, grid, mode, padding_mode, align_corners):
    if _C._records_derivatives():
        return recomputed_vjp(
            lambda x, at: (_plain_grid_sample(x, at, mode, padding_mode, align_corners),),
            (input, grid),
            (grad,),
        )
    return tuple(grid_sample_to_grad(grad, input, grid, mode, padding_mode, align_corners))


def _reflected(x, twice_low, twice_high):
    if twice_low == twice_high:
        return x * 0
    low, span = twice_low / 2, (twice_high - twice_low) / 2
    x = (x - low).abs()
    flips = (x.detach() / span).floor()
    extra = x - flips * span
    return extra.where(flips % 2 == 0, span - extra) + low


def _padded_coordinate(x, size, padding_mode, align_corners):
    if padding_mode == "reflection":
        x = _reflected(x, 0, 2 * (size - 1)) if align_corners else _reflected(x, -1, 2 * size - 1)
    return x if padding_mode == "zeros" else x.clamp(0, size - 1)


def _axis_taps(coordinate, size, mode, padding_mode, align_corners):
    """(position, weight) pairs of one axis; positions are whole numbers as floats, maybe outside."""
    x = (coordinate + 1) / 2 * (size - 1) if align_corners else ((coordinate + 1) * size - 1) / 2
    if mode == "bicubic":
        base = x.detach().floor()
        t = x - base
        near = [((1.25 * d - 2.25) * d) * d + 1 for d in (t, 1 - t)]
        far = [((-0.75 * d + 3.75) * d - 6.0) * d + 3.0 for d in (t + 1, 2 - t)]
        weights = (far[0], *near, far[1])
        places = [
            _padded_coordinate(base + (j - 1), size, padding_mode, align_corners) for j in range(4)
        ]
        return list(zip(places, weights, strict=True))
    x = _padded_coordinate(x, size, padding_mode, align_corners)
    if mode == "nearest":
        return [(x.detach().round(), x.detach() * 0 + 1)]
    base = x.detach().floor()
    return [(base, 1 - (x - base)), (base + 1, x - base)]


def _plain_grid_sample(input, grid, mode, padding_mode, align_corners):
    """grid_sample_to over plain ops, for its second derivatives."""
    sizes = tuple(input.shape)[2:]
    n = len(sizes)
    flat = input.reshape((*input.shape[:2], -1))
    axes = [
        _axis_taps(grid[..., n - 1 - d], sizes[d], mode, padding_mode, align_corners)
        for d in range(n)
    ]
    result = None
    for taps in itertools.product(*axes):
        index, weight = None, None
        for (place, w), size in zip(taps, sizes, strict=True):
            inside = (place >= 0) & (place < size)
            w = w * inside.to(input.dtype)
            place = place.clamp(0, size - 1)
            index = place if index is None else index * size + place
            weight = w if weight is None else weight * w
        lead = (input.shape[0], 1, -1)
        where = index.to(_C.int64).reshape(lead).expand(-1, input.shape[1], -1)
        term = flat.gather(-1, where) * weight.reshape(lead)
        result = term if result is None else result + term
    return result.reshape((*input.shape[:2], *tuple(grid.shape)[1:-1]))


_MODES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


@composite()
def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    """Sample an image at given places.

    Args:
        input: float, shape (N, C, H, W) or (N, C, D, H, W).
        grid: places (x, y[, z]) in [-1, 1], shape (N, H', W', 2) or (N, D', H', W', 3), dtype of input.
        interpolation_mode: 0 bilinear, 1 nearest, 2 bicubic (4-D only).
        padding_mode: what lies outside: 0 zeros, 1 border, 2 reflection.
        align_corners: -1 and 1 are the centres of the corner elements, instead of their outer edges.
    Returns:
        Shape (N, C, H', W') or (N, C, D', H', W').
    Raises:
        RuntimeError: shapes or dtypes do not match.
    Differentiable in input and grid; supports second derivatives.
    """
    return grid_sample_to(
        input, grid, _MODES[interpolation_mode], _PADDINGS[padding_mode], align_corners
    )


grid_sampler_2d = grid_sampler
grid_sampler_3d = grid_sampler
