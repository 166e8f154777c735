"""dtype, device, Size, memory_format."""

import pickle

import pytest

import flambeau


def test_dtype_text_and_facts():
    assert repr(flambeau.float32) == "torch.float32"
    assert flambeau.float64.itemsize == 8 and flambeau.complex64.is_complex
    assert flambeau.bfloat16.is_floating_point and not flambeau.uint8.is_signed
    assert flambeau.float64.to_complex() is flambeau.complex128
    assert flambeau.complex64.to_real() is flambeau.float32
    assert pickle.loads(pickle.dumps(flambeau.int16)) is flambeau.int16
    with pytest.raises(TypeError):
        flambeau.dtype()


def test_device_parsing_and_equality():
    assert flambeau.device("cpu") == flambeau.device(type="cpu")
    assert str(flambeau.device("cpu:0")) == "cpu:0"
    assert repr(flambeau.device("meta")) == "device(type='meta')"
    assert flambeau.device("cpu", 1).index == 1
    assert pickle.loads(pickle.dumps(flambeau.device("cpu:0"))) == flambeau.device("cpu:0")
    assert len({flambeau.device("cpu"), flambeau.device("cpu")}) == 1
    for bad in ("cuda", "cpu:", "cpu:x", "cpu:-1", ""):
        with pytest.raises(RuntimeError):
            flambeau.device(bad)
    with pytest.raises(TypeError):
        flambeau.device(3.5)


def test_size_is_a_tuple_with_numel():
    size = flambeau.Size([2, 3])
    assert size == (2, 3) and size.numel() == 6 and repr(size) == "torch.Size([2, 3])"
    assert (
        type(size.__add__((4,))) is flambeau.Size
        and type(size[:1]) is flambeau.Size
        and size[0] == 2
    )
    assert type(size * 2) is flambeau.Size
    assert pickle.loads(pickle.dumps(size)) == size
    with pytest.raises(TypeError):
        flambeau.Size([1.5])


def test_default_dtype_is_kept_and_checked():
    assert flambeau.get_default_dtype() is flambeau.float32
    flambeau.set_default_dtype(flambeau.float64)
    try:
        assert flambeau.tensor(1.5).dtype is flambeau.float64
        assert (flambeau.ones(2, dtype=flambeau.int64) / 2).dtype is flambeau.float64
    finally:
        flambeau.set_default_dtype(flambeau.float32)
    with pytest.raises(TypeError):
        flambeau.set_default_dtype(flambeau.int32)
