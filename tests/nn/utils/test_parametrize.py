"""Parametrizations: mechanics, errors, and the ready-made ones."""

import copy
import pickle

import pytest

import flambeau
from flambeau import nn
from flambeau.nn.utils import parametrizations, parametrize


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).mT

    def right_inverse(self, a):
        return a.triu()


class Doubled(nn.Module):
    def forward(self, x):
        return 2 * x


def test_symmetric_example():
    layer = nn.Linear(3, 3, bias=False)
    original = layer.weight
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert type(layer).__name__ == "ParametrizedLinear"
    assert isinstance(layer, nn.Linear)
    assert layer.parametrizations.weight.original is original
    layer.weight = flambeau.arange(9.0).reshape(3, 3)
    assert layer.weight.tolist() == [[0, 1, 2], [1, 4, 5], [2, 5, 8]]
    optimizer = flambeau.optim.SGD([original], lr=0.1)
    layer(flambeau.ones(1, 3)).sum().backward()
    optimizer.step()
    assert flambeau.equal(layer.weight, layer.weight.mT)


def test_chain_and_assignment():
    layer = nn.Linear(2, 2)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    parametrize.register_parametrization(layer, "weight", Doubled())
    assert len(layer.parametrizations.weight) == 2
    with pytest.raises(RuntimeError, match="does not implement right_inverse"):
        layer.weight = flambeau.ones(2, 2)


def test_errors():
    layer = nn.Linear(2, 2)

    class Wider(nn.Module):
        def forward(self, x):
            return flambeau.cat([x, x])

    with pytest.raises(ValueError, match="may not change the shape"):
        parametrize.register_parametrization(layer, "weight", Wider())
    assert type(layer) is nn.Linear
    with pytest.raises(ValueError, match="does not have a parameter, a buffer"):
        parametrize.register_parametrization(layer, "nothing", Doubled())
    with pytest.raises(ValueError, match="does not have a parametrization on weight"):
        parametrize.remove_parametrizations(layer, "weight")


def test_buffers_stay_buffers():
    norm = nn.BatchNorm1d(2)
    parametrize.register_parametrization(norm, "running_var", Doubled())
    assert "parametrizations.running_var.original" in dict(norm.named_buffers())
    assert norm.running_var.tolist() == [2, 2]


@pytest.mark.parametrize("leave", [True, False])
def test_removal(leave):
    layer = nn.Linear(2, 2)
    before, weight = layer.weight.tolist(), layer.weight
    parametrize.register_parametrization(layer, "weight", Doubled())
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=leave)
    assert type(layer) is nn.Linear
    assert layer.weight is weight
    factor = 2 if leave else 1
    assert layer.weight.tolist() == [[factor * v for v in row] for row in before]


def test_cached():
    layer = nn.Linear(2, 2)
    parametrize.register_parametrization(layer, "weight", Doubled())
    with parametrize.cached():
        first = layer.weight
        with flambeau.no_grad():
            layer.parametrizations.weight.original.zero_()
        assert layer.weight is first
    assert layer.weight.abs().sum().item() == 0


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_and_pickles(duplicate):
    layer = parametrizations.weight_norm(nn.Linear(3, 2))
    other = duplicate(layer)
    assert flambeau.allclose(other.weight, layer.weight)
    with flambeau.no_grad():
        other.parametrizations.weight.original0.zero_()
    assert layer.weight.abs().sum().item() > 0


def test_weight_norm_keys_and_old_checkpoints():
    layer = parametrizations.weight_norm(nn.Linear(3, 2))
    state = layer.state_dict()
    assert {k: tuple(v.shape) for k, v in state.items()} == {
        "bias": (2,),
        "parametrizations.weight.original0": (2, 1),
        "parametrizations.weight.original1": (2, 3),
    }
    old = {"bias": state["bias"], "weight_g": flambeau.ones(2, 1), "weight_v": flambeau.ones(2, 3)}
    layer.load_state_dict(old)
    assert layer.weight.norm(dim=1).tolist() == pytest.approx([1, 1])


def test_weight_norm_of_a_zero_row_is_zero():
    layer = nn.Linear(3, 2)
    with flambeau.no_grad():
        layer.weight[0] = 0
    parametrizations.weight_norm(layer)
    assert layer.weight[0].tolist() == [0, 0, 0]


@pytest.mark.parametrize("mapping", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (5, 3)])
def test_orthogonal_stays_orthogonal(mapping, shape):
    layer = parametrizations.orthogonal(nn.Linear(*shape, bias=False), orthogonal_map=mapping)
    optimizer = flambeau.optim.SGD(layer.parameters(), lr=0.1)
    (layer(flambeau.randn(8, shape[0])) ** 3).mean().backward()
    optimizer.step()
    w = layer.weight
    gram = w @ w.mT if w.shape[0] <= w.shape[1] else w.mT @ w
    assert flambeau.allclose(gram, flambeau.eye(gram.shape[0]), atol=1e-5)


def test_orthogonal_takes_assignments():
    layer = parametrizations.orthogonal(nn.Linear(3, 3))
    turned = flambeau.tensor([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]])
    layer.weight = turned
    assert flambeau.allclose(layer.weight, turned, atol=1e-6)
    free = parametrizations.orthogonal(nn.Linear(3, 3), use_trivialization=False)
    with pytest.raises(NotImplementedError, match="It is not possible to assign"):
        free.weight = turned


def test_spectral_norm_is_one_from_the_start():
    layer = parametrizations.spectral_norm(nn.Linear(6, 4)).eval()
    assert flambeau.linalg.svdvals(layer.weight)[0].item() == pytest.approx(1, abs=1e-3)
    with pytest.raises(ValueError, match="Expected n_power_iterations to be positive"):
        parametrizations.spectral_norm(nn.Linear(2, 2), n_power_iterations=0)


def test_spectral_norm_two_forwards_before_backward():
    layer = parametrizations.spectral_norm(nn.Linear(3, 3))
    x = flambeau.randn(2, 3)
    (layer(x) + layer(x)).sum().backward()
    assert layer.parametrizations.weight.original.grad is not None
