"""Futures deliver results and exceptions, with callbacks."""

import threading

import pytest

from flambeau.futures import Future, collect_all, wait_all


def test_result_reaches_waiters_and_callbacks():
    future = Future()
    following = future.then(lambda f: f.value() + 1)
    threading.Timer(0.01, future.set_result, (1,)).start()
    assert future.wait() == 1 and following.wait() == 2 and future.done()
    with pytest.raises(RuntimeError, match="once"):
        future.set_result(2)


def test_exception_is_raised():
    future = Future()
    future.set_exception(ValueError("no"))
    for waiting in (future, future.then(lambda f: f.wait())):
        with pytest.raises(ValueError, match="no"):
            waiting.wait()


def test_collect_all():
    futures = [Future(), Future()]
    collected = collect_all(futures)
    futures[1].set_result(1)
    assert not collected.done()
    futures[0].set_result(0)
    assert collected.wait() == futures and wait_all(futures) == [0, 1]
