"""Transposes, selections and joins, against dense tensors."""

import pytest

import flambeau
from flambeau import tensor


def tensors():
    dense = flambeau.randn(3, 4, 5) * (flambeau.rand(3, 4, 5) < 0.4)
    indices = flambeau.cat([dense.to_sparse().indices()] * 2, 1)
    values = flambeau.cat([dense.to_sparse().values() / 2] * 2)
    doubled = flambeau.sparse_coo_tensor(indices, values, dense.shape)
    return [
        (dense, dense.to_sparse()),
        (dense, dense.to_sparse(2)),
        (dense, dense.to_sparse(1)),
        (dense, doubled),
    ]


OPS = {
    "select": lambda x: x.select(0, 1),
    "select of a later dim": lambda x: x.select(2, -1),
    "index": lambda x: x[2],
    "two indices": lambda x: x[1, 2],
    "slice": lambda x: x[1:],
    "slice with a step": lambda x: x[:, ::2],
    "index_select": lambda x: x.index_select(0, tensor([2, 0, 0])),
    "index_select of a later dim": lambda x: x.index_select(2, tensor([4, 1, 1])),
    "narrow": lambda x: x.narrow(1, 1, 2),
    "unsqueeze": lambda x: x.unsqueeze(0),
    "unsqueeze at the end": lambda x: x.unsqueeze(-1),
    "squeeze": lambda x: x.unsqueeze(1).squeeze(1),
    "cat": lambda x: flambeau.cat([x, x * 2, x]),
    "cat of a later dim": lambda x: flambeau.cat([x, x * 2], 2),
    "stack": lambda x: flambeau.stack([x, x]),
    "sum": lambda x: x.sum(0),
    "sum of two": lambda x: x.sum((0, 2)),
    "sum of a later dim": lambda x: x.sum(-1),
    "sum with keepdim": lambda x: x.sum(1, keepdim=True),
    "sum of all": lambda x: x.sum(),
    "norm": lambda x: x.norm(),
    "unbind": lambda x: x.unbind()[1],
    "reshape": lambda x: x.unsqueeze(0).reshape(3, 1, 4, 5),
    "clone": lambda x: x.clone(),
}


@pytest.mark.parametrize("name", OPS)
def test_as_of_dense_tensors(name):
    for dense, x in tensors():
        expected, made = OPS[name](dense), OPS[name](x)
        assert made.shape == expected.shape
        assert flambeau.allclose(made.to_dense(), expected, atol=1e-6), (name, x.sparse_dim())


def test_permutations():
    dense, x = tensors()[0]
    assert flambeau.equal(x.permute(2, 0, 1).to_dense(), dense.permute(2, 0, 1))
    assert flambeau.equal(x.transpose(0, 2).to_dense(), dense.transpose(0, 2))
    with pytest.raises(RuntimeError, match="between sparse and dense"):
        tensors()[1][1].permute(2, 0, 1)


def test_transposes_of_compressed_matrices_exchange_rows_and_columns():
    dense = flambeau.arange(24.0).reshape(4, 6)
    for layout, other in (("sparse_csr", "sparse_csc"), ("sparse_bsc", "sparse_bsr")):
        layout = getattr(flambeau, layout)
        x = dense.to_sparse(layout=layout, blocksize=(2, 3) if "bs" in str(layout) else None)
        assert x.t().layout is getattr(flambeau, other) and flambeau.equal(
            x.t().to_dense(), dense.t()
        )


def test_selections_of_compressed_matrices():
    dense = flambeau.eye(4)
    x = dense.to_sparse_csr()
    assert x[1].is_sparse and flambeau.equal(x[1].to_dense(), dense[1])
    assert flambeau.equal(x.index_select(0, tensor([3, 1])).to_dense(), dense[[3, 1]])
    assert flambeau.cat([x, x]).is_sparse_csr


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: x[9], IndexError),
        (lambda x: x.select(7, 0), IndexError),
        (lambda x: x.index_select(0, tensor([9])), IndexError),
        (lambda x: x.narrow(0, 2, 5), RuntimeError),
        (lambda x: x.reshape(61), RuntimeError),
        (lambda x: x.view(60), RuntimeError),
        (lambda x: x.expand(2, 3, 4, 5), RuntimeError),
        (lambda x: flambeau.cat([x, x[0]]), RuntimeError),
        (lambda x: flambeau.cat([x, x.to_dense()]), NotImplementedError),
        (lambda x: x[tensor([0])], NotImplementedError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error):
        call(tensors()[0][1])


@pytest.mark.parametrize("name", ["select", "index_select", "cat", "unsqueeze", "narrow"])
def test_gradients(name):
    dense, x = tensors()[0]
    dense, x = dense.double().requires_grad_(), x.double().requires_grad_()
    (OPS[name](dense) ** 2).sum().backward()
    (OPS[name](x).to_dense() ** 2).sum().backward()
    assert flambeau.allclose(x.grad.to_dense(), dense.grad)


@pytest.mark.parametrize("layout", ["to_sparse", "to_sparse_csr", "to_sparse_csc"])
def test_in_place_geometry(layout):
    dense = flambeau.arange(6.0).reshape(2, 3)
    for name, arguments in (("t_", ()), ("transpose_", (0, 1)), ("unsqueeze_", (0,))):
        x = getattr(dense, layout)()
        assert getattr(x, name)(*arguments) is x
        assert x.to_dense().tolist() == getattr(dense, name[:-1])(*arguments).tolist()
        assert x.shape == x.to_dense().shape
    assert flambeau.ones(1, 3).to_sparse().squeeze_(0).shape == (3,)
