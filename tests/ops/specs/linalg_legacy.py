"""The 1.9 functions with their warnings silenced; see tests/linalg/test_legacy.py for the warnings."""

import warnings

import numpy as np

import flambeau
from flambeau.testing.opspec import Case, OpSpec, Sample

DTYPES = ("float32", "float64", "complex64", "complex128")


def quiet(function):
    def call(*args, **kwargs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return function(*args, **kwargs)

    return call


def regular(draw, *shape):
    return draw.array(shape, -1, 1) + 4 * np.eye(*shape[-2:])


def spec(name, reference, samples, error, **options):
    options = {"dtypes": DTYPES, "floor": 64, "views": False, "errors": [error], **options}
    if name.startswith("linalg.") or "function" in options:
        options["method"] = False  # Tensor has another function of that name
    return OpSpec(name, reference, samples, **options)


def systems(draw):
    yield Sample((draw.array((3, 2)), regular(draw, 3, 3)))


def hermitian(a):
    return a + np.swapaxes(a.conj(), -1, -2)


SPECS = [
    spec(
        "symeig",
        lambda a: np.linalg.eigvalsh(hermitian(a)),
        lambda draw: [Sample((regular(draw, 2, 3, 3),))],
        Case(args=(np.zeros((2, 3)),), match="square|must match|broadcast"),
        function=quiet(lambda a: flambeau.symeig(a + a.mH).eigenvalues),
    ),
    spec(
        "eig",
        lambda a: (lambda w: np.stack([np.sort(w.real), np.zeros(3)], -1))(
            np.linalg.eigvals(hermitian(a))
        ),
        lambda draw: [Sample((regular(draw, 3, 3) + np.diag([0.0, 5, 9]),))],
        Case(args=(np.zeros((2, 3)),), match="square|must match|broadcast"),
        function=quiet(lambda a: (lambda w: w[w[:, 0].argsort()])(flambeau.eig(a + a.mH)[0])),
        dtypes=("float32", "float64"),
        grad=False,  # real eigenvalues of symmetric matrices only: see test_legacy.py
        grad_grad=False,
        meta=False,
    ),
    spec(
        "solve",
        lambda b, a: np.linalg.solve(a, b),
        systems,
        Case(args=(np.ones((2, 1)), np.ones((2, 2))), match="singular"),
        function=quiet(lambda b, a: flambeau.solve(b, a).solution),
    ),
    spec(
        "lstsq",
        lambda b, a: np.linalg.lstsq(a, b, rcond=None)[0],
        lambda draw: [Sample((draw.array((3, 2)), regular(draw, 3, 3)))],
        Case(args=(np.ones((2, 1)), np.ones((3, 2))), match="expected"),
        function=quiet(lambda b, a: flambeau.lstsq(b, a).solution),
        meta=False,
    ),
    spec(
        "matrix_rank",
        np.linalg.matrix_rank,
        lambda draw: [Sample((np.diag([3.0, 2, 0]),)), Sample((np.ones((3, 2)),))],
        Case(args=(np.zeros(3),), match="at least 2"),
        function=quiet(flambeau.matrix_rank),
        grad=False,
        grad_grad=False,
        meta=False,
    ),
]
