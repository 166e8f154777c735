"""Timers, measurements and tables of them."""

import pytest

import flambeau
from flambeau.utils import benchmark
from flambeau.utils.benchmark import Compare, Measurement, TaskSpec, Timer


def measured(times, **fields):
    return Measurement(10, [10 * t for t in times], TaskSpec("x", "pass", **fields))


def test_timer_counts_calls():
    calls = []
    timer = Timer("calls.append(torch.get_num_threads())", globals={"calls": calls}, num_threads=1)
    before = flambeau.get_num_threads()
    result = timer.timeit(50)
    assert result.number_per_run == 50
    assert len(calls) >= 50
    assert set(calls) == {1}
    assert flambeau.get_num_threads() == before
    assert result.mean == result.times[0] > 0


def test_autoranges():
    seen = []
    result = Timer("pass").blocked_autorange(
        callback=lambda number, taken: seen.append(number), min_run_time=0.01
    )
    assert sum(result.raw_times) >= 0.01
    assert set(seen) == {result.number_per_run}
    adaptive = Timer("pass").adaptive_autorange(min_run_time=0.001, max_run_time=0.05)
    assert adaptive.median > 0


def test_statistics():
    result = measured([1e-6, 2e-6, 3e-6, 4e-6])
    assert result.median == pytest.approx(2.5e-6)
    assert result.mean == pytest.approx(2.5e-6)
    assert result.iqr == pytest.approx(1.5e-6)
    assert result.has_warnings
    assert not measured([1e-6] * 5).has_warnings
    text = repr(measured([1e-6, 2e-6, 3e-6, 4e-6], label="add", sub_label="small", description="d"))
    assert "add: small\nd\n  Median: 2.50 us\n  IQR:    1.50 us (1.75 to 3.25)" in text
    assert "4 measurements, 10 runs per measurement, 1 thread" in text
    merged = Measurement.merge([measured([1e-6]), measured([3e-6])])
    assert len(merged) == 1
    assert merged[0].median == pytest.approx(2e-6)


def test_units():
    assert benchmark.select_unit(3e-5) == ("us", pytest.approx(1e-6))
    assert benchmark.unit_to_english("ns") == "nanosecond"
    assert benchmark.trim_sigfig(123456.0, 3) == 123000.0
    assert benchmark.ordered_unique([3, 1, 3]) == [3, 1]


def test_table():
    compare = Compare(
        [
            measured([4e-6] * 5, label="add", sub_label="small", description="d1"),
            measured([14e-6] * 5, label="add", sub_label="big", description="d2"),
            measured([32e-6] * 5, label="add", sub_label="big", description="d1", num_threads=2),
        ]
    )
    compare.trim_significant_figures()
    lines = str(compare).splitlines()
    assert "add" in lines[0]
    assert lines[1].split("|")[1:] == ["     d1     ", "   d2 "] or "d1" in lines[1]
    assert lines[2].startswith("1 threads: ---")
    assert lines[3].split() == ["small", "|", "4.000", "|"]
    assert lines[4].split() == ["big", "|", "|", "14.00"]
    assert lines[5].startswith("2 threads: ---")
    assert "Times are in microseconds (us)." in lines
    compare.colorize()
    assert "\033[92m" in str(compare)


def test_what_is_not_offered():
    with pytest.raises(NotImplementedError, match="Python"):
        Timer("pass", language="c++")
    with pytest.raises(NotImplementedError, match="instructions"):
        Timer("pass").collect_callgrind()
    with pytest.raises(ValueError, match="instance of `Measurement`"):
        Compare([3])
