"""Results that are not there yet: what asynchronous calls return, with callbacks."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

__all__ = ["Future", "collect_all", "wait", "wait_all"]

T = TypeVar("T")


class Future(Generic[T]):
    """A result that set_result() or set_exception() delivers; wait() waits for it.

    Args:
        devices: accepted; results live on the CPU.
    """

    def __init__(self, *, devices: Any = None) -> None:
        self._future: concurrent.futures.Future[Any] = concurrent.futures.Future()

    def done(self) -> bool:
        """Return whether the result or an exception is there."""
        return self._future.done()

    def wait(self) -> Any:
        """Wait for the result and return it, or raise the exception."""
        return self._future.result()

    def value(self) -> Any:
        """Return the result, which must be there."""
        if not self.done():
            raise RuntimeError("Future.value: expected a future that is done. Use wait().")
        return self._future.result()

    def set_result(self, result: Any) -> None:
        """Deliver the result, once, and run the callbacks."""
        try:
            self._future.set_result(result)
        except concurrent.futures.InvalidStateError as error:
            raise RuntimeError("Future can only be marked completed once.") from error

    def set_exception(self, result: BaseException) -> None:
        """Deliver an exception, which wait() raises."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._future.set_exception(result)

    def then(self, callback: Callable[[Future], Any]) -> Future:
        """Return the future of callback(self), which runs once this one is done."""
        following = Future()

        def run(_: Any) -> None:
            try:
                following.set_result(callback(self))
            except Exception as error:
                following.set_exception(error)

        self._future.add_done_callback(run)
        return following

    def add_done_callback(self, callback: Callable[[Future], None]) -> None:
        """Run callback(self) once this is done."""
        self._future.add_done_callback(lambda _: callback(self))


def collect_all(futures: Sequence[Future]) -> Future:
    """Return a future that is done, with the list of futures, when all of them are."""
    collected = Future()
    waiting = len(futures)
    if not waiting:
        collected.set_result([])

    def count(_: Future) -> None:
        nonlocal waiting
        waiting -= 1
        if waiting == 0:
            collected.set_result(list(futures))

    for future in futures:
        future.add_done_callback(count)
    return collected


def wait_all(futures: Sequence[Future]) -> list[Any]:
    """Wait for all futures and return their results."""
    return [future.wait() for future in futures]


def wait(future: Future) -> Any:
    """Wait for a future and return its result."""
    return future.wait()
