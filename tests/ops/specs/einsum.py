"""einsum and tensordot."""

import numpy as np

from flambeau.testing.opspec import Case, OpSpec, Sample

PRODUCTS = 600  # errors are relative to the sum of the magnitudes of the products
DTYPES = ("float32", "float64", "complex128", "int64")

EQUATIONS = (
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    ("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4)),
    ("i,j", (3,), (4,)),
    ("ii->i", (3, 3)),
    ("ij->ji", (2, 3)),
    ("...ij,...j->...i", (2, 3, 4), (4,)),
    ("ij,kj,il->kl", (2, 3), (4, 3), (2, 5)),
    ("ij,ij->", (2, 3), (2, 3)),
)


def einsum_samples(draw):
    for equation, *shapes in EQUATIONS:
        yield Sample((equation, *(draw.array(shape) for shape in shapes)))


def tensordot_samples(draw):
    yield Sample((draw.array((2, 3, 4)), draw.array((3, 4, 5))))
    yield Sample((draw.array((2, 3)), draw.array((4, 5)), 0))
    yield Sample((draw.array((2, 3, 4)), draw.array((4, 2, 5)), ((0, 2), (1, 0))))


SPECS = [
    OpSpec(
        "einsum",
        np.einsum,
        einsum_samples,
        dtypes=DTYPES,
        floor=PRODUCTS,
        errors=[
            Case(args=("ij,jk", np.zeros((2, 3))), match="fewer operands"),
            Case(args=("ij,jk", np.zeros((2, 3)), np.zeros((4, 5))), match="does not broadcast"),
            Case(args=("i1", np.zeros((2, 3))), match="invalid subscript"),
        ],
    ),
    OpSpec(
        "tensordot",
        lambda a, b, dims=2: np.tensordot(a, b, dims),
        tensordot_samples,
        dtypes=DTYPES,
        floor=PRODUCTS,
        errors=[Case(args=(np.zeros((2, 3)), np.zeros((2, 3)), 1), match="need to match")],
    ),
]
