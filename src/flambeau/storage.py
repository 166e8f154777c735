"""Storages: the memory behind tensors. UntypedStorage is bytes, TypedStorage bytes with an element type.

Tensors share one storage when they are views of each other; saving and pickling keep that.
"""

from __future__ import annotations

import copy
import os
from typing import Any, ClassVar

import flambeau

from . import _C

__all__ = ["TypedStorage", "UntypedStorage"]

# Names of PyTorch's classes, as files spell them.
STORAGE_NAMES = {
    "float32": "FloatStorage",
    "float64": "DoubleStorage",
    "float16": "HalfStorage",
    "bfloat16": "BFloat16Storage",
    "uint8": "ByteStorage",
    "int8": "CharStorage",
    "int16": "ShortStorage",
    "int32": "IntStorage",
    "int64": "LongStorage",
    "bool": "BoolStorage",
    "complex64": "ComplexFloatStorage",
    "complex128": "ComplexDoubleStorage",
    "quint8": "QUInt8Storage",
    "qint8": "QInt8Storage",
    "qint32": "QInt32Storage",
    "quint4x2": "QUInt4x2Storage",
    "quint2x4": "QUInt2x4Storage",
}
# A storage of a quantized dtype holds plain integers; what they stand for is the tensor's business.
_STORED = {
    _C.quint8: _C.uint8,
    _C.qint8: _C.int8,
    _C.qint32: _C.int32,
    _C.quint4x2: _C.uint8,
    _C.quint2x4: _C.uint8,
}


def _storage_from_bytes(data: Any) -> UntypedStorage:
    return UntypedStorage(data)


class UntypedStorage(_C.StorageBase):
    """A block of bytes.

    Args:
        source: number of (uninitialised) bytes, or a bytes-like object to copy.
        device: where the bytes are.
    """

    def __getitem__(self, index: int | slice) -> Any:
        if not isinstance(index, slice):
            return memoryview(self)[index]
        start, stop, step = index.indices(len(self))
        if step != 1:
            raise RuntimeError(f"UntypedStorage: expected a slice of step 1, got {step}")
        return _C._storage_over(self, start, max(stop - start, 0), UntypedStorage)

    def __setitem__(self, index: int | slice, value: Any) -> None:
        view = memoryview(self)
        if isinstance(index, slice) and isinstance(value, int):
            value = bytes([value]) * len(view[index])
        view[index] = value

    def __iter__(self) -> Any:
        return iter(self.tolist())

    def __repr__(self) -> str:
        lines = "".join(f" {b}\n" for b in memoryview(self)[:1000])
        return f"{lines}[{type(self).__name__}(device={self.device}) of size {len(self)}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _C.StorageBase) and other._cdata == self._cdata

    def __hash__(self) -> int:
        return hash(self._cdata)

    def __reduce_ex__(self, protocol: Any) -> Any:
        import pickle

        # Protocol 5 hands the memory over without a copy when the caller asks for out-of-band buffers.
        data = pickle.PickleBuffer(self) if int(protocol) >= 5 else bytes(self)
        return _storage_from_bytes, (data,)

    def __sizeof__(self) -> int:
        return super().__sizeof__() + self.nbytes()

    def __copy__(self) -> UntypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict[Any, Any]) -> UntypedStorage:
        shared = memo.setdefault("flambeau", {})
        if self._cdata not in shared:
            # The original is kept as well: its address must not be reused while the memo lives.
            shared[self._cdata] = (self.clone(), self)
        return shared[self._cdata][0]

    def clone(self) -> UntypedStorage:
        """Return a copy with memory of its own."""
        if self.device.type == "meta":
            return UntypedStorage(self.nbytes(), device="meta")
        return UntypedStorage(memoryview(self))

    def tolist(self) -> list[int]:
        """Return the bytes as ints."""
        return memoryview(self).tolist()

    def fill_(self, value: int) -> UntypedStorage:
        """Set every byte to value."""
        self[:] = value
        return self

    def copy_(self, source: Any, non_blocking: bool = False) -> UntypedStorage:
        """Copy the bytes of source, which has the same size."""
        memoryview(self)[:] = memoryview(source)
        return self

    def element_size(self) -> int:
        """Return 1: elements are bytes."""
        return 1

    def cpu(self) -> UntypedStorage:
        """Return self: it is on the CPU."""
        return self

    def is_shared(self) -> bool:
        """Whether the memory is shared with other processes."""
        if self.device.type == "meta":
            return False
        from ._shared_memory import block_of

        return block_of(self) is not None

    def share_memory_(self) -> UntypedStorage:
        """Move the bytes to memory that processes share, for all tensors on this storage; returns self.

        Raises:
            RuntimeError: a NumPy array or memoryview points into the memory.
        """
        from ._shared_memory import move

        if self.device.type != "meta":
            move(self)
        return self

    @classmethod
    def _new_shared(cls, size: int, *, device: Any = "cpu") -> UntypedStorage:
        """A new storage of that many bytes in shared memory."""
        from ._shared_memory import new_block

        return new_block(size, cls)  # type: ignore[no-any-return]

    def untyped(self) -> UntypedStorage:
        """Return self."""
        return self

    @property
    def is_cuda(self) -> bool:
        """Always False."""
        return False

    @classmethod
    def from_file(
        cls, filename: str | os.PathLike[str], shared: bool = False, nbytes: int = 0
    ) -> UntypedStorage:
        """The bytes of a file, mapped.

        Args:
            filename: path.
            shared: True writes changes back to the file, which is made or extended to nbytes; False keeps them in
                memory.
            nbytes: size; with shared=False, 0 means the whole file.
        """
        import mmap

        with open(filename, "a+b" if shared else "rb") as file:
            length = file.seek(0, 2)
            if not shared and nbytes == 0:
                nbytes = length
            if nbytes == 0:
                return cls(0)
            if length < nbytes:
                if not shared:
                    raise RuntimeError(
                        f"from_file: expected a file of at least {nbytes} bytes, got {length}"
                    )
                file.truncate(nbytes)
            access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
            mapping = mmap.mmap(file.fileno(), nbytes, access=access)
        return _C._storage_over(mapping, 0, nbytes, cls)

    @classmethod
    def from_buffer(cls, buffer: Any) -> UntypedStorage:
        """Copy a bytes-like object."""
        return cls(buffer)


class TypedStorage:
    """A storage seen as elements of one dtype.

    Args:
        wrap_storage: the UntypedStorage to look at.
        dtype: element type.
    """

    dtype: Any
    _dtype_name: ClassVar[str | None] = None

    def __init__(self, *args: Any, wrap_storage: Any = None, dtype: Any = None) -> None:
        name = type(self)._dtype_name
        self.dtype = getattr(flambeau, name) if name else dtype or flambeau.get_default_dtype()
        if wrap_storage is not None:
            self._untyped_storage = wrap_storage.untyped()
        elif args and not isinstance(args[0], int):
            self._untyped_storage = flambeau.tensor(
                list(args[0]), dtype=_STORED.get(self.dtype, self.dtype)
            ).untyped_storage()
        else:
            size = args[0] if args else 0
            self._untyped_storage = UntypedStorage(size * self.dtype.itemsize)

    def _tensor(self) -> Any:
        return _C._tensor_over(
            self._untyped_storage, _STORED.get(self.dtype, self.dtype), 0, (len(self),), (1,)
        )

    def __len__(self) -> int:
        return self._untyped_storage.nbytes() // self.dtype.itemsize

    def __getitem__(self, index: Any) -> Any:
        found = self._tensor()[index]
        return found.item() if found.dim() == 0 else found.clone().storage()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._tensor()[index] = value

    def __iter__(self) -> Any:
        return iter(self.tolist())

    def __repr__(self) -> str:
        lines = "".join(f" {v}\n" for v in self.tolist())
        return f"{lines}[{self._class_name()}(dtype={self.dtype}, device={self.device}) of size {len(self)}]"

    def _class_name(self) -> str:
        return f"torch.storage.{type(self).__name__}"

    def __reduce__(self) -> Any:
        return _typed_storage, (self._untyped_storage, self.dtype)

    def __copy__(self) -> TypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict[Any, Any]) -> TypedStorage:
        return _typed_storage(copy.deepcopy(self._untyped_storage, memo), self.dtype)

    def pickle_storage_type(self) -> str:
        """Return the name of PyTorch's class for this dtype."""
        return STORAGE_NAMES[str(self.dtype).removeprefix("torch.")]

    def untyped(self) -> UntypedStorage:
        """Return the bytes."""
        return self._untyped_storage

    def tolist(self) -> list[Any]:
        """Return the elements as Python numbers."""
        return self._tensor().tolist()

    def clone(self) -> TypedStorage:
        """Return a copy with memory of its own."""
        return _typed_storage(self._untyped_storage.clone(), self.dtype)

    def fill_(self, value: Any) -> TypedStorage:
        """Set every element."""
        self._tensor().fill_(value)
        return self

    def copy_(self, source: Any, non_blocking: bool = False) -> TypedStorage:
        """Copy the elements of source, converting the dtype."""
        self._tensor().copy_(source._tensor())
        return self

    def resize_(self, size: int) -> TypedStorage:
        """Change the number of elements."""
        self._untyped_storage.resize_(size * self.dtype.itemsize)
        return self

    def size(self) -> int:
        """Return the number of elements."""
        return len(self)

    def nbytes(self) -> int:
        """Return the size in bytes."""
        return self._untyped_storage.nbytes()

    def data_ptr(self) -> int:
        """Return the address of the first byte."""
        return self._untyped_storage.data_ptr()

    def element_size(self) -> int:
        """Return the size of an element in bytes."""
        return self.dtype.itemsize

    def cpu(self) -> TypedStorage:
        """Return self: it is on the CPU."""
        return self

    def is_shared(self) -> bool:
        """Whether the memory is shared with other processes."""
        return self._untyped_storage.is_shared()

    def share_memory_(self) -> TypedStorage:
        """Move the elements to memory that processes share, for all tensors on this storage; returns self."""
        self._untyped_storage.share_memory_()
        return self

    def _new_shared(self, size: int, *, device: Any = None) -> TypedStorage:
        """A new storage of that many elements in shared memory."""
        untyped = UntypedStorage._new_shared(size * self.dtype.itemsize)
        return _typed_storage(untyped, self.dtype)

    @property
    def device(self) -> Any:
        """Where the bytes are."""
        return self._untyped_storage.device

    @property
    def is_cuda(self) -> bool:
        """Always False."""
        return False

    @property
    def _cdata(self) -> int:
        return self._untyped_storage._cdata


def _typed_storage(untyped: Any, dtype: Any) -> TypedStorage:
    return TypedStorage(wrap_storage=untyped, dtype=dtype)


# FloatStorage and so on: subclasses that fix the dtype.
for _name, _class in STORAGE_NAMES.items():
    globals()[_class] = type(
        _class,
        (TypedStorage,),
        {"_dtype_name": _name, "__module__": __name__, "__doc__": f"Storage of {_name} elements."},
    )
    __all__ += [_class]

Storage = globals()["FloatStorage"]
__all__ += ["Storage"]
