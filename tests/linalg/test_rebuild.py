"""Factors rebuild their matrix, for every shape, dtype and memory layout; and have the documented form."""

import pytest

import flambeau
from flambeau import linalg

SHAPES = [(3, 3), (4, 0, 3), (4, 3, 0), (0, 3, 3), (2, 6, 4), (2, 4, 6), (2, 1, 5), (1, 1)]
DTYPES = ["float64", "complex128"]
LAYOUTS = {
    "plain": lambda a: a,
    "transposed": lambda a: a.mT.contiguous().mT,
    "expanded": lambda a: a[:1].expand(a.shape) if a.dim() > 2 else a.expand(2, *a.shape),
    "conjugated": lambda a: a.resolve_conj().conj(),
    "adjoint": lambda a: a.mH.resolve_conj().mH,
    "strided": lambda a: flambeau.stack([a, a], -1)[..., 0],
    "negated": lambda a: a if not a.is_complex() else flambeau.conj(a * 1j).imag,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rectangular_factors(matrix, close, shape, dtype, layout):
    a = LAYOUTS[layout](matrix(*shape, dtype=dtype))
    value = a.clone()
    p, lower, upper = linalg.lu(a)
    close(p @ lower @ upper, value)
    for mode in ("reduced", "complete"):
        q, r = linalg.qr(a, mode=mode)
        close(q @ r, value)
        close(
            q.mH @ q,
            flambeau.eye(q.shape[-1], dtype=q.dtype).expand(q.mH.shape[:-2] + (q.shape[-1],) * 2),
        )
        close(r.triu(), r)
    close(linalg.qr(a, mode="r").R, linalg.qr(a).R)
    for full in (True, False):
        u, s, vh = linalg.svd(a, full_matrices=full)
        k = s.shape[-1]
        close((u[..., :k] * s.unsqueeze(-2).to(u.dtype)) @ vh[..., :k, :], value)
        assert (s.diff() <= 0).all()
    close(linalg.svdvals(a), s)
    close(value @ linalg.pinv(a) @ value, value, 1e-10)
    reflectors, tau = flambeau.geqrf(a)
    if shape[-2] >= shape[-1]:
        q = linalg.householder_product(reflectors, tau)
        close(q @ reflectors[..., : shape[-1], :].triu(), value)
        other = matrix(*q.shape[:-2], shape[-2], 2, dtype=str(a.dtype)[6:], seed=1)
        full = linalg.qr(a, mode="complete").Q
        close(flambeau.ormqr(reflectors, tau, other), full @ other)
        close(flambeau.ormqr(reflectors, tau, other, transpose=True), full.mH @ other)
        close(flambeau.ormqr(reflectors, tau, other.mT, left=False), other.mT @ full)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shape", [(4, 4), (3, 5, 5), (2, 0, 3, 3), (0, 0), (40, 40), (150, 150)], ids=str
)
def test_square_factors(matrix, positive, close, shape, dtype):
    a = matrix(*shape, dtype=dtype)
    values, vectors = linalg.eig(a)
    complex_a = a.to(vectors.dtype)
    close(complex_a @ vectors, vectors * values.unsqueeze(-2), 1e-9)
    hermitian = a + a.mH
    for uplo in "LUlu":
        values, vectors = linalg.eigh(hermitian, UPLO=uplo)
        close((vectors * values.unsqueeze(-2).to(vectors.dtype)) @ vectors.mH, hermitian, 1e-10)
        close(linalg.eigvalsh(hermitian, uplo), values, 1e-10)
    definite = positive(*shape, dtype=dtype)
    lower = linalg.cholesky(definite)
    close(lower @ lower.mH, definite, 1e-10)
    close(lower.tril(), lower)
    close(linalg.cholesky(definite, upper=True), lower.mH)
    close(flambeau.cholesky_inverse(lower), linalg.inv(definite))
    identity = flambeau.eye(shape[-1], dtype=a.dtype).expand(a.shape)
    close(linalg.inv(a) @ a, identity, 1e-8)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("hermitian", [False, True])
def test_indefinite_factors_solve(matrix, close, dtype, hermitian):
    a = matrix(2, 6, 6, dtype=dtype)
    a = a + (a.mH if hermitian else a.mT)
    a.diagonal(0, -2, -1)[..., 1:3] = 0  # makes blocks of two
    factors = linalg.ldl_factor(a, hermitian=hermitian)
    assert (factors.pivots < 0).any()
    b = matrix(2, 6, 2, dtype=dtype, seed=1)
    close(a @ linalg.ldl_solve(*factors, b, hermitian=hermitian), b, 1e-10)
    assert linalg.ldl_factor(flambeau.tensor([[0.0, 1], [1, 0]])).pivots.tolist() == [-2, -2]


def test_only_the_named_triangle_is_read(positive, close):
    a = positive(4, 4)
    bad = a.triu() + flambeau.full_like(a, float("nan")).tril(-1).nan_to_num(nan=7.0)
    close(linalg.eigvalsh(bad, "U"), linalg.eigvalsh(a))
    close(linalg.cholesky(bad, upper=True), linalg.cholesky(a, upper=True))
    nan = flambeau.where(flambeau.ones(4, 4).tril(-1) != 0, float("nan"), a)
    close(linalg.eigvalsh(nan, "U"), linalg.eigvalsh(a))
    close(linalg.cholesky(nan, upper=True), linalg.cholesky(a, upper=True))
    close(linalg.ldl_factor(nan.mT).LD, linalg.ldl_factor(a).LD)
    b = flambeau.ones(4, 1, dtype=a.dtype)
    close(linalg.solve_triangular(nan, b, upper=True), linalg.solve_triangular(a, b, upper=True))


def test_factorisations_are_column_major_and_named():
    assert linalg.inv(flambeau.eye(2)).stride() == (1, 2)
    fields = {
        "svd": "U S Vh",
        "qr": "Q R",
        "lu": "P L U",
        "lu_factor": "LU pivots",
        "lu_factor_ex": "LU pivots info",
        "ldl_factor": "LD pivots",
        "ldl_factor_ex": "LD pivots info",
        "cholesky_ex": "L info",
        "inv_ex": "inverse info",
        "eig": "eigenvalues eigenvectors",
        "eigh": "eigenvalues eigenvectors",
        "slogdet": "sign logabsdet",
    }
    for name, expected in fields.items():
        result = getattr(linalg, name)(flambeau.eye(2))
        for field, value in zip(expected.split(), result, strict=True):
            assert getattr(result, field) is value, name
    result = linalg.solve_ex(flambeau.eye(2), flambeau.eye(2))
    assert result.result is result[0]
    assert result.info is result[1]
    result = linalg.lstsq(flambeau.eye(2), flambeau.eye(2))
    for index, field in enumerate(("solution", "residuals", "rank", "singular_values")):
        assert getattr(result, field) is result[index]


@pytest.mark.parametrize(
    "name", ["inv", "det", "cholesky", "eigh", "eigvals", "qr", "svd", "lu", "ldl_factor"]
)
def test_integers_and_half_types_are_refused(name):
    for dtype in (flambeau.int64, flambeau.bool, flambeau.float16, flambeau.bfloat16):
        with pytest.raises(RuntimeError):
            getattr(linalg, name)(flambeau.ones(2, 2, dtype=dtype))


def test_unknown_options_are_refused():
    a = flambeau.eye(2)
    for call in (
        lambda: linalg.eigh(a, "x"),
        lambda: linalg.qr(a, mode="x"),
        lambda: linalg.lu(a, pivot=False),
        lambda: linalg.svd(a, driver="gesvd"),
        lambda: linalg.lstsq(a, a, driver="x"),
        lambda: linalg.householder_product(flambeau.ones(2, 3), flambeau.ones(2)),
    ):
        with pytest.raises(RuntimeError):
            call()


def test_permutations_refuse_pivots_out_of_range():
    lu = flambeau.eye(2)
    for bad in (0, 3):
        pivots = flambeau.tensor([bad, 2], dtype=flambeau.int32)
        with pytest.raises(RuntimeError, match="pivots between"):
            flambeau.lu_unpack(lu, pivots)
        with pytest.raises(RuntimeError, match="Pivots"):
            linalg.lu_solve(lu, pivots, lu)


def test_eigenvalues_of_extreme_scale(positive):
    a = positive(130, 130, dtype="float32")
    expected = linalg.eigvalsh(a.double())
    for scale in (1e-30, 1e30):
        values, vectors = linalg.eigh(a.double() * scale)
        assert flambeau.allclose(values, expected * scale, rtol=1e-10)
        single, vectors = linalg.eigh((a * scale).float())
        assert flambeau.allclose(single.double(), expected * scale, rtol=1e-3)
        assert flambeau.allclose(vectors.mT @ vectors, flambeau.eye(130), atol=1e-4)
