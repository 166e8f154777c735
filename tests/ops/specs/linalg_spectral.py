"""Orthogonal factors and spectra, in forms that are unique: moduli of vectors, sorted values."""

import numpy as np
import scipy.linalg

import flambeau
from flambeau.testing.opspec import Case, OpSpec, Sample

DTYPES = ("float32", "float64", "complex64", "complex128")
NOT_MATRIX = Case(args=(np.zeros(3),), match="at least 2 dimensions")
NOT_SQUARE = Case(args=(np.zeros((2, 3)),), match="square")
INTEGERS = Case(args=(np.zeros((2, 2), int),), match="floating")


def rectangles(draw):
    for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 2)):
        yield Sample(
            (draw.array(shape, -1, 1) + np.eye(*shape[-2:]) * np.arange(2, 2 + shape[-1]),)
        )


def tall(draw):
    for shape in ((3, 3), (4, 2), (2, 3, 2)):
        yield Sample(
            (draw.array(shape, -1, 1) + np.eye(*shape[-2:]) * np.arange(2, 2 + shape[-1]),)
        )


def square(draw):
    for shape in ((3, 3), (2, 4, 4)):
        yield Sample((draw.array(shape, -0.5, 0.5) + np.diag(np.arange(1, 1 + shape[-1]) * 2.0),))


def adjoint(a):
    return np.swapaxes(a.conj(), -1, -2)


def spec(name, reference, samples, *errors, **options):
    options = {"dtypes": DTYPES, "floor": 64, "errors": errors, "views": False, **options}
    if name.startswith("linalg.") or "function" in options:
        options["method"] = False  # Tensor has another function of that name
    return OpSpec(name, reference, samples, **options)


def svd_moduli(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.abs(u), s, np.abs(vh)


def eigh_moduli(a):
    values, vectors = np.linalg.eigh(a + adjoint(a))
    return values, np.abs(vectors)


def sorted_eigenvalues(a):
    values = np.linalg.eigvals(a)
    return np.take_along_axis(values, values.real.argsort(-1), -1) + 0j


def sort_by_real(values):
    return values.gather(-1, values.real.argsort(-1))


def eig_moduli(a):
    values, vectors = np.linalg.eig(a)
    order = values.real.argsort(-1)
    vectors = np.take_along_axis(vectors, order[..., None, :], -1)
    return np.take_along_axis(values, order, -1) + 0j, np.abs(vectors)


def our_eig(a):
    values, vectors = flambeau.linalg.eig(a)
    order = values.real.argsort(-1)
    index = order.unsqueeze(-2).expand(vectors.shape)
    return values.gather(-1, order), vectors.gather(-1, index).abs()


def raw_qr(a):
    if a.ndim > 2:
        return tuple(np.stack(parts) for parts in zip(*map(raw_qr, a), strict=True))
    (packed, tau), _ = scipy.linalg.qr(a, mode="raw")
    return packed, tau


def product(a, tau):
    """First columns of H_1 ... H_k."""
    if a.ndim > 2:
        return np.stack([product(x, t) for x, t in zip(a, tau, strict=True)])
    m, n = a.shape
    q = np.eye(m, dtype=a.dtype)
    for i in range(len(tau)):
        v = np.r_[np.zeros(i), 1, a[i + 1 :, i]]
        q = q @ (np.eye(m) - tau[i] * np.outer(v, v.conj()))
    return q[:, :n]


def reflectors(draw):
    yield Sample((draw.array((4, 3), -1, 1), draw.array((3,), 0.5, 1)))
    yield Sample((draw.array((2, 3, 2), -1, 1), draw.array((2, 1), 0.5, 1)))


def full_product(a, tau):
    m, n = a.shape
    return product(np.c_[a, np.zeros((m, m - n))], tau)


def ormqr(a, tau, other, left=True, transpose=False):
    q = full_product(a, tau)
    q = adjoint(q) if transpose else q
    return q @ other if left else other @ q


def products(draw):
    for left in (True, False):
        for transpose in (True, False):
            other = draw.array((4, 2) if left else (2, 4))
            yield Sample(
                (draw.array((4, 3), -1, 1), draw.array((3,), 0.5, 1), other, left, transpose)
            )


def lstsq(a, b):
    return np.linalg.lstsq(a, b, rcond=None)[0]


WIDE = Case(args=(np.zeros((2, 3)), np.zeros(2)), match="greater than or equal")

SPECS = [
    spec("linalg.qr", lambda a: tuple(np.linalg.qr(a)), rectangles, NOT_MATRIX),
    spec("qr", lambda a: tuple(np.linalg.qr(a)), rectangles, NOT_MATRIX),
    spec("geqrf", raw_qr, rectangles, NOT_MATRIX),
    *(spec(name, product, reflectors, WIDE) for name in ("linalg.householder_product", "orgqr")),
    spec(
        "ormqr",
        ormqr,
        products,
        Case(args=(np.zeros((3, 2)), np.zeros(2), np.zeros((2, 2))), match="shape"),
    ),
    spec(
        "linalg.svd",
        svd_moduli,
        rectangles,
        NOT_MATRIX,
        function=lambda a: tuple(x.abs() for x in flambeau.linalg.svd(a, full_matrices=False)),
    ),
    spec(
        "svd",
        svd_moduli,
        rectangles,
        NOT_MATRIX,
        function=lambda a: (lambda u, s, v: (u.abs(), s, v.mT.abs()))(*flambeau.svd(a)),
    ),
    spec(
        "linalg.eigh",
        eigh_moduli,
        square,
        INTEGERS,
        function=lambda a: tuple(
            x.abs() if i else x for i, x in enumerate(flambeau.linalg.eigh(a + a.mH))
        ),
    ),
    spec(
        "linalg.eigvalsh",
        lambda a: np.linalg.eigvalsh(a + adjoint(a)),
        square,
        INTEGERS,
        function=lambda a: flambeau.linalg.eigvalsh(a + a.mH),
    ),
    spec("linalg.eig", eig_moduli, square, NOT_SQUARE, function=our_eig),
    spec(
        "linalg.eigvals",
        sorted_eigenvalues,
        square,
        NOT_SQUARE,
        function=lambda a: sort_by_real(flambeau.linalg.eigvals(a)),
    ),
    *(
        spec(name, np.linalg.pinv, rectangles, NOT_MATRIX, meta=False)
        for name in ("linalg.pinv", "pinverse")
    ),
    spec(
        "linalg.lstsq",
        lstsq,
        lambda draw: [
            Sample((sample.args[0], draw.array((sample.args[0].shape[0], 2))))
            for sample in rectangles(draw)
            if sample.args[0].ndim == 2
        ],
        Case(args=(np.zeros((3, 2)), np.zeros((2, 1))), match="should match"),
        function=lambda a, b: flambeau.linalg.lstsq(a, b).solution,
        meta=False,  # asks whether the drivers converged
    ),
]
