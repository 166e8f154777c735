"""Custom autograd functions. Behaviour recorded from PyTorch 2.13."""

import gc
import weakref

import pytest

import flambeau
from flambeau import autograd
from flambeau.autograd.function import once_differentiable


def leaf(*values, dtype=None):
    return flambeau.tensor(values, dtype=dtype or flambeau.float32, requires_grad=True)


class Exp(autograd.Function):
    @staticmethod
    def forward(ctx, value):
        result = value.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad):
        (result,) = ctx.saved_tensors
        return grad * result


class Scale(autograd.Function):
    @staticmethod
    def forward(ctx, value, factor, name=None):
        ctx.factor = factor
        return value * factor

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor, None, None


def test_forward_and_backward():
    x = leaf(0.0, 1.0)
    y = Exp.apply(x)
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()


def test_arguments_that_are_no_tensors():
    x = leaf(1.0)
    Scale.apply(x, 3.0, "name").backward()
    assert x.grad.tolist() == [3.0]


def test_grad_fn_is_the_context():
    x = leaf(0.0)
    y = Scale.apply(x, 3.0)
    node = y.grad_fn
    assert node is y.grad_fn
    assert type(node).__name__ == "ScaleBackward" and node.name() == "ScaleBackward"
    assert node.factor == 3.0
    assert node.next_functions[0][0].variable is x
    assert isinstance(node, autograd.graph.Node)


def test_needs_input_grad():
    seen = []

    class Mul(autograd.Function):
        @staticmethod
        def forward(ctx, a, b, c):
            seen.append(ctx.needs_input_grad)
            return a * b

        @staticmethod
        def backward(ctx, grad):
            seen.append(ctx.needs_input_grad)
            return grad, None, None

    Mul.apply(leaf(1.0), flambeau.ones(1), 3).backward()
    assert seen == [(True, False, False)] * 2


def test_double_backward():
    x = leaf(0.5, 1.0, dtype=flambeau.float64)
    assert autograd.gradcheck(Exp.apply, (x,))
    assert autograd.gradgradcheck(Exp.apply, (x,))


def test_several_outputs_and_materialized_gradients():
    class Both(autograd.Function):
        @staticmethod
        def forward(ctx, value):
            return value * 2.0, value * 3.0, "text"

        @staticmethod
        def backward(ctx, first, second, text):
            assert text is None
            return first * 2.0 + second * 3.0

    x = leaf(1.0)
    _, second, text = Both.apply(x)
    assert text == "text"
    second.backward()
    assert x.grad.tolist() == [3.0]


def test_unmaterialized_gradients():
    seen = []

    class Both(autograd.Function):
        @staticmethod
        def forward(ctx, value):
            ctx.set_materialize_grads(False)
            return value * 2.0, value * 3.0

        @staticmethod
        def backward(ctx, first, second):
            seen.append(first)
            return second * 3.0

    Both.apply(leaf(1.0))[1].backward()
    assert seen == [None]


def test_setup_context():
    class Power(autograd.Function):
        @staticmethod
        def forward(value, exponent=2):
            return value**exponent

        @staticmethod
        def setup_context(ctx, inputs, output):
            value, ctx.exponent = inputs
            ctx.save_for_backward(value)

        @staticmethod
        def backward(ctx, grad):
            (value,) = ctx.saved_tensors
            return grad * ctx.exponent * value ** (ctx.exponent - 1), None

    x = leaf(3.0)
    Power.apply(x).backward()
    Power.apply(x, exponent=3).backward()
    assert x.grad.tolist() == [6.0 + 27.0]


def test_vjp_is_another_name_for_backward():
    class Triple(autograd.Function):
        @staticmethod
        def forward(ctx, value):
            return value * 3.0

        @staticmethod
        def vjp(ctx, grad):
            return grad * 3.0

    x = leaf(1.0)
    Triple.apply(x).backward()
    assert x.grad.tolist() == [3.0]


def test_mark_dirty():
    class Double(autograd.Function):
        @staticmethod
        def forward(ctx, value):
            value.mul_(2.0)
            ctx.mark_dirty(value)
            return value

        @staticmethod
        def backward(ctx, grad):
            return grad * 2.0

    x = leaf(1.0, 2.0)
    y = x * 1.0
    z = Double.apply(y)
    assert z is y and y.grad_fn.name() == "DoubleBackward"
    z.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        Double.apply(leaf(1.0))


def test_mark_dirty_on_a_view():
    class Double(autograd.Function):
        @staticmethod
        def forward(ctx, value):
            ctx.mark_dirty(value)
            return value.mul_(2.0)

        @staticmethod
        def backward(ctx, grad):
            return grad * 2.0

    x = leaf(1.0, 2.0)
    base = x * 1.0
    Double.apply(base[:1])
    base.sum().backward()
    assert x.grad.tolist() == [2.0, 1.0]


def test_mark_non_differentiable():
    class Sorted(autograd.Function):
        @staticmethod
        def forward(ctx, value):
            other = value * 5.0
            ctx.mark_non_differentiable(other)
            return value * 2.0, other

        @staticmethod
        def backward(ctx, grad, other):
            return grad * 2.0

    first, other = Sorted.apply(leaf(1.0))
    assert first.requires_grad and not other.requires_grad


def test_integer_outputs_are_not_differentiable():
    class Index(autograd.Function):
        @staticmethod
        def forward(ctx, value):
            return value * 1.0, value.to(flambeau.int64)

        @staticmethod
        def backward(ctx, grad, index):
            return grad

    first, index = Index.apply(leaf(1.0))
    assert first.requires_grad and not index.requires_grad


def test_input_returned_as_it_is():
    class Same(autograd.Function):
        @staticmethod
        def forward(ctx, value):
            return value

        @staticmethod
        def backward(ctx, grad):
            return grad * 7.0

    x = leaf(1.0)
    y = Same.apply(x)
    assert y is not x and y.grad_fn.name() == "SameBackward"
    y.backward()
    assert x.grad.tolist() == [7.0]


def test_view_made_by_a_function_may_not_be_changed():
    class View(autograd.Function):
        @staticmethod
        def forward(ctx, value):
            return value.view(-1)

        @staticmethod
        def backward(ctx, grad):
            return grad

    y = View.apply(leaf(1.0, 2.0) * 1.0)
    with pytest.raises(RuntimeError, match="This view was created inside a custom Function"):
        y.mul_(2.0)


def test_wrong_numbers_of_gradients():
    class TooMany(autograd.Function):
        @staticmethod
        def forward(ctx, value):
            return value * 1.0

        @staticmethod
        def backward(ctx, grad):
            return grad, grad

    with pytest.raises(RuntimeError, match="returned an incorrect number of gradients"):
        TooMany.apply(leaf(1.0)).backward()

    class ExtraNone(TooMany):
        @staticmethod
        def backward(ctx, grad):
            return grad, None

    ExtraNone.apply(leaf(1.0)).backward()

    class ForNumber(TooMany):
        @staticmethod
        def forward(ctx, value, number):
            return value * number

    with pytest.raises(RuntimeError, match=r"gradient different .* None at position 2"):
        ForNumber.apply(leaf(1.0), 2.0).backward()


def test_misshaped_gradient_names_the_function():
    class Short(autograd.Function):
        @staticmethod
        def forward(ctx, value):
            return value * 1.0

        @staticmethod
        def backward(ctx, grad):
            return grad[:2]

    with pytest.raises(
        RuntimeError, match="Function ShortBackward returned an invalid gradient at index 0"
    ):
        Short.apply(leaf(1.0, 2.0, 3.0)).sum().backward()


def test_saved_tensors_are_checked_and_released():
    x = leaf(0.0)
    y = Exp.apply(x)
    y.mul_(2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    z = Exp.apply(x)
    z.backward()
    with pytest.raises(RuntimeError, match="second time"):
        z.backward()
    with pytest.raises(RuntimeError, match="already been freed"):
        z.grad_fn.saved_tensors


def test_saving_something_else_is_an_error():
    class Saves(autograd.Function):
        @staticmethod
        def forward(ctx, value):
            ctx.save_for_backward(value, None, 3)
            return value * 1.0

        @staticmethod
        def backward(ctx, grad):
            return grad

    with pytest.raises(TypeError, match="save_for_backward can only save variables"):
        Saves.apply(leaf(1.0))


def test_none_may_be_saved():
    class Saves(Exp):
        @staticmethod
        def forward(ctx, value):
            ctx.save_for_backward(value, None)
            return value * 1.0

        @staticmethod
        def backward(ctx, grad):
            value, nothing = ctx.saved_tensors
            assert nothing is None
            return grad * value

    x = leaf(4.0)
    Saves.apply(x).backward()
    assert x.grad.tolist() == [4.0]


def test_without_grad_mode_nothing_is_recorded():
    x = leaf(1.0)
    with flambeau.no_grad():
        y = Exp.apply(x)
    assert y.grad_fn is None and not y.requires_grad
    assert Exp.apply(flambeau.ones(1)).grad_fn is None


def test_forward_runs_without_grad_mode_and_backward_as_asked():
    modes = []

    class Modes(autograd.Function):
        @staticmethod
        def forward(ctx, value):
            modes.append(flambeau.is_grad_enabled())
            return value * 1.0

        @staticmethod
        def backward(ctx, grad):
            modes.append(flambeau.is_grad_enabled())
            return grad * 1.0

    x = leaf(1.0)
    autograd.grad(Modes.apply(x), x)
    autograd.grad(Modes.apply(x), x, create_graph=True)
    assert modes == [False, False, False, True]


def test_once_differentiable():
    class Once(autograd.Function):
        @staticmethod
        def forward(ctx, value):
            ctx.save_for_backward(value)
            return value * value

        @staticmethod
        @once_differentiable
        def backward(ctx, grad):
            (value,) = ctx.saved_tensors
            return grad * 2.0 * value

    x = leaf(3.0)
    assert autograd.grad(Once.apply(x), x)[0].item() == 6.0
    (first,) = autograd.grad((Once.apply(x * 1.0) * x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="trying to differentiate twice"):
        first.backward()


def test_missing_methods():
    class Nothing(autograd.Function):
        pass

    with pytest.raises(NotImplementedError, match="forward"):
        Nothing.apply(leaf(1.0))

    class NoBackward(autograd.Function):
        @staticmethod
        def forward(ctx, value):
            return value * 1.0

    with pytest.raises(NotImplementedError, match="backward"):
        NoBackward.apply(leaf(1.0)).backward()


def test_exceptions_pass_through():
    class Fails(autograd.Function):
        @staticmethod
        def forward(ctx, value):
            return value * 1.0

        @staticmethod
        def backward(ctx, grad):
            raise ZeroDivisionError("in backward")

    with pytest.raises(ZeroDivisionError, match="in backward"):
        Fails.apply(leaf(1.0)).backward()
    x = leaf(1.0)
    (x * 2.0).backward()
    assert x.grad.tolist() == [2.0]


def test_undefined_gradient_reaches_backward_as_zeros():
    seen = []

    class Watch(autograd.Function):
        @staticmethod
        def forward(ctx, value):
            return value * 1.0

        @staticmethod
        def backward(ctx, grad):
            seen.append(grad.tolist())
            return grad

    class Drop(Watch):
        @staticmethod
        def backward(ctx, grad):
            return None

    Drop.apply(Watch.apply(leaf(1.0, 2.0))).sum().backward()
    assert seen == [[0.0, 0.0]]


def test_context_that_holds_its_output_is_collected():
    class Holds(Scale):
        @staticmethod
        def forward(ctx, value, factor):
            ctx.result = value * factor
            return ctx.result

        @staticmethod
        def backward(ctx, grad):
            return grad * 2.0, None

    y = Holds.apply(leaf(1.0), 2.0)
    gone, context = weakref.ref(y), weakref.ref(y.grad_fn)
    del y
    gc.collect()
    assert gone() is None and context() is None


def test_saved_output_does_not_leak():
    y = Exp.apply(leaf(1.0))
    gone = weakref.ref(y)
    del y
    assert gone() is None


def test_collection_leaves_a_live_graph_alone():
    class Holds(Scale):
        @staticmethod
        def forward(ctx, value, factor):
            ctx.result = value * factor
            return ctx.result

        @staticmethod
        def backward(ctx, grad):
            assert ctx.result is not None
            return grad * 2.0, None

    x = leaf(1.0)
    z = Holds.apply(Holds.apply(x, 2.0), 2.0) * 3.0
    gc.collect()
    z.backward()
    assert x.grad.tolist() == [12.0]


def test_function_is_not_instantiated():
    with pytest.raises(RuntimeError):
        Exp()(leaf(1.0))


def test_function_inside_a_function():
    class Outer(autograd.Function):
        @staticmethod
        def forward(ctx, value):
            ctx.save_for_backward(value)
            return Exp.apply(value)

        @staticmethod
        def backward(ctx, grad):
            (value,) = ctx.saved_tensors
            return grad * Exp.apply(value)

    x = leaf(0.5, dtype=flambeau.float64)
    assert autograd.gradcheck(Outer.apply, (x,))
    assert autograd.gradgradcheck(Outer.apply, (x,))


def test_changed_view_itself_gets_the_right_gradient():
    class Double(autograd.Function):
        @staticmethod
        def forward(ctx, value):
            ctx.mark_dirty(value)
            return value.mul_(2.0)

        @staticmethod
        def backward(ctx, grad):
            return grad * 2.0

    x = leaf(1.0, 2.0)
    view = (x * 1.0)[:1]
    Double.apply(view)
    view.sum().backward()
    assert x.grad.tolist() == [2.0, 0.0]


def test_grad_fn_has_its_name_after_its_output_is_gone():
    x = flambeau.ones(1, requires_grad=True)
    assert Exp.apply(x).grad_fn.name() == "ExpBackward"
