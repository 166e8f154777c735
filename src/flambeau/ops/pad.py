"""Padding, pixel and channel rearrangements."""

from .. import _C
from .registry import composite, native

constant_pad_nd = native(
    "constant_pad_nd(Tensor input, int[] pad, Scalar value=0) -> Tensor",
    doc="Pad with a value: (left, right) pairs from the last dim backwards; negative pads crop.",
)


@constant_pad_nd.vjp
def constant_pad_nd_vjp(grad, pad):
    return constant_pad_nd(grad, [-n for n in pad], 0)


pad_mode = native(
    "pad_mode(Tensor input, int[] pad, str mode) -> Tensor",
    doc="Pad by reflecting, replicating or wrapping around: reflect, replicate, circular.",
)


@pad_mode.vjp
def pad_mode_vjp(grad, input_meta, pad, mode):
    return pad_mode_backward(grad, input_meta.shape, pad, mode)


pad_mode_backward = native(
    "pad_mode_backward(Tensor grad, int[] size, int[] pad, str mode) -> Tensor",
    doc="Add padded elements back to where they came from: the gradient of pad_mode.",
)


@pad_mode_backward.vjp
def pad_mode_backward_vjp(grad, pad, mode):
    return pad_mode(grad, pad, mode)


# Non-constant modes pad the trailing dims of inputs of these ranks, with or without a batch dim.
_RANKS = {2: (2, 3), 4: (3, 4), 6: (4, 5)}


@composite
def pad(input, pad, mode="constant", value=None):
    """Pad the last dims of input.

    Args:
        input: any shape; for other modes than constant 2-d or 3-d (1 padded dim) up to 4-d or 5-d (3 padded dims).
        pad: (left, right) of the last dim, then of the one before it, and so on; negative values crop.
        mode: constant, reflect, replicate or circular.
        value: what constant padding writes; 0 by default.
    Raises:
        RuntimeError: pad is odd, too long, larger than what the mode can take from, or crops everything.
        NotImplementedError: the mode is unknown or does not pad that many dims.
    Differentiable in input; supports second derivatives.
    """
    if mode == "constant":
        return constant_pad_nd(input, pad, 0 if value is None else value)
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if len(pad) % 2 != 0:
        raise RuntimeError("pad: Padding length must be divisible by 2")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            f"pad: Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {input.ndim}"
        )
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"pad: Unrecognised padding mode {mode}")
    if input.ndim not in _RANKS.get(len(pad), ()):
        raise NotImplementedError(
            "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now: "
            f"pad: expected {_RANKS.get(len(pad))} dims for a pad of length {len(pad)}, got {input.ndim}."
        )
    return pad_mode(input, pad, mode)


def _looks_channels_last(input):
    """PyTorch's reading of the strides of (n, c, h, w): they do not fall from c over w and h to n."""
    if input.ndim != 4 or input.numel() == 0:
        return False
    strides, sizes = input.stride(), input.shape
    if strides[1] == 0:
        return False
    least = 0
    for d in (1, 3, 2, 0):
        if strides[d] < least or (d == 0 and least == strides[1]):
            return False
        least = strides[d] * sizes[d] if sizes[d] > 1 else strides[d]
    return True


def _copied(input):
    """A copy, channels-last or contiguous."""
    last = _looks_channels_last(input)
    return input.clone(memory_format=_C.channels_last if last else _C.contiguous_format)


@composite
def pixel_shuffle(input, upscale_factor):
    """Rearrange (*, c * r * r, h, w) to (*, c, h * r, w * r), with r the upscale factor."""
    r = upscale_factor
    if input.ndim < 3:
        raise RuntimeError(
            f"pixel_shuffle expects input to have at least 3 dimensions, but got input with {input.ndim} dimension(s)"
        )
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    *batch, c, h, w = input.shape
    if c % (r * r) != 0:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={c} is not divisible by {r * r}"
        )
    if r == 1:
        return _copied(input)
    n = len(batch)
    blocks = input.reshape(*batch, c // (r * r), r, r, h, w)
    if _looks_channels_last(input):
        rows = blocks.permute(0, 4, 2, 5, 3, 1).reshape(*batch, h * r, w * r, c // (r * r))
        return rows.permute(0, 3, 1, 2)
    order = [*range(n), n, n + 3, n + 1, n + 4, n + 2]  # (*, c, h, r, w, r)
    return blocks.permute(order).reshape(*batch, c // (r * r), h * r, w * r)


@composite
def pixel_unshuffle(input, downscale_factor):
    """Rearrange (*, c, h * r, w * r) to (*, c * r * r, h, w), with r the downscale factor."""
    r = downscale_factor
    if input.ndim < 3:
        raise RuntimeError(
            f"pixel_unshuffle expects input to have at least 3 dimensions, but got input with {input.ndim} dimension(s)"
        )
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    *batch, c, h, w = input.shape
    if h % r != 0 or w % r != 0:
        raise RuntimeError(
            f"pixel_unshuffle expects height and width to be divisible by downscale_factor, "
            f"but {h} and {w} are not by {r}"
        )
    if r == 1:
        return _copied(input)
    n = len(batch)
    blocks = input.reshape(*batch, c, h // r, r, w // r, r)
    if _looks_channels_last(input):
        rows = blocks.permute(0, 2, 4, 1, 3, 5).reshape(*batch, h // r, w // r, c * r * r)
        return rows.permute(0, 3, 1, 2)
    order = [*range(n), n, n + 2, n + 4, n + 1, n + 3]  # (*, c, r, r, h, w)
    return blocks.permute(order).reshape(*batch, c * r * r, h // r, w // r)


@composite
def channel_shuffle(input, groups):
    """Interleave the channels (dim 1) of `groups` groups: (n, g, c / g, *) to (n, c / g, g, *)."""
    if input.ndim < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}"
        )
    n, c, *rest = input.shape
    if groups <= 0:
        raise RuntimeError(
            f"channel_shuffle: Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    if c % groups != 0:
        raise RuntimeError(
            f"channel_shuffle: Number of channels must be divisible by groups. Got {c} channels and {groups} groups."
        )
    if groups in (1, c):
        return _copied(input)
    if _looks_channels_last(input):
        rows = input.permute(0, 2, 3, 1).reshape(n, *rest, groups, c // groups)
        return rows.transpose(3, 4).reshape(n, *rest, c).permute(0, 3, 1, 2)
    blocks = input.reshape(n, groups, c // groups, *rest).transpose(1, 2)
    return blocks.reshape(n, c, *rest).contiguous()


native_channel_shuffle = channel_shuffle

__all__ = [
    "channel_shuffle",
    "constant_pad_nd",
    "native_channel_shuffle",
    "pixel_shuffle",
    "pixel_unshuffle",
]
