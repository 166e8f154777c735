"""Files that appear under their name when they are complete: a process killed while it writes changes nothing."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from typing import IO

__all__ = ["atomic_write"]


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing that replaces `path` at the end of the block, unless the block raises.

    Permissions of a file that is replaced stay, and a symbolic link keeps pointing to where it did. What is no plain
    file (a pipe, a device), or lies in a folder where no file can be made, is written directly.
    """
    target = os.path.realpath(path)
    try:
        status = os.stat(target)
    except OSError:
        status = None
    folder = os.path.dirname(target)
    direct = status is not None and not (
        stat.S_ISREG(status.st_mode) and os.access(folder, os.W_OK | os.X_OK)
    )
    if direct:
        with open(path, "wb") as file:
            yield file
        return
    if status is not None and not os.access(target, os.W_OK):
        with open(path, "r+b"):  # raises the error that the system has for it
            pass
    partial = os.path.join(folder, f".{os.path.basename(target)[:200]}.{secrets.token_hex(6)}.tmp")
    descriptor, named = _create(folder, partial)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if status is not None:
                _take_over(descriptor, status)
            yield file
            file.flush()
            os.fsync(
                descriptor
            )  # the contents before the name: a crash of the system must not show an empty file
            if not named:
                # A folder is given, though the path is absolute: only then does Python ask to follow the link.
                source = f"/proc/self/fd/{descriptor}"
                os.link(source, partial, src_dir_fd=descriptor, follow_symlinks=True)
                named = True
        os.replace(partial, target)
    except BaseException:
        if named:
            with contextlib.suppress(OSError):
                os.unlink(partial)
        raise
    _sync_folder(folder)


def _create(folder: str, partial: str) -> tuple[int, bool]:
    """Descriptor of a new file, and whether it has its name yet: one without vanishes with a killed process."""
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # the file system has no such files
            return os.open(folder or ".", os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o666), False
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.open(partial, flags, 0o666), True


def _take_over(descriptor: int, status: os.stat_result) -> None:
    """Give a new file the permissions, and where allowed the owner, of the one that it replaces."""
    if not hasattr(os, "fchmod"):
        return
    with contextlib.suppress(OSError):
        os.fchown(descriptor, status.st_uid, status.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))


def _sync_folder(folder: str) -> None:
    """Make the new name survive a crash of the system too."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder or ".", os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
