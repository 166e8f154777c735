"""Which right-hand sides are vectors, and what singular and mismatched systems do."""

import pytest

import flambeau
from flambeau import linalg


@pytest.mark.parametrize(
    ("a", "b", "result"),
    [
        ((3, 2, 2), (3, 2), (3, 2)),  # vectors: b has the shape of a without its last dim
        ((3, 2, 2), (2, 5), (3, 2, 5)),
        ((2, 2, 2), (2, 2), (2, 2)),  # vectors too
        ((5, 2, 2), (2,), (5, 2)),
        ((2, 2), (2,), (2,)),
        ((2, 2), (2, 0), (2, 0)),
        ((2, 2), (3, 2, 1), (3, 2, 1)),
        ((0, 2, 2), (0, 2), (0, 2)),
        ((0, 0), (0,), (0,)),
        ((0, 0), (0, 3), (0, 3)),
        ((4, 1, 2, 2), (3, 2, 5), (4, 3, 2, 5)),
    ],
    ids=str,
)
def test_shapes(matrix, close, a, b, result):
    left = matrix(*a)
    right = matrix(*b, seed=1)
    x = linalg.solve(left, right)
    assert x.shape == result
    assert linalg.solve_ex(left, right).result.shape == result
    if right.dim() == 1 or b == a[:-1]:
        close((left @ x.unsqueeze(-1)).squeeze(-1), right.expand(x.shape), 1e-9)
    else:
        close(left @ x, right.expand(x.shape), 1e-9)


def test_right_systems(matrix, close):
    a, b = matrix(3, 3), matrix(2, 3, seed=1)
    close(linalg.solve(a, b, left=False) @ a, b)
    with pytest.raises(RuntimeError, match="vector"):
        linalg.solve(a, b[0], left=False)


@pytest.mark.parametrize("shape", [(2, 3, 1), (3, 1)], ids=str)
def test_sizes_and_dtypes_must_agree(shape):
    with pytest.raises(RuntimeError, match="Incompatible"):
        linalg.solve(flambeau.eye(2), flambeau.ones(shape))
    with pytest.raises(RuntimeError, match="same dtype"):
        linalg.solve(flambeau.eye(2), flambeau.ones(2, 1, dtype=flambeau.float64))


def test_singular_systems_raise_and_ex_forms_tell():
    batch = flambeau.stack([flambeau.eye(2), flambeau.ones(2, 2)])
    for call in (linalg.inv, flambeau.inverse, lambda a: linalg.solve(a, flambeau.ones(2, 1))):
        with pytest.raises(linalg.LinAlgError, match="Batch element 1"):
            call(batch)
    with pytest.raises(RuntimeError, match=r"U\[2,2\]"):
        linalg.lu_factor(batch)
    assert linalg.inv_ex(batch).info.tolist() == [0, 2]
    assert linalg.solve_ex(batch, flambeau.ones(2, 1)).info.tolist() == [0, 2]
    assert linalg.lu_factor_ex(batch).info.tolist() == [0, 2]
    info = linalg.cholesky_ex(flambeau.stack([flambeau.eye(3), -flambeau.eye(3)])).info
    assert info.tolist() == [0, 1]
    assert info.dtype is flambeau.int32
    with pytest.raises(linalg.LinAlgError, match="order 2"):
        linalg.cholesky(flambeau.diag(flambeau.tensor([1.0, -1])))
    for name in ("inv_ex", "lu_factor_ex", "cholesky_ex", "ldl_factor_ex"):
        with pytest.raises(RuntimeError):
            getattr(linalg, name)(flambeau.zeros(2, 2), check_errors=True)


def test_triangular_system_divides_by_zero():
    a = flambeau.tensor([[0.0, 1], [0, 1]])
    x = linalg.solve_triangular(a, flambeau.tensor([[2.0], [1]]), upper=True)
    assert x.tolist() == [[float("inf")], [1]]
    with pytest.raises(TypeError):
        linalg.solve_triangular(a, a)
    with pytest.raises(RuntimeError, match="matrices"):
        linalg.solve_triangular(a, flambeau.ones(2), upper=True)


def test_large_systems_are_solved_in_blocks_of_columns(matrix, close):
    a, b = matrix(2, 200, 200), matrix(2, 200, 300, seed=1)
    close(a @ linalg.solve(a, b), b, 1e-8)
    one = linalg.solve(a, b)
    threads = flambeau.get_num_threads()
    flambeau.set_num_threads(1)
    assert flambeau.equal(linalg.solve(a, b), one)
    flambeau.set_num_threads(threads)


def test_multi_dot_takes_vectors_at_the_ends(matrix, close):
    x, a, b, y = matrix(3), matrix(3, 4), matrix(4, 5), matrix(5)
    close(linalg.multi_dot([x, a, b, y]), x @ a @ b @ y)
    close(linalg.multi_dot([a, b]), a @ b)
    with pytest.raises(RuntimeError, match="at least 2"):
        linalg.multi_dot([a])
    with pytest.raises(RuntimeError, match="2D"):
        linalg.multi_dot([a, a[None], b])


def test_one_long_side():
    """Only the number of elements is limited: by LAPACK's 32-bit sizes."""
    many = linalg.solve_triangular(2 * flambeau.eye(2), flambeau.ones(2, 50000), upper=False)
    assert many.equal(flambeau.full((2, 50000), 0.5))
    tall = flambeau.rand(40000, 2, dtype=flambeau.float64)
    q, r = linalg.qr(tall)
    flambeau.testing.assert_close(q @ r, tall)
    with pytest.raises(
        RuntimeError, match=r"linalg\.qr: expected matrices of at most 900000000 elements"
    ):
        linalg.qr(tall, mode="complete")
