"""Patches of images as columns, and back: im2col and col2im, and nn.functional's unfold and fold over them.

Tensor.unfold (a sliding-window view of one dim) is another op: see view.py.
"""

from .registry import composite, native

__all__ = ["col2im", "fold", "im2col", "unfold"]

_WINDOW = "int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride"

im2col = native(
    f"im2col(Tensor input, {_WINDOW}) -> Tensor",
    doc="""Every patch of an image as a column: (N, C, H, W) -> (N, C * kh * kw, number of patches).

    Args:
        input: shape (N, C, H, W) or (C, H, W), any dtype.
        kernel_size, dilation, padding, stride: one integer or two.
    Raises:
        RuntimeError: no patch fits.
    Differentiable in input; supports second derivatives.
    """,
)

col2im = native(
    f"col2im(Tensor input, int[2] output_size, {_WINDOW}) -> Tensor",
    doc="""Sum of columns into the image positions that im2col took them from: the transpose of im2col.

    Args:
        input: shape (N, C * kh * kw, number of patches) or without N.
        output_size: height and width of the image.
        kernel_size, dilation, padding, stride: as for im2col.
    Raises:
        RuntimeError: the number of columns or of rows does not fit.
    Differentiable in input; supports second derivatives.
    """,
)


@im2col.vjp("input")
def _(grad, input_meta, kernel_size, dilation, padding, stride):
    return col2im(grad, tuple(input_meta.shape)[-2:], kernel_size, dilation, padding, stride)


@col2im.vjp("input")
def _(grad, kernel_size, dilation, padding, stride):
    return im2col(grad, kernel_size, dilation, padding, stride)


@composite()
def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """Patches of a batched image as columns; see im2col."""
    return im2col(input, kernel_size, dilation, padding, stride)


@composite()
def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Columns summed into an image; see col2im."""
    return col2im(input, output_size, kernel_size, dilation, padding, stride)
