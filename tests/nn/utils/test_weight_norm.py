"""The hook forms of weight and spectral norm."""

import pytest

import flambeau
from flambeau import nn
from flambeau.nn import utils


def test_weight_norm_round_trip():
    layer = nn.Linear(3, 4)
    x, before = flambeau.randn(2, 3), layer.weight.detach().clone()
    with pytest.warns(FutureWarning, match="deprecated"):
        utils.weight_norm(layer)
    assert [name for name, _ in layer.named_parameters()] == ["bias", "weight_g", "weight_v"]
    layer(x).sum().backward()
    assert layer.weight_g.grad is not None
    utils.remove_weight_norm(layer)
    assert flambeau.allclose(layer.weight, before, atol=1e-6)
    with pytest.raises(ValueError, match="not found"):
        utils.remove_weight_norm(layer)


def test_spectral_norm_converges_and_is_removed():
    layer = utils.spectral_norm(nn.Linear(5, 4))
    for _ in range(50):
        layer(flambeau.randn(2, 5))
    assert flambeau.linalg.svdvals(layer.weight)[0].item() == pytest.approx(1, abs=1e-3)
    state = layer.state_dict()
    assert sorted(state) == ["bias", "weight_orig", "weight_u", "weight_v"]
    layer.load_state_dict(state)
    utils.remove_spectral_norm(layer)
    assert isinstance(layer.weight, nn.Parameter)


def test_skip_init_builds_without_values():
    layer = utils.skip_init(nn.Linear, 3, 4)
    assert layer.weight.shape == (4, 3)
    assert not layer.weight.is_meta


def test_a_zero_row_stays_zero():
    layer = nn.Linear(3, 2)
    with flambeau.no_grad():
        layer.weight[0] = 0
    with pytest.warns(FutureWarning):
        nn.utils.weight_norm(layer)
    layer(flambeau.ones(1, 3)).sum().backward()
    assert layer.weight[0].tolist() == [0, 0, 0]
    assert layer.weight_v.grad.isfinite().all()
