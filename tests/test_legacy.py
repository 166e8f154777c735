"""Deprecated and accelerator-only names behave as PyTorch's do on a machine without accelerators."""

import pytest

import flambeau


def test_resize_keeps_the_elements():
    x = flambeau.arange(6.0, requires_grad=True)
    with pytest.warns(UserWarning, match="deprecated"):
        y = x.resize(2, 3)
    y.sum().backward()
    assert y.shape == (2, 3) and x.grad.tolist() == [1] * 6
    with pytest.warns(UserWarning), pytest.raises(RuntimeError, match="requested resize to 4"):
        x.resize(4)
    with pytest.warns(UserWarning):
        assert x.resize_as(flambeau.ones(3, 2)).shape == (3, 2)


def test_accelerators_are_absent():
    x = flambeau.ones(2)
    with pytest.raises(AssertionError, match="CUDA"):
        x.cuda()
    with pytest.raises(RuntimeError, match="accelerator"):
        x.pin_memory()
    with pytest.raises(RuntimeError, match="expected device cpu"):
        flambeau.Stream("meta")
    assert not (x.is_ipu or x.is_xpu)
    x.record_stream(flambeau.Stream())


def test_other_names():
    assert flambeau.ones(2).storage_type() is flambeau.FloatStorage is flambeau.Storage
    assert flambeau.ones(1).__long__() == 1
    assert int(flambeau.SymInt(3)) == 3
    with pytest.raises(RuntimeError, match="distributions"):
        flambeau.ones(2).reinforce(1)
    with pytest.raises(NotImplementedError, match="nested"):
        flambeau.ones(2).to_padded_tensor(0)
    with flambeau.DisableTorchFunction():
        assert flambeau.ones(2).sum() == 2


def test_torch_function_can_be_switched_off():
    class Loud(flambeau.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            raise ValueError("asked")

    x = flambeau.ones(2).as_subclass(Loud)
    with pytest.raises(ValueError, match="asked"):
        flambeau.add(x, 1)
    for switch in (flambeau.DisableTorchFunction, flambeau.DisableTorchFunctionSubclass):
        with switch():
            assert flambeau.add(x, 1).tolist() == [2, 2]
