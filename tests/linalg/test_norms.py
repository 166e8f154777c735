"""Vector and matrix norms: orders, empty inputs, subgradients, and values near the ends of the number range."""

import math

import numpy as np
import pytest

import flambeau
from flambeau import linalg

inf = math.inf
M = (flambeau.arange(9.0) - 4).view(3, 3)


def test_matrix_norms_of_a_known_matrix():
    expected = {"fro": 7.7460, "nuc": 9.7980, 1: 7, -1: 6, inf: 9, -inf: 2, 2: 7.3485}
    for order, value in expected.items():
        assert linalg.matrix_norm(M, order).item() == pytest.approx(value, abs=1e-4)


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dim", [(-2, -1), (0, 1), (2, 0), (1, 2)])
@pytest.mark.parametrize("order", ["fro", "nuc", 1, -1, 2, -2, inf, -inf])
def test_matrix_norms_against_numpy(matrix, order, dim, keepdim):
    a = matrix(3, 4, 5, dtype="complex128")
    expected = np.linalg.norm(a.numpy(), order, dim, keepdim)
    for function in (linalg.matrix_norm, linalg.norm):
        result = function(a, order, dim, keepdim)
        assert result.dtype is flambeau.float64
        np.testing.assert_allclose(result.numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("dim", [None, 0, (0, 2), (1,), (2, 1, 0)])
@pytest.mark.parametrize("order", [0, 0.5, 1, 2, 3.5, -1, -2, inf, -inf])
def test_vector_norms_against_numpy(matrix, order, dim):
    a = matrix(3, 4, 5, dtype="complex128")
    dims = (0, 1, 2) if dim is None else (dim,) if isinstance(dim, int) else dim
    moved = np.moveaxis(a.numpy(), dims, range(len(dims)))
    flat = moved.reshape(-1, *moved.shape[len(dims) :])
    expected = np.linalg.norm(flat, order, 0)
    np.testing.assert_allclose(linalg.vector_norm(a, order, dim).numpy(), expected, rtol=1e-12)


def test_what_norm_does_without_order_and_dims():
    cube = flambeau.ones(2, 2, 2)
    assert linalg.norm(cube).item() == pytest.approx(math.sqrt(8))
    assert linalg.norm(M, 1).item() == 7  # a matrix norm
    assert linalg.norm(M.view(-1), 1).item() == 20  # a vector norm
    for call in (
        lambda: linalg.norm(cube, 2),
        lambda: linalg.norm(cube, dim=(0, 1, 2)),
        lambda: linalg.norm(cube, 2, dim=(0, 1, 2)),
        lambda: linalg.norm(M[0], "fro"),
        lambda: linalg.matrix_norm(M, 3),
        lambda: linalg.matrix_norm(M, dim=(0, 0)),
        lambda: linalg.matrix_norm(M[0]),
        lambda: linalg.vector_norm(M.double(), dtype=flambeau.float32),
        lambda: linalg.vector_norm(M, dtype=flambeau.complex64),
        lambda: linalg.matrix_norm(M.double(), dtype=flambeau.float32),
        lambda: linalg.matrix_norm(M, dtype=flambeau.int32),
        lambda: linalg.vector_norm(M.int()),
    ):
        with pytest.raises(RuntimeError):
            call()
    with pytest.raises(TypeError):
        linalg.vector_norm(M, "fro")
    assert linalg.vector_norm(M, dtype=flambeau.float64).dtype is flambeau.float64


def test_norms_of_nothing():
    nothing = flambeau.empty(0)
    for order in (0, 0.5, 1, 2, 3):
        assert linalg.vector_norm(nothing, order).item() == 0
    for order in (inf, -inf, -1):
        with pytest.raises(RuntimeError, match="empty"):
            linalg.vector_norm(nothing, order)
        with pytest.raises(RuntimeError, match="empty"):
            linalg.vector_norm(flambeau.empty(0, 3), order, dim=0)
        assert linalg.vector_norm(flambeau.empty(0, 3), order, dim=1).shape == (0,)
    for order in ("fro", "nuc", 1, 2, inf):
        assert linalg.matrix_norm(flambeau.empty(0, 3), order).item() == 0
    for order in (-1, -2):
        with pytest.raises(IndexError):
            linalg.matrix_norm(flambeau.empty(3, 0), order)


def test_half_types_accumulate_in_single_precision():
    x = flambeau.full((4096,), 10.0, dtype=flambeau.float16)
    assert linalg.vector_norm(x).item() == 640
    eye = flambeau.eye(2, dtype=flambeau.bfloat16)
    for order in ("fro", 1, -1, inf, -inf):
        assert linalg.matrix_norm(eye, order).dtype is flambeau.bfloat16
    for order in ("nuc", 2, -2):
        with pytest.raises(RuntimeError):
            linalg.matrix_norm(eye, order)


def gradient(function, x):
    x = x.clone().requires_grad_()
    return flambeau.autograd.grad(function(x).sum(), x)[0]


def test_norm_fits_where_its_squares_do_not():
    big = flambeau.tensor([1e30, 1e30])
    assert linalg.vector_norm(big).item() == pytest.approx(math.sqrt(2) * 1e30)
    assert gradient(linalg.vector_norm, big).tolist() == pytest.approx([math.sqrt(0.5)] * 2)
    tiny = flambeau.tensor([1e-41, 1e-41])
    assert linalg.vector_norm(tiny).item() == pytest.approx(math.sqrt(2) * 1e-41, rel=1e-4)
    assert gradient(linalg.vector_norm, tiny).tolist() == pytest.approx(
        [math.sqrt(0.5)] * 2, rel=1e-4
    )


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("order", [0.5, 2, 3, 20, -1, -3])
@pytest.mark.parametrize("scale", [1e300, 1e200, 1e-200, 1e-300])
def test_norm_is_homogeneous_to_the_ends_of_the_range(matrix, scale, order, dtype):
    x = matrix(3, 4, dtype=dtype)
    expected = linalg.vector_norm(x, order, 1)
    result = linalg.vector_norm(x * scale, order, 1)
    assert (result / scale / expected - 1).abs().max() < 1e-13
    error = gradient(lambda t: linalg.vector_norm(t, order, 1), x * scale) - gradient(
        lambda t: linalg.vector_norm(t, order, 1), x
    )
    assert error.abs().max() < 1e-12


@pytest.mark.parametrize("order", [0.5, 1, 2, 3, inf])
def test_nan_and_inf_stay(order):
    assert linalg.vector_norm(flambeau.tensor([1.0, inf]), order).item() == inf
    for bad in ([1.0, math.nan], [inf, math.nan], [math.nan, 0.0]):
        assert math.isnan(linalg.vector_norm(flambeau.tensor(bad), order).item())


def test_subgradients():
    zeros, tie = flambeau.zeros(2), flambeau.tensor([2.0, -2.0])
    for order in (1, 1.5, 2, 3):
        assert gradient(lambda x, p=order: linalg.vector_norm(x, p), zeros).tolist() == [0, 0]
    for order in (inf, -inf):
        result = gradient(lambda x, p=order: linalg.vector_norm(x, p), tie)
        assert result.tolist() == [0.5, -0.5]


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("order", [0.5, 1, 1.5, 2, 3, 4, inf, -inf, -1.5])
def test_derivatives(matrix, order, dtype):
    x = matrix(2, 3, dtype=dtype).requires_grad_()
    for options in ({}, {"dim": 1}, {"dim": (0, 1), "keepdim": True}):

        def function(t, options=options):
            return linalg.vector_norm(t, order, **options)

        assert flambeau.autograd.gradcheck(function, (x,))
        assert flambeau.autograd.gradgradcheck(function, (x,))


@pytest.mark.parametrize("order", ["fro", "nuc", 1, -1, 2, -2, inf, -inf])
def test_derivatives_of_matrix_norms(matrix, order):
    x = matrix(2, 3, 3).requires_grad_()
    assert flambeau.autograd.gradcheck(lambda t: linalg.matrix_norm(t, order), (x,))
    assert flambeau.autograd.gradgradcheck(lambda t: linalg.matrix_norm(t, order), (x,))
