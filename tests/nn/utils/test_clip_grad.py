"""Gradient clipping."""

import math

import pytest

import flambeau
from flambeau import nn
from flambeau.nn import utils


def make(*grads):
    params = [nn.Parameter(flambeau.zeros(len(g))) for g in grads]
    for param, grad in zip(params, grads, strict=True):
        param.grad = flambeau.tensor(grad)
    return params


@pytest.mark.parametrize(("norm_type", "total"), [(2.0, 5.0), (1.0, 7.0), (math.inf, 4.0)])
def test_norm(norm_type, total):
    params = make([3.0, 0.0], [4.0])
    assert utils.clip_grad_norm_(params, 1.0, norm_type).item() == pytest.approx(total)
    assert params[1].grad.item() == pytest.approx(4 / total, rel=1e-5)


def test_small_gradients_stay():
    params = make([0.3], [0.4])
    utils.clip_grad_norm_(params, 1.0)
    assert params[0].grad.item() == pytest.approx(0.3)


def test_nonfinite():
    params = make([math.inf])
    with pytest.raises(RuntimeError, match="non-finite"):
        utils.clip_grad_norm_(params, 1.0, error_if_nonfinite=True)


def test_no_gradients():
    assert utils.clip_grad_norm_([nn.Parameter(flambeau.ones(1))], 1.0).item() == 0


def test_value():
    params = make([3.0, -0.2])
    utils.clip_grad_value_(params[0], 0.5)
    assert params[0].grad.tolist() == pytest.approx([0.5, -0.2])


def test_vector_round_trip():
    layer = nn.Linear(2, 3)
    vector = utils.parameters_to_vector(layer.parameters())
    assert vector.shape == (9,)
    utils.vector_to_parameters(vector * 2, layer.parameters())
    assert flambeau.equal(utils.parameters_to_vector(layer.parameters()), vector * 2)
