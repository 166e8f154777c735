"""Running a function in several processes, with their errors raised here."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import tempfile
import time
import traceback
from typing import Any

__all__ = [
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "spawn",
    "start_processes",
]


class ProcessException(Exception):
    """A process that was started here ended with an error; error_index and error_pid say which."""

    def __init__(self, msg: str, error_index: int, pid: int | None) -> None:
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.error_pid = self.pid = pid

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """The function raised; the message has the traceback."""

    def __init__(self, msg: str, error_index: int, error_pid: int | None) -> None:
        super().__init__(msg, error_index, error_pid)


class ProcessExitedException(ProcessException):
    """The process exited with a code other than 0, or by a signal."""

    def __init__(
        self,
        msg: str,
        error_index: int,
        error_pid: int | None,
        exit_code: int,
        signal_name: str | None = None,
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal_name

    def __reduce__(self) -> Any:
        args = (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)
        return type(self), args


def _end_with_parent() -> None:
    """Ask the system to interrupt this process when its parent ends."""
    if sys.platform != "linux":
        return
    import ctypes

    set_death_signal = 1
    ctypes.CDLL(None).prctl(set_death_signal, signal.SIGINT)


def _wrap(fn: Any, i: int, args: tuple[Any, ...], error_file: str) -> None:
    """Body of a process: the traceback of an error goes to a file."""
    _end_with_parent()
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass  # the parent reports it
    except Exception:
        with open(error_file, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(traceback.format_exc())
        sys.exit(1)


class ProcessContext:
    """Processes that run a function."""

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        self.error_files = error_files
        self.processes = processes
        self.sentinels = {process.sentinel: i for i, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """Ids of the processes."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait for a process to end, or for all; call until it returns True.

        Args:
            timeout: seconds to wait for one; None waits as long as it takes.
            grace_period: after an error, seconds that the others have to end before they are killed.
        Returns:
            Whether all processes have ended.
        Raises:
            ProcessRaisedException, ProcessExitedException: a process failed; the others have been ended.
        """
        if not self.sentinels:
            return True
        ready = multiprocessing.connection.wait(list(self.sentinels), timeout=timeout)
        failed = None
        for sentinel in ready:
            index = self.sentinels.pop(sentinel)  # type: ignore[call-overload]
            process = self.processes[index]
            process.join()
            if process.exitcode != 0 and failed is None:
                failed = index
        if failed is None:
            if not self.sentinels:
                self._remove_files()
            return not self.sentinels
        self._end_all(grace_period)
        try:
            self._raise(failed)
        finally:
            self._remove_files()
        return False

    def _end_all(self, grace_period: float | None) -> None:
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        end = time.monotonic() + (30.0 if grace_period is None else grace_period)
        for process in self.processes:
            process.join(max(0.0, end - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()

    def _raise(self, index: int) -> None:
        process = self.processes[index]
        try:
            with open(self.error_files[index], encoding="utf-8") as file:
                text = file.read()
        except OSError:
            text = ""
        if text:
            message = f"\n\n-- Process {index} terminated with the following error:\n{text}"
            raise ProcessRaisedException(message, index, process.pid)
        code = process.exitcode
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"<Unknown signal {-code}>"
            raise ProcessExitedException(
                f"process {index} terminated with signal {name}", index, process.pid, code, name
            )
        raise ProcessExitedException(
            f"process {index} terminated with exit code {code}", index, process.pid, code
        )

    def _remove_files(self) -> None:
        for path in self.error_files:
            if os.path.exists(path):
                os.unlink(path)


class SpawnContext(ProcessContext):
    """Processes that spawn() started."""


def start_processes(
    fn: Any,
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
    numa_options: Any = None,
) -> ProcessContext | None:
    """Run fn(i, *args) in nprocs new processes, i = 0 ... nprocs - 1.

    Args:
        fn: function; with "spawn" and "forkserver" of a module's top level.
        args: its further arguments.
        nprocs: number of processes.
        join: wait for all of them; False returns a ProcessContext at once.
        daemon: stop them with this process.
        start_method: "spawn", "fork" or "forkserver".
        numa_options: accepted; placement is left to the system.
    Raises:
        ProcessRaisedException: fn raised in a process; the message has the traceback, the others were ended.
        ProcessExitedException: a process exited otherwise.
    """
    context = multiprocessing.get_context(start_method)
    processes: list[Any] = []
    files: list[str] = []
    for i in range(nprocs):
        handle, path = tempfile.mkstemp(prefix="flambeau-spawn-", suffix=".txt")
        os.close(handle)
        os.unlink(path)  # made again by a process that fails
        process = context.Process(target=_wrap, args=(fn, i, args, path), daemon=daemon)  # type: ignore[attr-defined]
        process.start()
        processes.append(process)
        files.append(path)
    started = SpawnContext(processes, files)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(
    fn: Any,
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """start_processes with the start method "spawn"; another one warns.

    Example:
        >>> spawn(print, args=("from a process",), nprocs=0)
    """
    if start_method != "spawn":
        import warnings

        warnings.warn(
            f"This method only supports start_method=spawn (got: {start_method}).\n"
            "To use a different start_method use:\n\t\t torch.multiprocessing.start_processes(...)",
            FutureWarning,
            stacklevel=2,
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
