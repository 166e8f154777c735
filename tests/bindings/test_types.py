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
    for bad in ("gpu", "cpu:", "cpu:x", "cpu:-1", ""):
        with pytest.raises(RuntimeError):
            flambeau.device(bad)
    with pytest.raises(TypeError):
        flambeau.device(3.5)


def test_devices_without_kernels_can_be_named_but_not_used():
    device = flambeau.device("cuda", 1)
    assert str(device) == "cuda:1" and device.type == "cuda" and device.index == 1
    assert device == flambeau.device("cuda:1") != flambeau.device("cpu:1")
    assert pickle.loads(pickle.dumps(device)) == device
    for use in (lambda: flambeau.zeros(2, device=device), lambda: flambeau.zeros(2).to("cuda")):
        with pytest.raises(RuntimeError, match="expected device 'cpu' or 'meta', got 'cuda'"):
            use()


def test_device_context_sets_where_tensors_are_created():
    with flambeau.device("meta"):
        made = flambeau.zeros(2), flambeau.rand(2), flambeau.tensor([1.0]), flambeau.arange(3)
        assert {x.device.type for x in made} == {"meta"}
        assert flambeau.zeros(2, device="cpu").device.type == "cpu"
        with flambeau.device("cpu"):
            assert flambeau.zeros(2).device.type == "cpu"
        assert flambeau.get_default_device() == flambeau.device("meta")
    assert flambeau.zeros(2).device.type == "cpu"
    flambeau.set_default_device("meta")
    try:
        assert flambeau.eye(2).device.type == "meta"
        assert flambeau.zeros_like(flambeau.zeros(2, device="cpu")).device.type == "cpu"
    finally:
        flambeau.set_default_device(None)
    assert flambeau.eye(2).device.type == "cpu"


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
