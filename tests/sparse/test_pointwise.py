"""Elementwise ops and arithmetic, against dense tensors."""

import hypothesis
import hypothesis.strategies as st
import pytest

import flambeau
from flambeau import tensor

LAYOUTS = ["sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"]
UNARY = """neg abs sqrt sin sinh tan tanh asin asinh atan atanh relu sign sgn floor ceil round trunc frac expm1
log1p erf erfinv deg2rad rad2deg signbit isnan isinf isposinf isneginf positive conj_physical angle nan_to_num
square""".split()


def matrix(layout, scale=1.0):
    dense = (flambeau.rand(4, 6) - 0.3) * scale * (flambeau.rand(4, 6) < 0.4) + 0.0
    layout = getattr(flambeau, layout)
    return dense, dense.to_sparse(layout=layout, blocksize=(2, 3) if "bs" in str(layout) else None)


def same(a, b):
    return flambeau.allclose(a.to_dense().double(), b.to_dense().double(), equal_nan=True)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_ops_that_keep_zeros(layout):
    dense, x = matrix(layout)
    for name in UNARY:
        made = getattr(x, name)()
        assert made.layout is x.layout and same(made, getattr(dense, name)()), name


def test_uncoalesced_values_are_added_first():
    x = flambeau.sparse_coo_tensor([[0, 0, 2]], [1.0, 3.0, 16.0], (3,))
    assert x.sqrt().to_dense().tolist() == [2, 0, 4] and (x * x).to_dense().tolist() == [16, 0, 256]
    assert x.neg()._nnz() == 3 and (x**2).to_dense().tolist() == [16, 0, 256]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_arithmetic(layout):
    (a, x), (b, y) = matrix(layout), matrix(layout)
    assert same(x + y, a + b) and same(x - y, a - b) and same(x * y, a * b)
    assert (x + y).layout is x.layout and (x * y).layout is x.layout
    assert same(flambeau.add(x, y, alpha=3), a + 3 * b)
    assert same(b + x, a + b) and (b + x).layout is flambeau.strided and same(b - x, b - a)
    assert same(x * b, a * b) and same(b * x, a * b) and same(x * b[0], a * b[0])
    assert same(x * 3, a * 3) and same(2.5 * x, a * 2.5) and same(x / 2, a / 2)
    assert same(x * tensor(2.0), a * 2) and same(x // 0.1, a // 0.1)


def test_in_place():
    (a, x), (b, y) = matrix("sparse_coo"), matrix("sparse_coo")
    z = x.clone()
    assert z.add_(y, alpha=2) is z and same(z, a + 2 * b)
    assert same(z.mul_(3).div_(2).sub_(x), (a + 2 * b) * 1.5 - a)
    dense = b.clone()
    assert dense.add_(x, alpha=-2) is dense and same(dense, b - 2 * a)
    transposed = b.t().clone().t()  # not row-major
    assert same(transposed.add_(x), a + b)
    with pytest.raises(RuntimeError, match="cast"):
        x.long().add_(x)


def test_promotion_as_of_dense_tensors():
    _, x = matrix("sparse_coo")
    assert (x.long() * 2.5).dtype is flambeau.float32 and (x + x.double()).dtype is flambeau.float64
    assert (x.long() / 2).dtype is flambeau.float32 and (x > 0).dtype is flambeau.bool


def test_comparisons_are_dense():
    dense, x = matrix("sparse_csr")
    assert (
        flambeau.equal(x == x, dense == dense)
        and flambeau.allclose(x, x)
        and not flambeau.equal(x, x * 2)
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: x + 1, "add\\(sparse, dense\\)"),
        (lambda x: x / x, "Sparse division"),
        (lambda x: x**0, "zeroth power"),
        (lambda x: x + flambeau.zeros(3, 6).to_sparse(), "sizes of 'self' and 'other'"),
        (lambda x: x * flambeau.ones(2, 4, 6), "broadcasts"),
    ],
)
def test_errors(call, message):
    with pytest.raises(RuntimeError, match=message):
        call(matrix("sparse_coo")[1])


def test_gradients():
    a, b = (matrix("sparse_coo")[1].double().requires_grad_() for _ in range(2))
    weight = flambeau.randn(4, 6, dtype=flambeau.float64)
    ((a * b + a * 2 - b).to_dense() * weight).sum().backward()
    x, y = (t.detach().to_dense().requires_grad_() for t in (a, b))
    ((x * y + x * 2 - y) * weight).sum().backward()
    for leaf, dense in ((a, x), (b, y)):
        assert leaf.grad.is_sparse
        pattern = leaf.detach()
        assert same(leaf.grad.sparse_mask(pattern), dense.grad.sparse_mask(pattern))
    leaf = matrix("sparse_csr")[1].requires_grad_()
    (leaf.relu() ** 2).to_dense().sum().backward()
    assert leaf.grad.is_sparse_csr and same(leaf.grad, leaf.detach().relu() * 2)


@pytest.mark.parametrize("name", ["tanh", "relu", "silu", "gelu", "leaky_relu"])
def test_gradients_of_activations(name):
    function = getattr(flambeau, name, None) or getattr(flambeau.nn.functional, name)
    for layout in ("sparse_coo", "sparse_csr"):
        dense, x = matrix(layout)
        dense, x = dense.requires_grad_(), x.requires_grad_()
        weight = flambeau.randn(4, 6)
        (function(dense) * weight).sum().backward()
        (function(x).to_dense() * weight).sum().backward()
        assert x.grad.layout is x.layout
        assert same(x.grad, dense.grad.sparse_mask(x.detach()))


entries = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(-9, 9)), max_size=20)


def build(items):
    indices = tensor(
        [[i for i, _, _ in items], [j for _, j, _ in items]], dtype=flambeau.int64
    ).reshape(2, -1)
    return flambeau.sparse_coo_tensor(
        indices, tensor([v for _, _, v in items], dtype=flambeau.int64), (5, 4)
    )


@hypothesis.given(entries, entries)
def test_laws(first, second):
    x, y = build(first), build(second)
    assert flambeau.equal((x + y).to_dense(), x.to_dense() + y.to_dense())
    assert flambeau.equal((x * y).to_dense(), x.to_dense() * y.to_dense())
    assert flambeau.equal(x.coalesce().to_dense(), x.to_dense())
    assert flambeau.equal((x.t() @ y).to_dense(), x.to_dense().t() @ y.to_dense())
