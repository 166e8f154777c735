"""Grad mode and inference mode as contexts and decorators; the inference-mode table. Recorded from PyTorch 2.13."""

import copy
import pickle
import threading

import pytest

import flambeau
from flambeau import autograd


def leaf(*values):
    return flambeau.tensor(values, requires_grad=True)


def test_no_grad_and_enable_grad_nest():
    x = leaf(1.0)
    with flambeau.no_grad():
        assert not (x * 1.0).requires_grad
        with flambeau.enable_grad():
            assert (x * 1.0).requires_grad
        assert not flambeau.is_grad_enabled()
    assert flambeau.is_grad_enabled()


def test_mode_is_restored_after_an_exception():
    with pytest.raises(KeyError), flambeau.no_grad():
        raise KeyError
    assert flambeau.is_grad_enabled()


def test_set_grad_enabled_as_a_call_and_as_a_context():
    flambeau.set_grad_enabled(False)
    assert not flambeau.is_grad_enabled()
    flambeau.set_grad_enabled(True)
    with flambeau.set_grad_enabled(False):
        assert not flambeau.is_grad_enabled()
    assert flambeau.is_grad_enabled()


@pytest.mark.parametrize(
    "decorator",
    [flambeau.no_grad(), flambeau.no_grad, flambeau.inference_mode(), flambeau.inference_mode],
)
def test_decorated_functions(decorator):
    @decorator
    def mode(offset, *, scale=1):
        """Doc."""
        return flambeau.is_grad_enabled(), offset * scale

    assert mode(2, scale=3) == (False, 6)
    assert mode.__name__ == "mode" and mode.__doc__ == "Doc."
    assert flambeau.is_grad_enabled()


def test_set_grad_enabled_as_a_decorator():
    @flambeau.set_grad_enabled(False)
    def mode():
        return flambeau.is_grad_enabled()

    assert flambeau.is_grad_enabled()
    assert not mode()
    assert flambeau.is_grad_enabled()


def test_decorated_recursion():
    @flambeau.no_grad()
    def count(n):
        assert not flambeau.is_grad_enabled()
        return 0 if n == 0 else 1 + count(n - 1)

    assert count(40) == 40
    assert flambeau.is_grad_enabled()


def test_decorated_generator_switches_only_while_it_runs():
    @flambeau.no_grad()
    def modes():
        received = yield flambeau.is_grad_enabled()
        try:
            yield received, flambeau.is_grad_enabled()
        except KeyError:
            yield "caught", flambeau.is_grad_enabled()
        return "done"

    generator = modes()
    assert next(generator) is False
    assert flambeau.is_grad_enabled()
    assert generator.send("sent") == ("sent", False)
    assert generator.throw(KeyError()) == ("caught", False)
    assert flambeau.is_grad_enabled()
    with pytest.raises(StopIteration) as stop:
        next(generator)
    assert stop.value.value == "done"
    closed = modes()
    next(closed)
    closed.close()
    assert flambeau.is_grad_enabled()


def test_one_guard_object_entered_twice():
    guard = flambeau.no_grad()
    with guard:
        with guard:
            assert not flambeau.is_grad_enabled()
    with guard:
        assert not flambeau.is_grad_enabled()


def test_modes_are_per_thread():
    seen = []

    def work():
        seen.append((flambeau.is_grad_enabled(), flambeau.is_inference_mode_enabled()))

    for guard in (flambeau.no_grad(), flambeau.inference_mode()):
        with guard:
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
    assert seen == [(True, False), (True, False)]


def test_inference_tensors():
    x = leaf(1.0, 2.0)
    with flambeau.inference_mode():
        assert flambeau.is_inference_mode_enabled() and not flambeau.is_grad_enabled()
        made = flambeau.ones(2)
        result = x * 2.0
        view_of_normal = x[:1]
    assert made.is_inference() and result.is_inference() and not result.requires_grad
    assert not view_of_normal.is_inference() and view_of_normal.requires_grad
    with pytest.raises(RuntimeError, match="version counter"):
        made._version


def test_inference_tensors_outside():
    x = leaf(1.0, 2.0)
    with flambeau.inference_mode():
        made = flambeau.ones(2)
    assert (x + made).requires_grad  # nothing is saved
    with pytest.raises(RuntimeError, match=r"Inference tensors cannot be saved for backward"):
        x * made
    with pytest.raises(RuntimeError, match="clone"):
        x * made
    with pytest.raises(
        RuntimeError, match="Inplace update to inference tensor outside InferenceMode"
    ):
        made.add_(1.0)
    with (
        flambeau.no_grad(),
        pytest.raises(RuntimeError, match="Inplace update to inference tensor"),
    ):
        made.add_(1.0)
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor"):
        made.requires_grad_()
    assert made[:1].is_inference()
    assert not made.clone().is_inference()
    assert not (made + 1.0).is_inference()
    x.mul(made.clone()).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_inside_inference_mode():
    normal = flambeau.ones(2)
    with flambeau.inference_mode():
        made = flambeau.ones(2)
        made.add_(1.0)
        made.requires_grad_()
        normal.add_(1.0)
        with flambeau.enable_grad():
            assert not (leaf(1.0) * 2.0).requires_grad
        with flambeau.inference_mode(False):
            assert flambeau.is_grad_enabled()
            assert (leaf(1.0) * 2.0).requires_grad
            assert not flambeau.ones(1).is_inference()
        assert flambeau.is_inference_mode_enabled() and not flambeau.is_grad_enabled()
    assert normal._version == 1


def test_change_inside_inference_mode_is_noticed():
    x = leaf(1.0, 2.0)
    saved = flambeau.ones(2)
    y = x * saved
    with flambeau.inference_mode():
        saved.add_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_view_made_inside_may_not_be_changed_outside():
    x = leaf(1.0, 2.0) * 1.0
    with flambeau.inference_mode():
        view = x[:1]
    with pytest.raises(
        RuntimeError, match="A view was created in inference mode and is being modified inplace"
    ):
        view.add_(1.0)


def test_deepcopy_of_an_inference_tensor_is_normal():
    with flambeau.inference_mode():
        made = flambeau.ones(2)
    assert not copy.deepcopy(made).is_inference()


def test_training_after_inference_matches_training_after_no_grad():
    gradients = []
    for guard in (flambeau.no_grad, flambeau.inference_mode):
        weight = leaf(0.5, -1.0)
        with guard():
            (weight * flambeau.tensor([1.0, 2.0])).exp().sum()
        (weight * flambeau.tensor([1.0, 2.0])).exp().sum().backward()
        gradients.append(weight.grad.tolist())
    assert gradients[0] == gradients[1]


def test_set_multithreading_enabled_is_accepted():
    with autograd.set_multithreading_enabled(False):
        pass


def test_guards_are_copied_and_pickled():
    guard = pickle.loads(pickle.dumps(copy.deepcopy(flambeau.no_grad())))
    with guard:
        assert not flambeau.is_grad_enabled()
    assert copy.deepcopy(flambeau.inference_mode(False)).mode is False


@pytest.mark.parametrize("mode", [5, None, "on", flambeau.ones(2)])
def test_guards_take_bools_only(mode):
    for guard in (flambeau.set_grad_enabled, flambeau.inference_mode):
        with pytest.raises(TypeError, match="expected mode to be a bool"):
            guard(mode)
    assert flambeau.is_grad_enabled()
