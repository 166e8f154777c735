"""Jacobians, Hessians and products, against numbers derived by hand."""

import pytest

import flambeau
from flambeau.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp


def tensor(*values):
    return flambeau.tensor(values, dtype=flambeau.float64)


def cube_sum(t):
    return (t**3).sum()


def test_jacobian_shapes():
    def f(a, b):
        return a * b.sum(), a.sum()

    a, b = flambeau.ones(2), flambeau.ones(3)
    found = jacobian(f, (a, b))
    assert [[tuple(t.shape) for t in row] for row in found] == [[(2, 2), (2, 3)], [(2,), (3,)]]
    assert jacobian(lambda t: t * t, tensor(1.0, 2.0)).tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_jacobian_of_a_constant_is_zero_or_an_error():
    x = tensor(1.0, 2.0)
    assert jacobian(lambda t: flambeau.ones(1, dtype=flambeau.float64), x).tolist() == [[0.0, 0.0]]
    with pytest.raises(RuntimeError, match="does not require gradients"):
        jacobian(lambda t: flambeau.ones(1), x, strict=True)


def test_jacobian_can_be_differentiated():
    x = tensor(1.0, 2.0).requires_grad_()
    found = jacobian(lambda t: t**3, x, create_graph=True)
    found.sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]
    assert not jacobian(lambda t: t**3, x).requires_grad


def test_hessian():
    assert hessian(cube_sum, tensor(1.0, 2.0)).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    found = hessian(lambda a, b: (a * b).sum(), (tensor(1.0, 2.0), tensor(3.0, 4.0)))
    assert found[0][0].tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert found[0][1].tolist() == [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(RuntimeError, match="should contain a single element"):
        hessian(lambda t: t, tensor(1.0, 2.0))


def test_products():
    x, v = tensor(1.0, 2.0), tensor(1.0, 10.0)
    assert vjp(lambda t: t * t, x, v)[1].tolist() == [2.0, 40.0]
    outputs, product = jvp(lambda t: (t * t, t.sum()), x, v)
    assert [p.tolist() for p in product] == [[2.0, 40.0], 11.0]
    assert outputs[1].item() == 3.0
    assert vhp(cube_sum, x, v)[1].tolist() == [6.0, 120.0]
    assert hvp(cube_sum, x, v)[1].tolist() == [6.0, 120.0]


def test_vector_may_be_left_out_for_one_element():
    assert vjp(cube_sum, tensor(1.0, 2.0))[1].tolist() == [3.0, 12.0]
    with pytest.raises(RuntimeError, match="The vector v can only be None"):
        vjp(lambda t: t * 2.0, tensor(1.0, 2.0))
    with pytest.raises(RuntimeError, match="The vector v can only be None"):
        jvp(cube_sum, tensor(1.0, 2.0))
    with pytest.raises(RuntimeError, match="v has invalid size"):
        vjp(lambda t: t * 2.0, tensor(1.0, 2.0), tensor(1.0))


def test_inputs_are_checked():
    with pytest.raises(
        TypeError, match="inputs given to jacobian must be either a Tensor or a tuple of Tensors"
    ):
        jacobian(lambda t: t, 3)
    with pytest.raises(TypeError, match="outputs of the user-provided function given to vjp"):
        vjp(lambda t: 3, tensor(1.0), tensor(1.0))


def test_inputs_are_left_alone():
    x = tensor(1.0, 2.0)
    hessian(cube_sum, x)
    assert not x.requires_grad and x.grad is None


def test_forward_mode_jacobian_equals_reverse_mode():
    def f(a, b):
        return (a.unsqueeze(1) * b).sin(), a.prod()

    a, b = tensor(1.0, 2.0, 3.0), tensor(4.0, 5.0)
    for one, other in zip(
        jacobian(f, (a, b)),
        jacobian(f, (a, b), vectorize=True, strategy="forward-mode"),
        strict=True,
    ):
        for expected, found in zip(one, other, strict=True):
            assert expected.shape == found.shape
            assert flambeau.allclose(expected, found)
            assert not found.requires_grad
    assert jacobian(lambda t: flambeau.ones(2), a, strategy="forward-mode").shape == (2, 3)


def test_forward_mode_hessian_equals_reverse_mode():
    def f(a, b):
        return (a.exp() * b.sum()).prod()

    x = (tensor(0.5, 1.0), tensor(2.0, 3.0))
    for one, other in zip(
        hessian(f, x), hessian(f, x, outer_jacobian_strategy="forward-mode"), strict=True
    ):
        for expected, found in zip(one, other, strict=True):
            assert flambeau.allclose(expected, found)


def test_what_forward_mode_does_not_go_with():
    x = tensor(1.0, 2.0)
    with pytest.raises(NotImplementedError, match="create_graph=True"):
        jacobian(lambda t: t * t, x, create_graph=True, strategy="forward-mode")
    with pytest.raises(RuntimeError, match="strict=True"):
        jacobian(lambda t: t * t, x, strict=True, strategy="forward-mode")
    with pytest.raises(AssertionError, match="Expected strategy"):
        jacobian(lambda t: t * t, x, strategy="sideways")
