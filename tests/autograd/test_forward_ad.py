"""Dual tensors: levels, views, in-place changes, custom Functions, and both modes together."""

import gc
import weakref

import pytest

import flambeau
import flambeau.autograd.forward_ad as fwAD
from flambeau.autograd import Function, grad


def tensor(*values):
    return flambeau.tensor(values, dtype=flambeau.float64)


def tangent(value):
    return fwAD.unpack_dual(value).tangent


@pytest.fixture
def level():
    with fwAD.dual_level() as number:
        yield number


@pytest.fixture
def dual(level):
    return fwAD.make_dual(tensor(1.0, 2.0, 3.0), tensor(1.0, 0.0, -1.0))


# ---- levels and dual tensors ----


def test_product_rule(dual):
    assert tangent(dual * dual).tolist() == [2.0, 0.0, -6.0]
    primal, found = fwAD.unpack_dual(dual.sum())
    assert (primal.item(), found.item()) == (6.0, 0.0)
    assert isinstance(fwAD.unpack_dual(dual), fwAD.UnpackedDualTensor)


def test_tangent_is_the_given_tensor():
    x, v = tensor(1.0, 2.0), tensor(3.0, 4.0)
    with fwAD.dual_level():
        dual = fwAD.make_dual(x, v)
        primal, found = fwAD.unpack_dual(dual)
        assert found is v
        assert primal.data_ptr() == x.data_ptr() == dual.data_ptr()
        assert tangent(primal) is None
        assert tangent(x) is None


def test_tangents_end_with_their_level():
    with fwAD.dual_level():
        dual = fwAD.make_dual(tensor(1.0), tensor(1.0))
        result = dual * 2
        kept = weakref.ref(tangent(result))
    assert fwAD.unpack_dual(result).tangent is None
    gc.collect()
    assert kept() is None
    with fwAD.dual_level():
        assert tangent(result) is None
        assert tangent(result * 2) is None


def test_levels_do_not_nest(level):
    assert level == 0
    with pytest.raises(RuntimeError, match="Nested forward mode AD"):
        fwAD.enter_dual_level()
    with pytest.raises(RuntimeError, match="not the last one that was created"):
        fwAD.exit_dual_level(level=3)


def test_errors_outside_of_a_level():
    with pytest.raises(RuntimeError, match="no level exists"):
        fwAD.make_dual(tensor(1.0), tensor(1.0))
    with pytest.raises(RuntimeError, match="positive"):
        fwAD.exit_dual_level()
    assert fwAD.unpack_dual(tensor(1.0)).tangent is None


def test_errors_of_make_dual(dual):
    x = tensor(1.0, 2.0)
    with pytest.raises(
        RuntimeError, match=r"Tensor is of size \[2\] while the given forward .* \[3\]"
    ):
        fwAD.make_dual(x, tensor(1.0, 2.0, 3.0))
    with pytest.raises(ValueError, match="primal to be floating point"):
        fwAD.make_dual(flambeau.arange(2), x)
    with pytest.raises(ValueError, match="tangent to be floating point"):
        fwAD.make_dual(x, flambeau.arange(2))
    with pytest.raises(RuntimeError, match="already has a forward gradient"):
        fwAD.make_dual(dual, tensor(1.0, 2.0, 3.0))
    with pytest.raises(RuntimeError, match="complex forward gradient"):
        fwAD.make_dual(x, x + 0j)


def test_level_as_a_decorator():
    @fwAD.dual_level()
    def derivative(x):
        return tangent(fwAD.make_dual(x, flambeau.ones_like(x)) ** 3)

    assert derivative(tensor(2.0)).tolist() == [12.0]


def test_out_is_refused(dual):
    with pytest.raises(NotImplementedError, match="sin_out that does not support it"):
        flambeau.sin(dual, out=flambeau.empty(3, dtype=flambeau.float64))
    with pytest.raises(NotImplementedError, match="sin_out"):
        flambeau.sin(tensor(1.0, 2.0, 3.0), out=dual)


def test_results_without_derivative_are_not_dual(dual):
    assert tangent(dual.detach()) is None
    assert tangent(dual.argmax()) is None
    assert tangent(dual > 1) is None
    values, indices = dual.max(0)
    assert tangent(values).item() == -1.0
    assert tangent(indices) is None
    assert tangent(dual.floor()).tolist() == [0.0, 0.0, 0.0]


def test_grad_mode_does_not_matter_and_inference_mode_does(dual):
    with flambeau.no_grad():
        assert tangent(dual * 2).tolist() == [2.0, 0.0, -2.0]
    with flambeau.inference_mode():
        assert tangent(dual * 2) is None


def test_propagation_can_be_switched_off(dual):
    with fwAD._set_fwd_grad_enabled(False):
        assert not fwAD._is_fwd_grad_enabled()
        result = dual * 2
        assert tangent(dual) is None
    assert tangent(result) is None
    assert fwAD._is_fwd_grad_enabled()


def test_dtypes_promote(level):
    single = fwAD.make_dual(flambeau.ones(2), flambeau.ones(2))
    assert tangent(single * tensor(1.0, 2.0)).dtype == flambeau.float64
    assert tangent(single + flambeau.arange(2)).tolist() == [1.0, 1.0]
    assert tangent(flambeau.cat([single, flambeau.arange(2)])).tolist() == [1.0, 1.0, 0.0, 0.0]
    assert tangent(single * 1j).tolist() == [1j, 1j]


def test_complex_functions(level):
    z = fwAD.make_dual(flambeau.tensor([3.0 + 4j]), flambeau.tensor([1j]))
    assert tangent(z * z).tolist() == [-8 + 6j]
    assert tangent(z.conj()).tolist() == [-1j]
    assert tangent(z.abs()).item() == pytest.approx(0.8)
    assert tangent(z.real).tolist() == [0.0]


# ---- layouts, views, in-place ----


def test_tangent_takes_the_layout_of_its_primal(level):
    x = tensor(1.0, 2.0, 3.0, 4.0).view(2, 2)
    v = tensor(1.0, 2.0, 3.0, 4.0).view(2, 2).t()
    dual = fwAD.make_dual(x, v)
    assert tangent(dual) is not v
    assert tangent(dual.view(4)).tolist() == [1.0, 3.0, 2.0, 4.0]


def test_view_of_a_dual_shares_its_tangent(level):
    v = tensor(1.0, 2.0, 3.0, 4.0)
    dual = fwAD.make_dual(tensor(5.0, 6.0, 7.0, 8.0), v)
    view = dual.view(2, 2)[1]
    view.mul_(10)
    assert tangent(view).tolist() == [30.0, 40.0]
    assert v.tolist() == [1.0, 2.0, 30.0, 40.0]
    assert tangent(dual) is v


def test_result_does_not_share_its_tangent_with_an_argument(dual):
    copy = dual.clone()
    copy.mul_(5)
    assert tangent(copy).tolist() == [5.0, 0.0, -5.0]
    assert tangent(dual).tolist() == [1.0, 0.0, -1.0]


def test_writing_a_dual_into_a_view_reaches_base_and_siblings(dual):
    base = flambeau.zeros(2, 3, dtype=flambeau.float64)
    sibling = base.view(6)
    base[1].copy_(dual * 2)
    assert tangent(base).tolist() == [[0.0, 0.0, 0.0], [2.0, 0.0, -2.0]]
    assert tangent(sibling).tolist() == [0.0, 0.0, 0.0, 2.0, 0.0, -2.0]
    sibling[5] = 7.0
    assert tangent(base[1]).tolist() == [2.0, 0.0, 0.0]
    assert tangent(base.detach()) is None


def test_writing_through_a_real_view_of_a_complex_base(dual):
    base = flambeau.zeros(3, dtype=flambeau.complex128)
    flambeau.view_as_real(base)[:, 1].copy_(dual)
    assert tangent(base).tolist() == [1j, 0j, -1j]


def test_inplace_on_a_plain_tensor_makes_it_dual(dual):
    x = tensor(2.0, 2.0, 2.0)
    assert x.mul_(dual) is x
    assert tangent(x).tolist() == [2.0, 0.0, -2.0]
    x.zero_()
    assert tangent(x).tolist() == [0.0, 0.0, 0.0]


def test_random_fill_ends_the_dependence(dual):
    copy = dual.clone().uniform_()
    assert tangent(copy).tolist() == [0.0, 0.0, 0.0]


def test_inplace_shape_changes(dual):
    v = tangent(dual)
    row = dual * 1
    row.unsqueeze_(0).t_()
    assert tangent(row).tolist() == [[1.0], [0.0], [-1.0]]
    dual.unsqueeze_(0)
    assert (tuple(v.shape), tuple(tangent(dual).shape)) == ((3,), (1, 3))


def test_inplace_with_itself(dual):
    x = dual * 1
    x.mul_(x)
    assert tangent(x).tolist() == [2.0, 0.0, -6.0]


def test_strided_views_with_their_own_offset(level):
    x = flambeau.arange(12, dtype=flambeau.float64)[6:]
    dual = fwAD.make_dual(x, flambeau.arange(6, dtype=flambeau.float64))
    assert tangent(dual.as_strided((2,), (2,), 7)).tolist() == [1.0, 3.0]


def test_indexing(dual):
    x = flambeau.zeros(5, dtype=flambeau.float64)
    x[1:4] = dual
    x[flambeau.tensor([0, 4])] = dual[:2]
    assert tangent(x).tolist() == [1.0, 1.0, 0.0, -1.0, 0.0]
    assert tangent(dual[dual > 1]).tolist() == [0.0, -1.0]


# ---- both modes ----


def test_forward_over_reverse_is_a_hessian_vector_product():
    x, v = tensor(1.0, 2.0).requires_grad_(), tensor(1.0, 10.0)

    def objective(x):
        y = x.exp()  # its rule reads the saved result
        y = y * x
        y[0].mul_(x[1])
        return y.sum()

    (gradient,) = grad(objective(x), x, create_graph=True)
    (expected,) = grad(gradient, x, v)
    for create_graph in (True, False):
        with fwAD.dual_level():
            (gradient,) = grad(objective(fwAD.make_dual(x, v)), x, create_graph=create_graph)
            # the gradient went through a view of x: ask the leaf
            assert tangent(gradient) is not None
            assert flambeau.allclose(tangent(gradient), expected)


def test_reverse_over_forward():
    x, v = tensor(1.0, 2.0).requires_grad_(), tensor(3.0, 4.0).requires_grad_()
    with fwAD.dual_level():
        product = tangent((fwAD.make_dual(x, v) ** 3).sum())
    in_x, in_v = grad(product, (x, v))
    assert in_x.tolist() == [18.0, 48.0]
    assert in_v.tolist() == [3.0, 12.0]


def test_tangent_without_graph_when_nothing_requires_grad(dual):
    result = dual.softmax(0) @ dual
    assert not result.requires_grad
    assert not tangent(result).requires_grad


# ---- custom Functions ----


class Scale(Function):
    @staticmethod
    def forward(ctx, x, y, factor):
        ctx.save_for_forward(x, y)
        ctx.save_for_backward(x, y)
        ctx.factor = factor
        return x * y * factor

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return grad * y * ctx.factor, grad * x * ctx.factor, None

    @staticmethod
    def jvp(ctx, x_t, y_t, factor_t):
        assert factor_t is None
        x, y = ctx.saved_tensors
        return (x_t * y + x * y_t) * ctx.factor


def test_function_jvp(dual):
    y = tensor(2.0, 3.0, 4.0)
    assert tangent(Scale.apply(dual, y, 10)).tolist() == [20.0, 0.0, -40.0]
    x = tensor(1.0, 1.0, 1.0).requires_grad_()
    result = Scale.apply(x, dual, 2)
    assert tangent(result).tolist() == [2.0, 0.0, -2.0]
    (gradient,) = grad(result.sum(), x, create_graph=True)
    assert tangent(gradient).tolist() == [2.0, 0.0, -2.0]


def function(forward, jvp):
    return type("F", (Function,), {"forward": staticmethod(forward), "jvp": staticmethod(jvp)})


def test_function_without_jvp(dual):
    missing = type("F", (Function,), {"forward": staticmethod(lambda ctx, x: x * 2)})
    with pytest.raises(NotImplementedError, match="must implement the jvp function"):
        missing.apply(dual)
    assert tangent(missing.apply(tensor(1.0))) is None


def test_function_jvp_errors(dual):
    with pytest.raises(RuntimeError, match=r"expected 2 but got 1"):
        function(lambda ctx, x: (x * 2, x * 3), lambda ctx, t: t).apply(dual)
    with pytest.raises(RuntimeError, match="different size"):
        function(lambda ctx, x: x * 2, lambda ctx, t: t.sum()).apply(dual)
    with pytest.raises(RuntimeError, match=r"got int\) for grad output 0"):
        function(lambda ctx, x: x * 2, lambda ctx, t: 3).apply(dual)
    with pytest.raises(RuntimeError, match="position 0, but"):
        function(lambda ctx, x: x > 2, lambda ctx, t: t).apply(dual)
    with pytest.raises(RuntimeError, match="is not returning a view"):
        function(lambda ctx, x: x.view_as(x), lambda ctx, t: t * 1).apply(dual)


def test_function_that_writes_its_input(dual):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    with pytest.raises(RuntimeError, match="not modifying the forward mode gradients inplace"):
        function(forward, lambda ctx, t: t * 2).apply(dual * 1)
    result = function(forward, lambda ctx, t: t.mul_(2)).apply(dual)
    assert result is dual
    assert tangent(dual).tolist() == [2.0, 0.0, -2.0]


def test_function_that_returns_a_view(dual):
    result = function(lambda ctx, x: x.view(3, 1), lambda ctx, t: t.view(3, 1)).apply(dual)
    assert tangent(result).tolist() == [[1.0], [0.0], [-1.0]]


def test_dual_tensors_print_their_tangent(dual):
    assert "tangent=tensor([ 1.,  0., -1.]" in repr(dual)


def test_as_strided_beyond_its_tensor(level):
    x = flambeau.arange(6, dtype=flambeau.float64)
    dual = fwAD.make_dual(x[2:5], tensor(1.0, 2.0, 3.0))
    assert tangent(dual.as_strided((3,), (2,), 0)).tolist() == [0.0, 1.0, 3.0]


def test_ops_whose_backward_has_a_faster_way_without_derivatives():
    """Their rules choose by what is recorded: forward mode over a backward without create_graph counts."""
    nn = flambeau.nn.functional

    def attention(x):
        return nn.scaled_dot_product_attention(x, x * 2, x.exp()).sum()

    def sample(x):
        return nn.grid_sample(x, (x[:, :2] * 0.3).permute(0, 2, 3, 1), align_corners=True).sum()

    for function in (attention, sample):
        x = flambeau.rand(1, 2, 4, 4, dtype=flambeau.float64).requires_grad_()
        v = flambeau.rand(1, 2, 4, 4, dtype=flambeau.float64)
        (gradient,) = grad(function(x), x, create_graph=True)
        (expected,) = grad(gradient, x, v)
        with fwAD.dual_level():
            (gradient,) = grad(function(fwAD.make_dual(x, v)), x)
            assert flambeau.allclose(tangent(gradient), expected)


def test_ctc_loss_has_a_tangent_and_no_second_derivative(level):
    logits = flambeau.randn(6, 1, 3, dtype=flambeau.float64).requires_grad_()
    v = flambeau.randn(6, 1, 3, dtype=flambeau.float64)

    def loss(x):
        return flambeau.nn.functional.ctc_loss(
            x, flambeau.tensor([[1, 2]]), flambeau.tensor([6]), flambeau.tensor([2])
        )

    (gradient,) = grad(loss(logits), logits)
    assert flambeau.allclose(
        tangent(loss(fwAD.make_dual(logits.detach(), v))), (gradient * v).sum()
    )
    (gradient,) = grad(loss(logits), logits, create_graph=True)
    with pytest.raises(NotImplementedError, match="_ctc_loss_backward"):
        grad(gradient.sum(), logits)


def test_grid_sample_reflects_in_its_differentiable_form():
    x = flambeau.rand(1, 1, 3, 4, dtype=flambeau.float64, requires_grad=True)
    grid = (flambeau.rand(1, 2, 3, 2, dtype=flambeau.float64) * 3).requires_grad_()
    assert flambeau.autograd.gradgradcheck(
        lambda x, grid: flambeau.nn.functional.grid_sample(
            x, grid, padding_mode="reflection", align_corners=False
        ),
        (x, grid),
    )


def test_checkpoint_and_saved_tensor_hooks():
    from flambeau.utils.checkpoint import checkpoint

    def segment(t):
        return (t.exp() * t.sin()).sum()  # exp saves its result, sin its argument

    x, v = tensor(0.5, 1.0).requires_grad_(), tensor(1.0, -2.0)
    (gradient,) = grad(segment(x), x, create_graph=True)
    (expected,) = grad(gradient, x, v)
    keep = flambeau.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t)
    with fwAD.dual_level():
        dual = fwAD.make_dual(x, v)
        result = checkpoint(segment, dual, use_reentrant=False)
        assert flambeau.allclose(tangent(result), (gradient * v).sum())
        (found,) = grad(result, x)
        assert flambeau.allclose(tangent(found), expected)
        with keep:
            result = segment(dual)
        (found,) = grad(result, x)
        assert flambeau.allclose(tangent(found), expected)
