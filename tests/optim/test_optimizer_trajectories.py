"""Optimizers follow PyTorch's recorded trajectories (tests/data/optim.json)."""

import copy
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
OPTIMIZERS = [name for name in RECORDED if not name.startswith(("schedule_", "long_"))]
LONG = [name for name in RECORDED if name.startswith("long_")]


@pytest.mark.parametrize("key", OPTIMIZERS)
def test_trajectory_is_recorded_one(key):
    name, is_complex = key.removesuffix("_complex"), key.endswith("_complex")
    losses, values, state, groups, text = cases.trajectory(name, flambeau, is_complex)
    expected_losses, expected_values, expected_state, expected_groups, expected_text = RECORDED[key]
    assert losses == pytest.approx(expected_losses, rel=1e-6)
    for got, expected in zip(values, expected_values, strict=True):
        assert got == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert groups == expected_groups
    assert text == expected_text
    if state:
        assert state == expected_state


@pytest.mark.parametrize("key", LONG)
def test_fifty_steps_end_where_pytorchs_do(key):
    name, dtype = key.removeprefix("long_").rsplit("_", 1)
    # Rounding grows along a trajectory; bfloat16 inside Muon rounds coarsely.
    tolerance = 2e-2 if name == "muon" else 1e-9 if dtype == "float64" else 2e-5
    for got, expected in zip(cases.long_run(name, flambeau, dtype), RECORDED[key], strict=True):
        assert got == pytest.approx(expected, rel=tolerance, abs=tolerance)


@pytest.mark.parametrize("name", cases.optimizers(flambeau))
def test_resumed_run_equals_uninterrupted_run(name):
    def steps(optimizer, params, count):
        closure = cases.closure_for(optimizer, params)
        for _ in range(count):
            if name.startswith("lbfgs"):
                optimizer.step(closure)
            else:
                closure()
                optimizer.step()

    make = cases.optimizers(flambeau)[name]
    params = cases.parameters(flambeau, False)
    optimizer = make(params)
    steps(optimizer, params, 2)
    saved, values = copy.deepcopy(optimizer.state_dict()), [p.detach().clone() for p in params]
    steps(optimizer, params, 2)
    resumed = [nn.Parameter(value) for value in values]
    again = make(resumed)
    again.load_state_dict(saved)
    steps(again, resumed, 2)
    for a, b in zip(params, resumed, strict=True):
        # PyTorch casts scalar state in float32 (NAdam, ASGD) to the dtype of the parameter when it is loaded.
        assert a.detach().reshape(-1).tolist() == pytest.approx(
            b.detach().reshape(-1).tolist(), rel=1e-6
        )


@pytest.mark.parametrize("name", ["sgd_momentum", "sgd_nesterov", "adam", "adam_amsgrad", "adamw"])
def test_fused_step_equals_step_out_of_ops(name):
    runs = []
    for differentiable in (False, True):
        params = cases.parameters(flambeau, False)
        optimizer = cases.optimizers(flambeau)[name](params)
        optimizer.defaults["differentiable"] = differentiable
        for group in optimizer.param_groups:
            group["differentiable"] = differentiable
        closure = cases.closure_for(optimizer, params)
        for _ in range(4):
            closure()
            with flambeau.no_grad():
                optimizer.step()
        runs.append([p.detach().reshape(-1).tolist() for p in params])
    for a, b in zip(*runs, strict=True):
        assert a == pytest.approx(b, rel=1e-12)


ELEMENTWISE = [
    name
    for name in cases.optimizers(flambeau)
    if name.startswith(("ada", "nadam", "radam", "rms", "rprop"))
    and not name.startswith(("adam", "adaf"))
] + ["adamax"]


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("complex_valued", [False, True])
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_native_step_equals_step_out_of_ops(name, complex_valued, maximize):
    runs = []
    for native in (True, False):
        params = cases.parameters(flambeau, complex_valued)
        optimizer = cases.optimizers(flambeau)[name](params)
        optimizer.param_groups[0]["maximize"] = maximize
        if not native:
            optimizer._fused = None
        closure = cases.closure_for(optimizer, params)
        for _ in range(4):
            closure()
            optimizer.step()
        runs.append([p.detach().reshape(-1).tolist() for p in params])
    for a, b in zip(*runs, strict=True):
        # NAdam's state in float32 bounds the agreement.
        assert a == pytest.approx(b, rel=1e-6 if name.startswith("nadam") else 1e-11)


@pytest.mark.parametrize("dtype", [flambeau.float16, flambeau.bfloat16])
def test_half_parameters_step_in_float(dtype):
    param = nn.Parameter(flambeau.linspace(-1, 1, 8).to(dtype))
    exact = nn.Parameter(param.detach().float())
    for p in (param, exact):
        p.grad = flambeau.ones_like(p)
        optim.Adam([p], lr=0.5).step()
    assert param.detach().tolist() == exact.detach().to(dtype).tolist()


def test_step_works_on_any_layout():
    plain = nn.Parameter(flambeau.arange(12.0).reshape(3, 4))
    turned = nn.Parameter(flambeau.arange(12.0).reshape(3, 4).t().contiguous().t())
    for p in (plain, turned):
        p.grad = flambeau.arange(12.0).reshape(3, 4)
        optimizer = optim.SGD([p], lr=0.1, momentum=0.5)
        optimizer.step()
        optimizer.step()
    assert plain.tolist() == turned.tolist()
    assert turned.stride() == (1, 3)


def test_step_counts_as_in_place_change():
    param = nn.Parameter(flambeau.ones(2))
    loss = (param * param).sum()
    param.grad = flambeau.ones(2)
    optim.SGD([param], lr=0.1).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_one_native_call_steps_all_parameters_of_a_group(monkeypatch):
    calls = []
    for name in ("adamax", "nadam", "radam", "adagrad", "adadelta", "rmsprop", "rprop"):
        step = getattr(flambeau.ops, f"_{name}_step")
        monkeypatch.setattr(
            flambeau.ops,
            f"_{name}_step",
            lambda *args, step=step, name=name: (calls.append((name, len(args[0]))), step(*args)),
        )
    params = [nn.Parameter(flambeau.ones(3)) for _ in range(4)]
    for param in params[:3]:
        param.grad = flambeau.ones(3)
    for kind in (
        optim.Adamax, optim.NAdam, optim.RAdam, optim.Adagrad, optim.Adadelta, optim.RMSprop, optim.Rprop,
    ):  # fmt: skip
        kind(params, lr=0.1).step()
    assert [count for _, count in calls] == [3] * 7


@pytest.mark.parametrize("kind", [optim.RMSprop, optim.Adagrad, optim.NAdam])
def test_state_of_another_shape_is_refused(kind):
    param = nn.Parameter(flambeau.ones(3))
    param.grad = flambeau.ones(3)
    optimizer = kind([param])
    optimizer.step()
    for name, value in optimizer.state[param].items():
        if value.shape == (3,):
            optimizer.state[param][name] = flambeau.ones(2)
    with pytest.raises(RuntimeError, match="one shape"):
        optimizer.step()
