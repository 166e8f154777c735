"""The linear algebra of PyTorch 1.9: reversed arguments, real pairs, the upper triangle; all behind a warning."""

import numpy as np
import pytest
import scipy.linalg

import flambeau
from flambeau import linalg

pytestmark = pytest.mark.filterwarnings("ignore:torch")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("symeig", (flambeau.eye(2),)),
        ("eig", (flambeau.eye(2),)),
        ("solve", (flambeau.eye(2), flambeau.eye(2))),
        ("lstsq", (flambeau.eye(2), flambeau.eye(2))),
        ("matrix_rank", (flambeau.eye(2),)),
    ],
)
def test_each_warns_and_names_its_successor(name, arguments):
    with pytest.warns(UserWarning, match=rf"torch\.{name} is deprecated.*torch\.linalg") as caught:
        getattr(flambeau, name)(*arguments)
    assert caught[0].filename == __file__
    if name != "matrix_rank":
        with pytest.warns(UserWarning, match="deprecated"):
            getattr(arguments[0], name)(*arguments[1:])


def test_symeig_reads_the_upper_triangle(close):
    a = flambeau.tensor([[2.0, 1.0], [7.0, 2.0]])
    values, vectors = flambeau.symeig(a)
    close(values, flambeau.tensor([1.0, 3.0]), 1e-6)
    assert vectors.numel() == 0
    result = a.symeig(eigenvectors=True, upper=False)
    close(result.eigenvalues, linalg.eigvalsh(a), 1e-6)
    rebuilt = (result.eigenvectors * result.eigenvalues) @ result.eigenvectors.mT
    close(rebuilt, flambeau.tensor([[2.0, 7.0], [7.0, 2.0]]), 1e-5)
    out = (flambeau.empty(0), flambeau.empty(0))
    flambeau.symeig(a, True, out=out)
    close(out[0], values)


def test_eig_packs_conjugate_pairs_into_real_columns(matrix, close):
    a = flambeau.tensor([[0.0, -2.0, 0], [2, 0, 0], [0, 0, 5]], dtype=flambeau.float64)
    values, vectors = flambeau.eig(a, eigenvectors=True)
    assert values.shape == (3, 2)
    np.testing.assert_allclose(
        sorted(values.tolist()), [[0, -2], [0, 2], [5, 0]], rtol=1e-14, atol=1e-14
    )
    for j, (real, imaginary) in enumerate(values.tolist()):
        if imaginary > 0:  # a (v + iw) = (x + iy)(v + iw)
            v, w = vectors[:, j], vectors[:, j + 1]
            close(a @ v, real * v - imaginary * w)
            close(a @ w, real * w + imaginary * v)
        elif imaginary == 0:
            close(a @ vectors[:, j], real * vectors[:, j])
    assert flambeau.eig(a).eigenvectors.numel() == 0
    complex_values = flambeau.eig(matrix(3, 3, dtype="complex128")).eigenvalues
    assert complex_values.shape == (3,)
    with pytest.raises(RuntimeError, match="square"):
        flambeau.eig(flambeau.ones(2, 2, 2))


def test_solve_takes_the_right_hand_side_first(matrix, close):
    a, b = matrix(4, 2, 2), matrix(4, 2, seed=1)
    result = flambeau.solve(b[:2], a)  # a matrix, for linalg.solve a stack of vectors
    assert result.solution.shape == (4, 2, 2)
    close(a @ result.solution, b[:2].expand(4, 2, 2))
    close(result.LU, linalg.lu_factor(a).LU)
    with pytest.raises(RuntimeError, match="singular"):
        flambeau.solve(flambeau.ones(2, 1), flambeau.ones(2, 2))
    with pytest.raises(RuntimeError, match="at least 2"):
        flambeau.solve(flambeau.ones(2), flambeau.eye(2))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(5, 3), (3, 5)], ids=str)
def test_lstsq_is_gels(matrix, close, shape, dtype):
    a, b = matrix(*shape, dtype=dtype), matrix(shape[0], 2, dtype=dtype, seed=1)
    solution, qr = flambeau.lstsq(b, a)
    (gels,) = scipy.linalg.get_lapack_funcs(("gels",), (a.numpy(),))
    padded = np.zeros((5, 2), b.numpy().dtype)
    padded[: shape[0]] = b.numpy()
    packed, expected, info = gels(a.numpy(), padded)
    assert info == 0
    assert solution.shape == (5, 2)
    close(solution[: shape[1]], flambeau.from_numpy(expected)[: shape[1]])
    close(qr, flambeau.from_numpy(packed))
    residual = linalg.vector_norm(a @ solution[: shape[1]] - b, dim=0)
    if shape[0] > shape[1]:
        close(linalg.vector_norm(solution[shape[1] :], dim=0), residual)


def test_lstsq_takes_a_vector(close):
    a = flambeau.tensor([[1.0, 1], [1, 2], [1, 3]])
    solution = flambeau.lstsq(flambeau.tensor([1.0, 2, 2]), a).solution
    close(solution[:2, 0], flambeau.tensor([2 / 3, 1 / 2]), 1e-5)


def test_matrix_rank_knows_symmetric_matrices():
    a = flambeau.diag(flambeau.tensor([1.0, 0.1, 0]))
    assert flambeau.matrix_rank(a) == 2
    assert flambeau.matrix_rank(a, 0.5) == 1
    assert flambeau.matrix_rank(a, symmetric=True) == 2


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives(matrix, dtype):
    a = (matrix(3, 3, dtype=dtype) + 2 * flambeau.eye(3)).requires_grad_()
    b = matrix(3, 2, dtype=dtype, seed=1).requires_grad_()
    check = flambeau.autograd.gradcheck
    assert check(lambda x, y: flambeau.solve(x, y).solution, (b, a))
    assert check(lambda x, y: flambeau.lstsq(x, y).solution, (b, a))
    assert check(lambda x: flambeau.symeig(x + x.mH).eigenvalues, (a,))
    assert check(lambda x: flambeau.eig(x).eigenvalues, (a,))


def test_real_eigenvectors_have_gradients(matrix):
    a = (0.1 * matrix(3, 3) + flambeau.arange(3.0, dtype=flambeau.float64).diag()).requires_grad_()

    def first_moduli(x):
        values, vectors = flambeau.eig(x, eigenvectors=True)
        return (vectors**2).sum(0) + values.sum()

    assert flambeau.autograd.gradcheck(first_moduli, (a,))


def test_lu_and_its_neighbours(matrix, close):
    a, b = matrix(2, 3, 3), matrix(2, 3, 1, seed=1)
    packed, pivots = flambeau.lu(a)
    assert len(a.lu(get_infos=True)) == 3
    p, lower, upper = flambeau.lu_unpack(packed, pivots)
    close(p @ lower @ upper, a)
    close(a @ flambeau.lu_solve(b, packed, pivots), b)
    u, s, v = flambeau.svd(a)
    close(u @ s.diag_embed() @ v.mT, a)
    q, r = flambeau.qr(a)
    close(q @ r, a)
    with pytest.raises(RuntimeError):
        flambeau.lu(a, pivot=False)
