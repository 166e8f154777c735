"""Normalisation: batch and instance norm over the native op, local response norm, normalize."""

from flambeau import ops

__all__ = ["batch_norm", "instance_norm", "local_response_norm", "normalize"]


def _verify_batch_size(size):
    count = size[0]
    for extent in size[2:]:
        count *= extent
    if count == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {size}"
        )


def batch_norm(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5
):
    """(input - mean) / sqrt(var + eps) * weight + bias per channel (dim 1).

    In training the statistics are the batch's (biased variance) and the running ones, if given, move towards them by
    `momentum` (unbiased variance); otherwise the running ones are used.
    """
    if training:
        _verify_batch_size(input.size())
    if training and eps <= 0.0:
        raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    if eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    return ops.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(
    input,
    running_mean=None,
    running_var=None,
    weight=None,
    bias=None,
    use_input_stats=True,
    momentum=0.1,
    eps=1e-5,
):
    """Batch norm of each sample on its own: statistics over the spatial dims of each (sample, channel)."""
    size = input.size()
    if use_input_stats:
        spatial = 1
        for extent in size[2:]:
            spatial *= extent
        if spatial == 1:
            raise ValueError(
                f"Expected more than 1 spatial element when training, got input size {size}"
            )
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    n, c = size[0], size[1]

    def repeated(values):
        return None if values is None else values.repeat(n)

    # One batch of n * c channels.
    mean, var = repeated(running_mean), repeated(running_var)
    flat = input.contiguous().view(1, n * c, *size[2:])
    output = ops.batch_norm(
        flat, mean, var, repeated(weight), repeated(bias), use_input_stats, momentum, eps
    )
    if use_input_stats:
        from flambeau import no_grad

        with no_grad():
            if running_mean is not None:
                running_mean.copy_(mean.view(n, c).mean(0))
            if running_var is not None:
                running_var.copy_(var.view(n, c).mean(0))
    return output.view(size)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """Input / (k + alpha * mean of input ** 2 over `size` neighbouring channels) ** beta."""
    dim = input.dim()
    if dim < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality                          input (got {dim} dimensions)"
        )
    if input.numel() == 0:
        return input
    from flambeau.nn import functional as F

    square = input.mul(input).unsqueeze(1)
    if dim == 3:
        square = F.pad(square, (0, 0, size // 2, (size - 1) // 2))
        mean = ops.avg_pool2d(square, (size, 1), stride=1).squeeze(1)
    else:
        sizes = input.size()
        square = square.view(sizes[0], 1, sizes[1], sizes[2], -1)
        square = F.pad(square, (0, 0, 0, 0, size // 2, (size - 1) // 2))
        mean = ops.avg_pool3d(square, (size, 1, 1), stride=1).squeeze(1).view(sizes)
    return input / mean.mul(alpha).add(k).pow(beta)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """Input / max(||input||_p, eps) along dim."""
    norm = ops.norm(input, p, dim, keepdim=True)
    if out is None:
        return input / norm.clamp_min(eps).expand_as(input)
    return ops.div(input, norm.clamp_min_(eps).expand_as(input), out=out)
