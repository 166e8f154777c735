"""Resizing and sampling of images."""

import math

from flambeau import ops

__all__ = [
    "affine_grid",
    "grid_sample",
    "interpolate",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

_LINEAR_MODES = {3: "linear", 4: "bilinear", 5: "trilinear"}


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """Deprecated: use interpolate."""
    import warnings

    warnings.warn(
        "`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """Deprecated: interpolate with mode="nearest"."""
    import warnings

    warnings.warn(
        "`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """Deprecated: interpolate with mode="bilinear" and aligned corners."""
    import warnings

    warnings.warn(
        "`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def _per_dim(value, dims, name, input):
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        if len(value) != dims:
            raise ValueError(
                f"Input and {name} must have the same number of spatial dimensions, but got "
                f"input with spatial dimensions of {list(input.shape[2:])} and {name} of shape {value}. "
                f"Please provide input tensor in (N, C, d1, d2, ...,dK) format and {name} "
                "in (s1, s2, ...,sK) format."
            )
        return list(value)
    return [value] * dims


def interpolate(
    input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None,
    antialias=False,
):  # fmt: skip
    """Resize the spatial dims of (N, C, ...) input to `size` or by `scale_factor`.

    Args:
        mode: "nearest", "nearest-exact", "linear" (3-d input), "bilinear", "bicubic" (4-d), "trilinear" (5-d), "area".
        align_corners: whether corner pixels of input and output coincide; only for the interpolating modes.
        recompute_scale_factor: use the ratio of sizes, not scale_factor, to compute positions.
        antialias: filter when downscaling ("bilinear" and "bicubic").
    """
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the "
                "interpolating modes: linear | bilinear | bicubic | trilinear"
            )
    elif align_corners is None:
        align_corners = False
    dims = input.dim() - 2
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    output_size = _per_dim(size, dims, "output size", input)
    if output_size is not None and not all(
        isinstance(s, int) or hasattr(s, "__index__") for s in output_size
    ):
        raise TypeError(f"expected size to be one of int or tuple of ints, got {size}")
    factors = _per_dim(scale_factor, dims, "scale_factor", input)
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if mode == "area" and output_size is None:
        recompute_scale_factor = True
    if recompute_scale_factor:
        output_size = [math.floor(float(input.size(i + 2)) * factors[i]) for i in range(dims)]
        factors = None
    if antialias and not (mode in ("bilinear", "bicubic") and input.dim() == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input"
        )
    return _resize(input, output_size, factors, mode, align_corners, antialias)


def _resize(input, output_size, factors, mode, align_corners, antialias):
    ndim = input.dim()
    if mode in ("nearest", "nearest-exact") and ndim in (3, 4, 5):
        op = getattr(ops, f"upsample_{mode.replace('-', '_')}{ndim - 2}d")
        return op(input, output_size, factors)
    if mode == "area" and ndim in (3, 4, 5):
        return getattr(ops, f"adaptive_avg_pool{ndim - 2}d")(input, output_size)
    if mode == _LINEAR_MODES.get(ndim):
        if antialias:
            return ops.upsample_bilinear2d_aa(input, output_size, align_corners, factors)
        name = {
            "linear": "upsample_linear1d",
            "bilinear": "upsample_bilinear2d",
            "trilinear": "upsample_trilinear3d",
        }
        return getattr(ops, name[mode])(input, output_size, align_corners, factors)
    if mode == "bicubic" and ndim == 4:
        op = ops.upsample_bicubic2d_aa if antialias else ops.upsample_bicubic2d
        return op(input, output_size, align_corners, factors)
    if mode in _LINEAR_MODES.values():
        if ndim in _LINEAR_MODES:
            wanted = next(d for d, m in _LINEAR_MODES.items() if m == mode)
            raise NotImplementedError(f"Got {ndim}D input, but {mode} mode needs {wanted}D input")
    raise NotImplementedError(
        "Input Error: Only 3D, 4D and 5D input Tensors supported"
        f" (got {ndim}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact"
        f" (got {mode})"
    )


_SAMPLE_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
_SAMPLE_PADDING = {"zeros": 0, "border": 1, "reflection": 2}


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """Sample input (N, C, [D,] H, W) at the positions of grid (N, [D,] H, W, 2 or 3), in [-1, 1], x first.

    Args:
        mode: "bilinear", "nearest" or (4-d input) "bicubic".
        padding_mode: what lies outside: "zeros", "border" or "reflection".
        align_corners: -1 and 1 are the centres of the corner pixels (True) or their outer edges.
    """
    if mode not in _SAMPLE_MODES:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be "
            f"'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in _SAMPLE_PADDING:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode "
            f"to be 'zeros', 'border', or 'reflection', but got: '{padding_mode}'"
        )
    if align_corners is None:
        import warnings

        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed "
            "to align_corners=False since 1.3.0. Please specify "
            "align_corners=True if the old behavior is desired. "
            "See the documentation of grid_sample for details.",
            stacklevel=2,
        )
        align_corners = False
    return ops.grid_sampler(
        input, grid, _SAMPLE_MODES[mode], _SAMPLE_PADDING[padding_mode], align_corners
    )


def affine_grid(theta, size, align_corners=None):
    """Sampling positions of an affine map: theta (N, 2, 3) or (N, 3, 4), size (N, C, H, W) or (N, C, D, H, W)."""
    if align_corners is None:
        import warnings

        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed "
            "to align_corners=False since 1.3.0. Please specify "
            "align_corners=True if the old behavior is desired. "
            "See the documentation of grid_sample for details.",
            stacklevel=2,
        )
        align_corners = False
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    dims = len(size) - 2
    if dims not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. "
            f"Got size {tuple(size)}"
        )
    if theta.dim() != 3 or theta.shape[-2] != dims or theta.shape[-1] != dims + 1:
        raise ValueError(
            f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size {tuple(size)}. "
            f"Got {theta.shape}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {tuple(size)}")
    axes = []
    for i, extent in enumerate(reversed(size[2:])):  # x, y, z
        steps = (
            ops.linspace(-1, 1, extent, dtype=theta.dtype, device=theta.device)
            if extent > 1
            else None
        )
        if steps is None:
            steps = ops.zeros(1, dtype=theta.dtype, device=theta.device)
        elif not align_corners:
            steps = steps * ((extent - 1) / extent)
        shape = [1] * dims
        shape[dims - 1 - i] = extent
        axes.append(steps.view(shape).expand(*size[2:]))
    base = ops.stack([*axes, ops.ones_like(axes[0])], dim=-1)  # (*spatial, dims + 1)
    grid = base.reshape(1, -1, dims + 1) @ theta.transpose(1, 2)  # (N, points, dims)
    return grid.view(size[0], *size[2:], dims)
