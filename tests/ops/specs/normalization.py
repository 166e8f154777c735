"""Normalisations."""

import numpy as np

from flambeau.testing.opspec import FLOATING, HALVES, Case, OpSpec, Sample, Shape, case_samples

K = 32  # a mean, a variance, a root and a quotient
EPS = 1e-5


def standardised(x, axes, eps):
    mean = x.mean(axis=axes, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axis=axes, keepdims=True) + eps)


def affine(y, weight, bias, shape):
    y = y if weight is None else y * weight.reshape(shape)
    return y if bias is None else y + bias.reshape(shape)


def layer_norm(x, normalized_shape, weight=None, bias=None, eps=EPS):
    axes = tuple(range(x.ndim - len(normalized_shape), x.ndim))
    return affine(standardised(x, axes, eps), weight, bias, normalized_shape)


def rms_norm(x, normalized_shape, weight=None, eps=None):
    axes = tuple(range(x.ndim - len(normalized_shape), x.ndim))
    y = x / np.sqrt((x * x).mean(axis=axes, keepdims=True) + (eps or 0))
    return affine(y, weight, None, normalized_shape)


def group_norm(x, num_groups, weight=None, bias=None, eps=EPS):
    grouped = x.reshape(x.shape[0], num_groups, -1)
    y = standardised(grouped, (2,), eps).reshape(x.shape)
    return affine(y, weight, bias, (1, -1) + (1,) * (x.ndim - 2))


def instance_norm(x, weight=None, bias=None, eps=EPS):
    y = standardised(x, tuple(range(2, x.ndim)), eps)
    return affine(y, weight, bias, (1, -1) + (1,) * (x.ndim - 2))


def batch_norm(
    x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=EPS
):
    shape = (1, -1) + (1,) * (x.ndim - 2)
    if training:
        y = standardised(x, (0, *range(2, x.ndim)), eps)
    else:
        y = (x - running_mean.reshape(shape)) / np.sqrt(running_var.reshape(shape) + eps)
    return affine(y, weight, bias, shape)


def batch_norm_samples(draw):
    for shape in ((4, 3), (2, 3, 5), (2, 3, 4, 2)):
        x, weight, bias = draw.array(shape), draw.array((3,)), draw.array((3,))
        yield Sample((x, None, None, weight, bias, True))
        if not draw.smooth:  # the statistics are no differentiable inputs
            yield Sample((x, draw.array((3,)), draw.array((3,), 0.5, 2), weight, bias, False))
            yield Sample((x, draw.array((3,)), draw.array((3,), 0.5, 2)))


def spec(name, reference, samples, error, **options):
    return OpSpec(
        f"nn.functional.{name}",
        reference,
        samples,
        dtypes=(*HALVES, *FLOATING),
        k=K,
        floor=4,
        method=False,
        inplace=False,
        errors=[error],
        **options,
    )


C = Shape((4,))

SPECS = [
    spec(
        "layer_norm",
        layer_norm,
        case_samples(
            ((2, 4), (4,)),
            ((2, 3, 4), (3, 4), Shape((3, 4)), Shape((3, 4))),
            ((2, 3, 4), (4,), C, C),
            ((5, 300), (300,)),
        ),
        Case(args=(np.zeros((2, 3)), (4,)), match="normalized_shape"),
    ),
    spec(
        "rms_norm",
        rms_norm,
        case_samples(
            ((2, 4), (4,), C, 1e-3), ((2, 3, 4), (3, 4), None, 1e-3), ((2, 300), (300,), None, 1e-3)
        ),
        Case(args=(np.zeros((2, 3)), (4,)), match="normalized_shape"),
    ),
    spec(
        "group_norm",
        group_norm,
        case_samples(((2, 4), 2), ((2, 4, 5), 2, C, C), ((2, 4, 3, 3), 1), ((2, 4, 3, 3), 4, C, C)),
        Case(args=(np.zeros((2, 3)), 2), match="divisible"),
    ),
    spec(
        "instance_norm",
        instance_norm,
        case_samples(((2, 4, 5),), ((2, 4, 3, 3), {"weight": C, "bias": C})),
        Case(args=(np.zeros((2, 3, 1)),), raises=ValueError, match="more than 1 spatial element"),
    ),
    spec(
        "batch_norm",
        batch_norm,
        batch_norm_samples,
        Case(
            args=(np.zeros((1, 3)), None, None, None, None, True),
            raises=ValueError,
            match="more than 1 value",
        ),
        views=False,  # an expanded batch has no variance, and 1 / sqrt(eps) magnifies rounding
    ),
]
