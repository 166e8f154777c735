"""nn.functional: what the wrappers add to the ops: in-place forms, deprecated arguments, messages."""

import math

import pytest

import flambeau
import flambeau.nn.functional as F


@pytest.mark.parametrize(
    "name", "relu relu6 silu mish hardswish hardsigmoid elu selu celu leaky_relu hardtanh".split()
)
def test_inplace_changes_and_returns_the_input(name):
    x = flambeau.linspace(-4, 4, 9)
    expected = getattr(F, name)(x)
    assert not flambeau.equal(x, expected)
    assert getattr(F, name)(x, inplace=True) is x
    assert flambeau.equal(x, expected)


def test_softmax_without_dim_warns_and_picks_one():
    x = flambeau.randn(2, 3)
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
        assert flambeau.equal(F.softmax(x), F.softmax(x, dim=1))


def test_gumbel_softmax_hard_is_one_hot_with_soft_gradient():
    x = flambeau.randn(5, 4, requires_grad=True)
    sample = F.gumbel_softmax(x, hard=True)
    assert sample.sum(1).tolist() == pytest.approx([1] * 5)
    sample[:, 0].sum().backward()
    assert x.grad.abs().sum().item() > 0


def test_deprecated_reduction_arguments():
    a, b = flambeau.randn(4), flambeau.randn(4)
    with pytest.warns(UserWarning, match="reduction='sum' instead"):
        assert flambeau.equal(
            F.mse_loss(a, b, size_average=False), F.mse_loss(a, b, reduction="sum")
        )
    with pytest.warns(UserWarning, match="reduction='none' instead"):
        assert F.l1_loss(a, b, reduce=False).shape == (4,)


def test_broadcast_targets_warn():
    with pytest.warns(UserWarning, match="Using a target size"):
        F.mse_loss(flambeau.ones(3, 1), flambeau.ones(3))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_weighted_regression(reduction):
    a, b, w = flambeau.randn(6), flambeau.randn(6), flambeau.rand(6)
    loss = (a - b) ** 2 * w
    expected = {"mean": loss.sum() / w.sum(), "sum": loss.sum(), "none": loss}[reduction]
    assert flambeau.allclose(F.mse_loss(a, b, weight=w, reduction=reduction), expected)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda x: F.dropout(x, 2),
            ValueError,
            "dropout probability has to be between 0 and 1, but got 2",
        ),
        (lambda x: F.interpolate(x), ValueError, "either size or scale_factor should be defined"),
        (lambda x: F.interpolate(x, 2, 2), ValueError, "only one of size or scale_factor"),
        (
            lambda x: F.interpolate(x, 2, align_corners=True),
            ValueError,
            "align_corners option can only be set",
        ),
        (
            lambda x: F.interpolate(x, 2, mode="linear"),
            NotImplementedError,
            "Got 4D input, but linear mode needs 3D input",
        ),
        (
            lambda x: F.batch_norm(x[:1, :, :1, :1], None, None, training=True),
            ValueError,
            "more than 1 value per channel",
        ),
        (lambda x: F.grid_sample(x, x, mode="no"), ValueError, "expected mode to be"),
        (
            lambda x: F.max_unpool2d(x, x.long(), 2, output_size=(1, 1)),
            ValueError,
            "invalid output_size",
        ),
        (
            lambda x: F.multi_margin_loss(x[0, 0], flambeau.tensor([0, 1]), reduction="x"),
            ValueError,
            "x is not a valid",
        ),
        (
            lambda x: F.triplet_margin_loss(x, x, x, margin=-1),
            ValueError,
            "margin must be greater than 0",
        ),
    ],
)
def test_messages(call, error, message):
    with pytest.raises(error, match=message):
        call(flambeau.randn(2, 3, 4, 4))


def test_normalize_writes_to_out():
    x, out = flambeau.randn(3, 4), flambeau.empty(3, 4)
    assert F.normalize(x, out=out) is out
    assert out.norm(dim=1).tolist() == pytest.approx([1, 1, 1])


def test_affine_grid_identity_samples_the_image():
    image = flambeau.randn(1, 2, 5, 4)
    theta = flambeau.tensor([[[1.0, 0, 0], [0, 1, 0]]])
    for corners in (True, False):
        grid = F.affine_grid(theta, image.shape, align_corners=corners)
        assert flambeau.allclose(
            F.grid_sample(image, grid, align_corners=corners), image, atol=1e-5
        )


def test_alpha_dropout_keeps_moments():
    flambeau.manual_seed(0)
    dropped = F.alpha_dropout(flambeau.randn(20000), 0.3, training=True)
    assert dropped.mean().item() == pytest.approx(0, abs=0.05)
    assert dropped.std().item() == pytest.approx(1, abs=0.05)


def test_multi_head_attention_weights_sum_to_one():
    attention = flambeau.nn.MultiheadAttention(8, 2)
    x = flambeau.randn(5, 3, 8)
    _, weights = attention(x, x, x)
    assert weights.shape == (3, 5, 5)
    assert flambeau.allclose(weights.sum(-1), flambeau.ones(3, 5))


def test_ctc_of_an_impossible_target_is_infinite_unless_zeroed():
    scores = flambeau.randn(2, 1, 3).log_softmax(2)
    args = (scores, flambeau.tensor([[1, 2, 1]]), [2], [3])
    assert math.isinf(F.ctc_loss(*args, reduction="none").item())
    assert F.ctc_loss(*args, reduction="none", zero_infinity=True).item() == 0


def test_grid_sample_far_outside_finds_the_border():
    image = flambeau.arange(9.0).reshape(1, 1, 3, 3)
    grid = flambeau.full((1, 1, 1, 2), 1e30)
    for mode in ("bilinear", "nearest", "bicubic"):
        sampled = flambeau.nn.functional.grid_sample(
            image, grid, mode=mode, padding_mode="border", align_corners=False
        )
        assert sampled.item() == 8
