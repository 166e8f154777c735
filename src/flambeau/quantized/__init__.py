"""Quantized tensors: integers that stand for real values by a scale and a zero point.

Made by quantize_per_tensor and quantize_per_channel; `dequantize` gives the real values back. Ops that only move
elements or compare them work on them, and so do the pooling and activation functions that inference uses; others raise
NotImplementedError.
"""

from . import forms as _forms
from .create import (
    _empty_affine_quantized,
    _make_per_channel_quantized_tensor,
    _make_per_tensor_quantized_tensor,
    dequantize,
    quantize_per_channel,
    quantize_per_tensor,
    quantize_per_tensor_dynamic,
    quantized_batch_norm,
    quantized_max_pool1d,
    quantized_max_pool2d,
)
from .scheme import (
    per_channel_affine,
    per_channel_affine_float_qparams,
    per_channel_symmetric,
    per_tensor_affine,
    per_tensor_symmetric,
    qscheme,
)

__all__ = [
    "_empty_affine_quantized",
    "_make_per_channel_quantized_tensor",
    "_make_per_tensor_quantized_tensor",
    "dequantize",
    "per_channel_affine",
    "per_channel_affine_float_qparams",
    "per_channel_symmetric",
    "per_tensor_affine",
    "per_tensor_symmetric",
    "qscheme",
    "quantize_per_channel",
    "quantize_per_tensor",
    "quantize_per_tensor_dynamic",
    "quantized_batch_norm",
    "quantized_max_pool1d",
    "quantized_max_pool2d",
]
