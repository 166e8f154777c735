"""Resampling of images: interpolate (and the older upsample names), grid_sample, affine_grid."""

import math
import warnings

from .registry import composite, native

__all__ = [
    "affine_grid",
    "grid_sample",
    "grid_sampler",
    "grid_sampler_2d",
    "grid_sampler_3d",
    "interpolate",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

_ARGUMENTS = "str mode, bool align_corners=False, float[]? scales=None, bool antialias=False"

interpolate_to = native(
    f"interpolate_to(Tensor input, int[] size, {_ARGUMENTS}) -> Tensor",
    doc="""Resample the trailing dims of (N, C, *) to `size`; interpolate() resolves its arguments into this.

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
    return interpolate_to(grad, tuple(cotangent_meta.shape)[2:], mode, align_corners, scales, antialias)


_RANKS = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5}


def _output_size(input, size, scale_factor):
    """Target sizes and the given scales (None where the size was given)."""
    n = input.dim() - 2
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if isinstance(size, (list, tuple)):
            if len(size) != n:
                raise ValueError(
                    "Input and output must have the same number of spatial dimensions, but got input with spatial "
                    f"dimensions of {list(input.shape[2:])} and output size of {size}."
                )
            return [int(s) for s in size], None
        return [int(size)] * n, None
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if isinstance(scale_factor, (list, tuple)):
        if len(scale_factor) != n:
            raise ValueError(
                "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial "
                f"dimensions of {list(input.shape[2:])} and scale_factor of shape {scale_factor}."
            )
        scales = [float(s) for s in scale_factor]
    else:
        scales = [float(scale_factor)] * n
    return [int(math.floor(float(s) * f)) for s, f in zip(tuple(input.shape)[2:], scales, strict=True)], scales


@composite()
def interpolate(
    input,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    """Resample the trailing dims of an image to a size or by a factor.

    Args:
        input: shape (N, C, *), 1 to 3 trailing dims.
        size: an integer or one per trailing dim; or scale_factor: a number or one per trailing dim.
        mode: nearest, nearest-exact, linear (3-D input), bilinear, bicubic (4-D), trilinear (5-D) or area.
        align_corners: for the linear modes and bicubic; None means False.
        recompute_scale_factor: take positions from the resulting sizes instead of the given factor.
        antialias: for bilinear and bicubic.
    Returns:
        Shape (N, C, *), dtype of input, channels-last if input is.
    Raises:
        ValueError: size and scale_factor both or neither given, or options that the mode does not have.
        NotImplementedError: the mode does not fit the number of dims.
    """
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
            )
        align_corners = False
    elif align_corners is None:
        align_corners = False
    if antialias and not (mode in ("bilinear", "bicubic") and input.dim() == 4):
        raise ValueError("Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input")
    out, scales = _output_size(input, size, scale_factor)
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if recompute_scale_factor:
        scales = None
    if input.dim() not in (3, 4, 5):
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for the mode {mode}"
        )
    if mode == "area":
        from .pool import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[input.dim() - 3](input, out)
    if mode not in ("nearest", "nearest-exact", *_RANKS):
        raise NotImplementedError(
            "Input Error: expected mode nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact, "
            f"got {mode}."
        )
    if mode in _RANKS and _RANKS[mode] != input.dim():
        raise NotImplementedError(f"Got {input.dim()}D input, but {mode} mode needs {_RANKS[mode]}D input")
    kind = mode if mode in ("nearest", "nearest-exact", "bicubic") else "linear"
    return interpolate_to(input, out, kind, align_corners, scales, antialias)


@composite()
def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """Older name of interpolate."""
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


@composite()
def upsample_nearest(input, size=None, scale_factor=None):
    """interpolate with mode nearest, under its older name."""
    warnings.warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="nearest")


@composite()
def upsample_bilinear(input, size=None, scale_factor=None):
    """interpolate with mode bilinear and align_corners, under its older name."""
    warnings.warn("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


_GRID = "str mode, str padding_mode, bool align_corners"
grid_sample_to = native(
    f"grid_sample_to(Tensor input, Tensor grid, {_GRID}) -> Tensor",
    doc="Values of (N, C, [D,] H, W) at the places in grid (N, [D,] H, W, 2 or 3); see grid_sample.",
)
grid_sample_to_grad = native(
    f"grid_sample_to_grad(Tensor cotangent, Tensor input, Tensor grid, {_GRID}) -> (Tensor input, Tensor grid)",
    non_differentiable="second derivatives of grid_sample are not implemented, as in PyTorch",
    doc="Gradients of grid_sample_to in input and grid.",
)


@grid_sample_to.vjp
def _(grad, input, grid, mode, padding_mode, align_corners):
    return tuple(grid_sample_to_grad(grad, input, grid, mode, padding_mode, align_corners))


@composite()
def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """Sample an image at given places.

    Args:
        input: float, shape (N, C, H, W) or (N, C, D, H, W).
        grid: places (x, y[, z]) in [-1, 1], shape (N, H', W', 2) or (N, D', H', W', 3), dtype of input.
        mode: bilinear, nearest or bicubic (4-D only).
        padding_mode: what lies outside: zeros, border or reflection.
        align_corners: -1 and 1 are the centres of the corner elements, instead of their outer edges.
    Returns:
        Shape (N, C, H', W') or (N, C, D', H', W').
    Raises:
        ValueError: unknown mode or padding_mode.
        RuntimeError: shapes or dtypes do not match.
    Differentiable in input and grid, once.
    """
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', "
            f"but got: '{padding_mode}'"
        )
    return grid_sample_to(input, grid, mode, padding_mode, bool(align_corners))


_MODES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


@composite()
def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    """grid_sample with numbers for its modes."""
    return grid_sample_to(input, grid, _MODES[interpolation_mode], _PADDINGS[padding_mode], align_corners)


grid_sampler_2d = grid_sampler
grid_sampler_3d = grid_sampler


def _axis_grid(size, align_corners, like):
    """Coordinates of `size` element centres in [-1, 1]."""
    from .create import linspace

    if size <= 1:
        return like.new_zeros((size,))
    axis = linspace(-1, 1, size, dtype=like.dtype, device=like.device)
    return axis if align_corners else axis * (size - 1) / size


@composite()
def affine_grid(theta, size, align_corners=None):
    """Grid for grid_sample that applies affine maps.

    Args:
        theta: shape (N, 2, 3) or (N, 3, 4).
        size: of the result of grid_sample: (N, C, H, W) or (N, C, D, H, W).
        align_corners: as for grid_sample.
    Returns:
        Shape (N, H, W, 2) or (N, D, H, W, 3).
    Raises:
        ValueError: theta is not floating point or does not fit size.
    """
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    size = tuple(size)
    n = len(size) - 2
    if n not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. "
            f"Got size {size}."
        )
    if theta.dim() != 3 or tuple(theta.shape[1:]) != (n, n + 1):
        raise ValueError(
            f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {size}. "
            f"Got {tuple(theta.shape)}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    from .join import stack

    spatial = size[2:]
    axes = []
    for d in range(n):
        shape = [1] * n
        shape[d] = spatial[d]
        axes.append(_axis_grid(spatial[d], bool(align_corners), theta).reshape(shape).expand(spatial))
    # (x, y[, z], 1) per position
    base = stack([*axes[::-1], theta.new_ones(spatial)], -1).reshape(1, -1, n + 1)
    return base.expand(size[0], -1, -1).bmm(theta.transpose(1, 2)).reshape((size[0], *spatial, n))
