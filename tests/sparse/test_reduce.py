"""Sums and softmax, against dense tensors."""

import pytest

import flambeau
from flambeau import tensor


def cube(sparse_dim=3):
    dense = flambeau.randn(3, 4, 5, dtype=flambeau.float64) * (flambeau.rand(3, 4, 5) < 0.5)
    return dense, dense.to_sparse(sparse_dim)


@pytest.mark.parametrize("dim", [0, 1, -1, (0, 1), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("sparse_dim", [1, 2, 3])
def test_sum(sparse_dim, dim):
    dense, x = cube(sparse_dim)
    made = flambeau.sparse.sum(x, dim)
    assert flambeau.allclose(made.to_dense(), dense.sum(dim))
    left = set(range(sparse_dim)) - {d % 3 for d in (dim if isinstance(dim, tuple) else (dim,))}
    assert made.is_sparse == bool(left)


def test_sum_of_all_and_dtypes():
    dense, x = cube()
    assert flambeau.allclose(flambeau.sparse.sum(x), dense.sum())
    assert flambeau.sparse.sum(x, 0, dtype=flambeau.float32).dtype is flambeau.float32
    assert flambeau.sparse.sum(x.long()).dtype is flambeau.int64
    with pytest.raises(IndexError):
        flambeau.sparse.sum(x, 3)


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("sparse_dim", [2, 3])
def test_softmax_over_specified_elements(sparse_dim, dim):
    dense, x = cube(sparse_dim)
    mask = (
        x.sparse_mask(x).to_dense() != 0
        if sparse_dim == 3
        else (dense != 0).any(-1, keepdim=True).expand(3, 4, 5)
    )
    expected = dense.masked_fill(~mask, -flambeau.inf).softmax(dim)
    made = flambeau.sparse.softmax(x, dim)
    assert flambeau.allclose(made.to_dense(), expected.masked_fill(~mask, 0))
    logarithms = flambeau.sparse.log_softmax(x, dim)
    assert flambeau.allclose(logarithms.to_dense(), expected.log().masked_fill(~mask, 0))


def test_gradients():
    gradcheck = flambeau.sparse.as_sparse_gradcheck(flambeau.autograd.gradcheck)
    for sparse_dim in (1, 2, 3):
        x = cube(sparse_dim)[1].requires_grad_()
        for dim in (0, 2, (0, 1)):
            assert gradcheck(lambda x, d=dim: flambeau.sparse.sum(x, d), (x,), masked=True)
        for dim in (0, 2):
            assert gradcheck(lambda x, d=dim: flambeau.sparse.softmax(x, d), (x,), masked=True)
            assert gradcheck(lambda x, d=dim: flambeau.sparse.log_softmax(x, d), (x,), masked=True)


def test_other_reductions():
    x = tensor([[3.0, 0], [0, -4]]).to_sparse()
    assert x.any().item() and x.norm().item() == 5 and x.norm(1).item() == 7
    assert x.count_nonzero().item() == 2
    with pytest.raises(NotImplementedError, match="to_dense"):
        x.max()
