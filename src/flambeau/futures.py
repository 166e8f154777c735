"""Results that another thread will deliver: Future, and waiting for several of them."""

import sys
import threading
import traceback
import types

__all__ = ["Future", "collect_all", "wait_all"]


class Future:
    """The result of work that may still be running.

    Whoever does the work calls set_result() or set_exception(), once; everybody else waits, asks, or leaves callbacks.
    All methods may be called from any thread.

    Args:
        devices: accelerators whose work the result may depend on; there are none, so None or an empty list.
    Example:
        >>> import flambeau
        >>> future = flambeau.futures.Future()
        >>> doubled = future.then(lambda f: f.value() * 2)
        >>> future.set_result(21)
        >>> doubled.wait()
        42
    """

    def __init__(self, *, devices=None):
        for given in devices or ():
            raise ValueError(f"Expected devices to have indices, got {given}")
        self._condition = threading.Condition()
        self._completed = False
        self._result = None
        self._exception = None
        self._callbacks = []

    __class_getitem__ = classmethod(types.GenericAlias)

    def done(self):
        """Whether there is a result or an exception."""
        return self._completed

    def wait(self):
        """Block until the future is completed; return its result, or raise its exception."""
        with self._condition:
            self._condition.wait_for(self.done)
        return self.value()

    def value(self):
        """Return the result, or raise the exception, of a completed future.

        Raises:
            RuntimeError: it is not completed yet.
        """
        if not self._completed:
            raise RuntimeError(
                "Future.value: expected a completed future, got one that is not. Call wait() instead."
            )
        if self._exception is not None:
            raise self._exception
        return self._result

    def then(self, callback):
        """Call callback(self) once this future is completed, at once if it is.

        Callbacks run in the order they were added, on the thread that completes the future.

        Returns:
            A future of what the callback returns. If it raises, that future has a RuntimeError with its message.
        """
        _check_callable(callback, "then")
        result = Future()

        def run(future):
            try:
                value = callback(future)
            except Exception as error:
                result.set_exception(_callback_error(error))
            else:
                result.set_result(value)

        self._when_done(run)
        return result

    def add_done_callback(self, callback):
        """Call callback(self) once this future is completed, at once if it is; an error it raises is printed."""
        _check_callable(callback, "add_done_callback")

        def run(future):
            try:
                callback(future)
            except Exception as error:
                print(_callback_error(error), file=sys.stderr)  # noqa: T201 - nobody is there to catch it

        self._when_done(run)

    def set_result(self, result):
        """Complete the future; wakes all waiters and runs the callbacks.

        Raises:
            RuntimeError: it is completed already.
        """
        self._complete(result, None)

    def set_exception(self, result):
        """Complete the future with an error, which wait() and value() raise."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._complete(None, result)

    def _complete(self, result, exception):
        with self._condition:
            if self._completed:
                raise RuntimeError(
                    "Attempting to mark a completed Future as complete again. Note that a Future can only be marked "
                    "completed once."
                )
            self._result, self._exception = result, exception
            self._completed = True
            callbacks, self._callbacks = self._callbacks, []
            self._condition.notify_all()
        # Without the lock: callbacks may use this future, and wait for others.
        for callback in callbacks:
            callback(self)

    def _when_done(self, callback):
        with self._condition:
            if not self._completed:
                self._callbacks.append(callback)
                return
        callback(self)


def _check_callable(callback, name):
    if not callable(callback):
        raise TypeError(f"{name}: expected callback to be callable, got {type(callback).__name__}.")


def _callback_error(error):
    where = "".join(f"  {f.filename}({f.lineno}): {f.name}\n" for f in _frames(error))
    return RuntimeError(
        f"Got the following error when running the callback: {type(error).__name__}: {error}\n\nAt:\n{where}"
    )


def _frames(error):
    """Innermost first, without this module's own frame."""
    return traceback.extract_tb(error.__traceback__)[:0:-1]


def collect_all(futures):
    """Return a future that is completed with the list `futures` once all of them are.

    It has the first error among them as its own.

    Args:
        futures: Future objects; none gives a completed future of an empty list.
    """
    futures = list(futures)
    for future in futures:
        if not isinstance(future, Future):
            raise TypeError(f"collect_all: expected Future objects, got {type(future).__name__}.")
    result = Future()
    lock = threading.Lock()
    left = len(futures)

    def finish():
        error = next((f._exception for f in futures if f._exception is not None), None)
        if error is None:
            result.set_result(futures)
        else:
            result.set_exception(error)

    def one_done(_):
        nonlocal left
        with lock:
            left -= 1
            last = left == 0
        if last:
            finish()

    if not futures:
        finish()
    for future in futures:
        future._when_done(one_done)
    return result


def wait_all(futures):
    """Wait for all of `futures`; return their results, or raise the first error among them."""
    return [future.wait() for future in collect_all(futures).wait()]


def wait(future):
    """Wait for a future and return its result; at top level as flambeau.wait."""
    return future.wait()
