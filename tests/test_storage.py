"""Storages: sharing, resizing, the buffer protocol, PyTorch's classes."""

import copy
import pickle

import pytest

import flambeau
from flambeau.storage import TypedStorage, UntypedStorage


def test_views_share_one_storage():
    base = flambeau.arange(6.0)
    first, second = base.untyped_storage(), base[2:].untyped_storage()
    assert first == second
    assert hash(first) == hash(second)
    assert first._cdata == second._cdata
    assert first != flambeau.arange(6.0).untyped_storage()
    assert first.nbytes() == len(first) == 24
    assert first.data_ptr() == base.data_ptr()
    assert base[2:].data_ptr() == first.data_ptr() + 8


def test_bytes_can_be_read_and_written():
    tensor = flambeau.zeros(2, dtype=flambeau.uint8)
    storage = tensor.untyped_storage()
    storage[0] = 7
    assert tensor.tolist() == [7, 0]
    assert storage.tolist() == [7, 0]
    storage.fill_(3)
    assert tensor.tolist() == [3, 3]
    assert storage[0:1].tolist() == [3]
    storage.copy_(UntypedStorage(b"ab"))
    assert bytes(storage) == b"ab"
    with pytest.raises(IndexError):
        storage[2]
    with pytest.raises(ValueError):
        storage.copy_(UntypedStorage(b"abc"))


def test_resizing_is_refused_while_someone_looks_in():
    tensor = flambeau.zeros(4)
    storage = tensor.untyped_storage()
    view = memoryview(storage)
    assert not storage.resizable()
    with pytest.raises(RuntimeError, match="not resizable"):
        storage.resize_(64)
    with pytest.raises(RuntimeError, match="not resizable"):
        tensor.resize_(100)
    view.release()
    assert storage.resize_(64).nbytes() == 64
    assert UntypedStorage(b"abc").resizable()


def test_copies_and_pickles_have_their_own_memory():
    storage = flambeau.arange(3.0).untyped_storage()
    for other in (
        storage.clone(),
        copy.copy(storage),
        copy.deepcopy(storage),
        *(pickle.loads(pickle.dumps(storage, p)) for p in range(2, 6)),
    ):
        assert other != storage
        assert bytes(other) == bytes(storage)
    buffers = []
    data = pickle.dumps(storage, 5, buffer_callback=buffers.append)
    assert bytes(pickle.loads(data, buffers=buffers)) == bytes(storage)
    assert len(data) < 200


def test_sizes_are_checked():
    assert UntypedStorage(5).nbytes() == 5
    assert UntypedStorage().nbytes() == 0
    for bad in (-1, 2**70, "x", 1.5):
        with pytest.raises((RuntimeError, OverflowError, TypeError)):
            UntypedStorage(bad)


def test_meta_storages_have_no_bytes():
    storage = flambeau.ones(3, device="meta").untyped_storage()
    assert storage.nbytes() == 12
    assert str(storage.device) == "meta"
    with pytest.raises(BufferError):
        bytes(storage)


def test_typed_storages_hold_elements():
    storage = flambeau.arange(3.0).storage()
    assert isinstance(storage, TypedStorage)
    assert len(storage) == storage.size() == 3
    assert storage.tolist() == list(storage) == [0, 1, 2]
    assert storage[1] == 1
    assert storage[1:].tolist() == [1, 2]
    storage[0] = 5
    assert storage.clone().tolist() == [5, 1, 2]
    assert storage.dtype is flambeau.float32
    assert storage.element_size() == 4
    assert storage.pickle_storage_type() == "FloatStorage"
    assert pickle.loads(pickle.dumps(storage)).tolist() == [5, 1, 2]
    assert copy.deepcopy(storage).fill_(1).tolist() == [1, 1, 1]
    assert storage.tolist() == [5, 1, 2]


def test_classes_of_one_dtype():
    assert flambeau.LongStorage([1, 2]).dtype is flambeau.int64
    assert flambeau.FloatStorage(4).nbytes() == 16
    assert isinstance(flambeau.BoolStorage(1), flambeau.TypedStorage)
