"""How tensors and storages travel between processes: as shared memory."""

from multiprocessing import reduction
from multiprocessing.reduction import ForkingPickler
from typing import Any

import flambeau

from .. import _shared_memory, _utils
from ..storage import UntypedStorage

__all__ = ["init_reductions", "reduce_storage", "reduce_tensor"]


def rebuild_storage_fd(cls: Any, df: Any, size: int) -> Any:
    """The storage over a descriptor that travelled."""
    return _shared_memory.map_descriptor(df.detach(), size, cls)


def rebuild_storage_filename(cls: Any, path: str, size: int) -> Any:
    """The storage over a file in shared memory."""
    return _shared_memory.map_file(path, size, cls)


def rebuild_storage_empty(cls: Any) -> Any:
    """A storage without bytes."""
    return cls(0)


def reduce_storage(storage: Any) -> Any:
    """Move a storage to shared memory and say where it is."""
    if storage.device.type == "meta":
        return UntypedStorage, (storage.nbytes(), "meta")
    if storage.nbytes() == 0:
        return rebuild_storage_empty, (type(storage),)
    block = _shared_memory.move(storage)
    if block.path is not None:
        _shared_memory.change_count(block.path, 1)  # for the message; the receiver takes it over
        return rebuild_storage_filename, (type(storage), block.path, storage.nbytes())
    assert block.descriptor is not None  # a block without a path has one
    return rebuild_storage_fd, (type(storage), reduction.DupFd(block.descriptor), storage.nbytes())


def reduce_tensor(tensor: Any) -> Any:
    """A tensor as a view of its storage; RuntimeError if it is part of a graph."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, "
            "since autograd does not support crossing process boundaries.  "
            "If you just want to transfer the data, call detach() on the tensor "
            "before serializing (e.g., putting it on the queue)."
        )
    return _utils.reduce_tensor(tensor, 2)


def init_reductions() -> None:
    """Register the above with multiprocessing."""
    # Parameters, other subclasses and typed storages are made of these two.
    ForkingPickler.register(UntypedStorage, reduce_storage)
    ForkingPickler.register(flambeau.Tensor, reduce_tensor)
