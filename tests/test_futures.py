"""Futures: completion, callbacks, errors, several threads."""

import threading
import time

import pytest

from flambeau.futures import Future, collect_all, wait_all


def completed(value):
    future = Future()
    future.set_result(value)
    return future


def failed(error):
    future = Future()
    future.set_exception(error)
    return future


def test_result_is_set_once():
    future = Future()
    assert not future.done()
    with pytest.raises(RuntimeError, match="expected a completed future"):
        future.value()
    future.set_result(3)
    assert (future.done(), future.value(), future.wait()) == (True, 3, 3)
    for again in (lambda: future.set_result(4), lambda: future.set_exception(ValueError())):
        with pytest.raises(RuntimeError, match="only be marked completed once"):
            again()


def test_exception_is_raised_by_wait_and_value():
    future = failed(ValueError("why"))
    for ask in (future.wait, future.value):
        with pytest.raises(ValueError, match="why"):
            ask()
    with pytest.raises(AssertionError, match="is of type"):
        Future().set_exception("text")


def test_wait_blocks_until_another_thread_delivers():
    future = Future()
    timer = threading.Timer(0.02, future.set_result, ("late",))
    timer.start()
    started = time.monotonic()
    assert future.wait() == "late"
    assert time.monotonic() - started < 10
    timer.join()


def test_then_chains_in_order():
    future, order = Future(), []
    first = future.then(lambda f: order.append(1) or f.value() + 1)
    second = first.then(lambda f: f.value() * 10)
    future.add_done_callback(lambda f: order.append(2))
    assert not second.done()
    future.set_result(1)
    assert (second.wait(), order) == (20, [1, 2])
    assert future.then(lambda f: f.wait() + 5).value() == 6


def test_error_in_then_goes_to_the_new_future():
    def fail(future):
        raise KeyError("gone")

    result = completed(1).then(fail)
    with pytest.raises(
        RuntimeError, match=r"running the callback: KeyError: 'gone'\n\nAt:\n.*fail"
    ):
        result.wait()
    with pytest.raises(RuntimeError, match="ValueError: first"):
        failed(ValueError("first")).then(lambda f: f.wait()).wait()
    with pytest.raises(TypeError, match="callable"):
        Future().then(3)


def test_error_in_a_done_callback_is_printed(capsys):
    completed(1).add_done_callback(lambda f: 1 / 0)
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_collect_all_waits_for_every_one():
    futures = [Future(), completed(2), Future()]
    together = collect_all(futures)
    futures[2].set_result(3)
    assert not together.done()
    futures[0].set_result(1)
    assert [future.value() for future in together.value()] == [1, 2, 3]
    assert wait_all(futures) == [1, 2, 3]
    assert collect_all([]).wait() == []
    with pytest.raises(TypeError, match="Future objects"):
        collect_all([3])


def test_collect_all_has_the_first_error():
    pending = Future()
    together = collect_all([pending, failed(ValueError("bad"))])
    assert not together.done()
    pending.set_result(0)
    with pytest.raises(ValueError, match="bad"):
        together.wait()
    with pytest.raises(ValueError, match="bad"):
        wait_all([completed(1), failed(ValueError("bad"))])


def test_many_threads_complete_many_futures():
    futures = [Future() for _ in range(200)]
    counted = []
    for future in futures:
        future.add_done_callback(counted.append)
    together = collect_all(futures)
    threads = [
        threading.Thread(target=lambda part: [f.set_result(1) for f in part], args=(futures[k::4],))
        for k in range(4)
    ]
    for thread in threads:
        thread.start()
    assert sum(f.value() for f in together.wait()) == 200
    for thread in threads:
        thread.join()
    assert len(counted) == 200


def test_devices():
    assert Future(devices=[]).done() is False
    with pytest.raises(ValueError, match="to have indices"):
        Future(devices=["cpu"])
