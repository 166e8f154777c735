"""Pooling: return_indices dispatch, and compositions over the ops."""

from flambeau import ops

__all__ = [
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]


def _max_pool(n):
    """max_pool{n}d and max_pool{n}d_with_indices with the arguments of nn.functional."""
    plain = getattr(ops, f"max_pool{n}d")
    with_indices = getattr(ops, f"max_pool{n}d_with_indices")

    def max_pool(
        input,
        kernel_size,
        stride=None,
        padding=0,
        dilation=1,
        ceil_mode=False,
        return_indices=False,
    ):
        if return_indices:
            return tuple(with_indices(input, kernel_size, stride, padding, dilation, ceil_mode))
        return plain(input, kernel_size, stride, padding, dilation, ceil_mode)

    def max_pool_with_indices(
        input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=True
    ):
        return max_pool(input, kernel_size, stride, padding, dilation, ceil_mode, True)

    max_pool.__name__ = max_pool.__qualname__ = f"max_pool{n}d"
    max_pool.__doc__ = (
        f"Maximum over windows of {n} trailing dims; with return_indices (values, flat positions)."
    )
    max_pool_with_indices.__name__ = max_pool_with_indices.__qualname__ = (
        f"max_pool{n}d_with_indices"
    )
    max_pool_with_indices.__doc__ = f"max_pool{n}d with its flat positions."
    return max_pool, max_pool_with_indices


max_pool1d, max_pool1d_with_indices = _max_pool(1)
max_pool2d, max_pool2d_with_indices = _max_pool(2)
max_pool3d, max_pool3d_with_indices = _max_pool(3)


def _full_size(output_size, input, dims):
    """None entries keep the size of the input; one int stands for all dims."""
    if isinstance(output_size, int):
        return [output_size] * dims
    output_size = list(output_size)
    return [input.shape[i - dims] if s is None else s for i, s in enumerate(output_size)]


def adaptive_max_pool1d(input, output_size, return_indices=False):
    """Maximum over windows chosen so that the output has length output_size."""
    result = ops.adaptive_max_pool1d(input, _full_size(output_size, input, 1))
    return tuple(result) if return_indices else result[0]


def adaptive_max_pool2d(input, output_size, return_indices=False):
    """Maximum over windows chosen so that the output has size output_size."""
    result = ops.adaptive_max_pool2d(input, _full_size(output_size, input, 2))
    return tuple(result) if return_indices else result[0]


def adaptive_max_pool3d(input, output_size, return_indices=False):
    """Maximum over windows chosen so that the output has size output_size."""
    result = ops.adaptive_max_pool3d(input, _full_size(output_size, input, 3))
    return tuple(result) if return_indices else result[0]


def _with_indices(function):
    """The form of a pooling function that always returns (values, positions)."""

    def pool(*args, **kwargs):
        return function(*args, **{**kwargs, "return_indices": True})

    pool.__name__ = pool.__qualname__ = f"{function.__name__}_with_indices"
    pool.__doc__ = f"{function.__name__} with its flat positions."
    return pool


adaptive_max_pool1d_with_indices = _with_indices(adaptive_max_pool1d)
adaptive_max_pool2d_with_indices = _with_indices(adaptive_max_pool2d)
adaptive_max_pool3d_with_indices = _with_indices(adaptive_max_pool3d)


def _fractional(
    op, dims, input, kernel_size, output_size, output_ratio, return_indices, _random_samples
):
    name = f"fractional_max_pool{dims}d"
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if output_size is None:
        ratios = (output_ratio,) * dims if isinstance(output_ratio, float) else tuple(output_ratio)
        if len(ratios) > dims:
            raise ValueError(
                f"{name} requires output_ratio to either be a single Int or tuple of Ints."
            )
        output_size = [int(input.size(i - dims) * ratio) for i, ratio in enumerate(ratios)]
    if _random_samples is None:
        n = 1 if input.dim() == dims + 1 else input.size(0)
        _random_samples = ops.rand(
            n, input.size(-dims - 1), dims, dtype=input.dtype, device=input.device
        )
    result = op(input, kernel_size, output_size, _random_samples)
    return tuple(result) if return_indices else result[0]


def fractional_max_pool2d(
    input,
    kernel_size,
    output_size=None,
    output_ratio=None,
    return_indices=False,
    _random_samples=None,
):
    """Maximum over windows of pseudo-random placement.

    References:
        Graham, "Fractional Max-Pooling", 2014, arXiv:1412.6071.
    """
    return _fractional(
        ops.fractional_max_pool2d,
        2,
        input,
        kernel_size,
        output_size,
        output_ratio,
        return_indices,
        _random_samples,
    )


def fractional_max_pool3d(
    input,
    kernel_size,
    output_size=None,
    output_ratio=None,
    return_indices=False,
    _random_samples=None,
):
    """Maximum over windows of pseudo-random placement; see fractional_max_pool2d."""
    return _fractional(
        ops.fractional_max_pool3d,
        3,
        input,
        kernel_size,
        output_size,
        output_ratio,
        return_indices,
        _random_samples,
    )


fractional_max_pool2d_with_indices = _with_indices(fractional_max_pool2d)
fractional_max_pool3d_with_indices = _with_indices(fractional_max_pool3d)


def _lp(out, norm_type, count):
    """From the mean of x ** p over windows of `count` elements to (sum of x ** p) ** (1 / p)."""
    return (ops.sign(out) * ops.relu(ops.abs(out))).mul(count).pow(1.0 / norm_type)


def _sizes(value, dims):
    return [value] * dims if isinstance(value, int) else list(value)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """(sum of input ** norm_type over windows) ** (1 / norm_type)."""
    (k,) = _sizes(kernel_size, 1)
    stride = kernel_size if stride is None else stride
    return _lp(
        ops.avg_pool1d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode), norm_type, k
    )


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """(sum of input ** norm_type over windows) ** (1 / norm_type)."""
    h, w = _sizes(kernel_size, 2)
    stride = kernel_size if stride is None else stride
    return _lp(
        ops.avg_pool2d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode), norm_type, h * w
    )


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """(sum of input ** norm_type over windows) ** (1 / norm_type)."""
    d, h, w = _sizes(kernel_size, 3)
    stride = kernel_size if stride is None else stride
    return _lp(
        ops.avg_pool3d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode),
        norm_type,
        d * h * w,
    )


def _unpool_size(input, kernel_size, stride, padding, output_size):
    dims = len(kernel_size)
    size = input.size()
    default = [
        (size[d - dims] - 1) * stride[d] + kernel_size[d] - 2 * padding[d] for d in range(dims)
    ]
    if output_size is None:
        return default
    output_size = list(output_size)
    if len(output_size) == dims + 2:
        output_size = output_size[2:]
    if len(output_size) != dims:
        raise ValueError(
            "output_size should be a sequence containing "
            f"{dims} or {dims + 2} elements, but it has a length of '{len(output_size)}'"
        )
    for d in range(dims):
        low, high = default[d] - stride[d], default[d] + stride[d]
        if not low < output_size[d] < high:
            raise ValueError(
                f'invalid output_size "{output_size}" (dim {d} must be between {low} and {high})'
            )
    return output_size


def _unpool_arguments(input, dims, kernel_size, stride, padding, output_size):
    kernel_size = _sizes(kernel_size, dims)
    stride = _sizes(stride, dims) if stride is not None else kernel_size
    padding = _sizes(padding, dims)
    return _unpool_size(input, kernel_size, stride, padding, output_size), stride, padding


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Put the values of max_pool1d back at their indices, zero elsewhere."""
    size, _, _ = _unpool_arguments(input, 1, kernel_size, stride, padding, output_size)
    output = ops.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), [*size, 1])
    return output.squeeze(-1)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Put the values of max_pool2d back at their indices, zero elsewhere."""
    size, _, _ = _unpool_arguments(input, 2, kernel_size, stride, padding, output_size)
    return ops.max_unpool2d(input, indices, size)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Put the values of max_pool3d back at their indices, zero elsewhere."""
    size, stride, padding = _unpool_arguments(input, 3, kernel_size, stride, padding, output_size)
    return ops.max_unpool3d(input, indices, size, stride, padding)
