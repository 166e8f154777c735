"""Determinants, against NumPy; and their logarithms."""

import numpy as np

from flambeau.testing.opspec import Case, OpSpec, Sample

DTYPES = ("float32", "float64", "complex64", "complex128")
NOT_SQUARE = Case(args=(np.zeros((2, 3)),), match="square")


def regular(draw):
    for shape in ((1, 1), (3, 3), (2, 4, 4)):
        yield Sample((draw.array(shape, -1, 1) + 4 * np.eye(shape[-1]),))


def spec(name, reference, **options):
    # Determinants of 4 by 4 matrices with 4 on the diagonal: relative errors of about their condition number.
    return OpSpec(
        name, reference, regular, dtypes=DTYPES, k=64, errors=[NOT_SQUARE], views=False, **options
    )


SPECS = [
    spec("det", np.linalg.det),
    spec("slogdet", lambda a: tuple(np.linalg.slogdet(a))),
    spec("linalg.slogdet", lambda a: tuple(np.linalg.slogdet(a))),
    spec("logdet", lambda a: np.log(np.linalg.det(a))),
]
