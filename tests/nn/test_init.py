"""Initial values: recorded numbers of PyTorch 2.13, and properties."""

import math

import pytest

import flambeau
from flambeau import nn
from flambeau.nn import init


@pytest.mark.parametrize(
    ("kwargs", "first", "total"),
    [
        ({}, [-0.07664, 0.35988, -0.78202], -20.4625),
        ({"mean": 1.0, "std": 2.0, "a": -1, "b": 1.5}, [0.84671, -0.09856, -0.56403], 101.767),
        ({"a": 1.2, "b": 3}, [1.20767, 1.39002, 1.71452], 495.3035),
    ],
)
def test_trunc_normal_is_recorded(kwargs, first, total):
    flambeau.manual_seed(3)
    values = init.trunc_normal_(flambeau.empty(30, 10), **kwargs)
    assert values.reshape(-1)[:3].tolist() == pytest.approx(first, abs=1e-5)
    assert values.double().sum().item() == pytest.approx(total, abs=1e-3)
    low, high = kwargs.get("a", -2), kwargs.get("b", 2)
    assert values.min().item() >= low
    assert values.max().item() <= high


def test_layers_draw_within_their_bound():
    layer = nn.Linear(25, 40)
    assert layer.weight.abs().max().item() <= 0.2
    assert layer.bias.abs().max().item() <= 0.2


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 2, 3)])
def test_orthogonal(shape):
    values = init.orthogonal_(flambeau.empty(shape), gain=2).reshape(shape[0], -1)
    gram = values @ values.t() if values.shape[0] <= values.shape[1] else values.t() @ values
    assert flambeau.allclose(gram, 4 * flambeau.eye(gram.shape[0]), atol=1e-5)


def test_dirac_passes_channels_through():
    conv = nn.Conv2d(4, 4, 3, padding=1, groups=2, bias=False)
    init.dirac_(conv.weight, groups=2)
    x = flambeau.randn(1, 4, 5, 5)
    assert flambeau.equal(conv(x), x)


def test_sparse_zeroes_a_fraction_of_each_column():
    values = init.sparse_(flambeau.empty(10, 4), 0.3)
    assert (values == 0).sum(0).tolist() == [3, 3, 3, 3]


def test_gains():
    assert init.calculate_gain("relu") == math.sqrt(2)
    assert init.calculate_gain("leaky_relu", 1) == 1
    with pytest.raises(ValueError, match="Unsupported nonlinearity"):
        init.calculate_gain("no")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: init.xavier_uniform_(flambeau.empty(3)), "Fan in and fan out can not be computed"),
        (lambda: init.eye_(flambeau.empty(3)), "Only tensors with 2 dimensions are supported"),
        (lambda: init.kaiming_uniform_(flambeau.empty(3, 3), mode="x"), "Mode x not supported"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_no_gradient_is_recorded():
    weight = nn.Parameter(flambeau.empty(2, 2))
    init.ones_(weight)
    assert weight.is_leaf
    assert weight.grad_fn is None
