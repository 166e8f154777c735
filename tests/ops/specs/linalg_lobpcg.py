"""Largest eigenvalues by LOBPCG, from fixed first approximations, against the dense solver."""

import numpy as np

import flambeau
from flambeau.testing.opspec import Case, OpSpec, Sample


def problems(draw):
    yield Sample((draw.array((9, 9)), draw.array((9, 2))))
    yield Sample((draw.array((2, 7, 7)), draw.array((2, 7, 1))))


def largest(a, x):
    """The matrix is a a^H: with a^T a complex one would not be Hermitian."""
    return np.linalg.eigvalsh(a @ np.conj(np.swapaxes(a, -1, -2)))[..., ::-1][..., : x.shape[-1]]


SPECS = [
    OpSpec(
        "lobpcg",
        largest,
        problems,
        dtypes=("float64",),
        k=64,
        floor=100,
        grad_arguments=(0,),
        views=False,
        meta=False,
        function=lambda a, x: flambeau.lobpcg(a @ a.mH, X=x, tol=1e-13, niter=500)[0],
        errors=[Case(args=(np.eye(4), np.ones((4, 2))), raises=ValueError, match="3 x")],
    ),
]
