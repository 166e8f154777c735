"""finfo, iinfo and questions about types."""

import numpy as np
import pytest

import flambeau


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_finfo_equals_numpys(name):
    ours, theirs = flambeau.finfo(getattr(flambeau, name)), np.finfo(name)
    for field in ("bits", "eps", "max", "min", "tiny"):
        assert getattr(ours, field) == pytest.approx(float(getattr(theirs, field)), rel=1e-7)
    assert ours.dtype == name


@pytest.mark.parametrize("name", ["uint8", "int8", "int16", "int32", "int64"])
def test_iinfo_equals_numpys(name):
    ours, theirs = flambeau.iinfo(getattr(flambeau, name)), np.iinfo(name)
    assert (ours.bits, ours.min, ours.max) == (theirs.bits, theirs.min, theirs.max)


def test_defaults_complex_and_bfloat16():
    assert flambeau.finfo().dtype == "float32"
    assert flambeau.finfo(flambeau.complex128) == flambeau.finfo(flambeau.float64)
    assert flambeau.finfo(flambeau.bfloat16).eps == 2**-7


def test_wrong_kinds_are_errors():
    with pytest.raises(TypeError, match="iinfo"):
        flambeau.finfo(flambeau.int32)
    with pytest.raises(TypeError, match="finfo"):
        flambeau.iinfo(flambeau.float32)
    with pytest.raises(TypeError, match="not supported"):
        flambeau.iinfo(flambeau.bool)
    with pytest.raises(TypeError, match=r"must be torch\.dtype, not int"):
        flambeau.finfo(3)


def test_what_things_are():
    x = flambeau.ones(1)
    assert flambeau.is_tensor(x)
    assert not flambeau.is_tensor(3)
    assert flambeau.is_storage(x.storage())
    assert flambeau.is_storage(x.untyped_storage())
    assert flambeau.typename(x) == "torch.FloatTensor"
    assert flambeau.typename(3) == "int"
    assert isinstance(x, flambeau.FloatTensor)
    assert not isinstance(x, flambeau.LongTensor)
    assert flambeau.LongTensor([1, 2]).dtype is flambeau.int64
    assert flambeau.FloatTensor(2, 3).shape == (2, 3)


def test_default_tensor_type():
    flambeau.set_default_tensor_type("torch.DoubleTensor")
    try:
        assert flambeau.ones(1).dtype is flambeau.float64
    finally:
        flambeau.set_default_tensor_type(flambeau.FloatTensor)
    assert flambeau.ones(1).dtype is flambeau.float32
    with pytest.raises(TypeError, match="floating-point"):
        flambeau.set_default_tensor_type("torch.LongTensor")


def test_dtypes_that_no_tensor_has_can_be_named():
    assert flambeau.finfo(flambeau.float8_e4m3fn).max == 448.0
    assert flambeau.finfo(flambeau.float8_e5m2).eps == 0.25
    assert flambeau.iinfo(flambeau.uint16).max == 65535
    assert flambeau.uint64.itemsize == 8 and not flambeau.uint64.is_floating_point
    assert flambeau.float8_e5m2.is_floating_point
    with pytest.raises(NotImplementedError, match="can only be named"):
        flambeau.zeros(2, dtype=flambeau.uint16)


def test_get_device_counts_accelerators_only():
    assert flambeau.get_device(flambeau.ones(1)) == -1


def test_typename_of_extended_tensors():
    x = flambeau.ones(2)
    assert flambeau.typename(x.to_sparse().double()) == "torch.sparse.DoubleTensor"
    assert flambeau.typename(x.to(flambeau.complex32)) == "torch.ComplexHalfTensor"
    quantized = flambeau.quantize_per_tensor(x, 0.1, 0, flambeau.qint8)
    assert flambeau.typename(quantized) == "torch.quantized.QInt8Tensor"
