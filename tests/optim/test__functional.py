"""Optimizer steps as functions: what the classes do."""

import pytest

import flambeau
from flambeau import nn, optim
from flambeau.optim import _functional


def states():
    return [flambeau.zeros(3) for _ in range(2)]


def steps():
    return [flambeau.tensor(0.0) for _ in range(2)]


CASES = {
    "sgd": (lambda: [[None, None]], {"momentum": 0.9, "dampening": 0.1, "nesterov": False, "weight_decay": 0.1}),
    "adam": (
        lambda: [states(), states(), [], steps()],
        {"amsgrad": False, "beta1": 0.9, "beta2": 0.999, "weight_decay": 0.1, "eps": 1e-8},
    ),
    "adamw": (
        lambda: [states(), states(), states(), steps()],
        {"amsgrad": True, "beta1": 0.9, "beta2": 0.999, "weight_decay": 0.1, "eps": 1e-8},
    ),
    "adagrad": (lambda: [states(), steps()], {"weight_decay": 0.1, "lr_decay": 0.1, "eps": 1e-10}),
    "rmsprop": (
        lambda: [states(), states(), states(), steps()],
        {"alpha": 0.9, "eps": 1e-8, "weight_decay": 0.1, "momentum": 0.5, "centered": True},
    ),
}  # fmt: skip
CLASSES = {
    "sgd": optim.SGD,
    "adam": optim.Adam,
    "adamw": optim.AdamW,
    "adagrad": optim.Adagrad,
    "rmsprop": optim.RMSprop,
}


@pytest.mark.parametrize("name", CASES)
def test_functions_step_as_classes_do(name):
    make_state, settings = CASES[name]
    values = [flambeau.linspace(-1, 1, 3), flambeau.linspace(0, 2, 3)]
    params = [nn.Parameter(value.clone()) for value in values]
    options = {k: v for k, v in settings.items() if not k.startswith("beta")}
    optimizer = CLASSES[name](params, lr=0.1, **options)
    free, state = [value.clone() for value in values], make_state()
    for _ in range(3):
        for param in params:
            param.grad = param.detach() * 2
        grads = [value * 2 for value in free]
        optimizer.step()
        getattr(_functional, name)(free, grads, *state, lr=0.1, maximize=False, **settings)
    for got, expected in zip(free, params, strict=True):
        assert flambeau.equal(got, expected.detach())


def test_differentiable_steps_are_the_classes():
    with pytest.raises(RuntimeError, match="differentiable=True"):
        _functional.rprop(
            [], [], [], [], [], differentiable=True, step_size_min=0, step_size_max=1, etaminus=0.5, etaplus=1.2
        )  # fmt: skip
