"""Event files as TensorBoard reads them: records with checksums, and the few protocol buffer messages inside.

The messages are written field by field, by their numbers in TensorBoard's .proto files: no protobuf package is needed.
What the messages say is in _summaries.py.
"""

import os
import socket
import struct
import time
from typing import BinaryIO

_POLYNOMIAL = 0x82F63B78  # CRC-32C (Castagnoli), reflected


def _crc_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (_POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return tuple(table)


_TABLE = _crc_table()


def masked_crc(data: bytes) -> int:
    """CRC-32C of data, rotated and offset as record files store it (a checksum of checksums would be weak)."""
    value = 0xFFFFFFFF
    for byte in data:
        value = _TABLE[(value ^ byte) & 0xFF] ^ (value >> 8)
    value ^= 0xFFFFFFFF
    return (((value >> 15) | (value << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1  # negative numbers are two's complement in 64 bits
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def integer(number: int, value: int) -> bytes:
    """A field of int32, int64, bool or enum type."""
    return _varint(number << 3) + _varint(int(value))


def double(number: int, value: float) -> bytes:
    return _varint(number << 3 | 1) + struct.pack("<d", value)


def single(number: int, value: float) -> bytes:
    """A field of float type. Values out of range become infinite, as in a conversion to float32."""
    try:
        packed = struct.pack("<f", value)
    except OverflowError:
        packed = struct.pack("<f", float("inf") if value > 0 else float("-inf"))
    return _varint(number << 3 | 5) + packed


def blob(number: int, value: bytes | str) -> bytes:
    """A field of bytes, string or message type."""
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def doubles(number: int, values: "list[float]") -> bytes:
    """A repeated field of double type, packed."""
    return blob(number, struct.pack(f"<{len(values)}d", *values))


class RecordWriter:
    """Appends records to a file: length, its checksum, the bytes, their checksum."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._file: BinaryIO = open(path, "wb")

    def write(self, data: bytes) -> None:
        """Append one record."""
        length = struct.pack("<Q", len(data))
        self._file.write(length + struct.pack("<I", masked_crc(length)))
        self._file.write(data + struct.pack("<I", masked_crc(data)))

    def flush(self) -> None:
        """Hand what was written to the operating system."""
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._file.closed


class FileWriter:
    """Writes summaries as the events of one new event file in a folder.

    Args:
        log_dir: the folder; made where it is missing.
        max_queue: events that are kept back at most before the file is flushed.
        flush_secs: seconds after which a further event flushes the file.
        filename_suffix: end of the file's name.
    """

    _count = 0

    def __init__(
        self, log_dir: str, max_queue: int = 10, flush_secs: float = 120, filename_suffix: str = ""
    ) -> None:
        self._log_dir = str(log_dir)
        os.makedirs(self._log_dir, exist_ok=True)
        now, number = time.time(), FileWriter._count
        FileWriter._count += 1  # two files of one process and second need different names
        name = f"events.out.tfevents.{int(now):010d}.{socket.gethostname()}.{os.getpid()}.{number}{filename_suffix}"
        self._max_queue, self._flush_secs = max_queue, flush_secs
        self._pending, self._flushed = 0, now
        self._records = RecordWriter(os.path.join(self._log_dir, name))
        self.add_event(blob(3, "brain.Event:2"))
        self.flush()

    def get_logdir(self) -> str:
        """The folder of the file."""
        return self._log_dir

    def add_event(
        self, content: bytes, step: int | None = None, walltime: float | None = None
    ) -> None:
        """Append an event with the given content field."""
        now = time.time()
        event = double(1, now if walltime is None else walltime)
        if step is not None:
            event += integer(2, int(step))
        self._records.write(event + content)
        self._pending += 1
        if self._pending > self._max_queue or now - self._flushed > self._flush_secs:
            self.flush()

    def add_summary(
        self, summary: bytes, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Append a summary, as _summaries.py makes them."""
        self.add_event(blob(5, summary), global_step, walltime)

    def flush(self) -> None:
        """Write out what is kept back."""
        self._records.flush()
        self._pending, self._flushed = 0, time.time()

    def close(self) -> None:
        """Write out and close the file."""
        if not self._records.closed:
            self.flush()
            self._records.close()
