"""Patches as columns, and back."""

import numpy as np

from flambeau.testing.opspec import Case, OpSpec, case_samples


def each(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value, value)


def unfold(x, kernel_size, dilation=1, padding=0, stride=1):
    (kh, kw), (dh, dw), (ph, pw), (sh, sw) = map(each, (kernel_size, dilation, padding, stride))
    padded = np.pad(x, [*[(0, 0)] * (x.ndim - 2), (ph, ph), (pw, pw)])
    h = (padded.shape[-2] - dh * (kh - 1) - 1) // sh + 1
    w = (padded.shape[-1] - dw * (kw - 1) - 1) // sw + 1
    taps = [
        padded[
            ..., i * dh : i * dh + (h - 1) * sh + 1 : sh, j * dw : j * dw + (w - 1) * sw + 1 : sw
        ]
        for i in range(kh)
        for j in range(kw)
    ]
    columns = np.stack(taps, -3)  # (..., channels, taps, h, w)
    return columns.reshape((*x.shape[:-3], x.shape[-3] * kh * kw, h * w))


def fold(x, output_size, kernel_size, dilation=1, padding=0, stride=1):
    # The transpose of unfold, found by unfolding the positions.
    height, width = each(output_size)
    kernel = each(kernel_size)
    channels = x.shape[-2] // (kernel[0] * kernel[1])
    size = channels * height * width
    places = np.arange(1, size + 1).reshape(channels, height, width)
    where = unfold(places, kernel_size, dilation, padding, stride).reshape(-1)  # 0: padding
    flat = x.reshape((-1, where.size))
    result = np.zeros((flat.shape[0], size + 1), x.dtype)
    for row, values in zip(result, flat, strict=True):
        np.add.at(row, where, values)
    return result[:, 1:].reshape((*x.shape[:-2], channels, height, width))


SPECS = [
    OpSpec(
        "nn.functional.unfold",
        unfold,
        case_samples(
            ((2, 3, 5, 4), (2, 3)),
            ((3, 6, 7), 2, {"dilation": 2, "padding": 1, "stride": 2}),
        ),
        dtypes=("bool", "float32", "float64", "complex128", "float16"),
        method=False,  # Tensor.unfold is a view of windows of one dim
        errors=[
            Case(args=(np.zeros((1, 1, 2, 2)), 3), match="too small"),
            Case(args=(np.zeros((2, 2)), 1), match="Expected 3D or 4D"),
        ],
    ),
    OpSpec(
        "nn.functional.fold",
        fold,
        case_samples(
            ((2, 12, 6), (3, 4), 2),
            ((8, 9), 5, 2, {"padding": 1, "stride": 2, "dilation": 2}),
        ),
        dtypes=("float32", "float64", "complex128"),
        floor=16,
        errors=[
            Case(args=(np.zeros((1, 5, 4)), 3, 2), match="divisible"),
            Case(args=(np.zeros((1, 4, 5)), 3, 2), match="sliding blocks"),
        ],
    ),
]


def im2col(x, kernel_size, dilation, padding, stride):
    return unfold(x, kernel_size, dilation, padding, stride)


def col2im(x, output_size, kernel_size, dilation, padding, stride):
    return fold(x, output_size, kernel_size, dilation, padding, stride)


# The low-level forms, without defaults.
SPECS += [
    OpSpec("im2col", im2col, case_samples(((2, 3, 5, 4), (2, 3), (1, 1), (0, 0), (1, 1))),
           errors=[Case(args=(np.zeros((1, 1, 2, 2)), (3, 3), (1, 1), (0, 0), (1, 1)), match="too small")]),
    OpSpec("col2im", col2im, case_samples(((2, 12, 6), (3, 4), (2, 2), (1, 1), (0, 0), (1, 1))), floor=16,
           errors=[Case(args=(np.zeros((1, 5, 4)), (3, 3), (2, 2), (1, 1), (0, 0), (1, 1)), match="divisible")]),
]  # fmt: skip
