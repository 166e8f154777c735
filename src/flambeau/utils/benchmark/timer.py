"""Timer: how long a statement takes, in as many runs as it needs."""

from __future__ import annotations

import enum
import timeit
from collections.abc import Callable
from typing import Any

from .common import Measurement, TaskSpec, set_torch_threads

__all__ = ["Language", "Timer", "timer"]

timer = timeit.default_timer


class Language(enum.Enum):
    """Language of a statement; Python is the only one that can be run here."""

    PYTHON = 0
    CPP = 1


class Timer:
    """Measures a Python statement. Names in it are those of `globals`, and flambeau as `torch`.

    Unlike the one of timeit it sets the number of threads (1) and warms up; a Measurement knows how reliable it is.

    Args:
        stmt: statement that is measured.
        setup: run once before.
        timer: clock, in seconds.
        globals: names for the statement.
        label, sub_label, description, env: how it is called in reports: table, row, column, and place.
        num_threads: threads of ops.
        language: must be Python.
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language not in (Language.PYTHON, "py", "python"):
            raise NotImplementedError(
                f"Timer: expected a statement in Python, got language={language}; C++ can't be compiled here."
            )
        if global_setup:
            raise ValueError(
                f'global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be moved to "setup".'
            )
        import flambeau

        self._globals = {"torch": flambeau, "flambeau": flambeau, **(globals or {})}
        stmt, setup = _dedented(stmt), _dedented(setup)
        self._timer = timeit.Timer(stmt=stmt, setup=setup, timer=timer, globals=self._globals)
        self._task_spec = TaskSpec(
            stmt=stmt,
            setup=setup,
            label=label,
            sub_label=sub_label,
            description=description,
            env=env,
            num_threads=num_threads,
        )

    def _seconds(self, number: int) -> float:
        return max(self._timer.timeit(number), 1e-9)

    def timeit(self, number: int = 1000000) -> Measurement:
        """One run of `number` calls, after a shorter one to warm up."""
        with set_torch_threads(self._task_spec.num_threads):
            self._seconds(max(number // 100, 2))
            return Measurement(number, [self._seconds(number)], self._task_spec)

    def repeat(self, repeat: int = -1, number: int = -1) -> None:
        """Not offered; see timeit and blocked_autorange."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback: Any = None) -> None:
        """Not offered; see blocked_autorange."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def _block_size(self, min_run_time: float) -> int:
        """Calls per run so that reading the clock does not matter."""
        with set_torch_threads(self._task_spec.num_threads):
            overhead = min(self._seconds(0) for _ in range(5))
            number = 1
            while True:
                taken = self._seconds(number)
                relative = overhead / taken
                if relative <= 1e-4 and taken >= min_run_time / 1000:
                    return number
                if taken > min_run_time:
                    return number
                if number >= 10**9:
                    return number
                number *= 10

    def _measure(
        self,
        number: int,
        long_enough: Callable[[list[float]], bool],
        min_run_time: float,
        max_run_time: float | None,
        callback: Callable[[int, float], Any] | None,
    ) -> Measurement:
        times: list[float] = []
        total = 0.0
        with set_torch_threads(self._task_spec.num_threads):
            while total < min_run_time or not long_enough(times):
                if max_run_time is not None and total >= max_run_time:
                    break
                taken = self._seconds(number)
                if callback is not None:
                    callback(number, taken)
                times.append(taken)
                total += taken
        return Measurement(number, times, self._task_spec)

    def blocked_autorange(
        self, callback: Callable[[int, float], Any] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Runs of many calls each, for min_run_time seconds at least.

        Args:
            callback: called with the number of calls and the seconds of each run.
            min_run_time: seconds that all runs take together, at least.
        """
        number = self._block_size(min_run_time)
        return self._measure(number, bool, min_run_time, None, callback)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:
        """Runs until the interquartile range is below `threshold` of the median, or max_run_time has passed."""
        number = self._block_size(0.05)

        def settled(times: list[float]) -> bool:
            return len(times) > 3 and Measurement(number, times, self._task_spec).meets_confidence(
                threshold
            )

        return self._measure(number, settled, min_run_time, max_run_time, callback)

    def collect_callgrind(self, number: int = 100, **options: Any) -> Any:
        """Not offered: counting instructions needs Valgrind and PyTorch's bindings to it."""
        raise NotImplementedError(
            "collect_callgrind: counting instructions is not supported; use blocked_autorange."
        )


def _dedented(source: str) -> str:
    import textwrap

    source = textwrap.dedent(source)
    while source and source[0] == "\n":
        source = source[1:]
    return source.rstrip()
