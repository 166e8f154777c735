"""Condition numbers, ranks, powers, products of vectors and contractions, against NumPy."""

import numpy as np
import scipy.linalg

import flambeau
from flambeau.testing.opspec import Case, OpSpec, Sample

DTYPES = ("float32", "float64", "complex64", "complex128")
NOT_SQUARE = Case(args=(np.zeros((2, 3)),), match="square")


def regular(draw, *shape):
    return draw.array(shape, -1, 1) + 4 * np.eye(shape[-1])


def square(draw):
    yield Sample((regular(draw, 3, 3),))
    yield Sample((regular(draw, 2, 2, 2),))


def spec(name, reference, samples, *errors, **options):
    options = {"dtypes": DTYPES, "floor": 64, "errors": errors, "views": False, **options}
    if name.startswith("linalg.") or "function" in options:
        options["method"] = False  # Tensor has another function of that name
    return OpSpec(name, reference, samples, **options)


def conditions(draw):
    for p in (None, 2, -2, 1, -1, np.inf, "fro", "nuc"):
        yield Sample((regular(draw, 3, 3), p))


def three(draw):
    yield Sample((draw.array((2, 3)), draw.array((2, 3))))
    yield Sample((draw.array((3,)), draw.array((3,))))


def vecdot(x, y, dim=-1):
    return (x.conj() * y).sum(dim)


def vander(x, N=None):
    n = x.shape[-1] if N is None else N
    return x[..., None] ** np.arange(n)


SPECS = [
    spec(
        "linalg.cond",
        np.linalg.cond,
        conditions,
        Case(args=(np.zeros((2, 3)), 1), match="square"),
        meta=False,  # asks whether the matrix was singular
    ),
    *(
        OpSpec(
            name,
            np.linalg.matrix_rank,
            lambda draw: [
                Sample((np.diag([3.0, 2, 0]),)),
                Sample((np.ones((2, 3, 2)),)),
                Sample((regular(draw, 3, 3),)),
            ],
            dtypes=DTYPES,
            grad=False,
            grad_grad=False,
            views=False,
            meta=False,
            errors=[Case(args=(np.zeros(3),), match="at least 2")],
        )
        for name in ("linalg.matrix_rank",)
    ),
    spec(
        "linalg.matrix_power",
        np.linalg.matrix_power,
        lambda draw: [Sample((regular(draw, 3, 3), n)) for n in (0, 1, 2, 3, -1)],
        Case(args=(np.zeros((2, 3)), 2), match="square"),
        k=64,  # entries grow with the power
    ),
    spec(
        "linalg.matrix_exp",
        scipy.linalg.expm,
        # small norms: SciPy's result for norms above 5 is only right to 200 eps
        lambda draw: [Sample((draw.array((2, 3, 3), -1, 1),))],
        NOT_SQUARE,
    ),
    spec(
        "linalg.matmul",
        np.matmul,
        lambda draw: [Sample((draw.array((2, 3)), draw.array((3, 4))))],
        Case(args=(np.zeros((2, 3)), np.zeros((2, 3))), match="shapes"),
    ),
    *(
        spec(
            name,
            lambda x, y: np.cross(x, y),
            three,
            Case(args=(np.zeros(2), np.zeros(2)), match="size 3|length 3"),
        )
        for name in ("cross", "linalg.cross")
    ),
    spec(
        "linalg.diagonal",
        lambda a, offset=0: np.diagonal(a, offset, -2, -1),
        lambda draw: [Sample((draw.array((2, 3, 4)),), {"offset": k}) for k in (0, 1, -1)],
        Case(args=(np.zeros(3),), raises=(IndexError, RuntimeError), match="imension"),
    ),
    spec(
        "linalg.vecdot",
        vecdot,
        lambda draw: [
            Sample((draw.array((2, 3)), draw.array((2, 3)))),
            Sample((draw.array((2, 3)), draw.array((2, 3))), {"dim": 0}),
        ],
        Case(args=(np.zeros(2, int), np.zeros(2, int)), match="floating"),
    ),
    spec(
        "linalg.vander",
        vander,
        lambda draw: [Sample((draw.array((2, 3)),)), Sample((draw.array((3,)),), {"N": 5})],
        Case(args=(np.zeros(3),), kwargs={"N": 1}, match="greater than 1"),
        k=16,  # powers
    ),
    spec(
        "multi_dot",
        lambda tensors: np.linalg.multi_dot(tensors),
        lambda draw: [
            Sample(([draw.array((3,)), draw.array((3, 4)), draw.array((4, 2)), draw.array((2,))],)),
            Sample(([draw.array((2, 3)), draw.array((3, 4))],)),
        ],
        Case(args=([np.zeros((2, 3))],), match="at least 2"),
        function=flambeau.linalg.multi_dot,
        floor=600,
    ),
    spec(
        "linalg.tensorinv",
        np.linalg.tensorinv,
        lambda draw: [Sample((regular(draw, 4, 4).reshape(2, 2, 4),), {"ind": 2})],
        Case(args=(np.zeros((2, 3)), 0), match="strictly positive"),
    ),
    spec(
        "linalg.tensorsolve",
        np.linalg.tensorsolve,
        lambda draw: [Sample((regular(draw, 4, 4).reshape(2, 2, 4), draw.array((2, 2))))],
        Case(args=(np.zeros((2, 3)), np.zeros(2)), match="prod"),
    ),
]


# ---- randomised factorisations, of matrices whose rank they find ----


def low_rank(draw):
    yield Sample((draw.array((9, 3)) @ draw.array((3, 7)),))
    yield Sample((draw.array((2, 6, 2)) @ draw.array((2, 2, 8)),))


def product(name, **options):
    def function(a):
        flambeau.manual_seed(0)
        u, s, v = getattr(flambeau, name)(a, q=4, **options)
        return (u * s.unsqueeze(-2)) @ v.mT

    return function


def randomised(name, reference, **options):
    return OpSpec(name, reference, low_rank, dtypes=("float64",), k=1000, floor=100, method=False, meta=False,
                  grad=False, views=False, inplace=False, out=False, function=product(name, **options),
                  errors=[Case(args=(np.zeros((2, 2)),), raises=(ValueError, RuntimeError), match="q")])  # fmt: skip


SPECS += [
    randomised("svd_lowrank", lambda a: a),
    randomised("pca_lowrank", lambda a: a - a.mean(-2, keepdims=True)),
]
