"""GradScaler: scaled losses, skipped steps, growth, state."""

import copy
import pickle

import pytest

import flambeau as torch
from flambeau.amp import GradScaler


def setup(**settings):
    weight = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    return weight, torch.optim.SGD([weight], lr=0.1), GradScaler("cpu", **settings)


def test_a_step_uses_unscaled_gradients():
    weight, optimizer, scaler = setup()
    loss = scaler.scale(weight.square().sum())
    assert loss.item() == 5 * 65536
    loss.backward()
    scaler.unscale_(optimizer)
    assert torch.equal(weight.grad, torch.tensor([2.0, 4.0]))
    scaler.step(optimizer)
    scaler.update()
    torch.testing.assert_close(weight.data, torch.tensor([0.8, 1.6]))
    assert scaler.get_scale() == 65536


def test_overflow_skips_the_step_and_shrinks_the_scale():
    weight, optimizer, scaler = setup()
    scaler.scale(weight.sum()).backward()
    weight.grad[0] = float("inf")
    assert scaler.step(optimizer) is None
    scaler.update()
    assert torch.equal(weight.data, torch.tensor([1.0, 2.0]))
    assert scaler.get_scale() == 32768


def test_the_scale_grows_after_an_interval():
    weight, optimizer, scaler = setup(growth_interval=2)
    for expected in (65536, 131072, 131072, 262144):
        optimizer.zero_grad()
        scaler.scale(weight.sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        assert scaler.get_scale() == expected


def test_order_of_calls_is_checked():
    weight, optimizer, scaler = setup()
    with pytest.raises(AssertionError, match="_scale is None"):
        scaler.step(optimizer)
    scaler.scale(weight.sum()).backward()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="since the last update"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="Closure"):
        scaler.step(optimizer, closure=lambda: None)
    with pytest.raises(AssertionError):
        pickle.dumps(scaler)


def test_state_and_copies():
    weight, optimizer, scaler = setup(init_scale=8.0, growth_interval=3)
    scaler.scale(weight.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    state = scaler.state_dict()
    assert state == {
        "scale": 8.0,
        "growth_factor": 2.0,
        "backoff_factor": 0.5,
        "growth_interval": 3,
        "_growth_tracker": 1,
    }
    other = GradScaler("cpu")
    other.load_state_dict(state)
    assert other.state_dict() == state
    assert copy.deepcopy(scaler).state_dict() == state
    with pytest.raises(RuntimeError, match="empty"):
        other.load_state_dict({})


def test_nested_outputs_and_new_scale():
    _, _, scaler = setup(init_scale=4.0)
    one = torch.ones(())
    assert scaler.scale([one, (one,)]) == [4, (4,)]
    scaler.update(2.0)
    assert scaler.get_scale() == 2
    scaler.update(torch.tensor(3.0))
    assert scaler.get_scale() == 3


def test_disabled_scalers_pass_through():
    with pytest.warns(UserWarning, match="CUDA is not available"):
        scaler = GradScaler()
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scaler.scale(weight.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert weight.item() == 0
    assert scaler.get_scale() == 1
    assert scaler.state_dict() == {}
    assert not scaler.is_enabled()
