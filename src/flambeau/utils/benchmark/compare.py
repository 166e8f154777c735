"""Compare: measurements as tables, a row for each variant and a column for each description."""

from __future__ import annotations

import enum
from collections import defaultdict
from typing import Any

from .common import (
    Measurement,
    ordered_unique,
    select_unit,
    trim_sigfig,
    unit_to_english,
)

__all__ = ["Colorize", "Compare"]

_BEST, _GOOD, _BAD, _VERY_BAD, _BOLD, _END = (
    f"\033[{code}m" for code in ("92", "34", "91", "31", "1", "0")
)


class Colorize(enum.Enum):
    """Among which numbers the fastest one is marked."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


class Compare:
    """Prints a table for each label: rows by threads, environment and sub_label, columns by description."""

    def __init__(self, results: list[Measurement]) -> None:
        self._results: list[Measurement] = []
        self.extend_results(results)
        self._trim = False
        self._colorize = Colorize.NONE
        self._warn = False

    def __str__(self) -> str:
        return "\n".join(self._render())

    def extend_results(self, results: list[Measurement]) -> None:
        """Add measurements; those of one task are merged."""
        for result in results:
            if not isinstance(result, Measurement):
                raise ValueError(
                    f"Expected an instance of `Measurement`, got {type(result)} instead."
                )
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Show only digits that mean something."""
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """Mark fast and slow numbers by colour, within their column or row."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """Mark numbers that vary a lot."""
        self._warn = True

    def print(self) -> None:
        """Print the tables."""
        print(str(self))  # noqa: T201 - what it is for

    def _render(self) -> list[str]:
        groups: dict[Any, list[Measurement]] = defaultdict(list)
        for result in Measurement.merge(self._results):
            groups[result.label].append(result)
        return [self._table(group) for group in groups.values()]

    def _table(self, results: list[Measurement]) -> str:
        label = results[0].label or ""
        # Environments are named where there are several.
        several = len({r.task_spec.env for r in results}) > 1
        _env = (lambda r: r.task_spec.env or "") if several else (lambda r: "")
        unit, scale = select_unit(min(r.median for r in results))
        columns = ordered_unique(r.description for r in results)
        threads = sorted({r.num_threads for r in results})
        rows = ordered_unique((r.num_threads, _env(r), r.as_row_name) for r in results)
        rows.sort(key=lambda row: (threads.index(row[0]), row[1]))
        cells = {(r.num_threads, _env(r), r.as_row_name, r.description): r for r in results}
        shown = {key: self._number(r, scale) for key, r in cells.items()}
        names = {row: (f"({row[1]})  " if row[1] else "") + row[2] for row in rows}
        name_width = max([len(name) for name in names.values()] + [len("1 threads:") - 6]) + 6
        widths = {
            c: max([len(c or "")] + [len(shown.get((*row, c), "")) for row in rows])
            for c in columns
        }
        lines = [" " * name_width + "".join(f"  |  {(c or ''):^{widths[c]}}" for c in columns)]
        width = len(lines[0])
        current = None
        for row in rows:
            if row[0] != current:
                current = row[0]
                lines.append(f"{current} threads: ".ljust(width, "-"))
            text = f"      {names[row]}".ljust(name_width)
            for column in columns:
                key = (*row, column)
                cell = f"{shown.get(key, ''):>{widths[column]}}"
                text += "  |  " + self._coloured(cell, key, cells, rows, columns)
            lines.append(text)
        title = f" {label} " if label else ""
        head = "[" + title.center(width - 2, "-") + "]"
        foot = [f"\nTimes are in {unit_to_english(unit)}s ({unit})."]
        if self._warn and any(r.has_warnings for r in results):
            foot.append(
                "(! XX%) Measurement has high variance, where XX is the IQR / median * 100."
            )
        return "\n".join([head, *lines, *foot]) + "\n"

    def _number(self, result: Measurement, scale: float) -> str:
        value = result.median / scale
        digits = result.significant_figures
        if self._trim:
            value = trim_sigfig(value, digits)
        decimals = max(digits - len(str(int(value))), 0) if self._trim else 1
        text = f"{value:.{decimals}f}"
        if self._warn and result.has_warnings:
            text += f" (! {100 * result.iqr / result.median:.0f}%)"
        return text

    def _coloured(self, cell: str, key: Any, cells: Any, rows: Any, columns: Any) -> str:
        if self._colorize is Colorize.NONE or key not in cells:
            return cell
        *row, column = key
        if self._colorize is Colorize.ROWWISE:
            rivals = [cells.get((*row, c)) for c in columns]
        else:
            rivals = [cells.get((*r, column)) for r in rows if r[0] == row[0]]
        best = min(r.median for r in rivals if r is not None)
        ratio = cells[key].median / best
        for limit, colour in ((1.01, _BEST + _BOLD), (1.1, _GOOD + _BOLD)):
            if ratio <= limit:
                return f"{colour}{cell}{_END}"
        if ratio >= 5:
            return f"{_VERY_BAD}{_BOLD}{cell}{_END}"
        return f"{_BAD}{cell}{_END}" if ratio >= 2 else cell
