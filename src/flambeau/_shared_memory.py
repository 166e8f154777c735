"""Storages in memory that processes share.

Under the strategy "file_descriptor" the memory is an anonymous file, and its descriptor is what travels: nothing has a
name, so nothing is left behind however a process ends. Under "file_system" it is a file in /dev/shm, whose name
travels; no descriptor stays open, for programs with thousands of storages. Its first bytes count the processes (and
messages under way) that use it; who is last removes it.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import mmap
import os
import secrets
import tempfile
import weakref
from typing import Any

from . import _C

__all__ = ["Block", "block_of", "map_descriptor", "map_file", "move", "new_block"]

STRATEGIES = frozenset({"file_descriptor", "file_system"})
strategy = "file_descriptor"

_HEADER = 64  # bytes before the data of a named file: the count, and alignment
_SHM = "/dev/shm"

# Storages by their _cdata, and blocks by the file they map. Weak: the storage owns the block's memory.
_of_storage: dict[int, weakref.ref[Any]] = {}
_of_file: dict[Any, weakref.ref[Any]] = {}

_libc: Any = None


def _system() -> Any:
    global _libc
    if _libc is None:
        _libc = ctypes.CDLL(None, use_errno=True)
        _libc.mmap.restype = ctypes.c_void_p
        _libc.mmap.argtypes = (
            [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
        )
        _libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return _libc


class Block:
    """What is known about one mapping: its descriptor or file, and the storage that it is the memory of."""

    def __init__(self, key: Any, descriptor: int | None, path: str | None) -> None:
        self.key, self.descriptor, self.path = key, descriptor, path
        self.cdata = 0

    def close(self) -> None:
        """Close the descriptor; the memory stays, but can't be sent any more."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None

    def release(self) -> None:
        """Close the descriptor, or count down (and remove) the file."""
        self.close()
        if self.path is not None:
            with contextlib.suppress(OSError):
                change_count(self.path, -1)


def _map(descriptor: int, size: int, block: Block) -> Any:
    """A writable ctypes array over a shared mapping; Python's mmap would keep a descriptor of its own open."""
    address = _system().mmap(
        None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, descriptor, 0
    )
    if address in (None, ctypes.c_void_p(-1).value):
        code = ctypes.get_errno()
        raise RuntimeError(f"unable to mmap {size} bytes of shared memory: {os.strerror(code)}")
    memory = (ctypes.c_char * size).from_address(address)
    memory.block = block
    finalizer = weakref.finalize(memory, _unmap, address, size, block)
    finalizer.atexit = False  # storages may outlive this module's end
    _of_file[block.key] = weakref.ref(memory, lambda _: _forget(_of_file, block.key))
    return memory


def _unmap(address: int, size: int, block: Block) -> None:
    _system().munmap(address, size)
    block.release()


def _forget(table: dict[Any, weakref.ref[Any]], key: Any) -> None:
    found = table.get(key)
    if found is not None and found() is None:
        del table[key]


def _own(storage: Any, memory: Any) -> None:
    """Note that a storage's memory is this mapping."""
    cdata = memory.block.cdata = storage._cdata
    _of_storage[cdata] = weakref.ref(memory, lambda _: _forget(_of_storage, cdata))


def block_of(storage: Any) -> Block | None:
    """The shared memory of a storage; None if its memory belongs to this process."""
    found = _of_storage.get(storage._cdata)
    memory = found() if found is not None else None
    return None if memory is None else memory.block


def _anonymous(size: int) -> int:
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("flambeau", os.MFD_CLOEXEC)
    else:
        descriptor, path = tempfile.mkstemp(prefix="flambeau_")
        os.unlink(path)
    try:
        os.ftruncate(descriptor, size)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _file_key(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


def new_block(nbytes: int, cls: Any) -> Any:
    """A new storage of nbytes (zeros) in shared memory."""
    if strategy == "file_system":
        return _new_file(nbytes, cls)
    size = max(nbytes, 1)
    descriptor = _anonymous(size)
    block = Block(_file_key(descriptor), descriptor, None)
    return _storage(_map(descriptor, size, block), 0, nbytes, cls)


def _new_file(nbytes: int, cls: Any) -> Any:
    folder = _SHM if os.path.isdir(_SHM) else tempfile.gettempdir()
    path = os.path.join(folder, f"flambeau_{os.getpid()}_{secrets.token_hex(8)}")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.ftruncate(descriptor, _HEADER + max(nbytes, 1))
        os.pwrite(descriptor, (1).to_bytes(8, "little"), 0)
        _track(path)
        block = Block(path, None, path)
        memory = _map(descriptor, _HEADER + max(nbytes, 1), block)
    finally:
        os.close(descriptor)
    return _storage(memory, _HEADER, nbytes, cls)


def _storage(memory: Any, offset: int, nbytes: int, cls: Any) -> Any:
    storage = _C._storage_over(memory, offset, nbytes, cls)
    _own(storage, memory)
    return storage


def _track(path: str) -> None:
    # Removes the file if this process and its children end without doing so.
    if path.startswith(_SHM):
        from multiprocessing import resource_tracker

        resource_tracker.register(path.removeprefix(_SHM), "shared_memory")


def _untrack(path: str) -> None:
    if path.startswith(_SHM):
        from multiprocessing import resource_tracker

        resource_tracker.unregister(path.removeprefix(_SHM), "shared_memory")


def change_count(path: str, change: int) -> None:
    """Add to the count of a named file's users; the last one removes the file."""
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        count = int.from_bytes(os.pread(descriptor, 8, 0), "little") + change
        if count > 0:
            os.pwrite(descriptor, count.to_bytes(8, "little"), 0)
            return
        os.unlink(path)
    finally:
        os.close(descriptor)  # with it goes the lock
    if os.path.basename(path).split("_")[1] == str(os.getpid()):
        _untrack(path)


def move(storage: Any) -> Block:
    """Put a storage's bytes into shared memory, for all tensors on it; returns the block."""
    found = block_of(storage)
    if found is not None and (found.descriptor is not None or found.path is not None):
        return found
    shared = new_block(storage.nbytes(), type(storage))
    memory = _of_storage[shared._cdata]()
    if storage.nbytes():
        view = memoryview(storage)
        memoryview(shared)[:] = view
        view.release()
    _C._storage_swap(storage, shared)
    del _of_storage[shared._cdata]
    _own(storage, memory)
    assert memory is not None
    return memory.block


def _known(key: Any, cls: Any) -> Any:
    """The storage of this process over a file, or None."""
    found = _of_file.get(key)
    memory = found() if found is not None else None
    return None if memory is None else _C._storage_at(memory.block.cdata, cls)


def map_descriptor(descriptor: int, nbytes: int, cls: Any) -> Any:
    """The storage over a file that came as a descriptor, which now belongs to it."""
    key = _file_key(descriptor)
    storage = _known(key, cls)
    if storage is not None:
        os.close(descriptor)
        return storage
    if os.fstat(descriptor).st_size < nbytes:
        os.close(descriptor)
        raise RuntimeError(f"expected shared memory of at least {nbytes} bytes, got less")
    memory = _map(descriptor, max(nbytes, 1), Block(key, descriptor, None))
    return _storage(memory, 0, nbytes, cls)


def map_file(path: str, nbytes: int, cls: Any) -> Any:
    """The storage over a named file, whose count includes this use already."""
    storage = _known(path, cls)
    if storage is not None:
        change_count(path, -1)  # this process is counted once
        return storage
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        if os.fstat(descriptor).st_size < _HEADER + nbytes:
            raise RuntimeError(f"expected shared memory of at least {nbytes} bytes, got less")
        memory = _map(descriptor, _HEADER + max(nbytes, 1), Block(path, None, path))
    finally:
        os.close(descriptor)
    return _storage(memory, _HEADER, nbytes, cls)


def _count_child() -> None:
    for found in list(_of_file.values()):
        memory = found()
        if memory is not None and memory.block.path is not None:
            with contextlib.suppress(OSError):
                change_count(memory.block.path, 1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_child)
