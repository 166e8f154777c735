"""Pruning."""

import copy
import pickle

import pytest

import flambeau
from flambeau import nn
from flambeau.nn.utils import prune


def zeros(layer):
    return int((layer.weight == 0).sum())


def test_mask_and_original():
    layer = prune.l1_unstructured(nn.Linear(4, 5), "weight", 0.3)
    assert [name for name, _ in layer.named_parameters()] == ["bias", "weight_orig"]
    assert [name for name, _ in layer.named_buffers()] == ["weight_mask"]
    assert zeros(layer) == 6
    smallest = layer.weight_orig.abs().reshape(-1).sort()[0][5]
    assert ((layer.weight == 0) == (layer.weight_orig.abs() <= smallest)).all()


def test_repeated_pruning_acts_on_what_is_left():
    layer = nn.Linear(4, 5)
    prune.random_unstructured(layer, "weight", 4)
    prune.l1_unstructured(layer, "weight", 6)
    assert zeros(layer) == 10
    assert isinstance(next(iter(layer._forward_pre_hooks.values())), prune.PruningContainer)


def test_structured():
    layer = prune.ln_structured(nn.Linear(4, 5), "weight", 2, n=2, dim=0)
    assert int((layer.weight.abs().sum(1) == 0).sum()) == 2
    with pytest.raises(
        ValueError, match="Structured pruning can only be applied to multidimensional"
    ):
        prune.random_structured(nn.Linear(4, 5), "bias", 1, dim=0)


def test_forward_uses_the_pruned_weight_and_training_keeps_zeros():
    layer = prune.l1_unstructured(nn.Linear(4, 5), "weight", 0.5)
    optimizer = flambeau.optim.SGD(layer.parameters(), lr=0.1)
    layer(flambeau.randn(3, 4)).sum().backward()
    optimizer.step()
    layer(flambeau.randn(3, 4))
    assert zeros(layer) == 10


def test_removal_bakes_in():
    layer = prune.l1_unstructured(nn.Linear(4, 5), "weight", 0.5)
    assert prune.is_pruned(layer)
    prune.remove(layer, "weight")
    assert [name for name, _ in layer.named_parameters()] == ["bias", "weight"]
    assert zeros(layer) == 10
    with pytest.raises(ValueError, match="has to be pruned before pruning can be removed"):
        prune.remove(layer, "weight")


def test_global():
    layers = [nn.Linear(4, 5), nn.Linear(5, 3)]
    prune.global_unstructured([(m, "weight") for m in layers], prune.L1Unstructured, amount=0.4)
    assert sum(zeros(m) for m in layers) == 14


@pytest.mark.parametrize(
    ("amount", "error"), [(1.5, ValueError), (-1, ValueError), ("a", TypeError), (99, ValueError)]
)
def test_bad_amounts(amount, error):
    layer = nn.Linear(4, 5)
    with pytest.raises(error):
        prune.random_unstructured(layer, "weight", amount)
    assert isinstance(layer.weight, nn.Parameter)


def test_deepcopy():
    layer = prune.l1_unstructured(nn.Linear(4, 5), "weight", 0.5)
    copied = copy.deepcopy(layer)
    copied(flambeau.ones(1, 4))
    assert zeros(copied) == 10


def test_pickle():
    layer = prune.l1_unstructured(nn.Linear(3, 2), "weight", 0.5)
    again = pickle.loads(pickle.dumps(layer))
    x = flambeau.ones(1, 3)
    assert flambeau.equal(again(x), layer(x))
    assert prune.is_pruned(again)
    copy.deepcopy(again)


def test_documented_example():
    layer = nn.Linear(4, 1, bias=False)
    with flambeau.no_grad():
        layer.weight.copy_(flambeau.tensor([[1.0, -2.0, 3.0, -4.0]]))
    prune.l1_unstructured(layer, "weight", 0.5)
    assert layer.weight_mask.tolist() == [[0, 0, 1, 1]]
    layer(flambeau.ones(1, 4)).sum().backward()
    assert layer.weight_orig.grad.tolist() == [[0, 0, 1, 1]]
    prune.l1_unstructured(layer, "weight", 0.5)
    assert layer.weight_mask.tolist() == [[0, 0, 0, 1]]
    three = prune.l1_unstructured(nn.Linear(3, 1), "weight", 0.5)  # round(1.5) is 2
    assert three.weight_mask.sum() == 1


def test_global_pruning_of_half_leaves_half():
    layers = [nn.Linear(4, 4) for _ in range(2)]
    prune.global_unstructured([(m, "weight") for m in layers], prune.L1Unstructured, amount=0.5)
    assert sum(m.weight_mask.sum() for m in layers) == 16
