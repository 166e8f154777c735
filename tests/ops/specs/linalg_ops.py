"""Linear systems: the results that are unique, against NumPy."""

import numpy as np
import scipy.linalg

from flambeau.testing.opspec import Case, OpSpec, Sample

DTYPES = ("float32", "float64", "complex64", "complex128")
# Inverses of the matrices below have condition numbers up to about 10.
CONDITION = 64


def regular(draw, *shape):
    """Matrices with a dominant diagonal."""
    return draw.array(shape, -1, 1) + 4 * np.eye(shape[-1])


def positive(draw, *shape):
    a = regular(draw, *shape)
    return a @ np.swapaxes(a.conj(), -1, -2)


def square(draw):
    for shape in ((1, 1), (3, 3), (2, 4, 4), (0, 3, 3), (0, 0)):
        yield Sample((regular(draw, *shape),))


def systems(draw):
    yield Sample((regular(draw, 3, 3), draw.array((3, 2))))
    yield Sample((regular(draw, 3, 3), draw.array((3,))))
    yield Sample((regular(draw, 2, 3, 3), draw.array((3, 2))))


def solve(a, b):
    vector = b.ndim == 1
    return (
        np.linalg.solve(a, b[:, None])[..., 0]
        if vector
        else np.linalg.solve(a, np.broadcast_to(b, (*a.shape[:-1], b.shape[-1])))
    )


def triangular(draw):
    yield Sample((regular(draw, 3, 3), draw.array((3, 2))), {"upper": True})
    yield Sample((regular(draw, 2, 3, 3), draw.array((2, 2, 3))), {"upper": False, "left": False})


def solve_triangular(a, b, upper, left=True, unitriangular=False):
    a = np.triu(a) if upper else np.tril(a)
    if left:
        return np.linalg.solve(a, b)
    return np.swapaxes(np.linalg.solve(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)), -1, -2)


NOT_SQUARE = Case(args=(np.zeros((2, 3)),), match="square")
SINGULAR = Case(args=(np.ones((2, 2)),), raises=RuntimeError, match="singular")


def spec(name, reference, samples, *errors, **options):
    return OpSpec(
        name,
        reference,
        samples,
        dtypes=DTYPES,
        floor=CONDITION,
        errors=errors,
        views=False,
        **options,
    )


def vector_norm(x, ord=2, dim=None, keepdim=False):
    if dim is None:
        result = np.linalg.norm(x.reshape(-1), ord)
        return result.reshape((1,) * x.ndim) if keepdim else result
    return np.linalg.norm(x, ord, dim, keepdim)


def vectors(draw):
    for order in (2, 1, 3, 0.5, np.inf, -np.inf):
        yield Sample((draw.spread((2, 5)) + 0.1, order))
        yield Sample((draw.spread((2, 3, 2)) + 0.1, order, 1), {"keepdim": True})


def eigenvalues(draw):
    yield Sample((draw.spread((3, 3)),))
    yield Sample((draw.spread((2, 2, 2)),))


SPECS = [
    OpSpec(
        "linalg.vector_norm",
        vector_norm,
        vectors,
        floor=16,
        k=8,  # powers of 0.5 and 3 amplify rounding
        errors=[
            Case(args=(np.zeros(0), np.inf), match="empty"),
            Case(args=(np.zeros(2, int),), match="floating"),
        ],
    ),
    OpSpec(
        "linalg.svdvals",
        lambda a: np.linalg.svd(a, compute_uv=False),
        eigenvalues,
        floor=CONDITION,
        views=False,
        errors=[Case(args=(np.zeros(3),), match="at least 2 dimensions")],
    ),
    OpSpec(
        "linalg.matrix_norm",
        lambda a, ord="fro": np.linalg.norm(a, ord, (-2, -1)),
        lambda draw: [
            Sample((draw.spread((2, 3, 4)) + 0.1, o)) for o in ("fro", "nuc", 1, -1, np.inf, 2)
        ],
        floor=CONDITION,
        views=False,
        errors=[
            Case(args=(np.zeros((2, 2)), 3), match="not supported"),
            Case(args=(np.zeros(2),), match="2 dim"),
        ],
    ),
    OpSpec(
        "linalg.cholesky",
        lambda a: np.linalg.cholesky(a),
        lambda draw: [Sample((positive(draw, 3, 3),)), Sample((positive(draw, 2, 2, 2),))],
        dtypes=("float32", "float64"),
        floor=CONDITION,
        views=False,
        grad=False,  # reads one triangle: differences of single elements are not the symmetric derivative
        grad_grad=False,
        errors=[Case(args=(-np.eye(2),), match="positive-definite"), NOT_SQUARE],
    ),
    OpSpec(
        "linalg.multi_dot",
        np.linalg.multi_dot,
        lambda draw: [Sample(([draw.array((2, 3)), draw.array((3, 4)), draw.array((4,))],))],
        floor=600,
        errors=[Case(args=([np.zeros((2, 3))],), match="at least 2")],
    ),
    spec("linalg.inv", np.linalg.inv, square, NOT_SQUARE, SINGULAR),
    spec("linalg.det", np.linalg.det, square, NOT_SQUARE),
    spec(
        "linalg.solve",
        solve,
        systems,
        Case(args=(np.ones((2, 2)), np.ones((2, 1))), match="singular"),
        Case(args=(np.ones((2, 2)), np.ones((3, 1))), match="Incompatible shapes"),
    ),
    spec(
        "linalg.solve_triangular",
        solve_triangular,
        triangular,
        Case(args=(np.ones((2, 2)), np.ones((3, 1))), kwargs={"upper": True}, match="Incompatible"),
    ),
    spec(
        "matrix_exp",
        lambda a: scipy.linalg.expm(a) if a.size else a,
        lambda draw: [
            Sample((draw.array((3, 3), -1, 1),)),
            Sample((draw.array((2, 2, 2), -1, 1),)),
        ],
        NOT_SQUARE,
    ),
    spec(
        "matrix_power",
        np.linalg.matrix_power,
        lambda draw: [Sample((regular(draw, 3, 3), n)) for n in (2, 3, -1)],
        Case(args=(np.zeros((2, 3)), 2), match="square"),
        k=64,  # entries grow with the power, to about 5 ** 3
    ),
]
