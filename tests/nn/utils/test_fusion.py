"""Batch norm folded into the layer before it."""

import pytest

import flambeau
from flambeau import nn
from flambeau.nn import utils


def trained(norm):
    with flambeau.no_grad():
        norm.running_mean.normal_()
        norm.running_var.uniform_(0.5, 2)
        norm.weight.normal_()
        norm.bias.normal_()
    return norm.eval()


@pytest.mark.parametrize("bias", [True, False])
def test_conv(bias):
    conv, norm = nn.Conv2d(3, 4, 3, bias=bias).eval(), trained(nn.BatchNorm2d(4))
    x = flambeau.randn(2, 3, 6, 6)
    fused = utils.fuse_conv_bn_eval(conv, norm)
    assert flambeau.allclose(fused(x), norm(conv(x)), atol=1e-5)
    assert fused.weight is not conv.weight


def test_transposed_conv():
    conv, norm = nn.ConvTranspose2d(3, 4, 3).eval(), trained(nn.BatchNorm2d(4))
    x = flambeau.randn(2, 3, 4, 4)
    assert flambeau.allclose(
        utils.fuse_conv_bn_eval(conv, norm, transpose=True)(x), norm(conv(x)), atol=1e-5
    )


def test_linear():
    linear, norm = nn.Linear(3, 4).eval(), trained(nn.BatchNorm1d(4))
    x = flambeau.randn(5, 3)
    assert flambeau.allclose(utils.fuse_linear_bn_eval(linear, norm)(x), norm(linear(x)), atol=1e-5)


def test_only_in_evaluation():
    with pytest.raises(AssertionError, match="Fusion only for eval"):
        utils.fuse_conv_bn_eval(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1))


def test_without_running_statistics():
    conv, norm = nn.Conv2d(1, 1, 1).eval(), nn.BatchNorm2d(1, track_running_stats=False).eval()
    with pytest.raises(ValueError, match="running statistics"):
        utils.fuse_conv_bn_eval(conv, norm)
