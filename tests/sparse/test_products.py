"""Matrix products with sparse factors, against dense ones."""

import pytest

import flambeau
from flambeau import tensor

LAYOUTS = ["sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"]
DTYPES = ["float32", "float64", "float16", "bfloat16", "complex64", "int64", "uint8"]


def sparse_matrix(m, n, layout="sparse_coo", dtype="float64", density=0.3):
    dense = (flambeau.randn(m, n) * 4 * (flambeau.rand(m, n) < density)).to(
        getattr(flambeau, dtype)
    )
    layout = getattr(flambeau, layout)
    return dense, dense.to_sparse(layout=layout, blocksize=(2, 3) if "bs" in str(layout) else None)


def wide(x):
    return x.to(flambeau.complex128 if x.is_complex() else flambeau.float64)


def close(a, b, dtype="float64"):
    tolerance = {"float16": 1e-2, "bfloat16": 1e-1, "float32": 1e-5, "complex64": 1e-5}.get(
        dtype, 1e-12
    )
    return flambeau.allclose(
        wide(a.to_dense()), wide(b.to_dense()), rtol=tolerance, atol=tolerance * 10
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_sparse_times_dense(layout, dtype):
    dense, x = sparse_matrix(20, 12, layout, dtype)
    for width in (1, 3, 40):
        other = (flambeau.randn(12, width) * 3).to(x.dtype)
        assert close(x @ other, dense @ other, dtype)
        assert close(other.t() @ x.t(), other.t() @ dense.t(), dtype)
    vector = flambeau.ones(12).to(x.dtype)
    assert close(x @ vector, dense @ vector, dtype) and (x @ vector).shape == (20,)


@pytest.mark.parametrize("layout", LAYOUTS[:3])
def test_sparse_times_sparse_keeps_the_layout(layout):
    dense, x = sparse_matrix(20, 12, layout)
    other, y = sparse_matrix(12, 15, layout)
    product = x @ y
    assert product.layout is x.layout and close(product, dense @ other)


def test_sums_with_products():
    dense, x = sparse_matrix(4, 6)
    other, base = (
        flambeau.randn(6, 3, dtype=flambeau.float64),
        flambeau.ones(4, 3, dtype=flambeau.float64),
    )
    expected = 3 * base + 2 * (dense @ other)
    assert close(flambeau.addmm(base, x, other, beta=3, alpha=2), expected)
    assert close(flambeau.sparse.addmm(base, x, other, beta=3, alpha=2), expected)
    sparse_base = base.to_sparse()
    assert close(flambeau.sspaddmm(sparse_base, x, other, beta=3, alpha=2), expected)
    assert close(x.smm(other), dense @ other) and x.smm(other).is_sparse
    hybrid = flambeau.hspmm(x, other)
    assert hybrid.sparse_dim() == 1 and close(hybrid, dense @ other)


def test_batches_vectors_and_linear():
    dense = flambeau.randn(2, 3, 4) * (flambeau.rand(2, 3, 4) < 0.5)
    other = flambeau.randn(2, 4, 5)
    assert close(flambeau.bmm(dense.to_sparse(), other), dense @ other, "float32")
    a, b = tensor([0.0, 2, 3]), tensor([4.0, 5, 0])
    assert (
        flambeau.dot(a.to_sparse(), b.to_sparse()).item()
        == flambeau.dot(a.to_sparse(), b).item()
        == 10
    )
    weight, sparse_weight = sparse_matrix(5, 4, dtype="float32")
    x = flambeau.randn(3, 4)
    assert close(flambeau.nn.functional.linear(x, sparse_weight), x @ weight.t(), "float32")


def test_sampled_addmm():
    dense, x = sparse_matrix(6, 5, "sparse_csr")
    a, b = (flambeau.randn(*size, dtype=flambeau.float64) for size in ((6, 40), (40, 5)))
    made = flambeau.sparse.sampled_addmm(x, a, b, beta=0.5, alpha=2)
    assert close(made, (0.5 * dense + 2 * (a @ b)) * (dense != 0)) and made.is_sparse_csr
    with pytest.raises(RuntimeError, match="sparse csr layout"):
        flambeau.sparse.sampled_addmm(dense, a, b)


@pytest.mark.parametrize("reduce", ["sum", "mean", "amax", "amin"])
def test_reductions_of_products(reduce):
    dense, x = sparse_matrix(6, 5, "sparse_csr")
    other = flambeau.randn(5, 3, dtype=flambeau.float64)
    made = flambeau.sparse.mm(x, other, reduce)
    for i in range(6):
        columns = dense[i].nonzero()[:, 0]
        terms = dense[i, columns].unsqueeze(1) * other[columns]
        expected = (
            getattr(terms, reduce)(0) if len(columns) else flambeau.zeros(3, dtype=flambeau.float64)
        )
        assert close(made[i], expected)


@pytest.mark.parametrize("layout", LAYOUTS[:2])
def test_gradients(layout):
    gradcheck = flambeau.sparse.as_sparse_gradcheck(flambeau.autograd.gradcheck)
    x = sparse_matrix(4, 6, layout)[1].requires_grad_()
    other = flambeau.randn(6, 3, dtype=flambeau.float64, requires_grad=True)
    base = flambeau.randn(4, 3, dtype=flambeau.float64, requires_grad=True)
    assert gradcheck(flambeau.sparse.mm, (x, other), masked=True)
    assert gradcheck(
        lambda x, y, z: flambeau.sparse.addmm(z, x, y, alpha=2), (x, other, base), masked=True
    )
    if layout == "sparse_csr":
        a, b = (
            flambeau.randn(*n, dtype=flambeau.float64, requires_grad=True) for n in ((4, 2), (2, 6))
        )
        assert gradcheck(flambeau.sparse.sampled_addmm, (x, a, b), masked=True)
        for reduce in ("mean", "amax"):
            assert gradcheck(
                lambda x, y, r=reduce: flambeau.sparse.mm(x, y, r), (x, other), masked=True
            )


def test_sparse_mm_gives_gradients_with_the_indices_of_the_factor():
    dense, x = sparse_matrix(4, 6)
    other = flambeau.randn(6, 3, dtype=flambeau.float64, requires_grad=True)
    x.requires_grad_()
    flambeau.sparse.mm(x, other).sum().backward()
    assert x.grad.is_sparse and flambeau.equal(x.grad.indices(), x.detach().indices())
    assert close(other.grad, dense.t() @ flambeau.ones(4, 3, dtype=flambeau.float64))
    x.grad = None
    flambeau.mm(x, other).sum().backward()
    assert x.grad.layout is flambeau.strided  # of the plain product it is dense
    product = flambeau.sparse.mm(x, x.t())
    flambeau.sparse.sum(product).backward()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: x @ flambeau.ones(5, 2), "cannot be multiplied"),
        (lambda x: flambeau.sparse.mm(x, flambeau.ones(6, 2)), "one dtype"),
        (
            lambda x: flambeau.sparse.mm(x, flambeau.ones(6, 2, dtype=flambeau.float64), "max2"),
            "sum, mean",
        ),
        (lambda x: flambeau.mv(x, flambeau.ones(6, 1)), "vector"),
        (lambda x: flambeau.bmm(x, flambeau.ones(1, 6, 2)), "batches"),
    ],
)
def test_errors(call, message):
    with pytest.raises(RuntimeError, match=message):
        call(sparse_matrix(4, 6, "sparse_csr")[1])


def test_there_is_no_sparse_solver():
    with pytest.raises(NotImplementedError, match="solve"):
        flambeau.sparse.spsolve(flambeau.eye(2).to_sparse_csr(), flambeau.ones(2))


@pytest.mark.parametrize("name", ["spmm", "dsmm"])
def test_older_names_of_products(name):
    dense, sparse = sparse_matrix(4, 6)
    other = flambeau.randn(6, 2, dtype=flambeau.float64, requires_grad=True)
    product = getattr(flambeau, name)(sparse, other)
    flambeau.testing.assert_close(product, dense @ other)
    product.sum().backward()
    flambeau.testing.assert_close(other.grad, dense.sum(0)[:, None].expand(6, 2))


def test_products_under_autocast_cast_both_sides():
    sparse, dense = flambeau.eye(3).to_sparse(), flambeau.ones(3, 2)
    with flambeau.autocast("cpu"):
        product = sparse @ dense
    assert product.dtype is flambeau.bfloat16 and product.tolist() == dense.tolist()
