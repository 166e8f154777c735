"""Matrix products."""

import numpy as np

from flambeau.testing.opspec import Case, OpSpec, Shape, case_samples

LONG = 600  # errors are relative to the sum of the magnitudes of the products, at most 9 each over 64 terms
DTYPES = ("int64", "float32", "float64", "complex64", "complex128", "bfloat16", "float16")
MISMATCH = [
    Case(args=(np.zeros((2, 3)), np.zeros((2, 3))), match="[Ee]xpected|cannot be multiplied")
]


def spec(name, reference, *cases, errors=MISMATCH, dtypes=DTYPES, **options):
    return OpSpec(
        name, reference, case_samples(*cases), dtypes=dtypes, floor=LONG, errors=errors, **options
    )


def addmm(x, a, b, beta=1, alpha=1):
    return beta * x + alpha * (a @ b)


def addbmm(x, a, b, beta=1, alpha=1):
    return beta * x + alpha * (a @ b).sum(0)


def linear(x, weight, bias=None):
    return x @ weight.T + (0 if bias is None else bias)


def bilinear(a, b, weight, bias=None):
    return np.einsum("...i,oij,...j->...o", a, weight, b) + (0 if bias is None else bias)


SCALED = {"beta": 2, "alpha": 3}
THREE = [
    Case(
        args=(np.zeros((2, 2)), np.zeros((2, 3)), np.zeros((2, 2))),
        raises=(RuntimeError, IndexError),
        match="[Ee]xpected|cannot be multiplied",
    )
]
REAL = ("float32", "float64")

SPECS = [
    spec(
        "matmul",
        np.matmul,
        ((3,), Shape((3,))),
        ((2, 3), Shape((3,))),
        ((3,), Shape((3, 2))),
        ((2, 3), Shape((3, 4))),
        ((5, 2, 3), Shape((3, 4))),
        ((5, 1, 2, 3), Shape((4, 3, 2))),
        ((0, 3), Shape((3, 2))),
        ((2, 0), Shape((0, 3))),
        ((33, 64), Shape((64, 17))),
    ),
    spec(
        "mm",
        np.matmul,
        ((2, 3), Shape((3, 4))),
        ((33, 64), Shape((64, 17))),
        ((0, 3), Shape((3, 2))),
    ),
    spec(
        "bmm",
        np.matmul,
        ((5, 2, 3), Shape((5, 3, 4))),
        errors=[
            Case(
                args=(np.zeros((2, 3)), np.zeros((3, 2))),
                match="cannot be multiplied|expected|Expected",
            )
        ],
    ),
    spec("mv", np.matmul, ((2, 3), Shape((3,)))),
    spec("dot", np.dot, ((3,), Shape((3,))), ((0,), Shape((0,)))),
    spec("vdot", np.vdot, ((3,), Shape((3,)))),
    spec("outer", np.outer, ((3,), Shape((2,))), ((0,), Shape((2,)))),
    spec(
        "inner",
        np.inner,
        ((3,), Shape((3,))),
        ((2, 3), Shape((4, 3))),
        errors=[Case(args=(np.zeros(2), np.zeros(3)), match="must match")],
        dtypes=REAL,
    ),
    spec(
        "addmm",
        addmm,
        ((2, 4), Shape((2, 3)), Shape((3, 4))),
        ((4,), Shape((2, 3)), Shape((3, 4)), SCALED),
        errors=THREE,
    ),
    spec(
        "addmv",
        addmm,
        ((2,), Shape((2, 3)), Shape((3,))),
        ((1,), Shape((2, 3)), Shape((3,)), SCALED),
        errors=THREE,
    ),
    spec(
        "addbmm",
        addbmm,
        ((2, 4), Shape((5, 2, 3)), Shape((5, 3, 4))),
        ((2, 4), Shape((5, 2, 3)), Shape((5, 3, 4)), SCALED),
        errors=THREE,
        dtypes=REAL,
    ),
    spec(
        "baddbmm",
        addmm,
        ((5, 2, 4), Shape((5, 2, 3)), Shape((5, 3, 4))),
        ((1, 4), Shape((5, 2, 3)), Shape((5, 3, 4)), SCALED),
        errors=THREE,
    ),
    spec(
        "addr",
        lambda x, a, b, beta=1, alpha=1: beta * x + alpha * np.outer(a, b),
        ((2, 3), Shape((2,)), Shape((3,))),
        ((2, 3), Shape((2,)), Shape((3,)), SCALED),
        errors=THREE,
        dtypes=REAL,
    ),
    spec(
        "chain_matmul",
        lambda *m: np.linalg.multi_dot(m),
        ((2, 3), Shape((3, 4)), Shape((4, 2))),
        dtypes=REAL,
    ),
    spec(
        "nn.functional.linear",
        linear,
        ((2, 3), Shape((4, 3))),
        ((2, 5, 3), Shape((4, 3)), Shape((4,))),
        ((3,), Shape((4, 3))),
        dtypes=("float32", "float64", "bfloat16"),
        errors=[Case(args=(np.zeros((2, 3)), np.zeros((3, 2))), match="cannot be multiplied")],
    ),
    spec(
        "bilinear",
        bilinear,
        ((2, 3), Shape((2, 4)), Shape((5, 3, 4)), Shape((5,))),
        errors=THREE,
        dtypes=REAL,
    ),
]


SPECS += [
    OpSpec("ger", np.outer, case_samples(((3,), Shape((4,)))), dtypes=("int32", "float32", "float64"),
           errors=[Case(args=(np.zeros((2, 2)), np.zeros(2)), match="1-D|1D|dim")]),
]  # fmt: skip
