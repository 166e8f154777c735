"""Normalisations."""

from dataclasses import replace

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


# ---- lower-level forms ----


def native_layer_norm(x, normalized_shape, weight, bias, eps):
    axes = tuple(range(x.ndim - len(normalized_shape), x.ndim))
    mean = x.mean(axis=axes, keepdims=True)
    rstd = 1 / np.sqrt(x.var(axis=axes, keepdims=True) + eps)
    return affine((x - mean) * rstd, weight, bias, normalized_shape), mean, rstd


def native_group_norm(x, weight, bias, n, c, hxw, group, eps):
    grouped = x.reshape(n, group, -1)
    rstd = 1 / np.sqrt(grouped.var(axis=2) + eps)
    return group_norm(x, group, weight, bias, eps), grouped.mean(axis=2), rstd


def low_batch_norm(x, weight, bias, running_mean, running_var, training, momentum, eps, cudnn=True):
    return batch_norm(x, running_mean, running_var, weight, bias, training, momentum, eps)


def native_batch_norm(x, weight, bias, running_mean, running_var, training, momentum, eps):
    y = batch_norm(x, running_mean, running_var, weight, bias, training, momentum, eps)
    if not training:
        return y, np.zeros(0), np.zeros(0)
    axes = (0, *range(2, x.ndim))
    return y, x.mean(axis=axes), 1 / np.sqrt(x.var(axis=axes) + eps)


def low_batch_norm_samples(*tail):
    def samples(draw):
        for sample in batch_norm_samples(draw):
            x, mean, var, *rest = sample.args
            weight, bias, training = rest if rest else (None, None, False)
            yield Sample((x, weight, bias, mean, var, training, 0.1, EPS, *tail))

    return samples


def local_response_norm(x, size, alpha=1e-4, beta=0.75, k=1.0):
    padded = np.pad(x * x, [(0, 0), (size // 2, (size - 1) // 2), *[(0, 0)] * (x.ndim - 2)])
    total = sum(padded[:, i : i + x.shape[1]] for i in range(size))
    return x / (k + alpha * total / size) ** beta


def normalize(x, p=2.0, dim=1, eps=1e-12):
    return x / np.maximum((np.abs(x) ** p).sum(dim, keepdims=True) ** (1 / p), eps)


def renorm(x, p, dim, maxnorm):
    axes = tuple(d for d in range(x.ndim) if d != dim % x.ndim)
    norms = (np.abs(x) ** p).sum(axes, keepdims=True) ** (1 / p)
    return np.where(norms > maxnorm, x * maxnorm / (norms + 1e-7), x)


def top_level_instance_norm(
    x, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn
):
    return instance_norm(x, weight, bias, eps)


def low(name, reference, samples, error, **options):
    options = {"dtypes": FLOATING, "k": K, "floor": 4, "method": False, "inplace": False, **options}
    return OpSpec(name, reference, samples, errors=[error], **options)


WITHOUT_STATISTICS = Case(
    args=(np.zeros((2, 3)), None, None, None, None, False, 0.1, EPS, False), match="running_mean"
)

SPECS += [
    low("native_layer_norm", native_layer_norm,
        case_samples(((2, 3, 4), (4,), C, C, EPS), ((2, 3, 4), (3, 4), None, None, EPS)),
        Case(args=(np.zeros((2, 3)), (4,), None, None, EPS), match="normalized_shape")),
    low("native_group_norm", native_group_norm,
        case_samples(((2, 4, 5), C, C, 2, 4, 5, 2, EPS), ((2, 4, 5), None, None, 2, 4, 5, 4, EPS)),
        Case(args=(np.zeros((2, 3, 1)), None, None, 2, 3, 1, 2, EPS), match="divisible")),
    low("native_batch_norm", native_batch_norm, low_batch_norm_samples(),
        replace(WITHOUT_STATISTICS, args=WITHOUT_STATISTICS.args[:-1]), views=False,
        grad=False),
    low("batch_norm", low_batch_norm, low_batch_norm_samples(False), WITHOUT_STATISTICS, views=False),
    low("instance_norm", top_level_instance_norm,
        case_samples(((2, 4, 5), C, C, None, None, True, 0.1, EPS, False)),
        Case(args=(np.zeros((2, 3, 4)), None, None, None, None, False, 0.1, EPS, False),
             match="running_mean and running_var")),
    low("nn.functional.local_response_norm", local_response_norm,
        case_samples(((2, 5, 4), 3), ((2, 5, 3, 2), 2, 0.5, 0.6, 2.0)),
        Case(args=(np.zeros((2, 3)), 3), raises=ValueError, match="3D or higher")),
    low("nn.functional.normalize", normalize,
        case_samples(((3, 4),), ((3, 4), 1.0, 0), ((2, 3, 4), 3.0, -1)),
        Case(args=(np.zeros(3), 2.0, 1), raises=IndexError, match="Dimension out of range")),
    low("renorm", renorm, case_samples(((3, 4), 2, 0, 1.5), ((2, 3, 4), 1, 1, 2.0), ((3, 4), 2, -1, 100.0)),
        Case(args=(np.zeros((2, 3)), 2, 0, -1.0), match="maxnorm"), method=None, inplace=None),
]  # fmt: skip
