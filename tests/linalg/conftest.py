"""Random matrices for the tests of linear algebra."""

import numpy as np
import pytest

import flambeau


def make_matrix(*shape, dtype="float64", seed=0):
    """A normal matrix with the given batch and sizes."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape)
    if dtype.startswith("complex"):
        values = values + 1j * rng.standard_normal(shape)
    return flambeau.from_numpy(values.astype(dtype))


@pytest.fixture
def matrix():
    """matrix(*shape, dtype="float64", seed=0): normal entries."""
    return make_matrix


@pytest.fixture
def positive():
    """positive(*shape, ...): Hermitian, eigenvalues of at least the size."""

    def make(*shape, **options):
        a = make_matrix(*shape, **options)
        return a @ a.mH + shape[-1] * flambeau.eye(shape[-1], dtype=a.dtype)

    return make


@pytest.fixture
def close():
    """close(a, b, tolerance=1e-11): equal shapes, dtypes and, nearly, values."""

    def check(a, b, tolerance=1e-11):
        assert a.shape == b.shape
        assert a.dtype == b.dtype
        a, b = a.detach().resolve_conj().numpy(), b.detach().resolve_conj().numpy()
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)

    return check
