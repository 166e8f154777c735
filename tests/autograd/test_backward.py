"""backward() and grad(): values, flags and errors. Expected numbers are derived by hand."""

import warnings

import pytest

import flambeau
from flambeau import autograd


def leaf(*values, dtype=None):
    return flambeau.tensor(values, dtype=dtype or flambeau.float32, requires_grad=True)


def test_gradient_of_a_product():
    x = leaf(1.0, 2.0, 3.0)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0, 6.0]


def test_gradients_accumulate():
    x = leaf(1.0, 2.0)
    for _ in range(3):
        (x * 2.0).sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


def test_a_tensor_used_twice_gets_both_gradients():
    x = leaf(2.0)
    y = x * 3.0
    (y * y + y).sum().backward()
    assert x.grad.tolist() == [2 * 6.0 * 3.0 + 3.0]


def test_backward_of_a_vector_needs_a_gradient():
    x = leaf(1.0, 2.0)
    with pytest.raises(
        RuntimeError, match="grad can be implicitly created only for scalar outputs"
    ):
        (x * 1.0).backward()
    (x * 3.0).backward(flambeau.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [3.0, 30.0]


def test_backward_without_history_is_an_error():
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
        flambeau.ones(1).backward()


def test_gradient_of_another_shape_is_an_error():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (x * 1.0).backward(flambeau.ones(3))
    with pytest.raises(TypeError, match="gradients can be either Tensors or None"):
        autograd.backward(x * 1.0, [3])


def test_second_backward_needs_retain_graph():
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0, 8.0]
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_second_backward_works_where_nothing_was_saved():
    x = leaf(1.0)
    y = (x + 1.0).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [2.0]


def test_several_roots():
    x = leaf(1.0, 2.0)
    autograd.backward([(x * 2.0).sum(), x * 3.0], [None, flambeau.tensor([1.0, 0.0])])
    assert x.grad.tolist() == [5.0, 2.0]


def test_same_root_twice_counts_twice():
    x = leaf(1.0)
    y = x * 2.0
    autograd.backward([y, y])
    assert x.grad.tolist() == [4.0]


def test_backward_into_given_inputs_only():
    x, y = leaf(1.0), leaf(2.0)
    z = x * y
    autograd.backward(z, inputs=[x])
    assert x.grad.tolist() == [2.0]
    assert y.grad is None


def test_backward_into_a_non_leaf():
    x = leaf(3.0)
    y = x * 2.0
    (y * y).backward(inputs=[y])
    assert y.grad.tolist() == [12.0]
    assert x.grad is None


def test_backward_with_empty_inputs_is_an_error():
    x = leaf(3.0)
    with pytest.raises(RuntimeError, match="cannot be empty"):
        (x * x).backward(inputs=[])


def test_grad_returns_without_accumulating():
    x, y = leaf(2.0), leaf(5.0)
    gx, gy = autograd.grad(x * y, (x, y))
    assert (gx.item(), gy.item()) == (5.0, 2.0)
    assert x.grad is None and y.grad is None


def test_grad_of_unused_inputs():
    x, unused = leaf(2.0), leaf(1.0, 1.0)
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        autograd.grad(x * 2.0, unused)
    assert autograd.grad(x * 2.0, (x, unused), allow_unused=True)[1] is None
    found = autograd.grad(x * 2.0, (x, unused), materialize_grads=True)
    assert found[1].tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="Expected allow_unused to be True"):
        autograd.grad(x * 2.0, unused, allow_unused=False, materialize_grads=True)


def test_grad_in_a_tensor_without_requires_grad_is_an_error():
    x = leaf(2.0)
    with pytest.raises(RuntimeError, match="does not require grad"):
        autograd.grad(x * 2.0, flambeau.ones(1))


def test_grad_in_a_non_leaf_and_in_the_output_itself():
    x = leaf(2.0)
    y = x * x
    z = y * 3.0
    assert autograd.grad(z, (y, z), retain_graph=True)[0].item() == 3.0
    assert autograd.grad(z, (y, z))[1].item() == 1.0


def test_grad_skips_what_is_not_on_the_way():
    calls = []

    class Noisy(autograd.Function):
        @staticmethod
        def forward(ctx, value):
            return value * 1.0

        @staticmethod
        def backward(ctx, grad):
            calls.append(1)
            return grad

    x, y = leaf(2.0), leaf(3.0)
    autograd.grad(x * Noisy.apply(y), x)
    assert calls == []


def test_batched_grad_outputs():
    x = leaf(1.0, 2.0)
    (jacobian,) = autograd.grad(x * x, x, flambeau.eye(2), is_grads_batched=True)
    assert jacobian.tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_second_and_third_derivatives():
    x = leaf(2.0, dtype=flambeau.float64)
    y = x * x * x * x
    (first,) = autograd.grad(y, x, create_graph=True)
    (second,) = autograd.grad(first, x, create_graph=True)
    (third,) = autograd.grad(second, x)
    assert (first.item(), second.item(), third.item()) == (32.0, 48.0, 48.0)


def test_create_graph_accumulates_differentiably():
    x = leaf(2.0)
    x.grad = flambeau.ones(1)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # the cycle between x and its gradient, said once per process
        (x * x * x).backward(create_graph=True)
    assert x.grad.tolist() == [13.0]
    assert x.grad.requires_grad
    (second,) = autograd.grad(x.grad, x)
    assert second.tolist() == [12.0]
    x.grad = None


def test_gradient_is_summed_over_broadcast_dims():
    x = flambeau.ones(2, 1, requires_grad=True)
    bias = flambeau.ones(3, requires_grad=True)
    (x * flambeau.ones(4, 2, 3) + bias).sum().backward()
    assert x.grad.tolist() == [[12.0], [12.0]]
    assert bias.grad.tolist() == [8.0, 8.0, 8.0]


def test_gradient_has_the_dtype_of_the_input():
    x = leaf(2.0)
    (x * flambeau.tensor([3.0], dtype=flambeau.float64)).sum().backward()
    assert x.grad.dtype == flambeau.float32
    assert x.grad.tolist() == [3.0]


def test_real_input_of_complex_function_gets_the_real_part():
    x = leaf(2.0, dtype=flambeau.float64)
    z = x * flambeau.tensor([1.0 + 2.0j])
    (z * z.conj()).real.sum().backward()
    assert x.grad.dtype == flambeau.float64
    assert x.grad.tolist() == [20.0]


def test_complex_gradient_convention():
    z = flambeau.tensor([3.0 + 4.0j], requires_grad=True)
    (z * z.conj()).real.sum().backward()
    assert z.grad.tolist() == [6.0 + 8.0j]
    with pytest.raises(RuntimeError, match=r"real scalar outputs|complex"):
        (z * z).sum().backward()


def test_integer_tensors_can_not_require_grad():
    with pytest.raises(RuntimeError, match="floating point"):
        flambeau.ones(2, dtype=flambeau.int64).requires_grad_()


def test_first_gradient_is_not_shared_between_leaves():
    x, y = leaf(1.0), leaf(2.0)
    (x + y).sum().backward()
    x.grad.add_(1.0)
    assert (x.grad.item(), y.grad.item()) == (2.0, 1.0)


def test_given_gradient_is_not_taken_over():
    x = leaf(1.0)
    seed = flambeau.ones(1)
    x.backward(seed)
    x.grad.add_(1.0)
    assert seed.item() == 1.0


def test_gradient_has_the_layout_of_its_leaf():
    x = flambeau.ones(2, 3).t().requires_grad_()
    (x * flambeau.ones(3, 2)).sum().backward()
    assert x.grad.stride() == x.stride()
    y = flambeau.ones(2, 3, requires_grad=True)
    y.sum().backward()
    assert y.grad.stride() == (3, 1)


def test_accumulation_keeps_the_identity_of_grad():
    x = leaf(1.0)
    (x * 2.0).sum().backward()
    first = x.grad
    (x * 2.0).sum().backward()
    assert x.grad is first
    assert first.tolist() == [4.0]


def test_backward_of_a_leaf_itself():
    x = leaf(4.0)
    x.backward()
    assert x.grad.tolist() == [1.0]


def test_assigning_grad():
    x = leaf(1.0, 2.0)
    x.grad = flambeau.tensor([3.0, 4.0])
    assert x.grad.tolist() == [3.0, 4.0]
    with pytest.raises(RuntimeError, match="of size"):
        x.grad = flambeau.ones(3)
    with pytest.raises(RuntimeError, match="dtype"):
        x.grad = flambeau.ones(2, dtype=flambeau.float64)
    with pytest.raises(TypeError, match="expected to be a Tensor or None"):
        x.grad = 3
    with pytest.raises(RuntimeError, match="own grad"):
        x.grad = x
    del x.grad
    assert x.grad is None


def test_grad_of_a_non_leaf_warns():
    y = leaf(1.0) * 2.0
    with pytest.warns(UserWarning, match="not a leaf Tensor"):
        assert y.grad is None


def test_requires_grad_flags():
    x = flambeau.ones(2)
    assert x.is_leaf and not x.requires_grad
    assert x.requires_grad_() is x and x.requires_grad
    y = x * 2.0
    assert not y.is_leaf and y.requires_grad
    with pytest.raises(
        RuntimeError, match="you can only change requires_grad flags of leaf variables"
    ):
        y.requires_grad = False
    assert not y.detach().requires_grad
    y.detach_()
    assert y.is_leaf and not y.requires_grad and y.grad_fn is None


def test_leaf_that_stopped_requiring_grad_gets_none():
    x = leaf(1.0)
    y = (x * 2.0).sum()
    x.requires_grad_(False)
    y.backward()
    assert x.grad is None


def test_variable_is_an_old_name():
    x = autograd.Variable(flambeau.ones(2), requires_grad=True)
    assert isinstance(x, autograd.Variable)
    assert isinstance(flambeau.ones(1), autograd.Variable)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_subclass_view_stays_part_of_the_graph():
    class Sub(flambeau.Tensor):
        pass

    x = leaf(1.0, 2.0)
    y = (x * 2.0).as_subclass(Sub)
    assert type(y) is Sub and y.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_data_of_a_parameter_may_change_its_dtype():
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    y.backward()
    x.grad = None
    x.data = x.data.double()
    (x * x).sum().backward()
    assert x.grad.dtype == flambeau.float64
    assert x.grad.tolist() == [2.0, 4.0]
