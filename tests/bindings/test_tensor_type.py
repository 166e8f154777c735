"""Identity, ownership and destruction of Python tensors."""

import copy
import gc
import weakref

import numpy as np
import pytest

import flambeau


def test_same_object_for_the_same_tensor():
    x = flambeau.ones(3, requires_grad=True)
    (x * 2).sum().backward()
    assert x.grad is x.grad


def test_attributes_survive_while_only_the_tape_holds_the_tensor():
    x = flambeau.ones(3, requires_grad=True)
    y = x * 2
    y.note = "kept"
    z = y.exp().mul(y)  # saves y
    key = y._storage_key()
    del y
    gc.collect()
    saved = [f for f, _ in z.grad_fn.next_functions]
    assert saved
    z.sum().backward()
    assert key and x.grad is not None


def test_gradient_object_keeps_its_attributes():
    x = flambeau.ones(2, requires_grad=True)
    x.sum().backward()
    x.grad.tag = 7
    gc.collect()
    assert x.grad.tag == 7


def test_weak_references_die_with_the_tensor():
    x = flambeau.ones(3)
    reference = weakref.ref(x)
    assert reference() is x
    del x
    assert reference() is None


def test_subclass_with_slots_and_del_is_torn_down():
    log = []

    class Slotted(flambeau.Tensor):
        __slots__ = ("extra",)

        def __del__(self):
            log.append("gone")

    value = object()
    x = flambeau.ones(2).as_subclass(Slotted)
    x.extra = [value]
    del x
    gc.collect()
    assert log == ["gone"]


def test_reference_cycle_through_an_attribute_is_collected():
    x = flambeau.ones(2)
    x.me = x
    reference = weakref.ref(x)
    del x
    gc.collect()
    assert reference() is None


def test_many_objects_are_reused_without_mixing_state():
    for _ in range(300):
        x = flambeau.ones(2)
        x.mark = 1
    assert not hasattr(flambeau.ones(2), "mark")


def test_tensor_subclass_results_keep_the_class():
    class Mine(flambeau.Tensor):
        pass

    x = flambeau.ones(2).as_subclass(Mine)
    assert type(x + 1) is Mine
    assert type(x.detach()) is Mine


def test_torch_function_override_sees_function_and_arguments():
    calls = []

    class Logged(flambeau.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            calls.append(func)
            return super().__torch_function__(func, types, args, kwargs)

    x = flambeau.ones(2).as_subclass(Logged)
    flambeau.add(x, 1)
    assert calls and calls[0].__name__ == "add"


def test_duck_type_with_torch_function_takes_over():
    class Duck:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return "duck"

    assert flambeau.add(flambeau.ones(2), Duck()) == "duck"
    assert flambeau.cat([flambeau.ones(2), Duck()]) == "duck"


def test_data_shares_memory_without_history():
    x = flambeau.ones(2, requires_grad=True)
    x.data.mul_(3)
    assert x.tolist() == [3.0, 3.0]
    assert not x.data.requires_grad


def test_conversions_to_python_numbers():
    assert float(flambeau.tensor(2.5)) == 2.5
    assert int(flambeau.tensor(2.9)) == 2
    assert complex(flambeau.tensor(1 + 2j)) == 1 + 2j
    assert [10, 20][flambeau.tensor(1)] == 20
    assert bool(flambeau.tensor([0.0])) is False
    with pytest.raises(RuntimeError, match="ambiguous"):
        bool(flambeau.ones(2))
    with pytest.raises(TypeError, match="integer tensors of a single element"):
        [1, 2][flambeau.tensor(1.0)]
    with pytest.raises(RuntimeError, match="2 elements cannot be converted"):
        flambeau.ones(2).item()
    with pytest.raises((OverflowError, ValueError)):
        int(flambeau.tensor(float("inf")))


def test_numpy_shares_memory_both_ways():
    array = np.arange(6.0).reshape(2, 3)[:, ::2]
    x = flambeau.from_numpy(array)
    assert x.stride() == (3, 2)
    x.add_(1)
    assert array[0, 0] == 1
    assert x.numpy().__array_interface__["data"][0] == array.__array_interface__["data"][0]


def test_numpy_memory_outlives_its_owner():
    x = flambeau.from_numpy(np.full(1000, 7.0))
    gc.collect()
    assert x.sum().item() == 7000
    array = flambeau.full((1000,), 3.0).numpy()
    gc.collect()
    assert array.sum() == 3000


@pytest.mark.parametrize(
    ("array", "error"),
    [
        (np.zeros(3)[::-1], ValueError),
        (np.zeros(3, ">f8"), ValueError),
        (np.zeros(3, "U3"), TypeError),
        (np.zeros(3, np.uint32), TypeError),
        ([1, 2], TypeError),
    ],
)
def test_from_numpy_refuses(array, error):
    with pytest.raises(error):
        flambeau.from_numpy(array)


def test_numpy_refuses_what_it_cannot_show():
    with pytest.raises(RuntimeError, match="requires grad"):
        flambeau.ones(2, requires_grad=True).numpy()
    with pytest.raises(TypeError, match="meta"):
        flambeau.empty(2, device="meta").numpy()
    with pytest.raises(TypeError, match="BFloat16"):
        flambeau.ones(2, dtype=flambeau.bfloat16).numpy()
    assert flambeau.ones(2, requires_grad=True).numpy(force=True).tolist() == [1, 1]


def test_deepcopy_of_a_leaf_is_independent():
    x = flambeau.ones(2, requires_grad=True)
    y = copy.deepcopy(x)
    y.data.zero_()
    assert y.requires_grad and x.tolist() == [1, 1]


def test_subclass_reaches_into_named_results():
    class Marked(flambeau.Tensor):
        pass

    values, indices = flambeau.max(flambeau.eye(2).as_subclass(Marked), 0)
    assert type(values) is type(indices) is Marked


@pytest.mark.parametrize("convert", [float, int, complex])
def test_several_elements_are_no_number(convert):
    with pytest.raises(ValueError, match="only one element tensors"):
        convert(flambeau.ones(2))
