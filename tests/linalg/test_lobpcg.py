"""Extreme eigenpairs by LOBPCG, against the whole spectrum."""

import pytest

import flambeau
from flambeau import linalg

METHODS = ["basic", "ortho"]


def laplacian(n, dtype=flambeau.float64):
    """Second differences: eigenvalues 4 sin^2(pi k / (2 n + 2))."""
    off = -flambeau.ones(n - 1, dtype=dtype)
    return 2 * flambeau.eye(n, dtype=dtype) + off.diag(1) + off.diag(-1)


def subspace_error(found, expected):
    """Norm of the part of `found` outside span(expected), both orthonormal."""
    return linalg.norm(found - expected @ (expected.mH @ found)).item()


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("method", METHODS)
def test_ends_of_the_spectrum(positive, close, method, largest, dtype):
    a = positive(60, 60, dtype=dtype)
    values, vectors = linalg.eigh(a)
    expected = values[-4:].flip(0) if largest else values[:4]
    found, x = flambeau.lobpcg(a, k=4, largest=largest, method=method, niter=400)
    close(found, expected, 1e-9)
    close(x.mH @ x, flambeau.eye(4, dtype=a.dtype), 1e-8)
    assert subspace_error(x, vectors[:, -4:] if largest else vectors[:, :4]) < 1e-4


@pytest.mark.parametrize("method", METHODS)
def test_generalised_problem(matrix, positive, close, method):
    a, b = positive(40, 40), positive(40, 40, seed=1)
    found, x = flambeau.lobpcg(a, k=3, B=b, method=method, niter=500)
    expected = linalg.eigvals(linalg.solve(b, a)).real.sort(descending=True).values[:3]
    close(found, expected, 1e-8)
    close(x.mT @ b @ x, flambeau.eye(3, dtype=a.dtype), 1e-8)
    close(a @ x, b @ x * found, 1e-5)


def test_preconditioner_saves_steps():
    a = laplacian(300)
    steps = []
    for inverse in (None, linalg.inv(a + 1e-3 * flambeau.eye(300, dtype=a.dtype))):
        flambeau.manual_seed(0)
        count = []
        flambeau.lobpcg(
            a, k=2, iK=inverse, largest=False, tracker=lambda worker, c=count: c.append(worker)
        )
        steps.append(len(count))
    assert steps[1] < steps[0] / 5


@pytest.mark.parametrize("method", METHODS)
def test_batches_run_one_by_one(positive, close, method):
    a = positive(2, 1, 20, 20)
    values, x = flambeau.lobpcg(a, k=2, method=method)
    assert values.shape == (2, 1, 2)
    assert x.shape == (2, 1, 20, 2)
    close(values, linalg.eigvalsh(a)[..., -2:].flip(-1), 1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_tracker_sees_the_iteration_and_may_stop_it(positive, method):
    seen = []

    def tracker(worker):
        seen.append((worker.ivars["istep"], worker.X.shape, worker.E.shape, worker.R.shape))
        assert worker.tvars["rerr"].shape == (4,)
        worker.bvars["force_stop"] = len(seen) == 3

    flambeau.lobpcg(positive(50, 50), k=2, n=4, tracker=tracker, method=method)
    assert seen == [(step, (50, 4), (4,), (50, 4)) for step in range(3)]


def test_given_approximations_and_limits(positive, close):
    a = positive(30, 30)
    exact = linalg.eigh(a).eigenvectors[:, -2:]
    steps = []
    values, _ = flambeau.lobpcg(a, X=exact, tracker=lambda worker: steps.append(1))
    assert len(steps) == 1  # converged before the first step
    close(values, linalg.eigvalsh(a)[-2:].flip(0), 1e-10)
    steps.clear()
    flambeau.lobpcg(a, k=2, niter=5, tol=1e-30, tracker=lambda worker: steps.append(1))
    assert len(steps) == 6
    single = flambeau.lobpcg(a.float(), k=2)[0]
    close(single.double(), values, 1e-4)


def test_degenerate_spectrum_converges(close):
    values = flambeau.tensor([5.0, 5, 5, 4] + [1.0] * 26, dtype=flambeau.float64)
    found, x = flambeau.lobpcg(flambeau.diag(values), k=4)
    close(found, values[:4], 1e-8)
    close(x.mT @ x, flambeau.eye(4, dtype=x.dtype), 1e-8)


def test_problems_that_are_too_small_or_malformed():
    a = flambeau.eye(8)
    with pytest.raises(ValueError, match="3 x"):
        flambeau.lobpcg(a, k=3)
    with pytest.raises(ValueError, match="method"):
        flambeau.lobpcg(a, k=1, method="x")
    with pytest.raises(ValueError, match="square"):
        flambeau.lobpcg(flambeau.ones(3, 2))
    with pytest.raises(ValueError, match="k"):
        flambeau.lobpcg(a, k=2, n=1)


@pytest.mark.parametrize("largest", [True, False])
def test_derivatives(matrix, largest):
    a = matrix(9, 9).requires_grad_()
    start = matrix(9, 2, seed=1)

    def function(x):
        values, vectors = flambeau.lobpcg(
            x @ x.mT, k=2, X=start, largest=largest, tol=1e-14, niter=300
        )
        return values, vectors.abs()

    assert flambeau.autograd.gradcheck(function, (a,))
    assert flambeau.autograd.gradgradcheck(lambda x: function(x)[0], (a,))


def test_derivatives_of_the_generalised_problem(matrix):
    a, b = matrix(7, 7).requires_grad_(), matrix(7, 7, seed=1).requires_grad_()
    start = matrix(7, 2, seed=2)

    def function(x, y):
        metric = y @ y.mT + 7 * flambeau.eye(7, dtype=y.dtype)
        values, vectors = flambeau.lobpcg(x @ x.mT, k=2, B=metric, X=start, tol=1e-14, niter=300)
        return values, vectors.abs()

    assert flambeau.autograd.gradcheck(function, (a, b))


def test_gradient_is_that_of_the_dense_problem(matrix, close):
    a = matrix(12, 12)
    a = a @ a.mT
    dense, sparse = a.clone().requires_grad_(), a.clone().requires_grad_()
    linalg.eigvalsh(dense)[-2:].sum().backward()
    flambeau.lobpcg(sparse, k=2)[0].sum().backward()
    close(sparse.grad, dense.grad, 1e-6)


def test_sparse_matrices(close):
    a = laplacian(40)
    metric = (2 * flambeau.eye(40, dtype=a.dtype)).to_sparse()
    expected = linalg.eigvalsh(a)[-2:].flip(0)
    start = flambeau.randn(40, 2, dtype=a.dtype)
    for sparse in (a.to_sparse(), a.to_sparse_csr()):
        close(flambeau.lobpcg(sparse, X=start)[0], expected, 1e-8)
        close(flambeau.lobpcg(sparse, B=metric, X=start)[0], expected / 2, 1e-8)
