"""Derivatives of determinants, at singular matrices in particular."""

import numpy as np
import pytest

import flambeau
from flambeau import linalg

DTYPES = ["float64", "complex128"]


def of_rank(matrix, rank, n, dtype):
    return matrix(n, rank, dtype=dtype) @ matrix(rank, n, dtype=dtype, seed=1)


def test_gradient_at_a_singular_matrix_is_the_cofactor_matrix(close):
    a = flambeau.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=flambeau.float64, requires_grad=True)
    (grad,) = flambeau.autograd.grad(linalg.det(a), a)
    close(grad, flambeau.tensor([[4.0, -2.0], [-2.0, 1.0]], dtype=flambeau.float64))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_first_and_second_derivatives_at_every_rank(matrix, n, dtype):
    for rank in range(n + 1):
        a = of_rank(matrix, rank, n, dtype).requires_grad_()
        assert flambeau.autograd.gradcheck(linalg.det, (a,))
        assert flambeau.autograd.gradgradcheck(linalg.det, (a,))


@pytest.mark.parametrize("dtype", DTYPES)
def test_batches_of_mixed_rank(matrix, dtype):
    a = flambeau.stack([of_rank(matrix, rank, 3, dtype) for rank in range(4)]).requires_grad_()
    assert flambeau.autograd.gradcheck(linalg.det, (a,))
    assert flambeau.autograd.gradgradcheck(linalg.det, (a,))


def test_second_derivative_near_a_singular_matrix(close):
    a = flambeau.tensor(np.arange(1.0, 10).reshape(3, 3))  # singular but for rounding
    hessian = flambeau.autograd.functional.hessian(linalg.det, a)
    expected = flambeau.zeros(3, 3, 3, 3, dtype=a.dtype)
    for i in range(3):  # d^2 det / da_ij da_kl = +-a_mn, the entry in neither row nor column
        for j in range(3):
            for k in {0, 1, 2} - {i}:
                for other in {0, 1, 2} - {j}:
                    m, n = 3 - i - k, 3 - j - other
                    # The sign of the permutation i -> j, k -> other, m -> n.
                    order = [0, 0, 0]
                    order[i], order[k], order[m] = j, other, n
                    sign = (-1) ** sum(
                        order[x] > order[y] for x in range(3) for y in range(x + 1, 3)
                    )
                    expected[i, j, k, other] = sign * a[m, n]
    close(hessian, expected, 1e-12)


def test_third_derivative_exists_only_for_regular_matrices():
    def third(a):
        a = a.clone().requires_grad_()
        y = linalg.det(a)
        for _ in range(3):
            (g,) = flambeau.autograd.grad(y, a, create_graph=True)
            y = g.sum() ** 2
        return g

    assert third(flambeau.eye(3, dtype=flambeau.float64) + 0.1).isfinite().all()
    assert third(flambeau.ones(3, 3, dtype=flambeau.float64)).isnan().all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_logarithms(matrix, dtype):
    a = matrix(2, 3, 3, dtype=dtype).requires_grad_()
    for function in (
        lambda x: linalg.slogdet(x).logabsdet,
        lambda x: linalg.slogdet(x).sign,
        lambda x: flambeau.logdet(x @ x.mH),
    ):
        assert flambeau.autograd.gradcheck(function, (a,))
        assert flambeau.autograd.gradgradcheck(function, (a,))


def test_large_singular_matrix_has_finite_gradients(matrix):
    a = (of_rank(matrix, 99, 100, "float64") / 10).requires_grad_()
    (grad,) = flambeau.autograd.grad(linalg.det(a), a, create_graph=True)
    (second,) = flambeau.autograd.grad(grad.sum(), a)
    assert grad.isfinite().all()
    assert second.isfinite().all()
