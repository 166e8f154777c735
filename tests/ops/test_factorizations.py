"""Factorisations rebuild their matrix, their gradients pass gradcheck, and bad matrices raise LinAlgError."""

import numpy as np
import pytest

import flambeau
from flambeau import linalg

SHAPES = [(3, 3), (2, 4, 3), (2, 3, 5), (0, 3, 3)]
DTYPES = ["float64", "complex128"]


def matrix(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape)
    if dtype == "complex128":
        values = values + 1j * rng.standard_normal(shape)
    return flambeau.from_numpy(values)


def close(a, b):
    np.testing.assert_allclose(
        a.detach().resolve_conj().numpy(), b.detach().resolve_conj().numpy(), rtol=1e-10, atol=1e-10
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_factors_rebuild_the_matrix(shape, dtype):
    a = matrix(shape, dtype)
    p, lower, upper = linalg.lu(a)
    close(p @ lower @ upper, a)
    q, r = linalg.qr(a)
    close(q @ r, a)
    u, s, vh = linalg.svd(a, full_matrices=False)
    close((u * s.unsqueeze(-2).to(u.dtype)) @ vh, a)
    close(a @ linalg.pinv(a) @ a, a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_spectra_rebuild_the_matrix(dtype):
    a = matrix((2, 4, 4), dtype)
    values, vectors = linalg.eig(a)
    close(vectors @ values.diag_embed() @ linalg.inv(vectors), a.to(vectors.dtype))
    hermitian = a + a.mH
    values, vectors = linalg.eigh(hermitian)
    close((vectors * values.unsqueeze(-2).to(vectors.dtype)) @ vectors.mH, hermitian)
    positive = a @ a.mH + 4 * flambeau.eye(4, dtype=a.dtype)
    factor = linalg.cholesky(positive)
    close(factor @ factor.mH, positive)
    close(linalg.cholesky(positive, upper=True), factor.mH)


@pytest.mark.parametrize(
    "function",
    [
        linalg.inv,
        linalg.det,
        lambda a: linalg.slogdet(a).logabsdet,
        lambda a: linalg.qr(a).R,
        linalg.svdvals,
        lambda a: linalg.eigvalsh(a + a.mT),
        lambda a: linalg.cholesky(a @ a.mT + 4 * flambeau.eye(3, dtype=a.dtype)),
        lambda a: linalg.lu(a).U,
        linalg.pinv,
        flambeau.matrix_exp,
    ],
)
def test_gradient_of_factorisation(function):
    a = (
        matrix((3, 3), "float64", 5) + 3 * flambeau.eye(3, dtype=flambeau.float64)
    ).requires_grad_()
    assert flambeau.autograd.gradcheck(function, (a,))


def test_determinant_has_a_gradient_at_a_singular_matrix():
    a = flambeau.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=flambeau.float64, requires_grad=True)
    (grad,) = flambeau.autograd.grad(linalg.det(a), a)
    close(grad, flambeau.tensor([[4.0, -2.0], [-2.0, 1.0]], dtype=flambeau.float64))


@pytest.mark.parametrize(
    ("function", "values", "message"),
    [
        (linalg.inv, np.ones((2, 2)), "singular"),
        (lambda a: linalg.solve(a, a), np.ones((2, 2)), "singular"),
        (linalg.cholesky, -np.eye(2), "leading minor of order 1"),
        (linalg.svd, np.full((2, 2), np.nan), "converge"),
    ],
)
def test_bad_matrix_raises_linalg_error(function, values, message):
    with pytest.raises(linalg.LinAlgError, match=message):
        function(flambeau.from_numpy(values))


def test_failing_batch_element_is_named():
    batch = flambeau.from_numpy(np.stack([np.eye(2), np.ones((2, 2))]))
    with pytest.raises(linalg.LinAlgError, match="Batch element 1"):
        linalg.inv(batch)
