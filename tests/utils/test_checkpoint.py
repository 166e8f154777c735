"""Checkpointing gives the gradients of the plain program, with fewer saved tensors."""

import pytest

import flambeau
from flambeau import autograd
from flambeau.utils.checkpoint import (
    CheckpointError,
    checkpoint,
    checkpoint_sequential,
    set_checkpoint_early_stop,
)


def leaf(*values):
    return flambeau.tensor(values, requires_grad=True)


def block(value):
    return (value * value).exp().sin()


def plain_gradient(x, f=block):
    return autograd.grad(f(x).sum(), x)[0].tolist()


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_gradients_equal_the_plain_ones(use_reentrant):
    x = leaf(0.5, 1.0)
    y = checkpoint(block, x, use_reentrant=use_reentrant)
    assert y.tolist() == block(x).tolist()
    y.sum().backward()
    assert x.grad.tolist() == plain_gradient(x)


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_function_runs_twice(use_reentrant):
    calls = []

    def f(value):
        calls.append(1)
        return block(value)

    checkpoint(f, leaf(0.5), use_reentrant=use_reentrant).sum().backward()
    assert len(calls) == 2


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_random_numbers_are_the_same_both_times(use_reentrant):
    x = flambeau.ones(100, requires_grad=True)
    flambeau.manual_seed(3)
    y = checkpoint(lambda t: t * flambeau.rand(100), x, use_reentrant=use_reentrant)
    after = flambeau.rand(1).item()
    flambeau.rand(7)
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()
    flambeau.manual_seed(3)
    flambeau.rand(100)
    assert flambeau.rand(1).item() == after


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_several_results_and_other_arguments(use_reentrant):
    x = leaf(2.0)
    first, second = checkpoint(lambda a, n: (a * n, a * a), x, 3.0, use_reentrant=use_reentrant)
    (first + second).backward()
    assert x.grad.tolist() == [7.0]


@pytest.mark.filterwarnings("ignore:None of the inputs")
@pytest.mark.parametrize("use_reentrant", [True, False])
def test_nested(use_reentrant):
    x = leaf(0.5, 1.0)

    def outer(value):
        return checkpoint(block, value.exp(), use_reentrant=use_reentrant) * value

    checkpoint(outer, x, use_reentrant=use_reentrant).sum().backward()
    assert x.grad.tolist() == pytest.approx(plain_gradient(x, lambda t: block(t.exp()) * t))


def test_parameters_of_the_closure_get_gradients():
    x, weight = leaf(1.0, 2.0), leaf(3.0, 4.0)
    checkpoint(lambda t: (t * weight).exp(), x, use_reentrant=False).sum().backward()
    expected = autograd.grad((x * weight).exp().sum(), (x, weight))
    assert x.grad.tolist() == expected[0].tolist()
    assert weight.grad.tolist() == expected[1].tolist()


def test_inputs_without_grad():
    weight = leaf(3.0)
    checkpoint(lambda t: (t * weight).exp(), flambeau.ones(1), use_reentrant=False).sum().backward()
    assert weight.grad.item() == pytest.approx(20.0855, rel=1e-4)
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        result = checkpoint(lambda t: t * weight, flambeau.ones(1), use_reentrant=True)
    assert not result.requires_grad


def test_grad_needs_the_non_reentrant_variant():
    x = leaf(0.5)
    assert autograd.grad(checkpoint(block, x, use_reentrant=False), x)[
        0
    ].tolist() == plain_gradient(x)
    with pytest.raises(RuntimeError, match="incompatible with"):
        autograd.grad(checkpoint(block, x, use_reentrant=True), x)


def test_second_derivative_of_the_non_reentrant_variant():
    x = flambeau.tensor([0.5, 1.0], dtype=flambeau.float64, requires_grad=True)
    assert autograd.gradgradcheck(lambda t: checkpoint(block, t, use_reentrant=False), (x,))


def test_backward_twice_with_retain_graph():
    x = leaf(0.5)
    y = checkpoint(block, x, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == pytest.approx([2.0 * g for g in plain_gradient(x)])


def test_keyword_arguments():
    x = leaf(2.0)
    checkpoint(lambda t, scale: t * t * scale, x, scale=3.0, use_reentrant=False).backward()
    assert x.grad.tolist() == [12.0]
    with pytest.raises(ValueError, match="Unexpected keyword arguments"):
        checkpoint(lambda t, scale: t, x, scale=3.0, use_reentrant=True)


def test_use_reentrant_should_be_given():
    with pytest.warns(UserWarning, match="use_reentrant"):
        checkpoint(block, leaf(0.5))


def test_early_stop():
    calls = []

    def f(value):
        result = value.exp()
        calls.append("end")
        return result + 1.0

    checkpoint(f, leaf(0.5), use_reentrant=False).sum().backward()
    with set_checkpoint_early_stop(False):
        checkpoint(f, leaf(0.5), use_reentrant=False).sum().backward()
    assert len(calls) == 3


def test_different_second_forward_is_an_error():
    sizes = iter([2, 3])

    def f(value):
        return (value * flambeau.ones(next(sizes), 2)).exp()

    y = checkpoint(f, leaf(1.0, 2.0), use_reentrant=False)
    with pytest.raises(CheckpointError, match="different metadata"):
        y.sum().backward()
    counts = iter([2, 1])

    def g(value):
        for _ in range(next(counts)):
            value = value.exp()
        return value

    y = checkpoint(g, leaf(1.0), use_reentrant=False)
    with pytest.raises(CheckpointError, match="different number of tensors"):
        y.sum().backward()


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_sequential(use_reentrant):
    x = leaf(0.5, 1.0)
    layers = [flambeau.exp, flambeau.sin, lambda t: t * t, flambeau.cos, flambeau.tanh]
    checkpoint_sequential(layers, 2, x, use_reentrant=use_reentrant).sum().backward()

    def plain(value):
        for layer in layers:
            value = layer(value)
        return value

    assert x.grad.tolist() == pytest.approx(plain_gradient(x, plain))


def test_intermediates_are_not_kept():
    kept = []
    x = leaf(0.5)

    def pack(tensor):
        kept.append(1)
        return tensor

    with autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        checkpoint(lambda t: t.exp().exp().exp(), x, use_reentrant=False)
    assert len(kept) <= 1  # at most the input
