"""Padding and pixel rearrangements."""

import numpy as np

from flambeau.testing.opspec import ALL, FLOATING, Case, OpSpec, case_samples

SOME = ("bool", "int32", "float32", "float64", "complex64")
X = np.zeros((2, 3))


def pad(x, pad, mode="constant", value=None):
    pairs = [(0, 0)] * x.ndim
    for i in range(len(pad) // 2):
        pairs[x.ndim - 1 - i] = (pad[2 * i], pad[2 * i + 1])
    crop = tuple(
        slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(pairs, x.shape, strict=True)
    )
    grow = [(max(a, 0), max(b, 0)) for a, b in pairs]
    if mode == "constant":
        return np.pad(x[crop], grow, constant_values=value or 0)
    return np.pad(
        x[crop], grow, mode={"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode]
    )


def pixel_shuffle(x, r):
    *batch, c, h, w = x.shape
    n = len(batch)
    blocks = x.reshape(*batch, c // (r * r), r, r, h, w)
    return blocks.transpose(*range(n), n, n + 3, n + 1, n + 4, n + 2).reshape(
        *batch, c // (r * r), h * r, w * r
    )


def pixel_unshuffle(x, r):
    *batch, c, h, w = x.shape
    n = len(batch)
    blocks = x.reshape(*batch, c, h // r, r, w // r, r)
    return blocks.transpose(*range(n), n, n + 2, n + 4, n + 1, n + 3).reshape(
        *batch, c * r * r, h // r, w // r
    )


def channel_shuffle(x, groups):
    n, c, *rest = x.shape
    return x.reshape(n, groups, c // groups, *rest).swapaxes(1, 2).reshape(x.shape)


def padded(variant, *cases, errors, dtypes=SOME):
    return OpSpec(
        "nn.functional.pad",
        reference=pad,
        samples=case_samples(*cases),
        dtypes=dtypes,
        variant=variant,
        errors=errors,
    )


SPECS = [
    padded(
        "constant", ((2, 3), (1, 2)), ((2, 3), (1, -1, 0, 2)), ((2, 3), (-1, -2)), ((0, 3), (1, 1, 1, 1)),
        ((2, 3), (1, 1), {"value": 1}),
        dtypes=ALL,
        errors=[
            Case(args=(X, (1,)), match="even"),
            Case(args=(X, (-2, -2)), match="negative output size"),
            Case(args=(X, (0, 0, 0, 0, 0, 1)), match="twice"),
            Case(args=(X, (2**63 - 1, 1)), match="pad|size"),
            Case(args=(X, (1, 1), "mirror"), raises=NotImplementedError, match="padding mode"),
        ],
    ),
    padded(
        "reflect", ((2, 5), (2, 1), "reflect"), ((1, 2, 4, 5), (1, 2, 3, 0), "reflect"), ((2, 5), (-1, 2), "reflect"),
        errors=[
            Case(args=(X, (3, 0), "reflect"), match="Padding size"),
            Case(args=(X, (1, 1, 1, 1), "reflect"), raises=NotImplementedError, match="non-constant padding"),
        ],
    ),
    padded(
        "replicate", ((2, 5), (2, 7), "replicate"), ((1, 2, 3, 4, 5), (1, 0, 2, 1, 0, 3), "replicate"),
        errors=[Case(args=(np.zeros((2, 0)), (1, 1), "replicate"), match="non-zero")],
    ),
    padded(
        "circular", ((2, 5), (2, 5), "circular"), ((2, 5), (-1, 3), "circular"),
        errors=[Case(args=(X, (4, 0), "circular"), match="wrapping")],
    ),
    OpSpec(
        "nn.functional.pixel_shuffle", reference=pixel_shuffle,
        samples=case_samples(((8, 2, 3), 2), ((2, 9, 1, 2), 3)), dtypes=SOME,
        errors=[Case(args=(np.zeros((3, 2, 2)), 2), match="pixel_shuffle")],
    ),
    OpSpec(
        "nn.functional.pixel_unshuffle", reference=pixel_unshuffle,
        samples=case_samples(((2, 4, 6), 2), ((1, 3, 3, 3), 3)), dtypes=SOME,
        errors=[Case(args=(np.zeros((3, 3, 2)), 2), match="pixel_unshuffle")],
    ),
    OpSpec(
        "nn.functional.channel_shuffle", reference=channel_shuffle,
        samples=case_samples(((1, 6, 2), 3), ((2, 4, 2, 2), 2)), dtypes=FLOATING,
        errors=[Case(args=(np.zeros((1, 5, 2)), 2), match="divisible")],
    ),
]  # fmt: skip


def constant_pad_nd(x, pad, value=0):
    widths = [(0, 0)] * (x.ndim - len(pad) // 2) + [
        (pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)
    ]
    return np.pad(x, widths, constant_values=value)


SPECS += [
    OpSpec(
        "constant_pad_nd",
        constant_pad_nd,
        case_samples(((2, 3), (1, 2)), ((2, 3), (1, 0, 2, 1), 1), ((4,), (0, 0))),
        dtypes=("int32", "float32", "float64"),
        errors=[Case(args=(np.zeros(2), (1,)), match="even|pad")],
    )
]
