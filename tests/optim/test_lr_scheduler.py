"""Schedules give PyTorch's recorded rates (tests/data/optim.json)."""

import importlib.util
import json
from pathlib import Path

import pytest

import flambeau
from flambeau import nn, optim

HERE = Path(__file__).parent
RECORDED = json.loads((HERE.parent / "data" / "optim.json").read_text())
spec = importlib.util.spec_from_file_location("optim_cases", HERE / "cases.py")
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)


def flat(rows):
    return [value for row in rows for value in row]


@pytest.mark.parametrize("name", cases.schedules(flambeau))
def test_rates_are_recorded_ones(name):
    seen, state = cases.rates(name, flambeau)
    expected, expected_state = RECORDED[f"schedule_{name}"]
    assert flat(seen) == pytest.approx(flat(expected), rel=1e-9)
    assert state == expected_state


def make():
    param = nn.Parameter(flambeau.ones(1))
    return optim.SGD([param], lr=0.1)


def test_step_before_optimizer_warns():
    schedule = optim.lr_scheduler.StepLR(make(), 1)
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        schedule.step()


def test_state_resumes():
    optimizer = make()
    schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, 7)
    for _ in range(3):
        optimizer.step()
        schedule.step()
    other = make()
    resumed = optim.lr_scheduler.CosineAnnealingLR(other, 7)
    other.load_state_dict(optimizer.state_dict())
    resumed.load_state_dict(schedule.state_dict())
    for o, s in ((optimizer, schedule), (other, resumed)):
        o.step()
        s.step()
    assert schedule.get_last_lr() == resumed.get_last_lr()


def test_resuming_needs_initial_lr():
    with pytest.raises(KeyError, match="initial_lr"):
        optim.lr_scheduler.StepLR(make(), 1, last_epoch=3)


def test_schedule_needs_an_optimizer():
    with pytest.raises(TypeError, match="is not an Optimizer"):
        optim.lr_scheduler.StepLR(3, 1)
