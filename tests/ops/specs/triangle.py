"""Triangles and diagonals."""

import numpy as np

from flambeau.testing.opspec import ALL, Case, OpSpec, case_samples

SOME = ("int32", "float32", "float64", "complex64")


def diag_embed(x, offset=0):
    size = x.shape[-1] + abs(offset)
    result = np.zeros((*x.shape[:-1], size, size), x.dtype)
    rows = np.arange(x.shape[-1])
    result[..., rows - min(offset, 0), rows + max(offset, 0)] = x
    return result


def trace(x):
    return np.trace(x)


VECTOR = [Case(args=(np.zeros(3),), match="at least 2|a matrix")]

SPECS = [
    OpSpec(
        "tril",
        lambda x, diagonal=0: np.tril(x, diagonal),
        case_samples(((3, 4),), ((3, 4), 1), ((2, 3, 3), -1), ((0, 3),)),
        dtypes=ALL,
        errors=VECTOR,
    ),
    OpSpec(
        "triu",
        lambda x, diagonal=0: np.triu(x, diagonal),
        case_samples(((3, 4),), ((3, 4), 1), ((2, 3, 3), -1), ((0, 3),)),
        dtypes=ALL,
        errors=VECTOR,
    ),
    OpSpec(
        "diag",
        lambda x, diagonal=0: np.diag(x, diagonal),
        case_samples(((3,),), ((3,), 1), ((3, 4),), ((3, 4), -1)),
        dtypes=SOME,
        errors=[Case(args=(np.zeros((2, 2, 2)),), match="diag")],
    ),
    OpSpec(
        "diagflat",
        lambda x, offset=0: np.diagflat(x, offset),
        case_samples(((3,),), ((2, 2), 1)),
        dtypes=SOME,
        errors=[Case(args=(), raises=TypeError, match="input")],
    ),
    OpSpec(
        "diag_embed",
        diag_embed,
        case_samples(((3,),), ((2, 3), 1), ((2, 3), -2)),
        dtypes=SOME,
        errors=[Case(args=(np.zeros((2, 2)), 0, 1, 1), match="cannot be identical")],
    ),
    OpSpec(
        "trace",
        trace,
        case_samples(((3, 3),), ((3, 4),)),
        dtypes=("float32", "float64"),
        errors=VECTOR,
    ),
    OpSpec(
        "vander",
        lambda x, N=None, increasing=False: np.vander(x, N, increasing),
        case_samples(((3,),), ((3,), 2), ((3,), 4, True)),
        k=16,  # repeated products
        method=False,
        errors=[Case(args=(np.zeros((2, 2)),), match="one-dimensional")],
    ),
]
