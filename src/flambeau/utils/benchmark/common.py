"""What was measured (TaskSpec), what came out (Measurement), and units of time."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import statistics
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import flambeau

__all__ = [
    "Measurement",
    "TaskSpec",
    "ordered_unique",
    "select_unit",
    "set_torch_threads",
    "trim_sigfig",
    "unit_to_english",
]

_MAX_DIGITS = 4
# Numbers that have fewer significant digits than this are reported with a warning, unless the spread is small.
_WARN_SPREAD, _CONCERNING_SPREAD = 0.1, 0.25
_LEAST_FOR_SPREAD = 4  # an interquartile range of fewer times says nothing


@dataclasses.dataclass(init=True, repr=False, eq=True, frozen=True)
class TaskSpec:
    """A statement to measure, and how it is called in reports."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, or the statement."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        if "\n" not in self.stmt:
            return self.stmt + (f": {self.sub_label}" if self.sub_label else "")
        return f"stmt:{f' ({self.sub_label})' if self.sub_label else ''}\n{textwrap.indent(self.stmt, '  ')}"

    def setup_str(self) -> str:
        """The setup as part of a report."""
        if self.setup in ("", "pass"):
            return ""
        if "\n" in self.setup:
            return f"setup:\n{textwrap.indent(self.setup, '  ')}"
        return f"setup: {self.setup}"

    def summarize(self) -> str:
        """Title, description and setup, a line each."""
        parts = [
            self.title,
            self.description or "",
            self.setup_str(),
        ]
        return "\n".join(part for part in parts if part) + "\n"


_SPEC_FIELDS = tuple(field.name for field in dataclasses.fields(TaskSpec))


class Measurement:
    """Times of one statement.

    Args:
        number_per_run: calls in each run.
        raw_times: seconds of each run.
        task_spec: what was measured; its fields are attributes here too.
    """

    def __init__(
        self,
        number_per_run: int,
        raw_times: list[float],
        task_spec: TaskSpec,
        metadata: dict[Any, Any] | None = None,
    ) -> None:
        self.number_per_run = number_per_run
        self.raw_times = raw_times
        self.task_spec = task_spec
        self.metadata = metadata

    def __getattr__(self, name: str) -> Any:
        if name in _SPEC_FIELDS:
            return getattr(self.task_spec, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @property
    def times(self) -> list[float]:
        """Seconds per call, one value per run."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def median(self) -> float:
        """Median of the times."""
        return statistics.median(self.times)

    @property
    def mean(self) -> float:
        """Mean of the times."""
        return statistics.fmean(self.times)

    @property
    def iqr(self) -> float:
        """Distance of the quartiles of the times."""
        ordered = sorted(self.times)
        return _quantile(ordered, 0.75) - _quantile(ordered, 0.25)

    @property
    def significant_figures(self) -> int:
        """Digits of the median that the spread of the times leaves meaningful; at least 1.

        Half the width of a 95 % confidence interval for the centre, from the interquartile range of normal noise,
        1.645 standard deviations of the mean, says which decimal is the last one.
        """
        count = len(self.raw_times)
        half = 1.645 * (self.iqr / 1.349) / math.sqrt(count) if count else 0.0
        lower = math.log10(self.median / half) if half > 0 and self.median > 0 else _MAX_DIGITS
        return int(min(max(math.floor(lower), 1), _MAX_DIGITS))

    @property
    def has_warnings(self) -> bool:
        """Whether the spread is so large that the median says little."""
        return not self.meets_confidence()

    def meets_confidence(self, threshold: float = _WARN_SPREAD) -> bool:
        """Whether the interquartile range is below a share of the median."""
        return self.iqr / self.median < threshold

    @property
    def title(self) -> str:
        """Title of the task."""
        return self.task_spec.title

    @property
    def env(self) -> str:
        """Environment of the task, "Unspecified env" without one."""
        return "Unspecified env" if self.task_spec.env is None else self.task_spec.env

    @property
    def as_row_name(self) -> str:
        """Name of the row in a table."""
        return self.sub_label or self.stmt or "[Unknown]"

    def __repr__(self) -> str:
        count = len(self.raw_times)
        unit, scale = select_unit(self.median)
        lines = [super().__repr__(), self.task_spec.summarize().rstrip("\n")]
        digits = f"{{:.{2}f}} {unit}"
        if count == 1:
            lines.append("  " + digits.format(self.median / scale))
        else:
            lines.append("  Median: " + digits.format(self.median / scale))
        if count >= _LEAST_FOR_SPREAD:
            ordered = sorted(self.times)
            low, high = _quantile(ordered, 0.25) / scale, _quantile(ordered, 0.75) / scale
            iqr = self.iqr / scale
            lines.append(f"  IQR:    {iqr:.2f} {unit} ({low:.2f} to {high:.2f})")
        threads = f"{self.num_threads} thread{'s' if self.num_threads > 1 else ''}"
        per_run = (
            f"{self.number_per_run} runs {'per measurement' if count > 1 else ''}".rstrip()
            if self.number_per_run > 1
            else "1 run" + (" per measurement" if count > 1 else "")
        )
        runs = f"{count} measurement{'s' if count > 1 else ''}"
        joined = per_run + (" " if count == 1 and self.number_per_run > 1 else "")
        lines.append(f"  {runs}, {joined}, {threads}")
        if count >= _LEAST_FOR_SPREAD and self.has_warnings:
            lines.append(_spread_warning(self.iqr / self.median))
        return "\n".join(lines)

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Put the times of measurements of the same task together."""
        groups: dict[TaskSpec, list[Measurement]] = {}
        for measurement in measurements:
            groups.setdefault(measurement.task_spec, []).append(measurement)
        return [
            Measurement(1, [t for m in group for t in m.times], spec, None)
            for spec, group in groups.items()
        ]


def _quantile(ordered: list[float], q: float) -> float:
    place = q * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _spread_warning(share: float) -> str:
    rest = (
        "This could indicate system fluctuation."
        if share <= _CONCERNING_SPREAD
        else "This suggests significant environmental influence."
    )
    return f"  WARNING: Interquartile range is {share * 100:.1f}% of the median measurement.\n           {rest}"


def select_unit(t: float) -> tuple[str, float]:
    """The unit in which a time in seconds is a small number, and its size in seconds."""
    exponent = min(max(math.floor(math.log10(t) / 3), -3), 0) if t > 0 else -3
    return {0: "s", -1: "ms", -2: "us", -3: "ns"}[exponent], 10.0 ** (3 * exponent)


def unit_to_english(u: str) -> str:
    """The name of a unit of time."""
    return {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}[u]


def trim_sigfig(x: float, n: int) -> float:
    """A number rounded to n significant digits."""
    if n != int(n):
        raise AssertionError(f"expected a whole number of digits, got {n}")
    if x == 0:
        return 0.0
    scale = 10.0 ** (math.floor(math.log10(abs(x))) + 1 - int(n))
    return float(round(x / scale) * scale)


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """The different elements, in the order in which they come first."""
    return list(dict.fromkeys(elements))


@contextlib.contextmanager
def set_torch_threads(n: int) -> Iterator[None]:
    """Run a block with n threads."""
    before = flambeau.get_num_threads()
    try:
        flambeau.set_num_threads(n)
        yield
    finally:
        flambeau.set_num_threads(before)
