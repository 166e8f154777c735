"""Functions whose top-level form differs from nn.functional's."""

import pytest

import flambeau
from flambeau.nn import functional as F


def test_batch_norm_takes_weight_and_bias_first():
    x = flambeau.linspace(0, 1, 12).reshape(4, 3)
    weight, bias, mean, var = (flambeau.full((3,), v) for v in (2.0, 1.0, 0.5, 4.0))
    expected = F.batch_norm(x, mean, var, weight, bias)
    got = flambeau.batch_norm(x, weight, bias, mean, var, False, 0.1, 1e-5, False)
    assert flambeau.equal(got, expected)


def test_losses_take_numbers_for_reductions():
    x, y = flambeau.randn(4, 3), flambeau.randn(4, 3)
    sign = flambeau.tensor([1.0, -1, 1, -1])
    assert flambeau.equal(
        flambeau.cosine_embedding_loss(x, y, sign, 0.1, 0),
        F.cosine_embedding_loss(x, y, sign, 0.1, reduction="none"),
    )
    assert flambeau.equal(
        flambeau.triplet_margin_loss(x, y, x, reduction=2),
        F.triplet_margin_loss(x, y, x, reduction="sum"),
    )
    assert flambeau.equal(
        flambeau.binary_cross_entropy_with_logits(x, y.sigmoid(), reduction=1),
        F.binary_cross_entropy_with_logits(x, y.sigmoid()),
    )
    assert flambeau.equal(
        flambeau.poisson_nll_loss(x, y, True, False, 1e-8, 2),
        F.poisson_nll_loss(x, y, reduction="sum"),
    )


def test_embedding_bag_says_where_rows_went():
    weight = flambeau.arange(12.0).reshape(4, 3)
    indices, offsets = flambeau.tensor([0, 1, 3, 2]), flambeau.tensor([0, 2, 2])
    # PyTorch's results.
    result, bags, sizes, maxima = flambeau.embedding_bag(weight, indices, offsets, mode=2)
    assert result.tolist() == [[3, 4, 5], [0, 0, 0], [9, 10, 11]]
    assert bags.tolist() == [0, 0, 2, 2]
    assert sizes.tolist() == [2, 0, 2]
    assert maxima.tolist() == [[1, 1, 1], [0, 0, 0], [3, 3, 3]]
    mean = flambeau.embedding_bag(weight, indices, offsets, mode=1, padding_idx=1)
    assert mean[0].tolist() == [[0, 1, 2], [0, 0, 0], [7.5, 8.5, 9.5]]
    assert mean[2].tolist() == [1, 0, 2]


@pytest.mark.parametrize("name", ["mse_loss", "cross_entropy", "linear", "gelu", "silu", "pad"])
def test_names_that_only_nn_functional_has(name):
    assert not hasattr(flambeau, name)
    assert hasattr(F, name)
