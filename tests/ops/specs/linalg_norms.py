"""The functions that choose between vector and matrix norms, against NumPy."""

import numpy as np

from flambeau.testing.opspec import Case, OpSpec, Sample

DTYPES = ("float32", "float64", "complex64", "complex128")


def norms(draw):
    matrix = draw.spread((3, 4)) + 0.1
    for order in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
        yield Sample((matrix, order))
    yield Sample((matrix,))
    yield Sample((draw.spread((2, 3, 4)) + 0.1, 3, 1))
    yield Sample((draw.spread((2, 3, 4)) + 0.1, "nuc", (0, 2), True))


def spec(name, reference, samples, *errors, **options):
    if name.startswith("linalg."):
        options["method"] = False  # Tensor.norm knows no matrix norms
    return OpSpec(name, reference, samples, dtypes=DTYPES, floor=64, errors=errors, **options)


SPECS = [
    spec(
        "linalg.norm",
        np.linalg.norm,
        norms,
        Case(args=(np.zeros((2, 2, 2)), 2), match="1D or 2D"),
        views=False,
    ),
    spec(
        "frobenius_norm",
        lambda a, dim=None, keepdim=False: np.sqrt(
            (np.abs(a) ** 2).sum(None if dim is None else tuple(dim), keepdims=keepdim)
        ),
        lambda draw: [
            Sample((draw.spread((3, 4)) + 0.1,)),
            Sample((draw.spread((2, 3, 4)) + 0.1, [0, 2], True)),
        ],
        Case(args=(np.zeros(3), [1]), raises=IndexError, match="range"),
    ),
    spec(
        "nuclear_norm",
        lambda a: np.linalg.norm(a, "nuc", (-2, -1)),
        lambda draw: [
            Sample((draw.spread((3, 4)) + 0.1,)),
            Sample((draw.spread((2, 2, 3)) + 0.1,)),
        ],
        Case(args=(np.zeros(3),), match="at least 2"),
        views=False,
    ),
]
