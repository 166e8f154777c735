"""Least squares with every driver."""

import numpy as np
import pytest

import flambeau
from flambeau import linalg

DRIVERS = ["gels", "gelsy", "gelsd", "gelss"]
A = flambeau.tensor([[1.0, 1], [1, 2], [1, 3]], dtype=flambeau.float64)
B = flambeau.tensor([[1.0], [2], [2]], dtype=flambeau.float64)


@pytest.mark.parametrize("driver", [None, *DRIVERS])
def test_line_through_three_points(driver):
    result = linalg.lstsq(A, B, driver=driver)
    assert result.solution.view(-1).tolist() == pytest.approx([2 / 3, 1 / 2], rel=1e-12)
    if driver in (None, "gelsy"):
        assert result.residuals.numel() == 0
    else:
        assert result.residuals.tolist() == pytest.approx([1 / 6], rel=1e-12)
    if driver == "gels":
        assert result.rank.numel() == 0
    else:
        assert result.rank.item() == 2
    if driver in ("gelsd", "gelss"):
        assert result.singular_values.tolist() == pytest.approx([4.0791, 0.6005], abs=1e-4)
    else:
        assert result.singular_values.numel() == 0


@pytest.mark.parametrize("driver", ["gelsy", "gelsd", "gelss"])
def test_rank_one_gives_the_smallest_solution(driver):
    b = flambeau.tensor([[1.0], [2], [4]], dtype=flambeau.float64)
    result = linalg.lstsq(flambeau.ones(3, 2, dtype=flambeau.float64), b, driver=driver)
    assert result.solution.view(-1).tolist() == pytest.approx([7 / 6, 7 / 6], rel=1e-12)
    assert result.rank.item() == 1
    assert result.residuals.numel() == 0


def test_gels_needs_full_rank():
    with pytest.raises(linalg.LinAlgError, match="full rank"):
        linalg.lstsq(A * 0 + 1, B, driver="gels")


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4)], ids=str)
@pytest.mark.parametrize("driver", DRIVERS)
def test_drivers_agree_with_numpy(matrix, close, driver, shape, dtype):
    a, b = matrix(2, *shape, dtype=dtype), matrix(2, shape[0], 2, dtype=dtype, seed=1)
    result = linalg.lstsq(a, b, driver=driver)
    for i in range(2):
        expected, residuals, _, _ = np.linalg.lstsq(a[i].numpy(), b[i].numpy(), rcond=None)
        np.testing.assert_allclose(result.solution[i].numpy(), expected, rtol=1e-9, atol=1e-10)
        if result.residuals.numel():
            np.testing.assert_allclose(result.residuals[i].numpy(), residuals, rtol=1e-9)


def test_cutoff_is_relative():
    a = flambeau.diag(flambeau.tensor([1.0, 0.1]))
    result = linalg.lstsq(a, flambeau.ones(2, 1), rcond=0.5, driver="gelsd")
    assert result.rank.item() == 1
    assert result.solution.tolist() == [[1], [0]]


def test_one_dim_less_is_a_vector_for_each_matrix():
    batch = A.expand(4, 3, 2)
    assert linalg.lstsq(A, B.view(3)).solution.shape == (2,)
    assert linalg.lstsq(batch, B.view(3).expand(4, 3)).solution.shape == (4, 2)
    assert linalg.lstsq(batch, B.expand(1, 3, 1)).solution.shape == (4, 2, 1)
    for wrong in (B, B.view(3), flambeau.ones(4, 2, dtype=A.dtype)):
        with pytest.raises(RuntimeError):
            linalg.lstsq(batch, wrong)
    with pytest.raises(RuntimeError, match="same dtype"):
        linalg.lstsq(A, B.float())


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(4, 3), (3, 4)], ids=str)
@pytest.mark.parametrize("driver", DRIVERS)
def test_derivatives(matrix, driver, shape, dtype):
    a = matrix(*shape, dtype=dtype).requires_grad_()
    b = matrix(shape[0], 2, dtype=dtype, seed=1).requires_grad_()

    def function(x, y):
        result = linalg.lstsq(x, y, driver=driver)
        return (result.solution, *([result.residuals] if result.residuals.numel() else []))

    assert flambeau.autograd.gradcheck(function, (a, b))
    assert flambeau.autograd.gradgradcheck(function, (a, b))


def test_gradient_of_a_rank_deficient_problem():
    a = flambeau.ones(3, 2, dtype=flambeau.float64, requires_grad=True)
    b = flambeau.tensor([1.0, 2, 4], dtype=flambeau.float64, requires_grad=True)
    solution = linalg.lstsq(a, b, driver="gelsd").solution
    (grad,) = flambeau.autograd.grad(solution.sum(), b)
    assert grad.tolist() == pytest.approx([1 / 3] * 3)
