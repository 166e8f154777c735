"""First and second derivatives of every differentiable function, real and complex; gauges and degenerate spectra."""

import pytest

import flambeau
from flambeau import linalg
from flambeau.autograd import gradcheck, gradgradcheck

DTYPES = ["float64", "complex128"]


def regular(a):
    return a + 3 * flambeau.eye(a.shape[-1], dtype=a.dtype)


def definite(a):
    return a @ a.mH + a.shape[-1] * flambeau.eye(a.shape[-1], dtype=a.dtype)


def hermitian(a):
    return a + a.mH


def phaseless(vectors):
    """What does not depend on the phases of vectors."""
    return (vectors.unsqueeze(-2) * vectors.conj().unsqueeze(-3)).abs() ** 2


def svd_parts(a):
    u, s, vh = linalg.svd(a, full_matrices=False)
    return s, u @ vh, phaseless(u.mT), phaseless(vh)


def eigh_parts(a, uplo="L"):
    values, vectors = linalg.eigh(hermitian(a), uplo)
    return values, phaseless(vectors.mT)


def eig_parts(a):
    values, vectors = linalg.eig(a)
    return values, (vectors.abs() ** 2)


def householder(a):
    return linalg.householder_product(a, 0.5 + 0.3 * a[..., 0, :])


def ormqr(a):
    other = flambeau.ones(a.shape[-2], 2, dtype=a.dtype).expand(*a.shape[:-1], 2)
    return flambeau.ormqr(
        a, flambeau.full_like(a[..., 0, :], 0.7) + 0.1 * a[..., 0, :], other * a[..., :2]
    )


SQUARE = {
    "inv": linalg.inv,
    "inv_ex": lambda a: linalg.inv_ex(a).inverse,
    "pinv": linalg.pinv,
    "pinv_hermitian": lambda a: linalg.pinv(regular(hermitian(a)), hermitian=True),
    "matrix_power": lambda a: linalg.matrix_power(a, 3),
    "inverse_power": lambda a: linalg.matrix_power(regular(a), -2),
    "matrix_exp": lambda a: linalg.matrix_exp(a * 0.5),
    "cholesky": lambda a: linalg.cholesky(definite(a)),
    "cholesky_upper": lambda a: linalg.cholesky(definite(a), upper=True),
    "cholesky_inverse": lambda a: flambeau.cholesky_inverse(linalg.cholesky(definite(a))),
    "eigh": eigh_parts,
    "eigh_upper": lambda a: eigh_parts(a, "U"),
    "eigvalsh": lambda a: linalg.eigvalsh(hermitian(a)),
    "eig": eig_parts,
    "eigvals": linalg.eigvals,
    "cond": linalg.cond,
    "cond_fro": lambda a: linalg.cond(regular(a), "fro"),
    "tensorinv": lambda a: linalg.tensorinv(a[0].reshape(3, 1, 3), ind=1),
}
ANY_SHAPE = {
    "svd": svd_parts,
    "svdvals": linalg.svdvals,
    "lu": lambda a: linalg.lu(a)[1:],
    "lu_factor": lambda a: linalg.lu_factor(a).LU,
    "lu_unpack": lambda a: flambeau.lu_unpack(*linalg.lu_factor(a))[1:],
    "qr": lambda a: tuple(linalg.qr(a)),
    "geqrf": lambda a: tuple(flambeau.geqrf(a)),
    "pinv": linalg.pinv,
}
TALL = {"householder_product": householder, "ormqr": ormqr}


def check(function, *inputs):
    inputs = tuple(x.requires_grad_() for x in inputs)
    assert gradcheck(function, inputs)
    assert gradgradcheck(function, inputs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SQUARE)
def test_functions_of_square_matrices(matrix, name, dtype):
    check(SQUARE[name], matrix(2, 3, 3, dtype=dtype, seed=3))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(2, 3, 3), (4, 2), (2, 4)], ids=str)
@pytest.mark.parametrize("name", ANY_SHAPE)
def test_factors_of_any_shape(matrix, name, shape, dtype):
    check(ANY_SHAPE[name], matrix(*shape, dtype=dtype, seed=3))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", TALL)
def test_reflectors(matrix, name, dtype):
    check(TALL[name], matrix(2, 4, 3, dtype=dtype, seed=3))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("left", [False, True])
def test_solvers(matrix, left, adjoint, dtype):
    a, b = matrix(2, 3, 3, dtype=dtype), matrix(2, 3, 2, dtype=dtype, seed=1)
    right = b if left else b.mT.clone()
    check(lambda x, y: linalg.solve(regular(x), y, left=left), a, right)

    def lu_solve(x, y):
        return linalg.lu_solve(*linalg.lu_factor(regular(x)), y, left=left, adjoint=adjoint)

    check(lu_solve, a, right)
    for upper in (False, True):

        def triangular(x, y, upper=upper):
            return linalg.solve_triangular(
                regular(x), y, upper=upper, left=left, unitriangular=adjoint
            )

        check(triangular, a, right)


@pytest.mark.parametrize("dtype", DTYPES)
def test_broadcast_solve_and_vectors(matrix, dtype):
    a = matrix(3, 3, dtype=dtype)
    check(linalg.solve, a, matrix(2, 3, 1, dtype=dtype, seed=1))
    check(linalg.solve, a, matrix(3, dtype=dtype, seed=1))
    check(lambda x, y: linalg.tensorsolve(x.reshape(3, 3), y), a, matrix(3, dtype=dtype, seed=1))
    check(
        lambda x, y: flambeau.cholesky_solve(y, linalg.cholesky(definite(x))),
        a,
        matrix(3, 2, dtype=dtype, seed=1),
    )
    check(lambda x, y: linalg.multi_dot([x, y, x]), a, matrix(3, 3, dtype=dtype, seed=1))
    check(linalg.vecdot, a, matrix(3, 3, dtype=dtype, seed=1))
    check(linalg.cross, a, matrix(3, 3, dtype=dtype, seed=1))
    check(lambda x: linalg.vander(x, N=4), a)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("is_hermitian", [False, True])
def test_indefinite_factors(matrix, is_hermitian, dtype):
    # A small diagonal makes blocks of two; n = 5 has several exchanges.
    a = matrix(2, 5, 5, dtype=dtype, seed=2)

    def indefinite(x):
        x = x + (x.mH if is_hermitian else x.mT)
        return x - 0.9 * x.diagonal(0, -2, -1).diag_embed()

    pivots = linalg.ldl_factor(indefinite(a), hermitian=is_hermitian).pivots
    assert (pivots < 0).any()
    assert (pivots > 0).any()
    check(lambda x: linalg.ldl_factor(indefinite(x), hermitian=is_hermitian).LD, a)

    def solve(x, y):
        factors = linalg.ldl_factor(indefinite(x), hermitian=is_hermitian)
        return linalg.ldl_solve(*factors, y, hermitian=is_hermitian)

    check(solve, a, matrix(5, 2, dtype=dtype, seed=1))


def test_qr_without_a_defined_gradient_raises(matrix):
    a = matrix(4, 2).requires_grad_()
    with pytest.raises(RuntimeError, match="complete"):
        linalg.qr(a, mode="complete").R.sum().backward()
    with pytest.raises(RuntimeError, match="mode='r'"):
        linalg.qr(a, mode="r").R.sum().backward()
    assert gradcheck(
        lambda x: tuple(linalg.qr(x, mode="complete")), (a.mT.detach().requires_grad_(),)
    )


@pytest.mark.parametrize(
    "vectors",
    [
        lambda a: linalg.svd(a, full_matrices=False).U,
        lambda a: linalg.svd(a, full_matrices=False).Vh,
        lambda a: linalg.eigh(a + a.mH).eigenvectors,
        lambda a: linalg.eig(a).eigenvectors,
    ],
)
def test_loss_that_depends_on_a_phase_raises(matrix, vectors):
    a = matrix(3, 3, dtype="complex128").requires_grad_()
    with pytest.raises(RuntimeError, match="specified up to multiplication"):
        vectors(a).real.sum().backward()


def test_real_signs_do_not_raise(matrix):
    a = matrix(3, 3).requires_grad_()
    linalg.svd(a).U.sum().backward()
    linalg.eigh(a + a.mT).eigenvectors.sum().backward()
    assert a.grad.isfinite().all()


def grad_of(function, a):
    a = a.clone().requires_grad_()
    return flambeau.autograd.grad(function(a), a)[0]


def test_values_of_degenerate_spectra_have_gradients(close):
    eye = flambeau.eye(2)
    close(grad_of(lambda a: linalg.svdvals(a).sum(), eye), eye, 1e-6)
    close(grad_of(lambda a: linalg.eigvalsh(a).sum(), eye), eye, 1e-6)
    assert grad_of(lambda a: linalg.svdvals(a).sum(), flambeau.zeros(2, 2)).isfinite().all()
    assert not grad_of(lambda a: linalg.eigh(a).eigenvectors[0].sum(), eye).isfinite().all()


def test_vectors_that_a_loss_ignores_do_no_harm():
    # Repeated values 1, 1 and 0, 0; the loss looks at the vector of 5 only.
    a = flambeau.diag(flambeau.tensor([5.0, 1, 1, 0, 0], dtype=flambeau.float64))
    weights = flambeau.arange(5.0, dtype=flambeau.float64)
    last = grad_of(lambda x: (linalg.eigh(x).eigenvectors[:, -1].abs() * weights).sum(), a)
    assert last.isfinite().all()
    first = grad_of(lambda x: (linalg.svd(x).U[:, 0].abs() * weights).sum(), a)
    assert first.isfinite().all()
    tall = flambeau.cat([a, a * 0])
    assert grad_of(lambda x: (linalg.svd(x, False).U[:, 0] ** 2).sum(), tall).isfinite().all()


def test_extra_columns_of_full_factors_get_no_gradient(matrix):
    a = matrix(4, 2)
    assert grad_of(lambda x: (linalg.svd(x).U[:, 2:] ** 2).sum(), a).abs().max() == 0
