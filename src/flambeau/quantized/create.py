"""Functions that make quantized tensors, read them, or compute on them with parameters of the result."""

import builtins
import math

from .. import _C, ops
from .._extension import make, payload
from .scheme import Quantized, per_channel_affine_float_qparams, range_of


def quantized_payload(tensor, function: str) -> Quantized:
    """The payload of a quantized tensor; an error that names the function for others."""
    content = payload(tensor)
    if content is None or content.kind != "quantized":
        raise NotImplementedError(
            f"{function}: expected a quantized tensor, got {tensor.dtype}. Make one with torch.quantize_per_tensor()."
        )
    return content


def _check_float(input, function: str) -> None:
    if input.dtype is not _C.float32:
        raise RuntimeError(
            f"{function}: Quantize only works on Float Tensor, got {input.dtype}. Use .float() first."
        )


def _per_tensor(input, scale, zero_point, dtype):
    bounds = range_of(dtype, "quantize_per_tensor")
    _check_float(input, "quantize_per_tensor")
    scale, zero_point = builtins.float(scale), builtins.int(zero_point)
    if not bounds.low <= zero_point <= bounds.high:
        raise RuntimeError(
            f"quantize_tensor_per_tensor_affine_cpu: expected zero_point between {bounds.low} and {bounds.high} for "
            f"{dtype}, got {zero_point}"
        )
    content = Quantized(None, dtype, scale, zero_point)
    return content.requantize(input.detach())


def quantize_per_tensor(input, scale, zero_point, dtype):
    """Quantize float32 values with one scale and zero point: round(input / scale + zero_point), bounded by the dtype.

    Args:
        input: float32 tensor of any shape, or a list of them (then scale and zero_point are 1-d tensors).
        scale: float or one-element tensor.
        zero_point: int or one-element tensor, within the range of dtype.
        dtype: torch.quint8, qint8, qint32, quint4x2 or quint2x4.

    Raises:
        RuntimeError: input is not float32, dtype not quantized, or zero_point out of range.
    """
    if isinstance(input, list | tuple):
        return tuple(
            _per_tensor(item, s, z, dtype)
            for item, s, z in zip(input, scale.tolist(), zero_point.tolist(), strict=True)
        )
    return _per_tensor(input, scale, zero_point, dtype)


def quantize_per_tensor_dynamic(input, dtype, reduce_range):
    """quantize_per_tensor with parameters from the smallest and largest value of input.

    reduce_range leaves one bit of the range unused, for kernels that could overflow.
    """
    bounds = range_of(dtype, "quantize_per_tensor_dynamic")
    if dtype not in (_C.quint8, _C.qint8):
        raise RuntimeError(
            f"quantize_per_tensor_dynamic: expected dtype torch.quint8 or torch.qint8, got {dtype}"
        )
    _check_float(input, "quantize_per_tensor_dynamic")
    low, high = bounds.low, bounds.high
    if reduce_range:
        low, high = (low // 2, high // 2)
    smallest, largest = (v.item() for v in ops.aminmax(input)) if input.numel() else (0.0, 0.0)
    scale, zero_point = _choose_parameters(smallest, largest, low, high)
    return _per_tensor(input, scale, zero_point, dtype)


def _choose_parameters(smallest: float, largest: float, low: int, high: int) -> tuple[float, int]:
    # 0 has to have an exact integer. Of the two zero points that the ends of the range suggest, the one with the
    # smaller rounding error is taken.
    smallest, largest = builtins.min(smallest, 0.0), builtins.max(largest, 0.0)
    scale = (largest - smallest) / (high - low)
    if scale == 0.0 or math.isinf(1.0 / scale):
        scale = 0.1
    from_smallest, from_largest = low - smallest / scale, high - largest / scale
    error_smallest = builtins.abs(low) + builtins.abs(smallest / scale)
    error_largest = builtins.abs(high) + builtins.abs(largest / scale)
    wanted = from_smallest if error_smallest < error_largest else from_largest
    return scale, builtins.min(builtins.max(builtins.round(wanted), low), high)


def quantize_per_channel(input, scales, zero_points, axis, dtype):
    """Quantize float32 values with a scale and zero point for each index along axis.

    scales and zero_points have shape (input.size(axis),). Float zero points give the scheme
    per_channel_affine_float_qparams.

    Raises:
        RuntimeError: sizes do not match, axis out of range, input not float32, or dtype not quantized.
    """
    range_of(dtype, "quantize_per_channel")
    _check_float(input, "quantize_per_channel")
    if zero_points.is_floating_point():
        scheme, scales, zero_points = (
            per_channel_affine_float_qparams,
            scales.float(),
            zero_points.float(),
        )
    else:
        scheme, scales, zero_points = None, scales.double(), zero_points.long()
    return Quantized(None, dtype, scales.clone(), zero_points.clone(), axis, scheme).requantize(
        input.detach()
    )


def dequantize(tensor):
    """float32 values of a quantized tensor (strided ones are converted), or of each in a list."""
    if isinstance(tensor, list | tuple):
        return tuple(dequantize(item) for item in tensor)
    content = payload(tensor)
    if content is None:
        return tensor.to(_C.float32)
    return quantized_payload(tensor, "dequantize").real_values()


def _make_per_tensor_quantized_tensor(input, scale, zero_point):
    dtype = {_C.uint8: _C.quint8, _C.int8: _C.qint8, _C.int32: _C.qint32}.get(input.dtype)
    if dtype is None:
        raise RuntimeError(
            f"_make_per_tensor_quantized_tensor: expected uint8, int8 or int32, got {input.dtype}"
        )
    content = Quantized(input.clone(), dtype, builtins.float(scale), builtins.int(zero_point))
    return make(content, input.shape, dtype)


def _make_per_channel_quantized_tensor(input, scale, zero_point, axis):
    dtype = {_C.uint8: _C.quint8, _C.int8: _C.qint8, _C.int32: _C.qint32}.get(input.dtype)
    if dtype is None:
        raise RuntimeError(
            f"_make_per_channel_quantized_tensor: expected uint8, int8 or int32, got {input.dtype}"
        )
    return make(
        Quantized(input.clone(), dtype, scale.double(), zero_point.long(), axis), input.shape, dtype
    )


def _empty_affine_quantized(
    *size, scale=1.0, zero_point=0, dtype=None, device=None, memory_format=None
):
    size = size[0] if len(size) == 1 and not isinstance(size[0], builtins.int) else size
    bounds = range_of(dtype, "_empty_affine_quantized")
    integers = ops.empty(tuple(size), dtype=bounds.stored)
    return make(
        Quantized(integers, dtype, builtins.float(scale), builtins.int(zero_point)), size, dtype
    )


def quantized_batch_norm(input, weight, bias, mean, var, eps, output_scale, output_zero_point):
    """Batch normalisation of a quantized (N, C, H, W) or (N, C, D, H, W) tensor with given statistics.

    Returns:
        A tensor of input's dtype, with output_scale and output_zero_point.
    """
    content = quantized_payload(input, "quantized_batch_norm")
    normal = ops.batch_norm(content.real_values(), mean, var, weight, bias, False, 0.0, eps)
    return _per_tensor(normal, output_scale, output_zero_point, content.dtype)


def quantized_max_pool1d(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    """max_pool1d of a quantized tensor; the parameters stay."""
    content = quantized_payload(input, "quantized_max_pool1d")
    pooled = ops.max_pool1d(
        content.real_values(), kernel_size, stride or None, padding, dilation, ceil_mode
    )
    return content.requantize(pooled)


def quantized_max_pool2d(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    """max_pool2d of a quantized tensor; the parameters stay."""
    content = quantized_payload(input, "quantized_max_pool2d")
    pooled = ops.max_pool2d(
        content.real_values(), kernel_size, stride or None, padding, dilation, ceil_mode
    )
    return content.requantize(pooled)
