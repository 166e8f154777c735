"""Inference mode: the rows that concern modules, files and threads, its cost, and random programs across its border."""

import copy
import io
import threading
import time

import numpy as np
import pytest

import flambeau
from flambeau import nn


def made_inside(*shape):
    with flambeau.inference_mode():
        return flambeau.ones(*shape)


def test_decorated_generator():
    @flambeau.inference_mode()
    def produce():
        yield flambeau.is_inference_mode_enabled()
        yield flambeau.ones(1).is_inference()

    seen = []
    for value in produce():
        seen.append(value)
        assert not flambeau.is_inference_mode_enabled()
    assert seen == [True, True]

    @flambeau.inference_mode
    def plain():
        return flambeau.ones(1)

    @flambeau.inference_mode(False)
    def normal():
        return flambeau.ones(1)

    assert plain().is_inference() and not normal().is_inference()


def test_threads_start_outside():
    seen = []
    with flambeau.inference_mode():
        thread = threading.Thread(target=lambda: seen.append(flambeau.ones(1).is_inference()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_parameters_refuse_inference_tensors():
    with pytest.raises(RuntimeError):
        nn.Parameter(made_inside(2))
    with flambeau.inference_mode():
        assert nn.Parameter(flambeau.ones(2)).requires_grad


def test_matmul_saves_and_addition_does_not():
    x, made = flambeau.ones(2, 2, requires_grad=True), made_inside(2, 2)
    with pytest.raises(RuntimeError, match="clone"):
        x @ made
    (x + made).sum().backward()
    assert x.grad.tolist() == [[1, 1], [1, 1]]


def test_ways_out():
    made = made_inside(2)
    assert made.view(1, 2).is_inference() and made.detach().is_inference()
    for normal in (made.clone(), made.to(flambeau.float64), made + 1, copy.deepcopy(made)):
        assert not normal.is_inference()
    made.data.add_(1)
    made.detach().add_(1)
    assert made.tolist() == [3, 3]


def test_views_made_inside_of_normal_tensors_stay_normal():
    x = flambeau.ones(3, requires_grad=True)
    with flambeau.inference_mode():
        view = x[1:]
    assert not view.is_inference() and view.requires_grad


def test_modules_built_or_converted_inside_can_not_be_trained():
    with flambeau.inference_mode():
        layer = nn.Linear(2, 2)
        converted = nn.Linear(2, 2)
    assert layer.weight.is_inference()
    with pytest.raises(RuntimeError):
        layer(flambeau.ones(1, 2, requires_grad=True)).sum().backward()
    converted = nn.Linear(2, 2)
    with flambeau.inference_mode():
        converted.double()
    with pytest.raises(RuntimeError):
        x = flambeau.ones(1, 2, dtype=flambeau.float64, requires_grad=True)
        converted(x).sum().backward()


def test_loading_inside_leaves_parameters_normal():
    layer, source = nn.Linear(2, 2), nn.Linear(2, 2)
    with flambeau.inference_mode():
        layer.load_state_dict(source.state_dict())
    assert not layer.weight.is_inference() and flambeau.equal(layer.weight, source.weight)
    layer(flambeau.ones(1, 2)).sum().backward()
    assert layer.weight.grad is not None


def test_batch_norm_inside_updates_normal_statistics():
    norm = nn.BatchNorm1d(2)
    with flambeau.inference_mode():
        norm(flambeau.randn(8, 2) + 5)
    assert not norm.running_mean.is_inference()
    assert (norm.running_mean > 0.3).all() and norm.num_batches_tracked == 1
    norm(flambeau.randn(8, 2)).sum().backward()


def test_files_give_normal_tensors():
    buffer = io.BytesIO()
    flambeau.save(made_inside(2), buffer)
    buffer.seek(0)
    assert not flambeau.load(buffer).is_inference()
    with flambeau.inference_mode():
        assert flambeau.ones(2).is_inference()


def test_training_after_evaluation_is_bit_equal():
    results = []
    for guard in (flambeau.no_grad, flambeau.inference_mode):
        flambeau.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
        x = flambeau.randn(16, 4)
        with guard():
            model(x)
        model(x).square().mean().backward()
        results.append([p.grad for p in model.parameters()])
    assert all(flambeau.equal(a, b) for a, b in zip(*results, strict=True))


STEPS = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "sin": lambda a, b: a.sin(),
    "view": lambda a, b: a.view(-1).view(2, 2),
    "row": lambda a, b: a[:1] + b,
    "transpose": lambda a, b: a.t(),
    "matmul": lambda a, b: a @ b,
    "inplace add": lambda a, b: a.add_(b),
    "inplace mul": lambda a, b: a.mul_(b),
    "inplace row": lambda a, b: (a[:1].mul_(2), a)[1],
    "clone": lambda a, b: a.clone(),
    "detach": lambda a, b: a.detach(),
    "sum": lambda a, b: a.sum() + b,
    "max": lambda a, b: flambeau.maximum(a, b),
}


def run_program(seed, guard):
    """A random program over a leaf and what it makes; some steps run under `guard`. Returns values and the gradient."""
    rng = np.random.default_rng(seed)
    leaf = flambeau.tensor([[0.5, -1.0], [2.0, 0.25]], requires_grad=True)
    values = [leaf * 1.0, flambeau.tensor([[1.0, 2.0], [-0.5, 0.5]])]
    for _ in range(10):
        name = list(STEPS)[rng.integers(len(STEPS))]
        a, b = (values[rng.integers(len(values))] for _ in range(2))
        if rng.random() < 0.35:
            with guard():
                values.append(STEPS[name](a, b))
        else:
            values.append(STEPS[name](a, b))
    total = values[0].sum()
    for value in values[1:]:
        total = total + value.sum()
    (grad,) = flambeau.autograd.grad(total, leaf)
    return [value.detach().clone() for value in values], grad


def test_random_programs_raise_or_agree_with_no_grad():
    compared = 0
    for seed in range(400):
        try:
            values, grad = run_program(seed, flambeau.inference_mode)
        except RuntimeError:
            continue  # refused: never a silent wrong gradient
        expected, expected_grad = run_program(seed, flambeau.no_grad)
        assert flambeau.equal(grad, expected_grad), seed
        for left, right in zip(values, expected, strict=True):
            assert flambeau.equal(left, right), seed
        compared += 1
    assert compared > 50


@pytest.mark.slow
@pytest.mark.parametrize("name", ["view", "add"])
def test_cheaper_than_no_grad(name):
    x = flambeau.ones(16)
    call = {"view": lambda: x.view(4, 4), "add": lambda: x + x}[name]

    def cost(guard):
        best = float("inf")
        with guard():
            for _ in range(30):
                start = time.perf_counter()
                for _ in range(2000):
                    call()
                best = min(best, time.perf_counter() - start)
        return best

    # Both are about 0.2 microseconds here, of which the mode is a small part: it must not cost anything.
    assert cost(flambeau.inference_mode) < 1.1 * cost(flambeau.no_grad)
