"""functional_call."""

import pytest

import flambeau
from flambeau import nn
from flambeau.nn.utils.stateless import _functional_call as functional_call
from flambeau.nn.utils.stateless import functional_call as deprecated_call


def test_given_values_are_used_and_put_back():
    layer = nn.Linear(2, 1)
    weight = layer.weight
    given = {"weight": flambeau.ones(1, 2, requires_grad=True), "bias": flambeau.zeros(1)}
    functional_call(layer, given, flambeau.ones(1, 2)).sum().backward()
    assert given["weight"].grad.tolist() == [[1, 1]]
    assert layer.weight is weight
    assert weight.grad is None


def test_put_back_after_an_error():
    layer = nn.Linear(2, 1)
    weight = layer.weight
    with pytest.raises(RuntimeError):
        functional_call(layer, {"weight": flambeau.ones(1, 2)}, flambeau.ones(1, 3))
    assert layer.weight is weight


def test_tied_weights_follow():
    net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    net[1].weight = net[0].weight
    twice = functional_call(net, {"0.weight": 2 * flambeau.eye(2)}, flambeau.ones(1, 2))
    assert twice.tolist() == [[4, 4]]


def test_strict_and_unknown_names():
    layer = nn.Linear(2, 1)
    with pytest.raises(RuntimeError, match="Missing key"):
        functional_call(layer, {"weight": flambeau.ones(1, 2)}, flambeau.ones(1, 2), strict=True)
    with pytest.raises(AttributeError):
        functional_call(layer, {"nothing": flambeau.ones(1)}, flambeau.ones(1, 2))


def test_the_old_name_warns():
    with pytest.warns(FutureWarning, match="torch.func"):
        deprecated_call(nn.Linear(2, 2), {}, flambeau.ones(1, 2))
