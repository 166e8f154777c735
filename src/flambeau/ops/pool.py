"""Pooling in 1, 2 and 3 dimensions: max, average, adaptive, fractional, and max unpooling.

The forms of nn.functional (return_indices, output_ratio, power means) are made from these in nn/_functional/pooling.py.

Results are channels-last if the input is. Every op takes batched (N, C, *) and unbatched (C, *) input.
"""

from .. import _C
from .pad import _looks_channels_last
from .registry import composite, native, overload
from .scatter import scatter, scatter_add

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool2d",
    "max_unpool3d",
]


def _flat_size(shape, n):
    size = 1
    for length in shape[len(shape) - n :]:
        size *= length
    return size


def _to_winners(grad, indices, input_meta, n):
    """Cotangents of windows, added up at the positions that won them."""
    shape = tuple(input_meta.shape)
    zeros = grad.new_zeros(shape[:-n] + (_flat_size(shape, n),))
    lead = tuple(grad.shape[:-n])
    size = (_flat_size(grad.shape, n),)
    return scatter_add(zeros, -1, indices.reshape(lead + size), grad.reshape(lead + size)).reshape(
        shape
    )


def _at_winners(values, indices, n):
    """The values that lie where `indices` (into the last n dims) points."""
    shape = tuple(indices.shape)
    size = (_flat_size(shape, n),)
    flat = values.reshape(tuple(values.shape[:-n]) + (_flat_size(values.shape, n),))
    return flat.gather(-1, indices.reshape(shape[:-n] + size)).reshape(shape)


def _declare_max(n):
    window = (
        f"int[{n}] kernel_size, int[{n}]? stride=None, int[{n}] padding=0, int[{n}] dilation=1, "
    )
    window += "bool ceil_mode=False"
    values = native(
        f"max_pool{n}d(Tensor input, {window}) -> Tensor",
        doc=f"""Largest element of every window, {n}-d.

    Args:
        input: real, shape (N, C, *) or (C, *).
        kernel_size, stride, padding, dilation: one integer or {n}; stride defaults to kernel_size. Padding is -inf.
        ceil_mode: keep a last, partial window.
    Returns:
        Sizes floor((in + 2 * padding - dilation * (kernel_size - 1) - 1) / stride) + 1; NaN if a window has one.
    Raises:
        RuntimeError: padding is over half the kernel, or the result would be empty.
    Differentiable in input: the cotangent goes to the first of equal elements.
    """,
    )
    gradient = native(
        f"max_pool{n}d_grad(Tensor cotangent, Tensor input, {window}) -> Tensor",
        doc=f"Gradient of max_pool{n}d: finds each window's winner again, which is cheaper than storing indices.",
    )
    indexed = native(
        f"max_pool{n}d_with_indices(Tensor input, {window}) -> (Tensor output, Tensor indices)",
        doc=f"As max_pool{n}d, with the flat index (int64, into the last {n} dims of input) of each window's winner.",
    )

    @values.vjp("input")
    def _(grad, input, kernel_size, stride, padding, dilation, ceil_mode):
        return gradient(grad, input, kernel_size, stride, padding, dilation, ceil_mode)

    @gradient.vjp("cotangent")
    def _(grad, input, kernel_size, stride, padding, dilation, ceil_mode):
        indices = indexed(input, kernel_size, stride, padding, dilation, ceil_mode)[1]
        return _at_winners(grad, indices, n)

    @gradient.vjp("input")
    def _(grad):
        return None  # piecewise constant in input

    @indexed.vjp("input")
    def _(grad_output, indices, input_meta):
        return _to_winners(grad_output, indices, input_meta, n)

    def with_choice(
        input,
        kernel_size,
        stride=None,
        padding=0,
        dilation=1,
        ceil_mode=False,
        return_indices=False,
    ):
        """Max pooling that returns (output, indices) if return_indices is true."""
        op = indexed if return_indices else values
        stride = None if isinstance(stride, (list, tuple)) and len(stride) == 0 else stride
        return op(input, kernel_size, stride, padding, dilation, ceil_mode)

    return overload(f"max_pool{n}d", values, with_choice), indexed


max_pool1d, max_pool1d_with_indices = _declare_max(1)
max_pool2d, max_pool2d_with_indices = _declare_max(2)
max_pool3d, max_pool3d_with_indices = _declare_max(3)


def _declare_avg(n):
    window = (
        f"int[{n}] kernel_size, int[{n}]? stride=None, int[{n}] padding=0, bool ceil_mode=False, "
        "bool count_include_pad=True"
    )
    doc = f"""Mean of every window, {n}-d.

    Args:
        input: floating point or integer, shape (N, C, *) or (C, *).
        kernel_size, stride, padding: one integer or {n}; stride defaults to kernel_size.
        ceil_mode: keep a last, partial window.
        count_include_pad: divide by the window's size with padding, else by the elements that exist.
        divisor_override: divide by this instead (2-d and 3-d).
    Returns:
        Sizes floor((in + 2 * padding - kernel_size) / stride) + 1. Half types accumulate in float32.
    Raises:
        RuntimeError: padding is over half the kernel, or the result would be empty.
    Differentiable in input; supports second derivatives.
    """
    pool = native(
        f"avg_pool{n}d(Tensor input, {window}, int? divisor_override=None) -> Tensor", doc=doc
    )
    gradient = native(
        f"avg_pool{n}d_grad(Tensor cotangent, int[] input_size, {window}, int? divisor_override=None) -> Tensor",
        doc=f"Gradient of avg_pool{n}d: spreads each cotangent evenly over its window.",
    )

    @pool.vjp("input")
    def _(
        grad,
        input_meta,
        kernel_size,
        stride,
        padding,
        ceil_mode,
        count_include_pad,
        divisor_override,
    ):
        return gradient(
            grad,
            input_meta.shape,
            kernel_size,
            stride,
            padding,
            ceil_mode,
            count_include_pad,
            divisor_override,
        )

    @gradient.vjp("cotangent")
    def _(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        return pool(
            grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )

    return pool


avg_pool1d = _declare_avg(1)
avg_pool2d = _declare_avg(2)
avg_pool3d = _declare_avg(3)


def _declare_adaptive(n):
    average = native(
        f"adaptive_avg_pool{n}d(Tensor input, int[{n}] output_size) -> Tensor",
        doc=f"""Mean over windows that cut the input into output_size parts, {n}-d.

    Window i of an axis is [floor(i * in / out), ceil((i + 1) * in / out)).

    Args:
        input: floating point, shape (N, C, *) or (C, *).
        output_size: one integer or {n}; None (through nn.functional) keeps the input's size.
    Differentiable in input; supports second derivatives.
    """,
    )
    gradient = native(
        f"adaptive_avg_pool{n}d_grad(Tensor cotangent, int[] input_size) -> Tensor",
        doc=f"Gradient of adaptive_avg_pool{n}d.",
    )
    largest = native(
        f"adaptive_max_pool{n}d(Tensor input, int[{n}] output_size) -> (Tensor output, Tensor indices)",
        doc=f"""Largest element of windows that cut the input into output_size parts, {n}-d, and its flat index.

    Windows are those of adaptive_avg_pool{n}d. Differentiable in input.
    """,
    )

    @average.vjp("input")
    def _(grad, input_meta):
        return gradient(grad, input_meta.shape)

    @gradient.vjp("cotangent")
    def _(grad, cotangent_meta):
        return average(grad, tuple(cotangent_meta.shape)[-n:])

    @largest.vjp("input")
    def _(grad_output, indices, input_meta):
        return _to_winners(grad_output, indices, input_meta, n)

    def average_any(input, output_size):
        """Adaptive average pooling; None in output_size keeps the input's size."""
        sizes = output_size if isinstance(output_size, (list, tuple)) else (output_size,) * n
        kept = tuple(input.shape)[-n:]
        return average(
            input,
            [length if size is None else size for size, length in zip(sizes, kept, strict=True)],
        )

    return overload(f"adaptive_avg_pool{n}d", average, average_any), largest


adaptive_avg_pool1d, adaptive_max_pool1d = _declare_adaptive(1)
adaptive_avg_pool2d, adaptive_max_pool2d = _declare_adaptive(2)
adaptive_avg_pool3d, adaptive_max_pool3d = _declare_adaptive(3)


def _declare_fractional(n):
    pool = native(
        f"fractional_max_pool{n}d(Tensor input, int[{n}] kernel_size, int[{n}] output_size, "
        "Tensor random_samples) -> (Tensor output, Tensor indices)",
        doc=f"Max pooling over {n}-d windows placed by random_samples (batch, channels, {n}) in [0, 1).",
    )

    @pool.vjp("input")
    def _(grad_output, indices, input_meta):
        return _to_winners(grad_output, indices, input_meta, n)

    @pool.vjp("random_samples")
    def _(grad_output):
        return None  # piecewise constant

    return pool


fractional_max_pool2d = _declare_fractional(2)
fractional_max_pool3d = _declare_fractional(3)


def _unpool(n, input, indices, output_size):
    if str(indices.dtype) != "torch.int64":
        raise RuntimeError(
            f"max_unpool{n}d: elements in indices should be type int64 but got: {indices.dtype}"
        )
    if input.dim() not in (n + 1, n + 2):
        raise RuntimeError(
            f"max_unpool{n}d: expected input with {n + 1} or {n + 2} dims, got shape {tuple(input.shape)}."
        )
    if tuple(input.shape) != tuple(indices.shape):
        raise RuntimeError(
            f"max_unpool{n}d: Expected shape of indices to be same as that of the input tensor {tuple(input.shape)}, "
            f"got {tuple(indices.shape)}."
        )
    lead, size = tuple(input.shape[:-n]), tuple(output_size)
    if len(size) != n:
        raise RuntimeError(f"max_unpool{n}d: expected {n} elements in output_size, got {size}.")
    length = _flat_size(size, n)
    flat = indices.reshape((*lead, _flat_size(tuple(input.shape), n)))
    if flat.numel() and (int(flat.min()) < 0 or int(flat.max()) >= length):
        raise RuntimeError(
            f"max_unpool{n}d: Found an invalid max index, expected indices in [0, {length})."
        )
    zeros = input.new_zeros((*lead, length))
    result = scatter(zeros, -1, flat, input.reshape(flat.shape)).reshape(lead + size)
    last = n == 2 and _looks_channels_last(input)
    return result.contiguous(memory_format=_C.channels_last) if last else result


@composite()
def max_unpool2d(input, indices, output_size):
    """Put each element where `indices` (flat, from max_pool2d) says in an image of output_size; zeros elsewhere."""
    return _unpool(2, input, indices, output_size)


@composite()
def max_unpool3d(input, indices, output_size, stride=None, padding=None):
    """Put each element where `indices` (flat, from max_pool3d) says in a volume of output_size; zeros elsewhere."""
    return _unpool(3, input, indices, output_size)
