"""Convolutions against a direct sum over the kernel's positions."""

import itertools

import numpy as np

from flambeau.testing.opspec import Case, OpSpec, Shape, case_samples

LONG = 300  # errors are relative to the sum of the magnitudes: at most 36 products of 9


def several(value, dims):
    return (value,) * dims if isinstance(value, int) else tuple(value)


def conv(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    dims = weight.ndim - 2
    if x.ndim == dims + 1:
        return conv(x[None], weight, bias, stride, padding, dilation, groups)[0]
    stride, dilation = several(stride, dims), several(dilation, dims)
    kernel = weight.shape[2:]
    if padding == "same":
        total = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
        pads = [(t // 2, t - t // 2) for t in total]
    else:
        pads = [(p, p) for p in several(0 if padding == "valid" else padding, dims)]
    x = np.pad(x, [(0, 0), (0, 0), *pads])
    out = [
        (n - d * (k - 1) - 1) // s + 1
        for n, k, s, d in zip(x.shape[2:], kernel, stride, dilation, strict=True)
    ]
    result = np.zeros((x.shape[0], weight.shape[0], *out), x.dtype)
    per_group, out_per_group = weight.shape[1], weight.shape[0] // groups
    for position in itertools.product(*map(range, kernel)):
        window = tuple(
            slice(p * d, p * d + s * (o - 1) + 1, s)
            for p, d, s, o in zip(position, dilation, stride, out, strict=True)
        )
        for g in range(groups):
            part = x[(slice(None), slice(g * per_group, (g + 1) * per_group), *window)]
            w = weight[(slice(g * out_per_group, (g + 1) * out_per_group), slice(None), *position)]
            result[:, g * out_per_group : (g + 1) * out_per_group] += np.einsum(
                "nc...,oc->no...", part, w
            )
    return result if bias is None else result + bias.reshape(-1, *(1,) * dims)


def conv_transpose(
    x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1
):
    dims = weight.ndim - 2
    stride, dilation, padding, extra = (
        several(v, dims) for v in (stride, dilation, padding, output_padding)
    )
    kernel, n_in, per_group = weight.shape[2:], weight.shape[0], weight.shape[1]
    full = [
        (n - 1) * s + d * (k - 1) + 1
        for n, s, d, k in zip(x.shape[2:], stride, dilation, kernel, strict=True)
    ]
    result = np.zeros(
        (x.shape[0], per_group * groups, *(f + e for f, e in zip(full, extra, strict=True))),
        x.dtype,
    )
    for position in itertools.product(*map(range, kernel)):
        window = tuple(
            slice(p * d, p * d + s * (n - 1) + 1, s)
            for p, d, s, n in zip(position, dilation, stride, x.shape[2:], strict=True)
        )
        for g in range(groups):
            part = x[:, g * n_in // groups : (g + 1) * n_in // groups]
            w = weight[
                (slice(g * n_in // groups, (g + 1) * n_in // groups), slice(None), *position)
            ]
            target = (slice(None), slice(g * per_group, (g + 1) * per_group), *window)
            result[target] += np.einsum("nc...,co->no...", part, w)
    crop = tuple(slice(p, n - p) for p, n in zip(padding, result.shape[2:], strict=True))
    result = result[(slice(None), slice(None), *crop)]
    return result if bias is None else result + bias.reshape(-1, *(1,) * dims)


def spec(name, reference, *cases):
    dims = int(name[-2])
    wrong = Case(
        args=(np.zeros((1, 3, *(4,) * dims)), np.zeros((2, 2, *(3,) * dims))), match="channels"
    )
    return OpSpec(
        name, reference, case_samples(*cases), dtypes=("float32", "float64", "bfloat16"), floor=LONG, method=False,
        inplace=False, errors=[wrong],
    )  # fmt: skip


B = Shape((4,))

SPECS = [
    spec(
        "conv1d",
        conv,
        ((2, 3, 7), Shape((4, 3, 3))),
        ((2, 4, 7), Shape((4, 2, 3)), B, 2, 1, 1, 2),
        ((2, 3, 9), Shape((4, 3, 3)), None, 1, "same", 2),
        ((3, 7), Shape((4, 3, 1)), B),
    ),
    spec(
        "conv2d",
        conv,
        ((2, 3, 5, 6), Shape((4, 3, 3, 3)), B),
        ((2, 3, 5, 6), Shape((4, 3, 3, 2)), None, (2, 1), (1, 0)),
        ((1, 4, 5, 5), Shape((4, 1, 3, 3)), B, 1, 1, 1, 4),
        ((2, 4, 6, 6), Shape((4, 2, 3, 3)), B, 1, 2, 2, 2),
        ((2, 3, 4, 4), Shape((4, 3, 1, 1)), B),
        ((0, 3, 4, 4), Shape((4, 3, 3, 3))),
        ((2, 3, 5, 5), Shape((4, 3, 3, 3)), B, 1, "valid"),
        ((2, 16, 9, 9), Shape((4, 16, 3, 3)), B, 1, 1),
    ),
    spec("conv3d", conv, ((1, 2, 4, 4, 3), Shape((4, 2, 2, 2, 2)), B, (1, 2, 1), 1)),
    spec("conv_transpose1d", conv_transpose, ((2, 4, 5), Shape((4, 2, 3)), Shape((2,)), 2, 1, 1)),
    spec(
        "conv_transpose2d",
        conv_transpose,
        ((2, 4, 3, 4), Shape((4, 2, 3, 3)), Shape((2,))),
        ((2, 4, 3, 4), Shape((4, 2, 3, 2)), None, (2, 1), 1, (1, 0)),
        ((1, 4, 3, 3), Shape((4, 1, 3, 3)), Shape((2,)), 2, 1, 0, 2, 2),
    ),
    spec(
        "conv_transpose3d",
        conv_transpose,
        ((1, 4, 2, 3, 2), Shape((4, 2, 2, 2, 2)), Shape((2,)), 2),
    ),
]


def convolution(x, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    if transposed:
        return conv_transpose(x, weight, bias, stride, padding, output_padding, groups, dilation)
    return conv(x, weight, bias, stride, padding, dilation, groups)


def conv_tbc(x, weight, bias, pad=0):
    """Time, batch, channels; the weight is (width, in, out)."""
    swapped = conv(x.transpose(1, 2, 0), weight.transpose(2, 1, 0), bias, 1, pad)
    return swapped.transpose(2, 0, 1)


PLAIN = ((1, 1), (1, 0), (1, 1), False, (0, 0), 1)
TURNED = ((2, 1), (1, 1), (1, 1), True, (1, 0), 2)
TIMED = case_samples(((6, 2, 3), Shape((3, 3, 4)), B, 1), ((6, 2, 3), Shape((2, 3, 4)), B))

SPECS += [
    OpSpec("convolution", convolution,
           case_samples(((2, 3, 5, 6), Shape((4, 3, 3, 2)), B, *PLAIN),
                        ((2, 4, 3, 4), Shape((4, 2, 3, 2)), None, *TURNED)),
           floor=LONG, method=False, inplace=False,
           errors=[Case(args=(np.zeros((1, 3, 4, 4)), np.zeros((2, 2, 3, 3)), None, *PLAIN), match="channels")]),
    *(
        OpSpec(name, conv_tbc, TIMED, floor=LONG, method=False, inplace=False,
               errors=[Case(args=(np.zeros((3, 2)), np.zeros((3, 3, 4)), np.zeros(4)), match="3|dim")])
        for name in ("conv_tbc", "nn.functional.conv_tbc")
    ),
]  # fmt: skip
