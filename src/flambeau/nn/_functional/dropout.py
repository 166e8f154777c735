"""Dropout of elements and of whole channels; alpha dropout."""

from flambeau import ops

__all__ = [
    "alpha_dropout",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
]


def _check_p(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input, p=0.5, training=True, inplace=False):
    """Zero elements with probability p and scale the rest by 1 / (1 - p).

    Random: the numbers are PyTorch's for the same seed. Outside of training, the input is returned as it is.
    """
    _check_p(p)
    return ops.dropout_(input, p, training) if inplace else ops.dropout(input, p, training)


def _feature_dropout(input, p, training, inplace):
    return (
        ops.feature_dropout_(input, p, training)
        if inplace
        else ops.feature_dropout(input, p, training)
    )


def dropout1d(input, p=0.5, training=True, inplace=False):
    """Zero whole channels of (N, C, L) or (C, L) input with probability p."""
    _check_p(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. "
            "Note that dropout1d exists to provide channel-wise dropout on inputs with 1 "
            "spatial dimension, a channel dimension, and an optional batch dimension "
            "(i.e. 2D or 3D inputs)."
        )
    return _channelwise(input, p, training, inplace, input.dim() == 3)


def _channelwise(input, p, training, inplace, batched):
    if batched:
        return _feature_dropout(input, p, training, inplace)
    if inplace:
        ops.feature_dropout_(input.unsqueeze(0), p, training)
        return input
    return ops.feature_dropout(input.unsqueeze(0), p, training).squeeze(0)


def dropout2d(input, p=0.5, training=True, inplace=False):
    """Zero whole channels of (N, C, H, W) or (N, C, L) input with probability p."""
    _check_p(p)
    if input.dim() not in (3, 4):
        import warnings

        warnings.warn(
            f"dropout2d: Received a {input.dim()}-D input to dropout2d, which is deprecated "
            "and will result in an error in a future release. To retain the behavior "
            "and silence this warning, please use dropout instead. Note that dropout2d "
            "exists to provide channel-wise dropout on inputs with 2 spatial dimensions, "
            "a channel dimension, and an optional batch dimension (i.e. 3D or 4D inputs).",
            stacklevel=2,
        )
    elif input.dim() == 3:
        import warnings

        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise "
            "1D dropout behavior is desired - input is interpreted as shape (N, C, L), where C "
            "is the channel dim. This behavior will change in a future release to interpret the "
            "input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D "
            "channel-wise dropout behavior, please switch to using dropout1d instead.",
            stacklevel=2,
        )
    return _feature_dropout(input, p, training, inplace)


def dropout3d(input, p=0.5, training=True, inplace=False):
    """Zero whole channels of (N, C, D, H, W) or (C, D, H, W) input with probability p."""
    _check_p(p)
    if input.dim() not in (4, 5):
        import warnings

        warnings.warn(
            f"dropout3d: Received a {input.dim()}-D input to dropout3d, which is deprecated "
            "and will result in an error in a future release. To retain the behavior "
            "and silence this warning, please use dropout instead. Note that dropout3d "
            "exists to provide channel-wise dropout on inputs with 3 spatial dimensions, "
            "a channel dimension, and an optional batch dimension (i.e. 4D or 5D inputs).",
            stacklevel=2,
        )
    return _channelwise(input, p, training, inplace, input.dim() != 4)


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout that keeps mean 0 and variance 1: dropped elements become the negative saturation of SELU.

    References:
        Klambauer et al., "Self-Normalizing Neural Networks", 2017, arXiv:1706.02515.
    """
    _check_p(p)
    return (
        ops.alpha_dropout_(input, p, training) if inplace else ops.alpha_dropout(input, p, training)
    )


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Alpha dropout of whole channels."""
    _check_p(p)
    op = ops.feature_alpha_dropout_ if inplace else ops.feature_alpha_dropout
    return op(input, p, training)
