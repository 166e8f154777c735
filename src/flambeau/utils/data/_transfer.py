"""Batches from workers to the parent through shared memory.

The large tensors of a batch are laid out in one anonymous memory file (memfd); its descriptor travels through a
socket, everything else through the pipe. Nothing has a name, so nothing is left behind however a process ends.
Where the system has no memfd, tensors are pickled.
"""

import mmap
import os
import socket

import flambeau
from flambeau import Tensor

# Below this many bytes a copy through the pipe is as fast.
_SMALLEST = 1 << 16
_ALIGNMENT = 64


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

    def __init__(self, data, size):
        self.data, self.size = data, size


def _map(value, change):
    """Apply `change` to the tensors (or placeholders) in nested containers."""
    if isinstance(value, (Tensor, _Placed)):
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


def pack(data):
    """Lay the large tensors of a batch out in shared memory; returns what goes through the pipe, and a descriptor.

    The descriptor is None if nothing is large; else send_descriptor sends and closes it.
    """
    placed = []
    end = 0

    def place(tensor):
        nonlocal end
        size = tensor.numel() * tensor.element_size()
        if type(tensor) is not Tensor or tensor.requires_grad or size < _SMALLEST or tensor.is_meta:
            return tensor
        offset = end
        end += -(-size // _ALIGNMENT) * _ALIGNMENT
        placed.append((tensor, offset))
        return _Placed(tensor.dtype, tensor.shape, offset)

    replaced = _map(data, place)
    if not placed:
        return data, None
    descriptor = os.memfd_create("flambeau")
    try:
        os.ftruncate(descriptor, end)
        memory = mmap.mmap(descriptor, end)
        for tensor, offset in placed:
            _bytes_at(memory, tensor.dtype, tensor.shape, offset).copy_(tensor)
    except BaseException:
        os.close(descriptor)
        raise
    return _Batch(replaced, end), descriptor


def send_descriptor(descriptor, channel):
    """Send what pack() returned, and close it here."""
    try:
        socket.send_fds(channel, [b"m"], [descriptor])
    finally:
        os.close(descriptor)


def receive(data, channel):
    """The batch that `pack` took apart."""
    if not isinstance(data, _Batch):
        return data
    _, descriptors, _, _ = socket.recv_fds(channel, 1, 1)
    if not descriptors:
        raise RuntimeError("DataLoader: the shared memory of a batch did not arrive.")
    try:
        memory = mmap.mmap(descriptors[0], data.size)
    finally:
        os.close(descriptors[0])
    return _map(
        data.data,
        lambda p: p if isinstance(p, Tensor) else _bytes_at(memory, p.dtype, p.shape, p.offset),
    )
