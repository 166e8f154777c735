"""Between layouts, against dense tensors and SciPy."""

import numpy as np
import pytest
import scipy.sparse

import flambeau
from flambeau import tensor

LAYOUTS = ["sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"]


def random_dense(*shape, density=0.3, dtype="float64"):
    values = np.random.randn(*shape) * (np.random.rand(*shape) < density)
    return tensor(values.astype(dtype))


def to(dense, layout):
    layout = getattr(flambeau, layout)
    return dense.to_sparse(layout=layout, blocksize=(2, 3) if "bs" in str(layout) else None)


@pytest.mark.parametrize("second", LAYOUTS)
@pytest.mark.parametrize("first", LAYOUTS)
def test_every_layout_converts_to_every_other(first, second):
    dense = random_dense(6, 9)
    made = to(to(dense, first), second)
    assert str(made.layout) == f"torch.{second}" and flambeau.equal(made.to_dense(), dense)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["int64", "bool", "complex64", "float32"])
def test_dtypes(layout, dtype):
    dense = random_dense(4, 6).to(getattr(flambeau, dtype))
    assert flambeau.equal(to(dense, layout).to_dense(), dense)


@pytest.mark.parametrize("layout", ["csr", "csc", "bsr"])
def test_parts_are_those_of_scipy(layout):
    dense = random_dense(6, 8)
    theirs = getattr(scipy.sparse, f"{layout}_matrix")(
        dense.numpy(), **({"blocksize": (2, 2)} if layout == "bsr" else {})
    )
    theirs.sort_indices()
    ours = dense.to_sparse(
        layout=getattr(flambeau, f"sparse_{layout}"), blocksize=(2, 2) if layout == "bsr" else None
    )
    pointers, plain = (
        ("ccol_indices", "row_indices") if layout == "csc" else ("crow_indices", "col_indices")
    )
    assert getattr(ours, pointers)().tolist() == theirs.indptr.tolist()
    assert getattr(ours, plain)().tolist() == theirs.indices.tolist()
    assert np.array_equal(ours.values().numpy(), theirs.data)


def test_coalesce_agrees_with_scipy_and_keeps_the_order_of_sums():
    rows, columns = np.random.randint(0, 20, 300), np.random.randint(0, 30, 300)
    values = np.random.randn(300)
    theirs = scipy.sparse.coo_matrix((values, (rows, columns)), (20, 30)).toarray()
    ours = flambeau.sparse_coo_tensor(np.stack([rows, columns]), values, (20, 30)).coalesce()
    keys = ours.indices()[0] * 30 + ours.indices()[1]
    assert (keys.diff() > 0).all()
    assert np.allclose(ours.to_dense().numpy(), theirs, rtol=1e-12)


def test_sizes_too_large_for_lists_of_rows():
    big = 2**30
    x = flambeau.sparse_coo_tensor([[5, 1, 5], [big - 1, 7, big - 1]], [1.0, 2.0, 3.0], (big, big))
    y = x.coalesce()
    assert y.indices().tolist() == [[1, 5], [7, big - 1]] and y.values().tolist() == [2, 4]
    assert y.index_select(0, tensor([5, 6])).values().tolist() == [4]
    with pytest.raises(RuntimeError, match="64 bits"):
        flambeau.sparse_coo_tensor([[0], [0]], [1.0], (2**40, 2**40))


def test_batches_and_dense_dims():
    dense = random_dense(4, 6, density=1.0)
    batch = flambeau.stack([dense, dense * 2])
    for layout in LAYOUTS[1:]:
        made = to(batch, layout)
        assert made.values().shape[0] == 2 and flambeau.equal(made.to_dense(), batch)
    hybrid = random_dense(3, 4, 5).to_sparse_csr(dense_dim=1)
    assert hybrid.dense_dim() == 1 and hybrid.values().ndim == 2
    with pytest.raises(RuntimeError, match="same number of specified elements"):
        flambeau.stack([flambeau.eye(2), flambeau.ones(2, 2)]).to_sparse_csr()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: flambeau.eye(4).to_sparse_bsr((3, 2)), "divisible by given blocksize"),
        (lambda: flambeau.eye(2).to_sparse(3), "range"),
        (lambda: flambeau.eye(2).to_sparse(0), ">0"),
        (lambda: flambeau.ones(2).to_sparse_csr(), "at least 2 dims"),
        (lambda: flambeau.eye(2).to_sparse_csr().coalesce(), "coalesce expected sparse coordinate"),
        (lambda: flambeau.ones(2).indices(), "but got Strided"),
        (lambda: flambeau.eye(2).to_sparse().crow_indices(), "row compressed"),
        (lambda: flambeau.sparse_coo_tensor([[0, 0]], [1, 2]).values(), "uncoalesced"),
        (lambda: flambeau.ones(2, 2).sparse_mask(flambeau.ones(2, 2)), "sparse mask"),
        (
            lambda: flambeau.ones(3, 2).sparse_mask(flambeau.eye(2).to_sparse()),
            "incompatible sizes",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sparse_mask(layout):
    dense, pattern = random_dense(4, 6, density=1.0), random_dense(4, 6)
    mask = to(pattern, layout)
    made = dense.sparse_mask(mask)
    assert made.layout is mask.layout and made.values().shape == mask.values().shape
    specified = to_ones(mask).to_dense()
    assert flambeau.equal(made.to_dense(), dense * specified)
    assert flambeau.equal(to(dense, layout).sparse_mask(mask).to_dense(), made.to_dense())


def to_ones(x):
    """Ones at the specified elements."""
    return flambeau.ones_like(x.to_dense()).sparse_mask(x)


def test_gradients():
    dense = random_dense(4, 6)
    weight = flambeau.randn(4, 6, dtype=flambeau.float64)
    for layout in LAYOUTS:
        x = dense.clone().requires_grad_()
        (to(x, layout).to_dense() * weight).sum().backward()
        assert x.grad.layout is flambeau.strided
        pattern = to(dense, layout)
        expected = weight.sparse_mask(pattern).to_dense()
        assert flambeau.equal(x.grad, expected)
        leaf = pattern.clone().requires_grad_()
        (leaf.to_dense() * weight).sum().backward()
        assert leaf.grad.layout is pattern.layout and flambeau.equal(leaf.grad.to_dense(), expected)
    leaf = dense.to_sparse().requires_grad_()
    (leaf.to_dense(masked_grad=False) * weight).sum().backward()
    assert flambeau.equal(leaf.grad.to_dense(), weight)
