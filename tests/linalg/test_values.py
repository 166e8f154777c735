"""Numbers that are known: one matrix through every function, ranks, condition numbers, powers, exponentials."""

import math

import numpy as np
import pytest
import scipy.linalg

import flambeau
from flambeau import linalg

A = flambeau.tensor([[2.0, 1, 0], [1, 3, 1], [0, 1, 4]], dtype=flambeau.float64)


def test_one_matrix_through_many_functions():
    root = math.sqrt(3)
    assert linalg.det(A).item() == pytest.approx(18, rel=1e-12)
    assert linalg.eigvalsh(A).tolist() == pytest.approx([3 - root, 3, 3 + root], rel=1e-12)
    assert linalg.cond(A).item() == pytest.approx(2 + root, rel=1e-12)
    assert linalg.norm(A, "nuc").item() == pytest.approx(9, rel=1e-12)
    assert linalg.norm(A).item() == pytest.approx(math.sqrt(33), rel=1e-12)
    assert linalg.norm(A, 1).item() == pytest.approx(5, rel=1e-12)
    assert linalg.cholesky(A)[0, 0].item() == pytest.approx(math.sqrt(2), rel=1e-12)
    assert linalg.inv(A)[0, 0].item() == pytest.approx(11 / 18, rel=1e-12)


def test_matrix_rank_counts_values_above_a_threshold():
    assert linalg.matrix_rank(flambeau.diag(flambeau.tensor([1, 1e-15]).double())) == 2
    assert linalg.matrix_rank(flambeau.diag(flambeau.tensor([1, 1e-8]))) == 1
    scaled = flambeau.eye(2) * flambeau.tensor([1, 0.1, 0.01]).view(3, 1, 1)
    ranks = linalg.matrix_rank(scaled, atol=flambeau.tensor([0.5, 0.5, 0.001]))
    assert ranks.tolist() == [2, 0, 2]
    assert ranks.dtype is flambeau.int64
    assert linalg.matrix_rank(3 * flambeau.eye(2), 4.0) == 0
    assert linalg.matrix_rank(flambeau.eye(2), tol=0.5, hermitian=True) == 2
    assert not linalg.matrix_rank(A.clone().requires_grad_()).requires_grad


def test_condition_number_of_singular_matrices():
    batch = flambeau.stack(
        [flambeau.eye(2), flambeau.zeros(2, 2), flambeau.tensor([[1.0, 2], [2, 4]])]
    )
    regular, zero, singular = linalg.cond(batch).tolist()
    assert regular == 1
    assert math.isnan(zero)
    assert singular > 1e6
    for p in ("fro", "nuc", 1, -1, math.inf, -math.inf):
        assert linalg.cond(batch, p)[1:].tolist() == [math.inf, math.inf]
    assert linalg.cond(flambeau.empty(0, 0)).item() == 0
    with pytest.raises(RuntimeError, match="invalid norm type"):
        linalg.cond(A, 3)
    with pytest.raises(RuntimeError, match="square"):
        linalg.cond(flambeau.ones(2, 3), 1)


def test_empty_matrices_have_a_determinant_and_empty_factors():
    empty = flambeau.empty(0, 0)
    assert linalg.det(empty).item() == 1
    assert [x.item() for x in linalg.slogdet(empty)] == [1, 0]
    assert linalg.det(flambeau.empty(0, 3, 3)).shape == (0,)
    for function in (linalg.inv, linalg.cholesky, linalg.eigvals, linalg.pinv, linalg.matrix_exp):
        assert function(empty).numel() == 0
    assert linalg.pinv(flambeau.empty(0, 3)).shape == (3, 0)
    u, s, vh = linalg.svd(flambeau.empty(0, 3))
    assert (u.shape, s.shape) == ((0, 0), (0,))
    assert vh.tolist() == np.eye(3).tolist()


def test_singular_matrix_has_determinant_zero():
    singular = flambeau.tensor([[1.0, 2], [2, 4]])
    assert linalg.det(singular).item() == 0
    sign, logarithm = linalg.slogdet(singular)
    assert (sign.item(), logarithm.item()) == (0, -math.inf)


def test_complex_determinant_has_a_sign_of_modulus_one(matrix, close):
    a = matrix(3, 4, 4, dtype="complex128")
    sign, logarithm = linalg.slogdet(a)
    assert logarithm.dtype is flambeau.float64
    close(sign.abs(), flambeau.ones(3, dtype=flambeau.float64))
    close(sign * logarithm.exp(), linalg.det(a))


@pytest.mark.parametrize("dtype", [flambeau.float16, flambeau.bfloat16])
def test_half_exponential_is_computed_in_single_precision(dtype):
    result = linalg.matrix_exp(flambeau.eye(2).to(dtype))
    assert result.dtype is dtype
    assert result.tolist() == [[pytest.approx(math.e, rel=4e-3), 0], [0, result[1, 1].item()]]


@pytest.mark.parametrize("norm", [1e-8, 0.1, 1.0, 10.0, 300.0])
def test_exponential_against_scipy(matrix, norm):
    a = matrix(2, 5, 5, dtype="complex128")
    a = a / linalg.norm(a, 2, dim=(-2, -1), keepdim=True) * norm
    expected = scipy.linalg.expm(a.numpy())
    error = np.abs(linalg.matrix_exp(a).numpy() - expected).max()
    assert error < 1e-13 * max(1, norm) * np.abs(expected).max()


def test_powers_of_integers_and_inverse_powers(close):
    twos = flambeau.full((2, 2), 2)
    assert linalg.matrix_power(twos, 3).tolist() == [[32, 32], [32, 32]]
    assert linalg.matrix_power(twos, 0).tolist() == [[1, 0], [0, 1]]
    close(linalg.matrix_power(A, -2), linalg.inv(A @ A))
    with pytest.raises(TypeError, match="must be int"):
        linalg.matrix_power(A, 1.5)


def test_products_of_vectors():
    x = flambeau.tensor([1j, 2.0])
    assert linalg.vecdot(x, flambeau.ones(2, dtype=flambeau.complex64)).item() == 2 - 1j
    with pytest.raises(RuntimeError, match="floating point"):
        linalg.vecdot(
            flambeau.ones(2, dtype=flambeau.int64), flambeau.ones(2, dtype=flambeau.int64)
        )
    assert linalg.cross(flambeau.ones(4, 3), flambeau.ones(1, 3)).shape == (4, 3)
    assert linalg.cross(flambeau.tensor([1, 0, 0]), flambeau.tensor([0, 1, 0])).tolist() == [
        0,
        0,
        1,
    ]
    with pytest.raises(RuntimeError, match="length 3"):
        linalg.cross(flambeau.ones(2), flambeau.ones(2))
    values = flambeau.tensor([1, 2, 3])
    assert linalg.vander(values).tolist() == [[1, 1, 1], [1, 2, 4], [1, 3, 9]]
    assert flambeau.vander(values).tolist() == [[1, 1, 1], [4, 2, 1], [9, 3, 1]]


def test_diagonal_defaults_to_the_last_dims():
    x = flambeau.arange(24).view(2, 3, 4)
    assert linalg.diagonal(x).tolist() == x.diagonal(0, -2, -1).tolist()
    assert flambeau.diagonal(x).shape == (4, 2)


def test_tensor_inverse_and_solution():
    a = flambeau.eye(6).view(2, 3, 6)
    b = flambeau.arange(6.0).view(2, 3)
    assert linalg.tensorsolve(a, b).tolist() == [0, 1, 2, 3, 4, 5]
    assert linalg.tensorinv(a).shape == (6, 2, 3)
    with pytest.raises(RuntimeError, match="strictly positive"):
        linalg.tensorinv(a, ind=0)
    with pytest.raises(RuntimeError, match="prod"):
        linalg.tensorinv(flambeau.ones(2, 3), ind=1)


def test_pinv_takes_old_and_new_tolerances():
    a = flambeau.diag(flambeau.tensor([1.0, 0.1]))
    cut = [[1, 0], [0, 0]]
    assert linalg.pinv(a, 0.5).tolist() == cut
    assert linalg.pinv(a, rcond=0.5, hermitian=True).tolist() == cut
    assert linalg.pinv(a, rtol=0.5).tolist() == cut
    assert linalg.pinv(a, atol=flambeau.tensor(0.5)).tolist() == cut
