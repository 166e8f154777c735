"""Linear systems: the results that are unique, against NumPy."""

import numpy as np
import scipy.linalg

import flambeau
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
    if name.startswith("linalg.") or options.get("function"):
        options["method"] = False  # Tensor has another function of that name
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


def lower(draw, *shape):
    """Lower triangular and well conditioned."""
    return np.tril(draw.array(shape, -1, 1)) + 3 * np.eye(shape[-1])


def factored(draw):
    yield Sample((draw.array((3, 2)), lower(draw, 3, 3)))
    yield Sample((draw.array((2, 3, 1)), lower(draw, 3, 3)))
    yield Sample((draw.array((3, 2)), np.swapaxes(lower(draw, 3, 3), 0, 1).copy(), True))


def cholesky_solve(b, factor, upper=False):
    h = np.swapaxes(factor.conj(), -1, -2)
    return np.linalg.solve(h @ factor if upper else factor @ h, b)


def inverse_from_factor(factor, upper=False):
    h = np.swapaxes(factor.conj(), -1, -2)
    return np.linalg.inv(h @ factor if upper else factor @ h)


def over_batch(function, a):
    """function of each matrix, which returns a tuple; the results stacked."""
    flat = [function(m) for m in a.reshape(-1, *a.shape[-2:])]
    return tuple(
        np.stack(parts).reshape(*a.shape[:-2], *parts[0].shape) for parts in zip(*flat, strict=True)
    )


def rectangles(draw):
    for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 3)):
        yield Sample((draw.array(shape, -1, 1) + 4 * np.eye(*shape[-2:]),))


def plu(a):
    return tuple(x.astype(a.dtype) for x in over_batch(scipy.linalg.lu, a))


def packed_lu(a):
    return scipy.linalg.lu_factor(a)[0]


def lu_system(draw):
    a = regular(draw, 3, 3)
    yield Sample((a, draw.array((3, 2))))
    yield Sample((regular(draw, 2, 3, 3), draw.array((2, 3, 1))))


def solve_by_lu(a, b):
    return flambeau.linalg.lu_solve(*flambeau.linalg.lu_factor(a), b)


def unpacked(a):
    return tuple(flambeau.lu_unpack(*flambeau.lu(a)))


def square_only(draw):
    yield Sample((regular(draw, 3, 3),))
    yield Sample((regular(draw, 2, 2, 2),))


def lu_function(name):
    return flambeau.lu if name == "lu" else getattr(flambeau.linalg, name.split(".")[1])


NOT_MATRIX = Case(args=(np.zeros(3),), match="at least 2 dimensions")


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
    spec("inverse", np.linalg.inv, square, NOT_SQUARE, SINGULAR),
    spec(
        "linalg.inv_ex",
        np.linalg.inv,
        square,
        NOT_SQUARE,
        function=lambda a: flambeau.linalg.inv_ex(a).inverse,
    ),
    spec(
        "linalg.solve_ex",
        solve,
        systems,
        Case(args=(np.ones((2, 2)), np.ones((3, 1))), match="Incompatible shapes"),
        function=lambda a, b: flambeau.linalg.solve_ex(a, b).result,
    ),
    spec(
        "linalg.lu",
        plu,
        rectangles,
        NOT_MATRIX,
        Case(args=(np.eye(2),), kwargs={"pivot": False}, match="pivoting"),
    ),
    spec(
        "lu_unpack",
        plu,
        rectangles,
        NOT_MATRIX,
        function=unpacked,
    ),
    *(
        spec(
            name,
            lambda a: over_batch(lambda m: (packed_lu(m),), a)[0],
            square_only,
            NOT_MATRIX,
            function=lambda a, name=name: lu_function(name)(a)[0],
        )
        for name in ("lu", "linalg.lu_factor", "linalg.lu_factor_ex")
    ),
    *(
        spec(
            name,
            solve,
            lu_system,
            Case(args=(np.ones((2, 2)), np.ones((2, 1))), match="zero"),
            function=function,
        )
        for name, function in (
            ("linalg.lu_solve", solve_by_lu),
            ("lu_solve", lambda a, b: flambeau.lu_solve(b, *flambeau.linalg.lu_factor(a))),
        )
    ),
    spec(
        "triangular_solve",
        lambda b, a: np.linalg.solve(np.triu(a), b),
        lambda draw: [Sample((draw.array((3, 2)), regular(draw, 3, 3)))],
        Case(args=(np.ones((3, 1)), np.ones((2, 2))), match="Incompatible"),
        function=lambda b, a: flambeau.triangular_solve(b, a).solution,
    ),
    *(
        spec(
            name,
            np.linalg.cholesky,
            lambda draw: [Sample((positive(draw, 3, 3),)), Sample((positive(draw, 2, 2, 2),))],
            NOT_SQUARE,
            function=function,
            grad=False,  # reads one triangle, see linalg.cholesky
            grad_grad=False,
        )
        for name, function in (
            ("cholesky", None),
            ("linalg.cholesky_ex", lambda a: flambeau.linalg.cholesky_ex(a).L),
        )
    ),
    spec(
        "cholesky_solve",
        cholesky_solve,
        factored,
        Case(args=(np.ones((3, 1)), np.ones((2, 2))), match="Incompatible"),
        grad=False,  # the gradient of the factor is that of the matrix it makes
        grad_grad=False,
    ),
    spec(
        "cholesky_inverse",
        inverse_from_factor,
        lambda draw: [Sample((lower(draw, 3, 3),)), Sample((lower(draw, 2, 2, 2),))],
        NOT_SQUARE,
        grad=False,
        grad_grad=False,
    ),
]
