"""Large QR and eigenproblems, which run in blocks shared by threads."""

import numpy as np
import pytest
import scipy.linalg

import flambeau
from flambeau import linalg

SHAPES = [(64, 64), (65, 97), (97, 65), (200, 70), (70, 200), (150, 150), (2, 66, 66)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_signs_and_factors_are_lapacks(matrix, shape, dtype):
    a = matrix(*shape, dtype=dtype)
    packed, tau = flambeau.geqrf(a)
    eps = np.finfo(dtype).eps
    for i in range(a.shape[0]) if a.dim() == 3 else [...]:
        (expected, scales), _ = scipy.linalg.qr(a[i].numpy(), mode="raw")
        assert np.abs(packed[i].numpy() - expected).max() < 400 * eps * np.abs(expected).max()
        assert np.abs(tau[i].numpy() - scales).max() < 400 * eps
    for mode in ("reduced", "complete"):
        q, r = linalg.qr(a, mode)
        assert (q @ r - a).abs().max() < 300 * eps
        eye = flambeau.eye(q.shape[-1], dtype=a.dtype)
        assert (q.mT @ q - eye).abs().max() < 100 * eps


@pytest.mark.parametrize("scale", [1e-44, 1e-30, 1.0, 1e30])
def test_columns_of_every_size(matrix, scale):
    a = matrix(80, 70, dtype="float32") * scale
    a[:, 3] = 0
    a[:, 7] = a[:, 6]
    a[1:, 0] = 0
    q, r = linalg.qr(a)
    assert (q.mT @ q - flambeau.eye(70)).abs().max() < 1e-5
    assert (q.double() @ r.double() - a).abs().max() <= 1e-5 * scale + 1e-43


def test_double_columns_near_the_ends_of_the_range(matrix):
    for scale in (1e-300, 1e-200, 1e200, 1e300):
        q, r = linalg.qr(matrix(70, 70) * scale)
        expected_q, expected_r = linalg.qr(matrix(70, 70))
        assert (q - expected_q).abs().max() < 1e-12
        assert (r / scale - expected_r).abs().max() < 1e-11


def spectra(n):
    rng = np.random.default_rng(n)
    basis = np.linalg.qr(rng.standard_normal((n, n)))[0]
    for values in (
        np.arange(n) - n / 3,
        np.zeros(n),
        np.repeat([1.0, 2.0, 5.0], n // 3 + 1)[:n],
        10.0 ** -np.linspace(0, 20, n),
        np.r_[np.full(n - 1, 1.0), 1e8],
    ):
        yield (basis * values) @ basis.T
    yield np.eye(n)
    yield np.diag(np.arange(n, 0.0, -1))
    off = np.ones(n - 1)
    yield np.diag(off, 1) + np.diag(off, -1)


@pytest.mark.parametrize("uplo", ["L", "U"])
@pytest.mark.parametrize("n", [128, 129, 201])
def test_spectra_of_many_kinds(n, uplo):
    for values in spectra(n):
        values = (values + values.T) / 2
        a = flambeau.from_numpy(values)
        w, v = linalg.eigh(a, uplo)
        size = max(1.0, float(np.abs(values).max()))
        assert (w.diff() >= 0).all()
        assert np.abs(w.numpy() - np.linalg.eigvalsh(values)).max() < 1e-12 * size * 10
        assert (v.mT @ v - flambeau.eye(n, dtype=a.dtype)).abs().max() < 1e-12
        assert ((v * w) @ v.mT - a).abs().max() < 1e-12 * size * 10


def test_results_do_not_depend_on_the_number_of_threads(matrix):
    a = matrix(2, 200, 200, dtype="float32")
    threads = flambeau.get_num_threads()
    results = []
    for count in (1, 2, 3):
        flambeau.set_num_threads(count)
        results.append((*linalg.qr(a), *linalg.eigh(a[0] + a[0].mT), linalg.inv(a), *linalg.svd(a)))
    flambeau.set_num_threads(threads)
    for other in results[1:]:
        assert all(flambeau.equal(x, y) for x, y in zip(results[0], other, strict=True))
