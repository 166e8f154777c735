"""In-place operations on leaves, intermediates, views and bases. Behaviour recorded from PyTorch 2.13."""

import weakref

import pytest

import flambeau
from flambeau import autograd


def leaf(*values):
    return flambeau.tensor(values, requires_grad=True)


def grad_of(x, y):
    return autograd.grad(y.sum(), x, retain_graph=True)[0].tolist()


def test_in_place_on_an_intermediate():
    x = leaf(1.0, 2.0)
    y = x * 3.0
    y.mul_(4.0)
    assert y.grad_fn.name() == "MulBackward0"
    assert grad_of(x, y) == [12.0, 12.0]


def test_in_place_on_a_constant_makes_it_part_of_the_graph():
    x = leaf(2.0, 3.0)
    y = flambeau.ones(2)
    y.mul_(x)
    assert y.requires_grad and not y.is_leaf
    assert grad_of(x, y) == [1.0, 1.0]


def test_leaf_that_requires_grad_may_not_be_changed():
    x = leaf(1.0, 2.0)
    with pytest.raises(
        RuntimeError,
        match="a leaf Variable that requires grad is being used in an in-place operation",
    ):
        x.mul_(2.0)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        x[0].mul_(2.0)
    with flambeau.no_grad():
        x.mul_(2.0)
    assert x.tolist() == [2.0, 4.0]
    x.data.add_(1.0)
    x.detach().add_(1.0)
    assert x.tolist() == [4.0, 6.0]


def test_changed_saved_tensor_is_an_error():
    x = leaf(1.0, 2.0)
    y = x.exp()
    z = y * 2.0
    y.add_(1.0)
    with pytest.raises(
        RuntimeError,
        match=r"modified by an inplace operation: \[torch.FloatTensor \[2\]\], which is output 0 of",
    ):
        z.sum().backward()


def test_change_through_data_is_not_noticed():
    x = leaf(0.0)
    y = x.exp()
    y.data.mul_(3.0)
    assert grad_of(x, y) == [3.0]


def test_change_through_detach_is_noticed():
    y = leaf(0.0).exp()
    y.detach().mul_(3.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_version_counts_changes_of_the_shared_memory():
    x = flambeau.ones(4)
    view = x[:2]
    assert (x._version, view._version) == (0, 0)
    view.add_(1.0)
    x.mul_(2.0)
    assert (x._version, view._version) == (2, 2)


def test_change_of_a_view_is_a_change_of_its_base():
    x = leaf(1.0, 2.0, 3.0)
    base = x * 1.0
    view = base[1]
    view.mul_(5.0)
    assert type(base.grad_fn).__name__ == "CopySlices"
    assert base.tolist() == [1.0, 10.0, 3.0]
    assert grad_of(x, base) == [1.0, 5.0, 1.0]
    assert grad_of(x, view) == [0.0, 5.0, 0.0]


def test_change_of_a_base_is_a_change_of_its_views():
    x = leaf(1.0, 2.0, 3.0)
    base = x * 1.0
    view = base[1:]
    base.mul_(x)
    assert grad_of(x, view) == [0.0, 4.0, 6.0]


def test_change_of_one_view_shows_in_another():
    x = leaf(1.0, 2.0, 3.0)
    base = x * 1.0
    first, second = base[:2], base[1:]
    first.mul_(10.0)
    assert second.tolist() == [20.0, 3.0]
    assert grad_of(x, second) == [0.0, 10.0, 1.0]


def test_view_of_a_view():
    x = flambeau.ones(3, 4, requires_grad=True)
    base = x * 1.0
    base.t()[1:3][0].mul_(7.0)
    expected = [[1.0, 7.0, 1.0, 1.0]] * 3
    assert grad_of(x, base) == expected


def test_two_changes_of_one_view():
    x = leaf(1.0, 2.0)
    base = x * 1.0
    view = base[:1]
    view.mul_(2.0)
    view.mul_(3.0)
    assert grad_of(x, base) == [6.0, 1.0]


def test_values_written_into_a_view():
    x, w = leaf(1.0, 2.0, 3.0), leaf(5.0)
    base = x * 1.0
    base[1] = w[0] * 2.0
    assert grad_of(x, base) == [1.0, 0.0, 1.0]
    assert grad_of(w, base) == [2.0]


def test_write_into_a_constant_buffer():
    x = leaf(1.0, 2.0)
    buffer = flambeau.zeros(2, 2)
    for row in range(2):
        buffer[row] = x * float(row + 1)
    assert buffer.requires_grad
    assert grad_of(x, buffer) == [3.0, 3.0]


def test_zeroed_view_has_no_gradient_there():
    x = leaf(1.0, 2.0, 3.0)
    base = x * 2.0
    base[1:].zero_()
    assert grad_of(x, base) == [2.0, 0.0, 0.0]
    base[:1].fill_(3.0)
    assert grad_of(x, base) == [0.0, 0.0, 0.0]


def test_saved_result_of_a_change_through_a_view():
    x = leaf(0.0, 1.0)
    base = x * 1.0
    base[:1].exp_()
    assert grad_of(x, base) == [1.0, 1.0]


def test_second_derivative_through_a_changed_view():
    x = flambeau.tensor([0.5, 1.0], dtype=flambeau.float64, requires_grad=True)

    def f(x):
        base = x * x
        base[1:].mul_(x[:1])
        base[:1].exp_()
        return base

    assert autograd.gradcheck(f, (x,))
    assert autograd.gradgradcheck(f, (x,))


def test_second_derivative_of_written_values():
    x = flambeau.tensor([0.5, 1.0, 2.0], dtype=flambeau.float64, requires_grad=True)

    def f(x):
        buffer = flambeau.zeros(2, 2, dtype=flambeau.float64)
        buffer[0] = x[:2] * x[1:]
        buffer[:, 1] = x[2] * buffer[:, 0].clone()
        return buffer.sin()

    assert autograd.gradcheck(f, (x,))
    assert autograd.gradgradcheck(f, (x,))


def test_change_through_a_real_view_of_a_complex_tensor():
    z = flambeau.tensor([1.0 + 2.0j, 3.0 - 1.0j], dtype=flambeau.complex128, requires_grad=True)

    def f(z):
        base = z * z
        flambeau.view_as_real(base)[..., 0].mul_(3.0)
        return base

    assert autograd.gradcheck(f, (z,))
    assert autograd.gradgradcheck(f, (z,))


def test_change_through_a_conjugate_view():
    z = flambeau.tensor([1.0 + 2.0j, 3.0 - 1.0j], dtype=flambeau.complex128, requires_grad=True)

    def f(z):
        base = z * 1.0
        base.conj().mul_(z)
        return base

    assert f(z).tolist() == [(1 - 2j) * (1 + 2j), (3 + 1j) * (3 - 1j)]
    assert autograd.gradcheck(f, (z,))


def test_output_of_a_function_with_several_views_may_not_be_changed():
    x = leaf(1.0, 2.0)
    first, _ = (x * 1.0).chunk(2)
    with pytest.raises(RuntimeError, match="function that returns multiple views"):
        first.mul_(2.0)


def test_multiple_views_whose_base_changed():
    x = leaf(1.0, 2.0)
    y = x * 1.0
    first, _ = y.chunk(2)
    y.mul_(2.0)
    with pytest.raises(
        RuntimeError, match="its base or another view of its base has been modified inplace"
    ):
        first.grad_fn


def test_view_made_under_no_grad_may_not_be_changed_outside():
    x = leaf(1.0, 2.0)
    y = x * 1.0
    with flambeau.no_grad():
        view = y[0]
    with pytest.raises(
        RuntimeError,
        match="A view was created in no_grad mode and is being modified inplace with grad mode enabled",
    ):
        view.mul_(2.0)
    with flambeau.no_grad():
        view.mul_(2.0)


def test_view_and_change_both_under_no_grad():
    x = leaf(1.0, 2.0)
    with flambeau.no_grad():
        x[0].mul_(5.0)
    assert x.tolist() == [5.0, 2.0]
    assert x.is_leaf


def test_bookkeeping_of_views():
    base = flambeau.ones(2, 3)
    view = base.t()[1:]
    assert view._base is base and view._is_view()
    assert base._base is None and not base._is_view()
    assert not base.detach()._is_view()


def test_detach_in_place_of_a_view_is_an_error():
    base = leaf(1.0, 2.0) * 1.0
    with pytest.raises(RuntimeError, match="Can't detach views in-place"):
        base[0].detach_()


def test_in_place_gradient_of_the_other_argument():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = x * 1.0
    y.mul_(w)
    assert grad_of(w, y) == [1.0, 2.0]
    assert grad_of(x, y) == [3.0, 4.0]


def test_expanded_tensor_may_not_be_written():
    with pytest.raises(
        RuntimeError,
        match="more than one element of the written-to tensor refers to a single memory location",
    ):
        flambeau.ones(1).expand(3).add_(1.0)


def test_operand_that_is_also_the_target():
    x = leaf(2.0, 3.0)
    y = x * 1.0
    y.mul_(y)
    assert grad_of(x, y) == [4.0, 6.0]
    gone = weakref.ref(y)
    del y
    assert gone() is None


def test_change_of_the_geometry_of_a_view():
    x = flambeau.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    w = flambeau.arange(6).float().view(3, 2)
    base = x * 1.0
    view = base[:, :]
    view.t_()
    assert base.grad_fn.name() == "MulBackward0"
    assert autograd.grad((view * w).sum(), x, retain_graph=True)[0].tolist() == [
        [0.0, 2.0, 4.0],
        [1.0, 3.0, 5.0],
    ]
    view.mul_(w)
    assert autograd.grad((base * base).sum(), x)[0].tolist() == [
        [0.0, 16.0, 96.0],
        [8.0, 90.0, 300.0],
    ]


def test_squeezed_view_is_still_a_view():
    x = flambeau.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    base = x * 1.0
    view = base[:1]
    view.squeeze_()
    view.mul_(2.0)
    assert autograd.grad((base * base).sum(), x)[0].tolist() == [
        [8.0, 16.0, 24.0],
        [8.0, 10.0, 12.0],
    ]
    expanded = (x * 1.0)[:1].expand(2, 3)
    expanded.squeeze_()
    assert autograd.grad((expanded * expanded).sum(), x)[0].tolist() == [
        [4.0, 8.0, 12.0],
        [0.0, 0.0, 0.0],
    ]
