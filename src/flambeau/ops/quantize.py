"""Affine quantization of strided tensors: integers stored for real values, and fake quantization for training.

The tensors that remember their scale and zero point are in flambeau.quantized.
"""

from .registry import composite, native

_quantize_values = native(
    "_quantize_values(Tensor input, Tensor scale, Tensor zero_point, int axis, dtype dtype, int low, int high)"
    " -> Tensor",
    non_differentiable="rounds to integers",
    doc="The integers (uint8, int8 or int32, within [low, high]) that stand for float32 input; axis -1: one scale.",
)
_dequantize_values = native(
    "_dequantize_values(Tensor input, Tensor scale, Tensor zero_point, int axis) -> Tensor",
    non_differentiable="integer input",
    doc="(input - zero_point) * scale in float32, for integers made by _quantize_values.",
)

_fake_quantize_tensor = native(
    "_fake_quantize_tensor(Tensor input, Tensor scale, Tensor zero_point, int quant_min, int quant_max)"
    " -> (Tensor output, Tensor mask)",
    doc="fake_quantize_per_tensor_affine, and where the gradient passes.",
)


@_fake_quantize_tensor.vjp("input")
def fake_quantize_tensor_vjp(grad_output, mask):
    return grad_output * mask


_fake_quantize_channel = native(
    "_fake_quantize_channel(Tensor input, Tensor scale, Tensor zero_point, int axis, int quant_min, int quant_max)"
    " -> (Tensor output, Tensor mask)",
    doc="fake_quantize_per_channel_affine, and where the gradient passes.",
)


@_fake_quantize_channel.vjp("input")
def fake_quantize_channel_vjp(grad_output, mask):
    return grad_output * mask


@composite()
def fake_quantize_per_tensor_affine(input, scale, zero_point, quant_min, quant_max):
    """Quantize to integers in [quant_min, quant_max] and back, to train with the error of quantization.

    Args:
        input: any shape, floating point.
        scale: float or one-element tensor.
        zero_point: int or one-element tensor within [quant_min, quant_max].

    The gradient passes unchanged where no value was clipped and is 0 elsewhere (straight-through estimator, Bengio et
    al. 2013, "Estimating or Propagating Gradients Through Stochastic Neurons"; scale and zero_point get none).

    Raises:
        RuntimeError: quant_min > quant_max, or zero_point outside them.
    """
    return _fake_quantize_tensor(input, scale, zero_point, quant_min, quant_max)[0]


@composite()
def fake_quantize_per_channel_affine(input, scale, zero_point, axis, quant_min, quant_max):
    """fake_quantize_per_tensor_affine with a scale and zero point, of shape (size,), per index along axis."""
    return _fake_quantize_channel(input, scale, zero_point, axis, quant_min, quant_max)[0]


__all__ = ["fake_quantize_per_channel_affine", "fake_quantize_per_tensor_affine"]
