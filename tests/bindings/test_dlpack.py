"""DLPack in both directions with NumPy: sharing, layouts, ownership, refusals."""

import gc
import weakref

import numpy as np
import pytest

import flambeau
from flambeau.utils import dlpack

SHARED = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


class Old:
    """An exporter from before versioned capsules."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("dtype", SHARED)
@pytest.mark.parametrize("wrap", [lambda a: a, Old], ids=["versioned", "unversioned"])
def test_import_shares_memory(dtype, wrap):
    array = np.arange(12).reshape(3, 4).astype(dtype)
    tensor = flambeau.from_dlpack(wrap(array))
    assert tensor.dtype is getattr(flambeau, dtype)
    np.testing.assert_array_equal(tensor.numpy(), array)
    array[1, 2] = array[0, 1]
    np.testing.assert_array_equal(tensor.numpy(), array)


@pytest.mark.parametrize("dtype", SHARED)
def test_export_shares_memory(dtype):
    tensor = flambeau.arange(12).reshape(3, 4).to(getattr(flambeau, dtype))
    array = np.from_dlpack(tensor)
    assert array.dtype == dtype
    np.testing.assert_array_equal(array, tensor.numpy())
    tensor[0, 0] = 1
    assert array[0, 0] == 1


def test_strides_and_offsets_survive():
    tensor = flambeau.arange(24.0).reshape(2, 3, 4)[:, 1:, ::2].transpose(0, 1)
    np.testing.assert_array_equal(np.from_dlpack(tensor), tensor.numpy())
    array = np.arange(24.0).reshape(2, 3, 4)[:, 1:, ::2].transpose(1, 0, 2)
    imported = flambeau.from_dlpack(array)
    assert imported.stride() == tuple(s // 8 for s in array.strides)
    np.testing.assert_array_equal(imported.numpy(), array)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1, 1), (2, 1, 3)])
def test_odd_shapes(shape):
    array = np.ones(shape)
    assert flambeau.from_dlpack(array).shape == shape
    assert np.from_dlpack(flambeau.ones(shape)).shape == shape


def test_memory_lives_as_long_as_either_side():
    array = np.arange(4.0)
    died = weakref.ref(array)
    tensor = flambeau.from_dlpack(array)
    del array
    gc.collect()
    assert tensor.tolist() == [0, 1, 2, 3]
    del tensor
    gc.collect()
    assert died() is None
    exported = np.from_dlpack(flambeau.arange(4.0))
    gc.collect()
    assert exported.tolist() == [0, 1, 2, 3]


def test_unused_capsule_frees_its_tensor():
    for _ in range(100):
        flambeau.ones(1000).__dlpack__()
        flambeau.ones(1000).__dlpack__(max_version=(1, 0))


def test_capsules_are_consumed_once():
    capsule = flambeau.ones(3).__dlpack__()
    assert dlpack.from_dlpack(capsule).tolist() == [1, 1, 1]
    with pytest.raises(RuntimeError, match="consumed only once"):
        dlpack.from_dlpack(capsule)
    assert dlpack.from_dlpack(dlpack.to_dlpack(flambeau.ones(3))).tolist() == [1, 1, 1]


def test_read_only_arrays_are_copied():
    array = np.arange(4.0)
    array.flags.writeable = False
    tensor = flambeau.from_dlpack(array)
    tensor.fill_(7)
    assert array.tolist() == [0, 1, 2, 3]
    with pytest.raises(BufferError, match="read-only"):
        flambeau.from_dlpack(array, copy=False)


def test_copy_argument():
    array = np.zeros(3)
    flambeau.from_dlpack(array, copy=True).fill_(1)
    assert array.sum() == 0
    tensor = flambeau.zeros(3)
    copied = np.from_dlpack(tensor, copy=True)
    copied[0] = 1
    assert tensor.sum().item() == 0


def test_refusals_on_export():
    with pytest.raises(BufferError, match="require gradient"):
        flambeau.ones(3, requires_grad=True).__dlpack__()
    with pytest.raises(BufferError, match="conjugate"):
        flambeau.ones(3, dtype=flambeau.complex64).conj().__dlpack__()
    with pytest.raises(BufferError, match="meta"):
        flambeau.ones(3, device="meta").__dlpack__()
    with pytest.raises(ValueError, match="meta"):
        flambeau.ones(3, device="meta").__dlpack_device__()
    with pytest.raises(AssertionError, match="stream"):
        flambeau.ones(3).__dlpack__(stream=1)
    with pytest.raises(BufferError, match="dl_device"):
        flambeau.ones(3).__dlpack__(dl_device=(2, 0))


def test_negative_view_is_resolved():
    z = flambeau.tensor([1 + 2j]).conj().imag
    assert np.from_dlpack(z).tolist() == [-2.0]


def test_refusals_on_import():
    with pytest.raises(BufferError, match="strides"):
        flambeau.from_dlpack(np.arange(4)[::-1])
    with pytest.raises(BufferError, match="dtype"):
        flambeau.from_dlpack(np.arange(4, dtype=np.uint16))
    with pytest.raises(RuntimeError, match="invalid capsule"):
        flambeau.from_dlpack(3)
    with pytest.raises(BufferError, match="device"):
        flambeau.from_dlpack(np.ones(2), device="meta")


def test_device():
    assert flambeau.ones(1).__dlpack_device__() == (dlpack.DLDeviceType.kDLCPU, 0)


@pytest.mark.parametrize("export", [lambda t: t.numpy(), np.from_dlpack], ids=["numpy", "dlpack"])
def test_exported_memory_stays_where_it_is(export):
    tensor = flambeau.ones(4)
    array = export(tensor)
    with pytest.raises(RuntimeError, match="not resizable"):
        tensor.resize_(10**6)
    tensor.data = flambeau.zeros(10**6)
    del tensor
    gc.collect()
    flambeau.memory.trim()
    assert array.tolist() == [1, 1, 1, 1]
    tensor = flambeau.ones(4)
    array = export(tensor)
    del array
    gc.collect()
    assert tensor.resize_(8).shape == (8,)
