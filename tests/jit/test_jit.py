"""jit's marks leave functions as they are, and what needs a captured program says so."""

from typing import Optional

import pytest

import flambeau
from flambeau import fx, jit, nn


def double(x):
    return 2 * x


def test_marks_return_the_function():
    for mark in (
        jit.script,
        jit.export,
        jit.unused,
        jit.ignore,
        jit.ignore(),
        jit.script_if_tracing,
    ):
        assert mark(double) is double
    assert jit.ignore(drop=True)(double) is double
    assert fx.wrap(double) is double and fx.wrap("len") == "len"
    assert jit.annotate(int, 3) == 3
    assert not jit.is_scripting() and not jit.is_tracing()


def test_captured_programs_are_refused():
    for use in (
        lambda: jit.script(nn.Linear(1, 1)),
        lambda: jit.trace(double, flambeau.ones(1)),
        lambda: jit.load("model.pt"),
        lambda: fx.symbolic_trace(nn.Linear(1, 1)),
    ):
        with pytest.raises(NotImplementedError, match="captured programs are not available"):
            use()


def test_isinstance_looks_into_containers():
    assert jit.isinstance([1, 2], list[int]) and not jit.isinstance([1, "a"], list[int])
    assert jit.isinstance({"a": [1.0]}, dict[str, list[float]])
    assert jit.isinstance((1, "a"), tuple[int, str]) and not jit.isinstance((1,), tuple[int, str])
    assert jit.isinstance(None, Optional[int]) and not jit.isinstance("a", int | None)  # noqa: UP045


def test_fork_runs_the_function():
    assert jit.wait(jit.fork(double, 4)) == 8
