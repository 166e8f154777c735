"""Modules as functions: functional_call with transforms, ensembles."""

import pytest

import flambeau
from flambeau import nn
from flambeau.func import (
    functional_call,
    grad,
    replace_all_batch_norm_modules_,
    stack_module_state,
    vmap,
)


def test_per_sample_gradients_of_a_module():
    model = nn.Linear(3, 1)
    params = {name: p.detach() for name, p in model.named_parameters()}
    x, y = flambeau.randn(5, 3), flambeau.randn(5, 1)

    def loss(params, x, y):
        return (functional_call(model, params, (x,)) - y).pow(2).sum()

    found = vmap(grad(loss), in_dims=(None, 0, 0))(params, x, y)
    for i in range(5):
        model.zero_grad()
        (model(x[i]) - y[i]).pow(2).sum().backward()
        assert flambeau.allclose(found["weight"][i], model.weight.grad)
        assert flambeau.allclose(found["bias"][i], model.bias.grad)


def test_ensemble():
    models = [nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).eval() for _ in range(3)]
    params, buffers = stack_module_state(models)
    assert params["0.weight"].shape == (3, 4, 3)
    assert params["0.weight"].requires_grad
    assert buffers["1.num_batches_tracked"].shape == (3,)
    x = flambeau.randn(2, 3)
    found = vmap(lambda p, b: functional_call(models[0], (p, b), (x,)))(params, buffers)
    for output, model in zip(found, models, strict=True):
        assert flambeau.allclose(output, model(x))


def test_ensemble_errors():
    with pytest.raises(RuntimeError, match="at least one model"):
        stack_module_state([])
    with pytest.raises(RuntimeError, match="same class"):
        stack_module_state([nn.Linear(1, 1), nn.ReLU()])
    with pytest.raises(RuntimeError, match="training/eval"):
        stack_module_state([nn.ReLU(), nn.ReLU().eval()])
    frozen = nn.Linear(1, 1).requires_grad_(False)
    with pytest.raises(RuntimeError, match=r"same \.requires_grad"):
        stack_module_state([nn.Linear(1, 1), frozen])


def test_batch_norms_without_running_statistics():
    model = replace_all_batch_norm_modules_(nn.Sequential(nn.BatchNorm1d(2)))
    assert not model[0].track_running_stats
    assert model.eval()(flambeau.randn(8, 2)).mean(0).abs().max() < 1e-6
