"""safetensors files: a JSON header and raw bytes. Nothing in them can run. https://github.com/huggingface/safetensors

Layout: 8 bytes header size (little endian), the header, the tensors' bytes without gaps.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
from collections.abc import Iterator
from typing import Any

import flambeau
from flambeau import _C
from flambeau.archive.atomic import atomic_write
from flambeau.storage import UntypedStorage

__all__ = ["SafetensorsError", "load", "load_file", "metadata", "save", "save_file"]

_MAX_HEADER = 100_000_000  # the format's own limit
_NAMES = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "I16": "int16",
    "I32": "int32",
    "I64": "int64",
    "F16": "float16",
    "BF16": "bfloat16",
    "F32": "float32",
    "F64": "float64",
    "C64": "complex64",
}
_CODES = {name: code for code, name in _NAMES.items()}


class SafetensorsError(ValueError):
    """The file does not follow the format."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise SafetensorsError("safetensors: expected every name once, got one twice")
    return found


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**62


def _parse(header: bytes, available: int) -> tuple[dict[str, Any], dict[str, str]]:
    """Checked entries (name -> dtype, shape, begin, end) and the file's metadata."""
    try:
        parsed = json.loads(header, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise SafetensorsError(f"safetensors: expected a JSON header, got {error}") from None
    if not isinstance(parsed, dict):
        raise SafetensorsError("safetensors: expected a JSON object as header")
    meta = parsed.pop("__metadata__", {})
    if not isinstance(meta, dict) or not all(isinstance(v, str) for v in meta.values()):
        raise SafetensorsError("safetensors: expected __metadata__ to map text to text")
    entries = {name: _entry(name, entry) for name, entry in parsed.items()}
    position = 0
    for name, (_, _, begin, end) in sorted(entries.items(), key=lambda item: item[1][2:]):
        if begin != position:
            raise SafetensorsError(
                f"safetensors: expected {name!r} to start at {position}, got {begin}"
            )
        position = end
    if position != available:
        raise SafetensorsError(f"safetensors: expected {position} bytes of data, got {available}")
    return entries, meta


def _entry(name: str, entry: Any) -> tuple[Any, list[int], int, int]:
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise SafetensorsError(f"safetensors: expected dtype, shape and data_offsets of {name!r}")
    shape, offsets = entry["shape"], entry["data_offsets"]
    if not isinstance(entry["dtype"], str) or entry["dtype"] not in _NAMES:
        raise SafetensorsError(
            f"safetensors: expected one of {sorted(_NAMES)} as dtype of {name!r}, got {entry['dtype']!r}"
        )
    if not isinstance(shape, list) or not isinstance(offsets, list) or len(offsets) != 2:
        raise SafetensorsError(f"safetensors: expected lists as shape and data_offsets of {name!r}")
    if not all(map(_is_size, shape + offsets)):
        raise SafetensorsError(
            f"safetensors: expected sizes of {name!r} to be integers of at least 0"
        )
    dtype = getattr(flambeau, _NAMES[entry["dtype"]])
    nbytes = dtype.itemsize
    for size in shape:
        nbytes *= size
    if offsets[1] - offsets[0] != nbytes:
        raise SafetensorsError(
            f"safetensors: expected {nbytes} bytes of {name!r}, got {offsets[1] - offsets[0]}"
        )
    return dtype, shape, offsets[0], offsets[1]


def _split(data: Any) -> tuple[dict[str, Any], dict[str, str], int]:
    """Entries, metadata and where the bytes start."""
    if len(data) < 8:
        raise SafetensorsError("safetensors: expected at least 8 bytes")
    (size,) = struct.unpack("<Q", data[:8])
    if size > min(_MAX_HEADER, len(data) - 8):
        raise SafetensorsError(
            f"safetensors: expected a header within the file, got a size of {size}"
        )
    entries, meta = _parse(bytes(data[8 : 8 + size]), len(data) - 8 - size)
    return entries, meta, 8 + size


def _contiguous_strides(shape: list[int]) -> list[int]:
    strides, running = [0] * len(shape), 1
    for i in range(len(shape) - 1, -1, -1):
        strides[i] = running
        running *= max(shape[i], 1)
    return strides


def load(data: bytes) -> dict[str, Any]:
    """Read tensors from bytes; each gets memory of its own.

    Raises:
        SafetensorsError: the bytes don't follow the format.
    """
    entries, _, start = _split(data)
    view = memoryview(data)
    return {
        name: _C._tensor_over(
            UntypedStorage(view[start + begin : start + end]),
            dtype,
            0,
            shape,
            _contiguous_strides(shape),
        )
        for name, (dtype, shape, begin, end) in entries.items()
    }


def load_file(filename: str | os.PathLike[str], device: Any = "cpu") -> dict[str, Any]:
    """Read a file's tensors. The file is mapped: only what is used is read, and changes stay in memory.

    Raises:
        SafetensorsError: the file doesn't follow the format.
    """
    with open(filename, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise SafetensorsError("safetensors: expected at least 8 bytes")
        mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    entries, _, start = _split(mapping)
    result = {}
    for name, (dtype, shape, begin, end) in entries.items():
        if (start + begin) % dtype.itemsize or begin == end:
            storage = UntypedStorage(mapping[start + begin : start + end])
        else:
            storage = _C._storage_over(mapping, start + begin, end - begin, UntypedStorage)
        tensor = _C._tensor_over(storage, dtype, 0, shape, _contiguous_strides(shape))
        result[name] = tensor if str(device) == "cpu" else tensor.to(device)
    return result


def metadata(filename: str | os.PathLike[str]) -> dict[str, str]:
    """Return the text that was saved beside the tensors."""
    with (
        open(filename, "rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapping,
    ):
        return _split(mapping)[1]


def _chunks(tensors: dict[str, Any], meta: dict[str, str] | None) -> Iterator[Any]:
    for name, tensor in tensors.items():
        if not isinstance(tensor, flambeau.Tensor):
            raise ValueError(
                f"safetensors: expected a tensor as {name!r}, got {type(tensor).__name__}"
            )
    if meta and not all(isinstance(text, str) for item in meta.items() for text in item):
        raise TypeError("safetensors: expected metadata that maps text to text")
    # Largest elements first: everything is aligned to its element size then, as the format's own library does.
    ordered = sorted(tensors.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    header: dict[str, Any] = {"__metadata__": dict(meta)} if meta else {}
    position, parts = 0, []
    for name, tensor in ordered:
        code = _CODES.get(str(tensor.dtype).removeprefix("torch."))
        if code is None:
            raise ValueError(
                f"safetensors: expected a dtype of {sorted(_CODES)} for {name!r}, got {tensor.dtype}"
            )
        part = tensor.detach().resolve_conj().resolve_neg().contiguous()
        nbytes = part.numel() * part.dtype.itemsize
        header[name] = {
            "dtype": code,
            "shape": list(part.shape),
            "data_offsets": [position, position + nbytes],
        }
        position += nbytes
        begin = part.storage_offset() * part.dtype.itemsize
        parts.append(memoryview(part.untyped_storage())[begin : begin + nbytes])
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    yield struct.pack("<Q", len(text)) + text
    yield from parts


def save(tensors: dict[str, Any], metadata: dict[str, str] | None = None) -> bytes:
    """Return the file's bytes for tensors by name. Views are written out in full."""
    return b"".join(_chunks(tensors, metadata))


def save_file(
    tensors: dict[str, Any],
    filename: str | os.PathLike[str],
    metadata: dict[str, str] | None = None,
) -> None:
    """Write tensors by name to a file, which appears when it is complete."""
    with atomic_write(filename) as file:
        for chunk in _chunks(tensors, metadata):
            file.write(chunk)
