"""Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict."""

from collections import OrderedDict

import pytest

import flambeau
from flambeau import nn


def test_sequential_edits_renumber():
    net = nn.Sequential(nn.ReLU(), nn.Tanh())
    net.append(nn.Sigmoid()).insert(1, nn.GELU())
    assert [type(m).__name__ for m in net] == ["ReLU", "GELU", "Tanh", "Sigmoid"]
    del net[0]
    assert list(net._modules) == ["0", "1", "2"]
    assert isinstance(net.pop(-1), nn.Sigmoid)
    net[0] = nn.ELU()
    assert isinstance(net[0], nn.ELU)
    assert len(net[:1]) == 1
    assert len(net + net) == 4
    assert len(net * 2) == 4
    with pytest.raises(IndexError, match="index 3 is out of range"):
        net[3]


def test_sequential_by_names():
    net = nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh()))
    assert isinstance(net.a, nn.ReLU)
    assert list(net.state_dict()) == []


def test_module_list():
    layers = nn.ModuleList([nn.Linear(1, 1)])
    layers.append(nn.Linear(1, 2))
    layers.extend([nn.Linear(2, 2)])
    layers.insert(0, nn.ReLU())
    assert isinstance(layers[0], nn.ReLU)
    assert len(list(layers.parameters())) == 6
    assert isinstance(layers[1:], nn.ModuleList)
    with pytest.raises(TypeError, match="int is not a Module subclass"):
        nn.ModuleList([3])


def test_module_dict():
    parts = nn.ModuleDict({"b": nn.ReLU(), "a": nn.Linear(1, 1)})
    parts["c"] = nn.Tanh()
    assert list(parts) == ["b", "a", "c"]
    assert "a" in parts
    assert isinstance(parts.pop("c"), nn.Tanh)
    assert list(parts.state_dict()) == ["a.weight", "a.bias"]
    with pytest.raises(ValueError, match="has length 1; 2 is required"):
        parts.update([("x",)])


def test_parameter_list_registers_tensors():
    values = nn.ParameterList([flambeau.ones(2), 3])
    values.append(nn.Parameter(flambeau.zeros(1)))
    assert [name for name, _ in values.named_parameters()] == ["0", "2"]
    assert (values[1], len(values)) == (3, 3)
    assert len(values[:2]) == 2


def test_parameter_dict_sorts_plain_dicts():
    values = nn.ParameterDict({"b": flambeau.ones(1), "a": flambeau.zeros(1)})
    assert list(values) == ["a", "b"]
    assert values.get("z") is None
    assert list((values | {"c": flambeau.ones(1)}).keys()) == ["a", "b", "c"]
    assert values.pop("a").item() == 0
    assert len(list(values.parameters())) == 1
