"""Bunch-Kaufman factors, against SciPy's LAPACK; and what they solve."""

import numpy as np
import scipy.linalg

import flambeau
from flambeau.testing.opspec import Case, OpSpec, Sample

DTYPES = ("float32", "float64", "complex64", "complex128")


def symmetric(draw):
    for shape in ((3, 3), (2, 5, 5)):
        yield Sample((draw.array(shape, -1, 1) * (1 - 0.9 * np.eye(shape[-1])),))


def packed(a):
    if a.ndim > 2:
        return np.stack([packed(m) for m in a])
    a = a + a.T
    (sytrf,) = scipy.linalg.get_lapack_funcs(("sytrf",), (a,))
    return np.tril(sytrf(a, lower=1)[0])


def factor(function):
    return lambda a: function(a + a.mT)[0].tril()


def solve(a, b):
    factors = flambeau.linalg.ldl_factor(a + a.mT)
    return flambeau.linalg.ldl_solve(*factors, b)


NOT_SQUARE = Case(args=(np.zeros((2, 3)),), match="must match|square|broadcast")

SPECS = [
    *(
        OpSpec(
            f"linalg.{function.__name__.removeprefix('linalg_')}",
            packed,
            symmetric,
            dtypes=DTYPES,
            floor=64,
            views=False,
            function=factor(function),
            errors=[NOT_SQUARE],
        )
        for function in (flambeau.linalg.ldl_factor, flambeau.linalg.ldl_factor_ex)
        if hasattr(function, "__name__")
    ),
    OpSpec(
        "linalg.ldl_solve",
        lambda a, b: np.linalg.solve(a + np.swapaxes(a, -1, -2), b),
        lambda draw: [
            Sample((next(iter(symmetric(draw))).args[0] + 2 * np.eye(3), draw.array((3, 2)))),
            Sample((draw.array((2, 4, 4), -1, 1) + 3 * np.eye(4), draw.array((4, 1)))),
        ],
        dtypes=DTYPES,
        floor=64,
        views=False,
        function=solve,
        errors=[Case(args=(np.eye(2), np.zeros((3, 1))), match="Incompatible")],
    ),
]
