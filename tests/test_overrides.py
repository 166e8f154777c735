"""__torch_function__ in functions written in Python, and modes."""

import pytest

import flambeau
from flambeau import overrides
from flambeau.overrides import TorchFunctionMode, handle_torch_function, has_torch_function


class Answers:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return "taken over", types


class Declines:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


class Log(TorchFunctionMode):
    def __init__(self):
        self.names = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.names.append(overrides.resolve_name(func))
        return func(*args, **(kwargs or {}))


def scale(a, b=2):
    if has_torch_function((a, b)):
        return handle_torch_function(scale, (a, b), a, b=b)
    return a * b


def test_python_functions_follow_the_protocol():
    assert scale(3) == 6
    assert scale(Answers()) == ("taken over", (Answers,))
    assert scale(1, Answers())[0] == "taken over"
    with pytest.raises(TypeError, match=r"no implementation found for .*scale"):
        scale(Declines())

    @overrides.wrap_torch_function(lambda a: (a,))
    def identity(a):
        return a

    assert identity(3) == 3
    assert identity(Answers())[0] == "taken over"


def test_subclasses_come_before_their_bases():
    class More(Answers):
        pass

    assert scale(Answers(), More())[1] == (More, Answers)


def test_plain_tensors_do_not_take_over():
    assert not has_torch_function((flambeau.ones(1), flambeau.nn.Parameter(flambeau.ones(1)), 3))
    assert overrides.has_torch_function_unary(Answers())
    assert overrides.has_torch_function_variadic(1, Answers())
    with overrides.DisableTorchFunctionSubclass():
        assert not has_torch_function((Answers(),))


def test_modes_see_every_call():
    x = flambeau.ones(2)
    with Log() as log:
        flambeau.neg(x)
        x + 1
        flambeau.zeros(2)
    flambeau.abs(x)
    assert log.names == ["torch.neg", "torch.Tensor.__add__", "torch.zeros"]


def test_modes_nest():
    x = flambeau.ones(2)
    with Log() as outer, Log() as inner:
        flambeau.neg(x)
    assert outer.names == inner.names == ["torch.neg"]


def test_modes_can_change_results_and_gradients_flow():
    class Double(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return 2 * func(*args, **(kwargs or {}))

    x = flambeau.tensor(3.0, requires_grad=True)
    with Double():
        y = flambeau.neg(x)
    y.backward()
    assert y.item() == -6.0
    assert x.grad.item() == -2.0


def test_modes_end_with_an_error():
    class Refuse(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return NotImplemented

    with pytest.raises(TypeError, match="returned NotImplemented"), Refuse():
        flambeau.ones(1)
    assert flambeau.ones(1).item() == 1.0


def test_subclasses_reach_modes():
    class Sub(flambeau.Tensor):
        pass

    with Log() as log:
        result = Sub([1.0]) + 1
    assert type(result) is Sub
    assert "torch.Tensor.__add__" in log.names


def test_questions_about_functions():
    assert overrides.resolve_name(flambeau.add) == "torch.add"
    assert overrides.resolve_name(3) is None
    assert overrides.is_tensor_like(Answers())
    assert not overrides.is_tensor_like(3)
    assert overrides.is_tensor_method_or_property(flambeau.Tensor.add)
    listed = overrides.get_overridable_functions()
    assert flambeau.add in listed[flambeau]
    assert flambeau.zeros in overrides.get_ignored_functions()
    assert overrides.get_testing_overrides()[flambeau.add](1, 2) == -1
