"""Sparse tensors from parts, factories and the checks of both."""

import pytest

import flambeau
from flambeau import tensor


def test_coo_infers_its_size_and_adds_equal_indices():
    x = flambeau.sparse_coo_tensor([[0, 2, 2], [1, 0, 0]], [1.0, 2.0, 3.0])
    assert x.shape == (3, 2) and x.layout is flambeau.sparse_coo and not x.is_coalesced()
    assert x.to_dense().tolist() == [[0, 1], [0, 0], [5, 0]]
    y = x.coalesce()
    assert y.is_coalesced() and y.indices().tolist() == [[0, 2], [1, 0]]
    assert y.values().tolist() == [1, 5] and (x._nnz(), y._nnz()) == (3, 2)


def test_hybrid_coo_has_dense_dims():
    x = flambeau.sparse_coo_tensor([[3, 1]], flambeau.ones(2, 2, 3), (5, 2, 3))
    assert (x.sparse_dim(), x.dense_dim(), x._nnz()) == (1, 2, 2)
    assert x.to_dense().sum((1, 2)).tolist() == [0, 6, 0, 6, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[5]], [1.0], (2,)), "size is 2 but found index 5"),
        (([[-1]], [1.0], (2,)), "found negative index -1 for dim 0"),
        (([[-1]], [1.0]), "found negative index -1 for dim 0"),
        (([[0, 1]], [1.0], (2,)), "same nnz"),
        (([[0, 1]], [1.0, 2.0], (2, 3)), "len\\(size\\)"),
        (([0, 1], [1.0, 2.0], (2,)), "sparse_dim x nnz"),
        (([[0]], flambeau.ones(1, 2), (2, 3)), "incorrect size"),
        (([[0]], [1.0], (-2,)), "inconsistent|negative"),
    ],
)
def test_coo_refuses_parts_that_do_not_fit(arguments, message):
    with pytest.raises(RuntimeError, match=message):
        flambeau.sparse_coo_tensor(*arguments)


def test_csr_and_its_kin():
    dense = tensor([[1.0, 0, 2], [0, 0, 3]])
    csr = flambeau.sparse_csr_tensor([0, 2, 3], [0, 2, 2], [1.0, 2, 3], (2, 3))
    csc = flambeau.sparse_csc_tensor([0, 1, 1, 3], [0, 0, 1], [1.0, 2, 3])
    bsr = flambeau.sparse_bsr_tensor([0, 1, 2], [0, 1], flambeau.ones(2, 1, 2), (2, 4))
    assert csr.to_dense().tolist() == csc.to_dense().tolist() == dense.tolist()
    assert bsr.to_dense().tolist() == [[1, 1, 0, 0], [0, 0, 1, 1]]
    assert csr.is_sparse_csr and not csr.is_sparse and not csc.is_sparse_csr
    assert csr.crow_indices().tolist() == [0, 2, 3] and csc.row_indices().tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1, 3], [0, 1], [1, 2]), "crow_indices\\[..., -1\\] == nnz"),
        (([0, 1, 2], [0, 5], [1, 2], (2, 2)), "0 <= col_indices < ncols"),
        (([1, 2, 2], [0, 1], [1, 2], (2, 2)), "crow_indices\\[..., 0\\] == 0"),
        (([0, 3, 2], [0, 1], [1, 2], (2, 2)), "crow_indices\\[..., 1:\\]"),
        (([0, 2], [0, 1], [1, 2], (2, 2)), "number of rows"),
        (([0, 1, 2], [0, 1, 1], [1, 2], (2, 2)), "as many"),
        (([[0, 1]], [0], [1], (1, 1)), "dimensionalities"),
        (([], [0], [1], (1, 1)), "at least one element"),
    ],
)
def test_csr_refuses_parts_that_do_not_fit(arguments, message):
    with pytest.raises(RuntimeError, match=message):
        flambeau.sparse_csr_tensor(*arguments)


def test_order_is_checked_on_request():
    parts = ([0, 2], [1, 0], [1.0, 2.0], (1, 2))
    assert flambeau.sparse_csr_tensor(*parts).to_dense().tolist() == [[2, 1]]
    with pytest.raises(RuntimeError, match="sorted and distinct"):
        flambeau.sparse_csr_tensor(*parts, check_invariants=True)
    check = flambeau.sparse.check_sparse_tensor_invariants
    with check():
        assert check.is_enabled()
        with pytest.raises(RuntimeError, match="sorted and distinct"):
            flambeau.sparse_csr_tensor(*parts)
        with pytest.raises(RuntimeError, match="uncoalesced"):
            flambeau.sparse_coo_tensor([[1, 0]], [1.0, 2.0], is_coalesced=True)
    assert not check.is_enabled()


def test_compressed_needs_a_layout():
    with pytest.raises(RuntimeError, match="got none"):
        flambeau.sparse_compressed_tensor([0, 1], [0], [1.0])
    made = flambeau.sparse_compressed_tensor([0, 1], [0], [1.0], layout=flambeau.sparse_csc)
    assert made.layout is flambeau.sparse_csc


def test_factories_with_a_layout():
    x = flambeau.zeros(2, 3, layout=flambeau.sparse_coo)
    assert x.is_sparse and x._nnz() == 0 and x.to_dense().sum().item() == 0
    assert flambeau.empty(
        2, 3, layout=flambeau.sparse_csr, dtype=flambeau.int8
    ).crow_indices().tolist() == [0, 0, 0]
    eye = flambeau.eye(2).to_sparse()
    assert flambeau.zeros_like(eye)._nnz() == 0 and eye.new_zeros(4, 5).shape == (4, 5)
    with pytest.raises(RuntimeError, match="full"):
        flambeau.ones(2, layout=flambeau.sparse_coo)


def test_spdiags():
    diagonals = flambeau.arange(9).reshape(3, 3)
    made = flambeau.sparse.spdiags(diagonals, tensor([0, -1, 2]), (3, 4))
    assert made.to_dense().tolist() == [[0, 0, 8, 0], [3, 1, 0, 0], [0, 4, 2, 0]]
    with pytest.raises(RuntimeError, match="duplicate"):
        flambeau.sparse.spdiags(diagonals, tensor([0, 0, 1]), (3, 3))


def test_gradient_reaches_the_values():
    values = tensor([1.0, 2.0, 3.0], requires_grad=True)
    x = flambeau.sparse_coo_tensor([[0, 2, 2]], values, (3,))
    (x.to_dense() * tensor([1.0, 10.0, 100.0])).sum().backward()
    assert values.grad.tolist() == [1, 100, 100]
    values.grad = None
    csr = flambeau.sparse_csr_tensor([0, 1, 3], [0, 0, 1], values, (2, 2))
    (csr.to_dense() * tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    assert values.grad.tolist() == [1, 3, 4]


def test_typed_constructors():
    made = flambeau.sparse.DoubleTensor(tensor([[1]]), tensor([2.0]), (3,))
    assert made.dtype is flambeau.float64 and made.to_dense().tolist() == [0, 2, 0]
    assert flambeau.sparse.FloatTensor(2, 3).shape == (2, 3)
    assert isinstance(made, flambeau.sparse.DoubleTensor)
    assert not isinstance(made, flambeau.DoubleTensor | flambeau.sparse.FloatTensor)
    assert not isinstance(made.to_dense(), flambeau.sparse.DoubleTensor)


def test_parts_are_copied():
    x = flambeau.sparse_coo_tensor([[0, 1]], [1.0, 2.0]).coalesce()
    copies = flambeau.indices_copy(x), flambeau.values_copy(x)
    assert [copy.tolist() for copy in copies] == [[[0, 1]], [1, 2]]
    copies[1].fill_(7)
    assert x.values().tolist() == [1, 2]
    rows = flambeau.eye(2).to_sparse_csr()
    assert flambeau.crow_indices_copy(rows).tolist() == [0, 1, 2]
    assert flambeau.col_indices_copy(rows).tolist() == [0, 1]
    columns = flambeau.eye(2).to_sparse_csc()
    assert flambeau.ccol_indices_copy(columns).tolist() == [0, 1, 2]
    assert flambeau.row_indices_copy(columns).tolist() == [0, 1]


def test_blocks_by_columns():
    x = flambeau.sparse_bsc_tensor([0, 1], [0], flambeau.ones(1, 2, 2), (2, 2))
    assert x.layout is flambeau.sparse_bsc and x.to_dense().tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like", "rand_like"])
def test_like_with_an_explicit_strided_layout_is_dense(name):
    made = getattr(flambeau, name)(flambeau.eye(3).to_sparse(), layout=flambeau.strided)
    assert made.layout is flambeau.strided and made.shape == (3, 3)


def test_new_with_an_explicit_strided_layout_is_dense():
    sparse = flambeau.eye(3, dtype=flambeau.float64).to_sparse_csr()
    made = sparse.new_zeros((2, 2), layout=flambeau.strided)
    assert made.tolist() == [[0, 0], [0, 0]] and made.dtype is flambeau.float64
    assert flambeau.full_like(sparse, 2, layout=flambeau.strided).sum() == 18
    with pytest.raises(NotImplementedError, match="sparse layout"):
        flambeau.ones_like(sparse, layout=flambeau.sparse_coo)
