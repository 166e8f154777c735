"""Zip archives of stored (uncompressed) records, with data aligned to 64 bytes so that files can be mapped.

Only what checkpoints need. Everything read is checked against the file's size before it is trusted.
"""

from __future__ import annotations

import mmap
import os
import struct
import zipfile
import zlib
from typing import IO, Any

__all__ = ["ArchiveReader", "ArchiveWriter", "is_zip"]

ALIGNMENT = 64
_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_ZIP64_END = struct.Struct("<4sQ2H2I4Q")
_ZIP64_LOCATOR = struct.Struct("<4sIQI")
_END = struct.Struct("<4s4H2IH")
_BIG = 0xFFFFFFFF
_UTF8 = 0x0800
_DATE = (1980 - 1980) << 9 | 1 << 5 | 1  # files do not depend on the clock


class ArchiveWriter:
    """Writes records in order; close() adds the directory."""

    def __init__(self, file: IO[bytes], prefix: str) -> None:
        self.file = file
        self.prefix = prefix
        self.position = 0
        self.records: list[tuple[bytes, int, int, int]] = []  # name, crc, size, offset

    def _put(self, data: Any) -> None:
        self.file.write(data)
        self.position += len(data)

    def write(self, name: str, data: Any) -> None:
        """Append one record; data is bytes-like."""
        data = memoryview(data).cast("B") if len(data) else memoryview(b"")
        full = f"{self.prefix}/{name}".encode()
        crc = zlib.crc32(data)
        offset, size = self.position, len(data)
        big = size >= _BIG
        extra = struct.pack("<2H2Q", 1, 16, size, size) if big else b""
        start = offset + _LOCAL.size + len(full) + len(extra) + 4
        padding = -start % ALIGNMENT
        extra += struct.pack("<2H", 0x4246, padding) + b"Z" * padding
        shown = _BIG if big else size
        header = (b"PK\3\4", 45 if big else 20, _UTF8, 0, 0, _DATE, crc, shown, shown)
        self._put(_LOCAL.pack(*header, len(full), len(extra)))
        self._put(full + extra)
        self._put(data)
        self.records.append((full, crc, size, offset))

    def close(self) -> None:
        """Write the directory."""
        start = self.position
        for name, crc, size, offset in self.records:
            wide = [v for v in (size, size, offset) if v >= _BIG]
            extra = struct.pack(f"<2H{len(wide)}Q", 1, 8 * len(wide), *wide) if wide else b""
            version = 45 if wide else 20
            shown = min(size, _BIG)
            fields = (version, version, _UTF8, 0, 0, _DATE, crc, shown, shown)
            self._put(
                _CENTRAL.pack(
                    b"PK\1\2", *fields, len(name), len(extra), 0, 0, 0, 0, min(offset, _BIG)
                )
            )
            self._put(name + extra)
        count, size = len(self.records), self.position - start
        if count >= 0xFFFF or size >= _BIG or start >= _BIG:
            end = self.position
            self._put(_ZIP64_END.pack(b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, start))
            self._put(_ZIP64_LOCATOR.pack(b"PK\6\7", 0, end, 1))
        count = min(count, 0xFFFF)
        self._put(_END.pack(b"PK\5\6", 0, 0, count, count, min(size, _BIG), min(start, _BIG), 0))


def is_zip(file: IO[bytes]) -> bool:
    """Whether the file, from its current position, starts like a zip archive."""
    start = file.tell()
    magic = file.read(4)
    file.seek(start)
    return magic == b"PK\3\4"


class ArchiveReader:
    """Finds and reads the records of one archive."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        try:
            infos = zipfile.ZipFile(file).infolist()
        except (
            zipfile.BadZipFile,
            struct.error,
            ValueError,
            OverflowError,
            NotImplementedError,
            UnicodeDecodeError,
        ) as error:
            raise RuntimeError(
                f"load: expected a complete zip archive, got one that cannot be read ({error}). "
                "The file is damaged or was cut off."
            ) from error
        self.size = file.seek(0, os.SEEK_END)
        if not infos or "/" not in infos[0].filename:
            raise RuntimeError("load: expected an archive with one folder of records, got none")
        self.prefix = infos[0].filename.split("/", 1)[0]
        self.infos = {info.filename: info for info in infos}
        self.mapping: mmap.mmap | None = None

    def __contains__(self, name: str) -> bool:
        return f"{self.prefix}/{name}" in self.infos

    def names(self) -> list[str]:
        """Names of the records, without the folder."""
        return [name.split("/", 1)[-1] for name in self.infos]

    def find(self, name: str) -> tuple[int, int, int]:
        """Offset of the data in the file, size and checksum of a record."""
        info = self.infos.get(f"{self.prefix}/{name}")
        if info is None:
            raise RuntimeError(f"load: expected a record {name!r} in the archive, got none")
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise RuntimeError(
                f"load: expected record {name!r} to be stored, got a compressed one. "
                "Checkpoints are not compressed; was this archive repacked?"
            )
        if info.header_offset < 0:
            raise RuntimeError(
                f"load: expected record {name!r} inside the file, got an offset before it"
            )
        self.file.seek(info.header_offset)
        header = self.file.read(_LOCAL.size)
        if len(header) != _LOCAL.size or header[:4] != b"PK\3\4":
            raise RuntimeError(f"load: expected a header before record {name!r}, got other data")
        *_, name_size, extra_size = _LOCAL.unpack(header)
        offset = info.header_offset + _LOCAL.size + name_size + extra_size
        if offset + info.file_size > self.size:
            raise RuntimeError(
                f"load: expected {info.file_size} bytes in record {name!r}, got fewer"
            )
        return offset, info.file_size, info.CRC

    def read_into(self, name: str, offset: int, crc: int, target: Any) -> None:
        """Fill target, a writable buffer of the record's size, and verify the checksum."""
        view = memoryview(target).cast("B") if len(target) else memoryview(b"")
        self.file.seek(offset)
        _read_exactly(self.file, view, name)
        if zlib.crc32(view) != crc:
            raise RuntimeError(
                f"load: expected record {name!r} with checksum {crc:08x}, got damaged data"
            )

    def read(self, name: str, limit: int | None = None) -> bytes:
        """Contents of a record."""
        offset, size, crc = self.find(name)
        if limit is not None and size > limit:
            raise RuntimeError(
                f"load: expected at most {limit} bytes in record {name!r}, got {size}"
            )
        data = bytearray(size)
        self.read_into(name, offset, crc, data)
        return bytes(data)

    def map(self) -> mmap.mmap:
        """The whole file, mapped privately: writes stay in this process."""
        if self.mapping is None:
            self.mapping = mmap.mmap(self.file.fileno(), 0, access=mmap.ACCESS_COPY)
        return self.mapping


def _read_exactly(file: IO[bytes], view: memoryview, name: str) -> None:
    done = 0
    readinto = getattr(file, "readinto", None)
    while done < len(view):
        if readinto is not None:
            count = readinto(view[done:])
        else:
            chunk = file.read(len(view) - done)
            count = len(chunk)
            view[done : done + count] = chunk
        if not count:
            raise RuntimeError(f"load: expected {len(view)} bytes in record {name!r}, got {done}")
        done += count
