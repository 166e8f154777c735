"""Gradients of convolutions as functions."""

import pytest

import flambeau
from flambeau import nn
from flambeau.nn import functional as F
from flambeau.nn import grad


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_gradients_are_those_of_backward(dims):
    x = flambeau.randn(2, 4, *(6,) * dims, requires_grad=True)
    weight = flambeau.randn(6, 2, *(3,) * dims, requires_grad=True)
    settings = {"stride": 2, "padding": 1, "groups": 2}
    output = getattr(F, f"conv{dims}d")(x, weight, **settings)
    cotangent = flambeau.randn_like(output).requires_grad_()
    expected = flambeau.autograd.grad(output, (x, weight), cotangent)
    by_input = getattr(grad, f"conv{dims}d_input")(x.shape, weight, cotangent, **settings)
    by_weight = getattr(grad, f"conv{dims}d_weight")(x, weight.shape, cotangent, **settings)
    flambeau.testing.assert_close(by_input, expected[0])
    flambeau.testing.assert_close(by_weight, expected[1])
    by_input.sum().backward()
    assert cotangent.grad is not None
    assert weight.grad is not None


def test_prefixes_are_taken_off():
    state = nn.ModuleDict({"module": nn.Linear(1, 1)}).state_dict()
    nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
    assert list(state) == ["weight", "bias"]
    assert "" in state._metadata
    nn.Linear(1, 1).load_state_dict(state)


def test_numbers_of_reductions():
    from flambeau.nn import _reduction

    assert [_reduction.get_enum(name) for name in ("none", "mean", "sum")] == [0, 1, 2]
    with pytest.raises(ValueError, match="not a valid value"):
        _reduction.get_enum("max")
