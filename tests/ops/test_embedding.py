"""Sparse gradients of embedding and embedding_bag: the same sums as the dense ones."""

import pytest

import flambeau
from flambeau import nn, tensor
from flambeau.nn import functional

INDICES = tensor([1, 3, 3, 7, 0, 1])
OFFSETS = tensor([0, 2, 2, 5])


def gradients(call):
    """The gradient of weight with sparse=False and sparse=True."""
    made = []
    for sparse in (False, True):
        flambeau.manual_seed(0)
        weight = flambeau.randn(10, 4, requires_grad=True)
        (call(weight, sparse) ** 2).sum().backward()
        made.append(weight.grad)
    return made


@pytest.mark.parametrize("settings", [{}, {"padding_idx": 3}, {"padding_idx": -3}])
def test_embedding(settings):
    for indices in (INDICES, INDICES.int(), INDICES.reshape(2, 3)):
        dense, sparse = gradients(
            lambda w, s, i=indices: functional.embedding(i, w, sparse=s, **settings)
        )
        assert sparse.is_sparse and not sparse.is_coalesced() and sparse.sparse_dim() == 1
        assert flambeau.allclose(sparse.to_dense(), dense)


@pytest.mark.parametrize("settings", [{}, {"padding_idx": 3}, {"include_last_offset": True}])
@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_embedding_bag(mode, settings):
    offsets = tensor([0, 2, 2, 6]) if settings.get("include_last_offset") else OFFSETS
    dense, sparse = gradients(
        lambda w, s: functional.embedding_bag(INDICES, w, offsets, mode=mode, sparse=s, **settings)
    )
    assert sparse.is_sparse and flambeau.allclose(sparse.to_dense(), dense)


def test_embedding_bag_with_factors():
    factors = flambeau.arange(6.0)
    dense, sparse = gradients(
        lambda w, s: functional.embedding_bag(
            INDICES, w, OFFSETS, mode="sum", sparse=s, per_sample_weights=factors
        )
    )
    assert sparse.is_sparse and flambeau.allclose(sparse.to_dense(), dense)


def test_gradients_add_up():
    layer = nn.Embedding(10, 4, sparse=True)
    for _ in range(2):
        layer(INDICES).sum().backward()
    assert layer.weight.grad.is_sparse
    assert layer.weight.grad.coalesce().values()[0].tolist() == [2, 2, 2, 2]
    (layer.weight * 1).sum().backward()
    assert layer.weight.grad.layout is flambeau.strided
    assert layer.weight.grad[:2, 0].tolist() == [3, 5]


def test_modules_pass_the_flag_on():
    bag = nn.EmbeddingBag(10, 4, mode="sum", sparse=True)
    bag(INDICES, OFFSETS).sum().backward()
    assert bag.weight.grad.is_sparse and "sparse=True" in repr(nn.Embedding(2, 2, sparse=True))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (
            lambda w: functional.embedding_bag(INDICES, w, OFFSETS, mode="max", sparse=True),
            ValueError,
        ),
        (
            lambda w: (
                functional.embedding(INDICES, w, sparse=True, scale_grad_by_freq=True)
                .sum()
                .backward()
            ),
            RuntimeError,
        ),
    ],
)
def test_combinations_that_do_not_exist(call, error):
    with pytest.raises(error, match="sparse"):
        call(flambeau.randn(10, 4, requires_grad=True))
