"""Lazy modules take their shapes from the first input."""

import pytest

import flambeau
from flambeau import nn

pytestmark = pytest.mark.filterwarnings("ignore:Lazy modules are a new feature")


def test_first_input_decides():
    layer = nn.LazyLinear(3)
    assert repr(layer.weight) == "<UninitializedParameter>"
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter"):
        _ = layer.weight.shape
    assert layer(flambeau.ones(2, 5)).shape == (2, 3)
    assert type(layer) is nn.Linear
    assert type(layer.weight) is nn.Parameter
    assert (layer.in_features, layer.weight.shape) == (5, (3, 5))


def test_optimizer_built_before_sees_the_parameter():
    layer = nn.LazyLinear(3)
    optimizer = flambeau.optim.SGD(layer.parameters(), lr=1.0)
    layer(flambeau.ones(2, 5)).sum().backward()
    before = layer.bias.detach().clone()
    optimizer.step()
    assert (before - layer.bias).tolist() == [2, 2, 2]


def test_state_of_an_ordinary_module_materialises():
    layer = nn.LazyLinear(3)
    layer.load_state_dict(nn.Linear(4, 3).state_dict())
    assert layer.weight.shape == (3, 4)


def test_lazy_batch_norm_becomes_batch_norm():
    layer = nn.LazyBatchNorm1d()
    layer(flambeau.randn(4, 6))
    assert type(layer) is nn.BatchNorm1d
    assert layer.running_mean.shape == (6,)
