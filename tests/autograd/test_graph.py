"""Nodes, edges and saved-tensor hooks."""

import pytest

import flambeau
from flambeau import autograd
from flambeau.autograd import graph


def leaf(*values):
    return flambeau.tensor(values, requires_grad=True)


def test_nodes():
    x = leaf(1.0, 2.0)
    y = (x * 2.0).exp()
    node = y.grad_fn
    assert node is y.grad_fn
    assert node.name() == "ExpBackward0" and type(node).__name__ == "ExpBackward0"
    assert repr(node).startswith("<ExpBackward0 object at 0x")
    assert isinstance(node, graph.Node) and not isinstance(y, graph.Node)
    (below, number), *_ = node.next_functions
    assert below.name() == "MulBackward0" and number == 0
    accumulate, none = below.next_functions[0][0], below.next_functions[1][0]
    assert accumulate.name() == "torch::autograd::AccumulateGrad" and accumulate.variable is x
    assert none is None
    node.metadata["mine"] = 3
    assert y.grad_fn.metadata == {"mine": 3}
    assert x.grad_fn is None


def test_output_numbers():
    first, second = leaf(1.0, 2.0).chunk(2)
    assert (first.output_nr, second.output_nr) == (0, 1)
    assert first.grad_fn is second.grad_fn


def test_saved_attributes():
    x = leaf(1.0, 2.0)
    y = x * flambeau.tensor([3.0, 4.0])
    assert y.grad_fn._saved_other.tolist() == [3.0, 4.0]
    z = x.exp()
    assert z.grad_fn._saved_result.tolist() == z.tolist()
    assert z.grad_fn._saved_result.grad_fn is z.grad_fn
    with pytest.raises(AttributeError):
        z.grad_fn._saved_nothing


def test_gradient_edges_stand_for_tensors():
    x = leaf(2.0)
    y = x * x
    edge = graph.get_gradient_edge(y)
    assert edge.node is y.grad_fn and edge.output_nr == 0
    z = y * 3.0
    assert autograd.grad(z, edge, retain_graph=True)[0].item() == 3.0
    del y
    assert autograd.grad(edge, x, flambeau.tensor([2.0]))[0].item() == 8.0
    assert graph.get_gradient_edge(x).node.variable is x


def test_increment_version():
    x = leaf(1.0)
    y = x.exp()
    graph.increment_version(y)
    assert y._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_saved_tensors_hooks():
    x = leaf(1.0, 2.0)
    events = []

    def pack(tensor):
        events.append(("pack", tensor.tolist()))
        return tensor.tolist()

    def unpack(values):
        events.append(("unpack", values))
        return flambeau.tensor(values)

    with graph.saved_tensors_hooks(pack, unpack):
        y = (x * flambeau.tensor([3.0, 4.0])).sum()
    z = y * 2.0
    z.backward()
    assert ("pack", [3.0, 4.0]) in events and ("unpack", [3.0, 4.0]) in events
    assert x.grad.tolist() == [6.0, 8.0]


def test_hooked_tensors_are_still_differentiable():
    x = flambeau.tensor([0.5, 1.0], dtype=flambeau.float64, requires_grad=True)

    def f(t):
        with graph.saved_tensors_hooks(lambda s: s.clone(), lambda s: s):
            return (t * t).exp() * t

    assert autograd.gradcheck(f, (x,))
    assert autograd.gradgradcheck(f, (x,))


def test_hooks_nest():
    x = leaf(1.0)
    order = []
    outer = graph.saved_tensors_hooks(lambda t: (order.append("outer"), t)[1], lambda t: t)
    inner = graph.saved_tensors_hooks(lambda t: (order.append("inner"), t)[1], lambda t: t)
    with outer:
        with inner:
            x.exp()
        x.exp()
    x.exp()
    assert order == ["inner", "outer"]


def test_hooks_may_not_change_the_tensor():
    with pytest.raises(RuntimeError, match="pack hook is modifying its input in place"):
        with graph.saved_tensors_hooks(lambda t: t.add_(1.0), lambda t: t):
            leaf(1.0).exp()


def test_unpack_must_return_a_tensor():
    with graph.saved_tensors_hooks(lambda t: 3, lambda packed: packed):
        y = leaf(1.0).exp()
    with pytest.raises(TypeError, match="unpack_hook"):
        y.backward()


def test_hooks_can_be_disabled():
    with graph.disable_saved_tensors_hooks("not here"):
        with (
            pytest.raises(RuntimeError, match="not here"),
            graph.saved_tensors_hooks(lambda t: t, lambda t: t),
        ):
            pass
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        pass


def test_save_on_cpu():
    x = leaf(1.0, 2.0)
    with graph.save_on_cpu():
        y = x * x
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_allow_mutation_on_saved_tensors():
    x = leaf(1.0, 2.0)
    with graph.allow_mutation_on_saved_tensors():
        y = x.exp()
        expected = y.tolist()
        z = y * 2.0
        y.sin_()
        z.sum().backward()
    assert x.grad.tolist() == pytest.approx([2.0 * value for value in expected])


def test_hooks_apply_to_custom_functions():
    class Square(autograd.Function):
        @staticmethod
        def forward(ctx, value):
            ctx.save_for_backward(value)
            return value * value

        @staticmethod
        def backward(ctx, grad):
            (value,) = ctx.saved_tensors
            return grad * 2.0 * value

    x = leaf(3.0)
    with graph.saved_tensors_hooks(lambda t: t.detach() * 10.0, lambda t: t):
        y = Square.apply(x)
    y.backward()
    assert x.grad.tolist() == [60.0]
