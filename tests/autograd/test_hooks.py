"""Hooks of tensors and nodes: order, replacement, removal. The order is PyTorch's, recorded from 2.13."""

import gc
import weakref

import pytest

import flambeau
from flambeau import autograd


def leaf(*values):
    return flambeau.tensor(values, requires_grad=True)


def test_tensor_hook_sees_and_replaces_the_gradient():
    x = leaf(1.0, 2.0)
    y = x * 3.0
    seen = []
    y.register_hook(lambda grad: seen.append(grad.tolist()))
    y.register_hook(lambda grad: grad * 10.0)
    y.sum().backward()
    assert seen == [[1.0, 1.0]]
    assert x.grad.tolist() == [30.0, 30.0]


def test_hooks_run_in_order_of_registration():
    x = leaf(1.0)
    y = x * 1.0
    y.register_hook(lambda grad: grad + 1.0)
    y.register_hook(lambda grad: grad * 2.0)
    y.backward()
    assert x.grad.tolist() == [4.0]


def test_order_of_all_kinds_of_hooks():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 2.0
    order = []
    y.register_hook(lambda grad: order.append("tensor 1"))
    y.retain_grad()
    y.register_hook(lambda grad: (order.append("tensor 2"), grad * 10.0)[1])
    y.grad_fn.register_prehook(lambda grads: order.append("pre"))
    y.grad_fn.register_hook(lambda inputs, outputs: order.append(("post", len(outputs))))
    x.register_hook(lambda grad: order.append("leaf"))
    x.register_post_accumulate_grad_hook(lambda tensor: order.append("accumulated"))
    y.sum().backward()
    assert order == ["tensor 1", "tensor 2", "pre", ("post", 1), "leaf", "accumulated"]
    assert y.grad.tolist() == [10.0, 10.0, 10.0]  # retain_grad sees what the last tensor hook made


def test_hook_handle_removes_once_and_as_a_context():
    x = leaf(1.0)
    y = x * 1.0
    calls = []
    handle = y.register_hook(lambda grad: calls.append(1))
    handle.remove()
    handle.remove()
    with y.register_hook(lambda grad: calls.append(2)):
        y.backward(retain_graph=True)
    y.backward()
    assert calls == [2]


def test_hook_may_remove_itself():
    x = leaf(1.0)
    calls = []

    def once(grad):
        calls.append(1)
        handle.remove()

    handle = x.register_hook(once)
    (x * 2.0).backward()
    (x * 2.0).backward()
    assert calls == [1]


def test_leaf_hook_changes_what_is_accumulated():
    x = leaf(1.0)
    x.register_hook(lambda grad: grad * 5.0)
    (x * 2.0).backward()
    assert x.grad.tolist() == [10.0]
    assert autograd.grad(x * 2.0, x)[0].tolist() == [10.0]


def test_hook_registered_after_the_graph_was_built():
    x = leaf(1.0)
    y = x * 2.0
    x.register_hook(lambda grad: grad * 5.0)
    y.backward()
    assert x.grad.tolist() == [10.0]


def test_post_accumulate_hook_may_clear_grad():
    x = leaf(1.0)
    grads = []

    def step(tensor):
        grads.append(tensor.grad.item())
        tensor.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * 2.0).backward()
    assert grads == [2.0]
    assert x.grad is None


def test_post_accumulate_hook_is_for_leaves():
    with pytest.raises(RuntimeError, match="non-leaf"):
        (leaf(1.0) * 1.0).register_post_accumulate_grad_hook(lambda tensor: None)


def test_hook_without_requires_grad_is_an_error():
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        flambeau.ones(1).register_hook(lambda grad: grad)


def test_hook_that_returns_nonsense_is_an_error():
    y = leaf(1.0) * 1.0
    y.register_hook(lambda grad: 3)
    with pytest.raises(TypeError, match="int"):
        y.backward()
    z = leaf(1.0) * 1.0
    z.register_hook(lambda grad: flambeau.ones(4))
    with pytest.raises(RuntimeError, match="size"):
        z.backward()


def test_exception_in_a_hook_arrives_and_leaves_things_usable():
    x = leaf(1.0)
    y = x * 2.0

    def fails(grad):
        raise KeyError("from the hook")

    handle = y.register_hook(fails)
    with pytest.raises(KeyError, match="from the hook"):
        y.backward(retain_graph=True)
    handle.remove()
    y.backward()
    assert x.grad.tolist() == [2.0]


def test_node_hooks_replace_cotangents():
    x = leaf(1.0)
    y = x * 2.0
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 3.0,))
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 5.0, *inputs[1:]))
    y.backward()
    assert x.grad.tolist() == [30.0]


def test_retain_grad():
    x = leaf(1.0)
    y = x * 2.0
    assert not y.retains_grad
    y.retain_grad()
    y.retain_grad()
    assert y.retains_grad
    (y * 3.0).backward()
    assert y.grad.tolist() == [3.0]
    with pytest.raises(RuntimeError, match="can't retain_grad"):
        flambeau.ones(1).retain_grad()


def test_retained_gradient_is_that_of_the_newest_value():
    x = leaf(1.0)
    y = x * 2.0
    y.retain_grad()
    y.mul_(3.0)
    y.sum().backward()
    assert y.grad.tolist() == [1.0]
    assert x.grad.tolist() == [6.0]


def test_tensor_hook_stays_with_the_value_it_was_registered_on():
    x = leaf(1.0)
    y = x * 2.0
    seen = []
    y.register_hook(lambda grad: seen.append(grad.item()))
    y.mul_(3.0)
    y.sum().backward()
    assert seen == [3.0]


def test_hooks_run_for_grad_too():
    x = leaf(1.0)
    y = x * 2.0
    y.register_hook(lambda grad: grad * 7.0)
    assert autograd.grad(y, x)[0].item() == 14.0


def test_dropped_tensor_with_retained_grad_is_harmless():
    x = leaf(1.0)
    y = x * 2.0
    y.retain_grad()
    z = y * 3.0
    del y
    z.backward()
    assert x.grad.tolist() == [6.0]


def test_hook_that_closes_over_its_tensor_is_collected():
    y = leaf(1.0) * 2.0
    y.register_hook(lambda grad, y=y: None)
    gone = weakref.ref(y)
    del y
    gc.collect()
    assert gone() is None


def test_multi_grad_hook_waits_for_all():
    a, b, c = leaf(1.0), leaf(2.0), leaf(3.0)
    calls = []
    handle = autograd.graph.register_multi_grad_hook((a, b, c), lambda grads: calls.append(grads))
    (a * b).sum().backward()
    assert [None if grad is None else grad.item() for grad in calls[0]] == [2.0, 1.0, None]
    handle.remove()
    (a * b).sum().backward()
    assert len(calls) == 1


def test_multi_grad_hook_takes_the_first_of_any():
    a, b = leaf(1.0), leaf(2.0)
    calls = []
    autograd.graph.register_multi_grad_hook(
        (a, b), lambda grad: calls.append(grad.item()), mode="any"
    )
    (a * 5.0 + b * 5.0).sum().backward()
    (a * 7.0).sum().backward()
    assert calls == [5.0, 7.0]
