"""Batches from workers to the parent through shared memory.

default_collate stacks large tensors in shared memory right away; what else is large is laid out in one anonymous memory
file (memfd). Descriptors travel through a socket, everything else through the pipe. Nothing has a name, so nothing is
left behind however a process ends. Where the system has no memfd, tensors are pickled.
"""

import mmap
import os
import socket

import flambeau
from flambeau import Tensor
from flambeau._shared_memory import block_of, map_descriptor

# Below this many bytes a copy through the pipe is as fast.
_SMALLEST = 1 << 16
_ALIGNMENT = 64
_MOST_DESCRIPTORS = 64  # of one message; Linux allows 253


def new_channel():
    """(parent's end, worker's end) of a socket for descriptors; None for both where memory cannot be shared so."""
    if not (hasattr(os, "memfd_create") and hasattr(socket, "send_fds")):
        return None, None
    return socket.socketpair()


class _Placed:
    """Stands for a tensor in the memory file."""

    __slots__ = ("dtype", "offset", "shape")

    def __init__(self, dtype, shape, offset):
        self.dtype, self.shape, self.offset = dtype, shape, offset

    def __reduce__(self):
        return _Placed, (self.dtype, tuple(self.shape), self.offset)


class _Batch:
    """A batch with tensors replaced by where they are."""

    def __init__(self, data, size, count):
        self.data, self.size, self.count = data, size, count  # bytes laid out, descriptors


def _map(value, change):
    """Apply `change` to the tensors (or placeholders) in nested containers."""
    if isinstance(value, (Tensor, _Placed, _Sent)):
        return change(value)
    if type(value) in (list, tuple):
        return type(value)(_map(item, change) for item in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_map(item, change) for item in value))
    if type(value) is dict:
        return {key: _map(item, change) for key, item in value.items()}
    return value


def _bytes_at(memory, dtype, shape, offset):
    """A tensor over part of a mapping, which lives as long as the tensor does."""
    import numpy

    count = 1
    for extent in shape:
        count *= extent
    size = count * flambeau.empty(0, dtype=dtype).element_size()
    raw = flambeau.from_numpy(numpy.frombuffer(memory, numpy.uint8, size, offset))
    return raw.view(dtype).view(shape)


class _Sent:
    """Stands for a tensor whose own memory is shared: number `index` of the descriptors."""

    __slots__ = ("dtype", "index", "nbytes", "shape")

    def __init__(self, dtype, shape, nbytes, index):
        self.dtype, self.shape, self.nbytes, self.index = dtype, shape, nbytes, index

    def __reduce__(self):
        return _Sent, (self.dtype, tuple(self.shape), self.nbytes, self.index)


def stacked(batch):
    """A batch of equal tensors as one in shared memory, so that it need not be copied there; None if it is small."""
    first = batch[0]
    size = len(batch) * first.numel() * first.element_size()
    if size < _SMALLEST or any(
        type(tensor) is not Tensor
        or tensor.shape != first.shape
        or tensor.dtype != first.dtype
        or tensor.requires_grad
        or tensor.is_meta
        or tensor.layout != flambeau.strided
        or tensor.is_quantized
        for tensor in batch
    ):
        return None
    storage = flambeau.UntypedStorage._new_shared(size)
    shape = (len(batch), *first.shape)
    out = flambeau._C._tensor_over(storage, first.dtype, 0, shape, _strides(shape))
    return flambeau.stack(batch, 0, out=out)


def _strides(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return strides[::-1]


def _own_block(tensor):
    """The shared memory that a tensor fills alone; None if there is none."""
    block = block_of(tensor.untyped_storage())
    if block is None or block.descriptor is None or not tensor.is_contiguous():
        return None
    whole = tensor.numel() * tensor.element_size() == tensor.untyped_storage().nbytes()
    return block if whole and not tensor.is_conj() and not tensor.is_neg() else None


def pack(data):
    """Lay the large tensors of a batch out in shared memory; returns what goes through the pipe, and descriptors.

    There are none if nothing is large; else send_descriptors sends and closes them.
    """
    placed, descriptors = [], []
    end = 0

    def place(tensor):
        nonlocal end
        if type(tensor) is not Tensor or tensor.requires_grad or tensor.is_meta:
            return tensor
        if tensor.layout != flambeau.strided or tensor.is_quantized:
            return tensor
        size = tensor.numel() * tensor.element_size()
        if size < _SMALLEST:
            return tensor
        block = _own_block(tensor)
        if block is not None and len(descriptors) < _MOST_DESCRIPTORS:
            descriptors.append(os.dup(block.descriptor))
            return _Sent(tensor.dtype, tensor.shape, size, len(descriptors) - 1)
        offset = end
        end += -(-size // _ALIGNMENT) * _ALIGNMENT
        placed.append((tensor, offset))
        return _Placed(tensor.dtype, tensor.shape, offset)

    try:
        replaced = _map(data, place)
        if placed:
            descriptors.append(os.memfd_create("flambeau"))
            os.ftruncate(descriptors[-1], end)
            memory = mmap.mmap(descriptors[-1], end)
            for tensor, offset in placed:
                _bytes_at(memory, tensor.dtype, tensor.shape, offset).copy_(tensor)
    except BaseException:
        close(descriptors)
        raise
    if not descriptors:
        return data, []
    return _Batch(replaced, end, len(descriptors)), descriptors


def close(descriptors):
    """Close what pack() returned."""
    for descriptor in descriptors:
        os.close(descriptor)


def send_descriptors(descriptors, channel):
    """Send what pack() returned, and close it here."""
    try:
        socket.send_fds(channel, [b"m"], descriptors)
    finally:
        close(descriptors)


def receive(data, channel):
    """The batch that `pack` took apart."""
    if not isinstance(data, _Batch):
        return data
    _, descriptors, _, _ = socket.recv_fds(channel, 1, data.count)
    if len(descriptors) != data.count:
        close(descriptors)
        raise RuntimeError(
            "DataLoader: the shared memory of a batch did not arrive. Are too many files open? The system's limit is "
            "raised with ulimit -n."
        )
    storages = {}

    def storage(index, nbytes):
        if index not in storages:
            storages[index] = map_descriptor(descriptors[index], nbytes, flambeau.UntypedStorage)
            descriptors[index] = None  # it belongs to the storage
            # The mapping does without: a list of many batches must not use up the files that a process may open.
            block_of(storages[index]).close()
        return storages[index]

    def place(item):
        if isinstance(item, _Placed):
            memory, offset = storage(data.count - 1, data.size), item.offset // item.dtype.itemsize
        elif isinstance(item, _Sent):
            memory, offset = storage(item.index, item.nbytes), 0
        else:
            return item
        return flambeau._C._tensor_over(
            memory, item.dtype, offset, item.shape, _strides(item.shape)
        )

    return _map(data.data, place)
