"""save and load: PyTorch's files, both ways, without running code from them unless asked.

The zip format is read and written, the older stream of pickles ("legacy") is read. The formats themselves are in
flambeau/archive; here is what a file may ask for and how storages come back.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import struct
import sys
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

import flambeau

from . import _C, _utils
from .archive.atomic import atomic_write
from .archive.pickler import Pickler, our_name, torch_name
from .archive.unpickler import (
    CallerError,
    SafeUnpickler,
    UnpicklingError,
    UnsafePickleError,
    named_globals,
)
from .archive.zip import ArchiveReader, ArchiveWriter, is_zip
from .storage import STORAGE_NAMES, TypedStorage, UntypedStorage

__all__ = [
    "add_safe_globals",
    "clear_safe_globals",
    "default_restore_location",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "register_package",
    "safe_globals",
    "save",
]

DEFAULT_PROTOCOL = 2
_LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_LEGACY_VERSION = 1001
_DTYPES = {name: dtype for dtype, name in STORAGE_NAMES.items()}

MapLocation = Callable[[Any, str], Any] | dict[str, str] | str | Any | None
MAP_LOCATION = MapLocation  # the name that programs import


# ---- what a file may name ------------------------------------------------------------------------


def _get_layout(name: str) -> Any:
    """Pickles of a layout call this."""
    layout = getattr(flambeau, str(name).removeprefix("torch."), None)
    if not isinstance(layout, flambeau.layout):
        raise ValueError(f"expected the name of a layout, got {name!r}")
    return layout


def _encode(text: str, encoding: str = "utf-8") -> bytes:
    # Python 2 and protocol 2 spell bytes as encoded text. Other codecs are not for files.
    if encoding not in ("latin1", "latin-1", "utf-8", "ascii"):
        raise ValueError(f"expected a text encoding, got {encoding!r}")
    return text.encode(encoding)


def _bytearray(source: Any = b"", encoding: str | None = None) -> bytearray:
    if isinstance(source, str):
        return bytearray(_encode(source, encoding or "latin1"))
    if not isinstance(source, bytes | bytearray):
        raise ValueError("expected bytes")
    return bytearray(source)


def _keyed(make: Callable[[Any], Any]) -> Callable[..., Any]:
    """Containers from pairs or items: through a list of plain keys."""
    from .archive.unpickler import _check_key

    def build(items: Any = ()) -> Any:
        pairs = items.items() if isinstance(items, dict) else items
        for item in pairs:
            _check_key(item if make in (set, frozenset) else item[0])
        return make(items)

    return build


class _Factory:
    """list, dict and so on: only as what a defaultdict makes, never called by the file."""

    def __init__(self, make: type) -> None:
        self.make = make


def _defaultdict(factory: Any = None) -> Any:
    return defaultdict(factory.make if isinstance(factory, _Factory) else None)


def _rebuild_subclass(func: Any, cls: Any, args: Any, state: Any) -> Any:
    if cls is not flambeau.Tensor and cls is not flambeau.nn.Parameter:
        raise ValueError(f"expected Tensor or Parameter, got {cls!r}")
    if isinstance(state, dict) and any(hasattr(cls, str(name)) for name in state):
        raise ValueError("expected attributes that do not replace those of Tensor")
    return _utils._rebuild_from_type_v2(func, cls, args, state if isinstance(state, dict) else {})


def _rebuild_parameter_with_state(
    data: Any, requires_grad: bool, backward_hooks: Any, state: Any
) -> Any:
    cls = flambeau.nn.Parameter
    if not isinstance(state, dict) or any(hasattr(cls, str(name)) for name in state):
        raise ValueError("expected attributes that do not replace those of Parameter")
    return _utils._rebuild_parameter_with_state(data, requires_grad, backward_hooks, state)


def _safe_table() -> dict[str, Any]:
    table: dict[str, Any] = {
        "torch.Tensor": flambeau.Tensor,
        "torch.Size": flambeau.Size,
        "torch.device": flambeau.device,
        "torch.storage.UntypedStorage": UntypedStorage,
        "torch.storage._UntypedStorage": UntypedStorage,
        "torch.UntypedStorage": UntypedStorage,
        "torch.storage.TypedStorage": TypedStorage,
        "torch.serialization._get_layout": _get_layout,
        "torch._tensor._rebuild_from_type_v2": _rebuild_subclass,
        "torch._utils._rebuild_parameter_with_state": _rebuild_parameter_with_state,
        "torch.complex32": flambeau.complex32,
        "collections.OrderedDict": _keyed(OrderedDict),
        "collections.Counter": _keyed(Counter),
        "collections.defaultdict": _defaultdict,
        "_codecs.encode": _encode,
        "builtins.bytearray": _bytearray,
        "builtins.set": _keyed(set),
        "builtins.frozenset": _keyed(frozenset),
        "builtins.complex": complex,
        **{
            f"builtins.{cls.__name__}": _Factory(cls) for cls in (list, dict, int, float, str, bool)
        },
    }
    for name in (
        "_rebuild_tensor",
        "_rebuild_tensor_v2",
        "_rebuild_tensor_v3",
        "_rebuild_parameter",
        "_rebuild_meta_tensor_no_storage",
        "_rebuild_qtensor",
        "_rebuild_sparse_tensor",
        "_rebuild_sparse_csr_tensor",
    ):
        table[f"torch._utils.{name}"] = getattr(_utils, name)
    for dtype, name in STORAGE_NAMES.items():
        table[f"torch.{name}"] = _StorageType(name)
        table[f"torch.{dtype}"] = getattr(flambeau, dtype)
    for name in ("per_tensor_affine", "per_channel_affine", "per_channel_affine_float_qparams"):
        table[f"torch.{name}"] = getattr(flambeau, name)
    for name in ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d"):
        table[f"torch.{name}"] = getattr(flambeau, name)
        if name.startswith("channels"):  # what pickles of PyTorch's memory formats say
            table[f"torch._utils.torch.{name}"] = getattr(flambeau, name)
    return table


class _StorageType:
    """torch.FloatStorage in a persistent id."""

    def __init__(self, name: str) -> None:
        self.name = name


# Of tensors in PyTorch; here they can only be named.
_NAMED_DTYPES = frozenset(
    f"torch.{name}"
    for name in "uint16 uint32 uint64 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu".split()
)
_table: dict[str, Any] = {}
_user_globals: dict[str, Any] = {}


def _global_name(item: Any) -> tuple[str, Any]:
    if isinstance(item, tuple):
        obj, name = item
        return str(name), obj
    return f"{torch_name(item.__module__)}.{item.__qualname__}", item


def add_safe_globals(safe_globals: Iterable[Any]) -> None:
    """Let files loaded with weights_only=True name more functions and classes.

    Args:
        safe_globals: callables, or pairs (callable, "module.name" in the file). Their constructors,
            `__setstate__` and the functions themselves will run on what the file says.
    """
    _user_globals.update(_global_name(item) for item in safe_globals)


def get_safe_globals() -> list[Any]:
    """Return what add_safe_globals added."""
    return list(_user_globals.values())


def clear_safe_globals() -> None:
    """Forget what add_safe_globals added."""
    _user_globals.clear()


@contextlib.contextmanager
def safe_globals(safe_globals: Iterable[Any]) -> Iterator[None]:
    """add_safe_globals within a `with` block."""
    before = dict(_user_globals)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        clear_safe_globals()
        _user_globals.update(before)


def _find_safe(module: str, name: str) -> Any:
    if not _table:
        _table.update(_safe_table())
    full = f"{torch_name(module).replace('__builtin__', 'builtins')}.{name}"
    if full in _user_globals:
        return _user_globals[full]
    if full in _table:
        return _table[full]
    if full in _NAMED_DTYPES:
        raise UnpicklingError(f"expected a dtype that tensors have here, got {full}")
    if full == "torch.nn.parameter.Parameter":  # not in the table: most files don't need nn
        return flambeau.nn.Parameter
    raise UnsafePickleError(full)


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """Return the functions and classes that a file names and weights_only=True doesn't allow; nothing of it runs.

    Args:
        f: path or binary file object of a file in the zip format.
    """
    if isinstance(f, str | os.PathLike):
        with open(f, "rb") as file:
            return get_unsafe_globals_in_checkpoint(file)
    if not is_zip(f):
        raise ValueError(
            "get_unsafe_globals_in_checkpoint: expected a file in the zip format that save writes"
        )
    archive = ArchiveReader(f)
    if "constants.pkl" in archive:
        raise ValueError("Expected input to be a checkpoint, got a TorchScript archive")
    unsafe = []
    for module, name in named_globals(archive.read("data.pkl")):
        try:
            _find_safe(module, name)
        except UnpicklingError:
            unsafe.append(f"{module}.{name}")
    return sorted(set(unsafe))


def _is_user_class(cls: type) -> bool:
    return any(cls is value for value in _user_globals.values())


class _FullUnpickler(pickle.Unpickler):
    """weights_only=False: everything importable, with PyTorch's modules mapped to ours."""

    def __init__(
        self, file: IO[bytes], persistent_load: Callable[[Any], Any], **options: Any
    ) -> None:
        super().__init__(file, **options)
        self._load_storage = persistent_load

    def find_class(self, module: str, name: str) -> Any:
        full = f"{module}.{name}"
        if not _table:
            _table.update(_safe_table())
        if module.partition(".")[0] == "torch":
            if isinstance(_table.get(full), _StorageType) or full in (
                "torch.serialization._get_layout",
            ):
                return _table[full]
            if full == "torch._tensor._rebuild_from_type_v2":
                return _utils._rebuild_from_type_v2
            # Where PyTorch's pickles have built-in functions: getattr(_VariableFunctionsClass, "tanh"), _nn.gelu.
            if full == "torch._C._VariableFunctionsClass":
                return flambeau
            if module == "torch._C._nn":
                return getattr(flambeau.nn.functional, name)
        return super().find_class(our_name(module), name)

    def persistent_load(self, pid: Any) -> Any:
        return self._load_storage(pid)


# ---- storages coming back ------------------------------------------------------------------------


def register_package(priority: int, tagger: Any, deserializer: Any) -> None:
    """Accepted for compatibility: there is no device besides cpu and meta to register."""


_DEVICES = frozenset("cuda mps xpu hpu mtia privateuseone".split())


class SourceChangeWarning(Warning):
    """PyTorch's warning about changed sources of pickled modules; never given here."""


def location_tag(storage: Any) -> str:
    """Return how files name the place of a storage."""
    return str(storage.device.type)


def _is_zipfile(f: IO[bytes]) -> bool:
    return is_zip(f)


def default_restore_location(storage: Any, location: str) -> Any:
    """Give the storage for a location that a file names.

    Raises:
        RuntimeError: the location is a device that Flambeau doesn't have.
    """
    kind = str(location).split(":")[0]
    if kind == "cpu":
        return storage
    if kind == "meta":
        return UntypedStorage(storage.nbytes(), device="meta")
    if kind not in _DEVICES:
        raise RuntimeError(
            "don't know how to restore data location of torch.storage.UntypedStorage "
            f"(tagged with {location})"
        )
    name = kind.upper()
    raise RuntimeError(
        f"Attempting to deserialize object on a {name} device but torch.{kind}.is_available() is False. "
        "If you are running on a CPU-only machine, please use torch.load with "
        "map_location=torch.device('cpu') to map your storages to the CPU."
    )


def _restorer(map_location: MapLocation) -> Callable[[Any, str], Any]:
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        return lambda storage, location: default_restore_location(
            storage, map_location.get(location, location)
        )
    if isinstance(map_location, str | flambeau.device):
        return lambda storage, location: default_restore_location(storage, str(map_location))

    def call(storage: Any, location: str) -> Any:
        result = map_location(storage, location)
        return default_restore_location(storage, location) if result is None else result

    return call


class _Storages:
    """The storages of one file by key; `read(key, nbytes)` makes one."""

    def __init__(
        self, read: Callable[[str, int], UntypedStorage], map_location: MapLocation
    ) -> None:
        self.read = read
        self.restore = _restorer(map_location)
        self.found: dict[str, Any] = {}

    def persistent_load(self, pid: Any) -> Any:
        """Resolve ('storage', type, key, location, numel)."""
        if not isinstance(pid, tuple) or len(pid) < 5 or pid[0] not in ("storage", b"storage"):
            raise UnpicklingError(f"expected a storage as persistent id, got {pid!r:.100}")
        _, kind, key, location, numel = pid[:5]
        dtype = self._dtype(kind)
        itemsize = dtype.itemsize if dtype else 1
        if type(numel) is not int or not 0 <= numel <= 2**62 // itemsize:
            raise UnpicklingError(f"expected a storage size, got {numel!r:.100}")
        key = key.decode() if isinstance(key, bytes) else str(key)
        if key not in self.found:
            storage = self.read(key, numel * itemsize)
            try:
                self.found[key] = self.restore(storage, str(location))
            except Exception as error:
                raise CallerError(error) from error
        untyped = self.found[key].untyped()
        if untyped.nbytes() < numel * itemsize:
            raise UnpicklingError(
                f"expected storage {key} of {numel * itemsize} bytes, got {untyped.nbytes()}"
            )
        return TypedStorage(wrap_storage=untyped, dtype=dtype) if dtype else untyped

    @staticmethod
    def _dtype(kind: Any) -> Any:
        if isinstance(kind, _StorageType):
            return getattr(flambeau, _DTYPES[kind.name])
        if kind is UntypedStorage:
            return None
        if kind is TypedStorage:
            return flambeau.uint8
        raise UnpicklingError(f"expected a storage type, got {kind!r:.100}")


def _unpickle(
    data: bytes, position: int, storages: _Storages, weights_only: bool, options: dict[str, Any]
) -> tuple[Any, int]:
    """The value of one pickle and where it ended."""
    load_storage = storages.persistent_load
    if weights_only:
        encoding = options.get("encoding", "utf-8")
        machine = SafeUnpickler(data, _find_safe, load_storage, _is_user_class, position, encoding)
        return machine.load(), machine.position
    stream = io.BytesIO(data)
    stream.seek(position)
    module = options.pop("pickle_module", None)
    options = {"encoding": "utf-8", **options}
    if module is None or module is pickle:
        return _FullUnpickler(stream, load_storage, **options).load(), stream.tell()
    base = module.Unpickler
    cls = type("Unpickler", (base,), {"persistent_load": lambda self, pid: load_storage(pid)})
    return cls(stream, **options).load(), stream.tell()


def safe_pickle(data: bytes) -> Any:
    """Return the value of a pickle of plain data, by the rules of weights_only=True: no code from it runs."""

    def refuse(pid: Any) -> Any:
        raise UnpicklingError(f"expected a pickle without storages, got {pid!r:.100}")

    try:
        return SafeUnpickler(data, _find_safe, refuse, _is_user_class, 0, "utf-8").load()
    except UnsafePickleError as error:
        raise UnpicklingError(_advice(error.name)) from None


# ---- load ----------------------------------------------------------------------------------------


def load(
    f: Any,
    map_location: MapLocation = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Load an object that save (or PyTorch) wrote.

    Args:
        f: path, or binary file object with read, seek and tell.
        map_location: where storages go: a device, a dict from locations in the file to others, or a
            function (storage, location) -> storage or None.
        pickle_module: module whose Unpickler is used; only with weights_only=False.
        weights_only: True (the default) reads tensors and plain data and can't run code from the file.
            False unpickles anything, which can: only for files that you trust.
        mmap: map the file instead of reading it; f must be a path. Changes stay in memory.
        pickle_load_args: passed to the Unpickler.
    Returns:
        The object. Tensors that shared storage when saved do so again.
    Raises:
        pickle.UnpicklingError: the file asks for something that weights_only=True doesn't allow.
        RuntimeError: the file is damaged, or for a device that isn't there.
    """
    if weights_only is None:
        weights_only = pickle_module is None
    if weights_only and pickle_load_args:
        import warnings

        warnings.warn("pickle_load_args only works if `weights_only=False`.", stacklevel=2)
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    if not isinstance(map_location, str | flambeau.device | dict | None) and not callable(
        map_location
    ):
        raise TypeError(
            f"load: expected map_location to be a device, dict or function, got {map_location!r}"
        )
    if isinstance(f, str | os.PathLike):
        with open(f, "rb") as file:
            return _load_file(
                file, map_location, pickle_module, weights_only, bool(mmap), pickle_load_args
            )
    for method in ("read", "seek", "tell"):
        if not hasattr(f, method):
            raise AttributeError(
                f"load: expected a path or a file object with a {method} method, got {type(f).__name__}. "
                "You can only torch.load from a file that is seekable. Please pre-load the data into a buffer like "
                "io.BytesIO and try to load from it instead."
            )
    if mmap:
        raise ValueError("f must be a file path in order to use the mmap argument")
    return _load_file(f, map_location, pickle_module, weights_only, False, pickle_load_args)


def _load_file(
    file: IO[bytes],
    map_location: MapLocation,
    pickle_module: Any,
    weights_only: bool,
    mapped: bool,
    options: dict[str, Any],
) -> Any:
    if pickle_module is not None:
        options = {**options, "pickle_module": pickle_module}
    try:
        if is_zip(file):
            return _load_zip(file, map_location, weights_only, mapped, options)
        if mapped:
            raise RuntimeError(
                "mmap can only be used with files saved with `torch.save(_use_new_zipfile_serialization=True)`, "
                "please torch.save your checkpoint with this option in order to use mmap."
            )
        return _load_legacy(file, map_location, weights_only, options)
    except CallerError as error:
        raise error.error from None
    except UnsafePickleError as error:
        raise UnpicklingError(_advice(error.name)) from None
    except UnpicklingError as error:
        if not weights_only:
            raise
        raise UnpicklingError(f"Weights only load failed. load: {error}") from None


def _advice(name: str) -> str:
    return (
        f"Weights only load failed. load: expected only tensors and plain data in the file, got {name}. "
        "If you trust the file, either allow it with "
        f"`flambeau.serialization.add_safe_globals([{name}])` (`torch.serialization.add_safe_globals`), "
        "or pass weights_only=False, which can run any code that the file contains."
    )


def _load_zip(
    file: IO[bytes],
    map_location: MapLocation,
    weights_only: bool,
    mapped: bool,
    options: dict[str, Any],
) -> Any:
    start = file.tell()
    archive = ArchiveReader(file if start == 0 else io.BytesIO(file.read()))
    if "constants.pkl" in archive and weights_only:
        raise RuntimeError(
            "load: expected a checkpoint, got a TorchScript archive. Read it with flambeau.jit.load."
        )
    if "byteorder" in archive and archive.read("byteorder", 16).decode() != sys.byteorder:
        raise RuntimeError(f"load: expected {sys.byteorder}-endian data, got the other byte order")

    def read(key: str, nbytes: int) -> UntypedStorage:
        name = f"data/{key}"
        offset, size, crc = archive.find(name)
        if size < nbytes:
            raise RuntimeError(f"load: expected {nbytes} bytes in record {name!r}, got {size}")
        if mapped and offset % 16 == 0 and size:
            return _C._storage_over(archive.map(), offset, size, UntypedStorage)
        storage = UntypedStorage(size)
        archive.read_into(name, offset, crc, storage)
        return storage

    data = archive.read("data.pkl")
    return _unpickle(data, 0, _Storages(read, map_location), weights_only, options)[0]


def _load_legacy(
    file: IO[bytes], map_location: MapLocation, weights_only: bool, options: dict[str, Any]
) -> Any:
    start = file.tell()
    data = file.read()
    if data[257:262] == b"ustar":
        raise RuntimeError(
            "load: expected a zip or pickle file, got the tar format of PyTorch 0.1. Load and save it once with "
            "PyTorch to convert it."
        )
    if not data:
        raise EOFError("Ran out of input: load: expected a checkpoint, got an empty file")
    waiting: dict[str, UntypedStorage] = {}

    def read(key: str, nbytes: int) -> UntypedStorage:
        # The bytes come after the pickle: reserve no more than the file can hold.
        if nbytes > len(data):
            raise RuntimeError(
                f"load: expected {nbytes} bytes of storage {key}, the file is smaller"
            )
        waiting[key] = UntypedStorage(nbytes)
        return waiting[key]

    storages = _Storages(read, map_location)
    plain = _Storages(lambda key, nbytes: read(key, nbytes), None)
    with _utils.checking_sparse_later() as check_sparse:
        result, end = _read_legacy(data, plain, storages, waiting, weights_only, options)
    check_sparse()
    file.seek(start + end)  # another one may follow
    return result


def _read_legacy(
    data: bytes,
    plain: _Storages,
    storages: _Storages,
    waiting: dict[str, UntypedStorage],
    weights_only: bool,
    options: dict[str, Any],
) -> tuple[Any, int]:
    position = 0
    try:
        magic, position = _unpickle(data, position, plain, True, {})
    except UnpicklingError:
        magic = None
    if magic != _LEGACY_MAGIC:
        raise UnpicklingError(
            "Invalid magic number; corrupt file? load: expected a file that save wrote"
        )
    version, position = _unpickle(data, position, plain, True, {})
    if version != _LEGACY_VERSION:
        raise RuntimeError(f"Invalid protocol version: {version!r:.100}")
    _, position = _unpickle(data, position, plain, True, {})
    result, position = _unpickle(data, position, storages, weights_only, options)
    keys, position = _unpickle(data, position, plain, True, {})
    for key in keys if isinstance(keys, list) else []:
        position = _fill_legacy(data, position, str(key), waiting, storages)
    return result, position


def _fill_legacy(
    data: bytes, position: int, key: str, waiting: dict[str, UntypedStorage], storages: _Storages
) -> int:
    """Copy one storage's bytes, which follow a count of elements; returns the position behind them."""
    storage = waiting.get(key)
    if storage is None or position + 8 > len(data):
        raise RuntimeError(
            f"load: expected the bytes of storage {key}, the file is cut off or damaged"
        )
    (numel,) = struct.unpack_from("<q", data, position)
    position += 8
    nbytes = storage.nbytes()
    if nbytes and (numel <= 0 or nbytes % numel or position + nbytes > len(data)):
        raise RuntimeError(
            f"load: expected {nbytes} bytes of storage {key}, the file is cut off or damaged"
        )
    if nbytes:
        memoryview(storage)[:] = memoryview(data)[position : position + nbytes]
    return position + nbytes


# ---- save ----------------------------------------------------------------------------------------


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = None,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Save an object to a file that load and PyTorch's torch.load read.

    A file appears under its name when it is complete: a save that fails or is killed leaves the file that was there.

    Args:
        obj: tensors, and containers and objects that hold them. Tensors that share storage share it in the file.
        f: path, or file object with a write method.
        pickle_module: accepted for compatibility.
        pickle_protocol: pickle protocol of the structure; PyTorch's own default is 2.
        _use_new_zipfile_serialization: False writes the format of PyTorch before 1.6.
    """
    if isinstance(f, str | os.PathLike):
        stem = os.path.splitext(os.path.basename(os.fspath(f)))[0]
        folder = os.path.dirname(os.fspath(f))
        if _use_new_zipfile_serialization and folder and not os.path.isdir(folder):
            raise RuntimeError(f"Parent directory {folder} does not exist.")
        with atomic_write(f) as file:
            if _use_new_zipfile_serialization:
                prefix = str(stem) or "archive"
                _save_zip(obj, file, prefix, pickle_protocol, not _disable_byteorder_record)
            else:
                _save_legacy(obj, file, pickle_protocol)
    elif hasattr(f, "write"):
        if _use_new_zipfile_serialization:
            _save_zip(obj, f, "archive", pickle_protocol, not _disable_byteorder_record)
        else:
            _save_legacy(obj, f, pickle_protocol)
        if hasattr(f, "flush"):
            f.flush()
    else:
        raise AttributeError(
            f"save: expected f to be a path or a file object with a write method, got {type(f).__name__}"
        )


def _save_zip(obj: Any, file: IO[bytes], prefix: str, protocol: int, byteorder: bool) -> None:
    stream = io.BytesIO()
    pickler = Pickler(stream, protocol)
    pickler.dump(obj)
    writer = ArchiveWriter(file, prefix)
    writer.write("data.pkl", stream.getbuffer())
    writer.write(".format_version", b"1")
    writer.write(".storage_alignment", b"64")
    if byteorder:
        writer.write("byteorder", sys.byteorder.encode())
    for key, storage in pickler.storages.items():
        writer.write(f"data/{key}", b"" if storage.device.type == "meta" else storage)
    writer.write("version", b"3\n")
    writer.close()


def _save_legacy(obj: Any, file: IO[bytes], protocol: int) -> None:
    sizes = {"short": 2, "int": 4, "long": 4}
    system = {"protocol_version": _LEGACY_VERSION, "little_endian": True, "type_sizes": sizes}
    for header in (_LEGACY_MAGIC, _LEGACY_VERSION, system):
        pickle.dump(header, file, protocol)
    stream = io.BytesIO()
    pickler = Pickler(stream, protocol, legacy=True)
    pickler.dump(obj)
    file.write(stream.getbuffer())
    keys = sorted(pickler.storages)
    pickle.dump(keys, file, protocol)
    for key in keys:
        file.write(struct.pack("<q", pickler.sizes[key]))
        file.write(memoryview(pickler.storages[key]))
