"""Convolutions that are compositions."""

from flambeau import ops

__all__ = ["conv_tbc"]


def conv_tbc(input, weight, bias, pad=0):
    """One-dimensional convolution of (time, batch, channels) input by weight (kernel, in, out)."""
    if input.dim() != 3 or weight.dim() != 3:
        raise RuntimeError(
            f"conv_tbc: expected 3-d input and weight, got {list(input.shape)} and {list(weight.shape)}."
        )
    output = ops.conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, 1, pad)
    return output.permute(2, 0, 1)
