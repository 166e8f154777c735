"""The determinism switch, its modes and the fill."""

import math
import threading

import pytest

import flambeau


@pytest.fixture(autouse=True)
def restored():
    yield
    flambeau.utils.deterministic.fill_uninitialized_memory = True
    flambeau.use_deterministic_algorithms(False)


def state():
    return (
        flambeau.are_deterministic_algorithms_enabled(),
        flambeau.is_deterministic_algorithms_warn_only_enabled(),
        flambeau.get_deterministic_debug_mode(),
    )


def test_modes():
    assert state() == (False, False, 0)
    flambeau.use_deterministic_algorithms(True)
    assert state() == (True, False, 2)
    flambeau.use_deterministic_algorithms(True, warn_only=True)
    assert state() == (True, True, 1)
    flambeau.set_deterministic_debug_mode("error")
    seen = []
    thread = threading.Thread(target=lambda: seen.append(state()))
    thread.start()
    thread.join()
    assert seen == [(True, False, 2)]
    flambeau.set_deterministic_debug_mode(0)
    assert state() == (False, False, 0)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: flambeau.set_deterministic_debug_mode(3), RuntimeError),
        (lambda: flambeau.set_deterministic_debug_mode("foo"), RuntimeError),
        (lambda: flambeau.set_deterministic_debug_mode(1.5), TypeError),
        (lambda: flambeau.use_deterministic_algorithms(1), TypeError),
        (lambda: flambeau.use_deterministic_algorithms(True, True), TypeError),
    ],
)
def test_bad_modes(call, error):
    with pytest.raises(error):
        call()


def test_uninitialised_memory_is_filled():
    flambeau.use_deterministic_algorithms(True)
    assert all(math.isnan(value) for value in flambeau.empty(3).tolist())
    assert flambeau.empty(2, dtype=flambeau.int64).tolist() == [2**63 - 1] * 2
    assert flambeau.empty(2, dtype=flambeau.uint8).tolist() == [255] * 2
    assert flambeau.empty(2, dtype=flambeau.bool).tolist() == [True] * 2
    value = flambeau.empty((), dtype=flambeau.complex64).item()
    assert math.isnan(value.real) and value.imag == 0
    for made in (
        flambeau.empty_like(flambeau.ones(2)),
        flambeau.ones(1).new_empty(2),
        flambeau.empty_strided((2, 2), (3, 1)),
        flambeau.empty(2, dtype=flambeau.bfloat16),
    ):
        assert made.isnan().all()
    grown = flambeau.ones(1).resize_(3)
    assert grown[0].item() == 1 and grown[1:].isnan().all()


def test_fill_can_be_switched_off():
    flambeau.use_deterministic_algorithms(True)
    flambeau.utils.deterministic.fill_uninitialized_memory = False
    assert flambeau.utils.deterministic.fill_uninitialized_memory is False
    probe = flambeau.ones(1000)
    del probe
    assert not flambeau.empty(1000).isnan().all()
    with pytest.raises(TypeError):
        flambeau.utils.deterministic.fill_uninitialized_memory = 1


def test_duplicate_writes_are_ordered():
    one = flambeau.tensor([0, 0, 1])
    assert flambeau.zeros(3).index_put_((one,), flambeau.tensor([1.0, 2.0, 3.0])).tolist() == [
        2,
        3,
        0,
    ]
    twice, values = flambeau.tensor([0, 0]), flambeau.tensor([1.0, 2.0])
    assert flambeau.zeros(2).scatter_(0, twice, values).tolist() == [2, 0]
    assert flambeau.zeros(2).index_copy_(0, twice, values).tolist() == [2, 0]
    assert flambeau.zeros(2).index_add_(0, twice, values).tolist() == [3, 0]
    assert flambeau.zeros(2).scatter_add_(0, twice, values).tolist() == [3, 0]


def test_a_gpu_is_asked_for_in_vain():
    assert not flambeau.cuda.is_available() and flambeau.cuda.device_count() == 0
    flambeau.cuda.manual_seed_all(1)
    flambeau.backends.cudnn.deterministic = True
    assert not flambeau.backends.cudnn.is_available()
    with pytest.raises(AssertionError, match="CPU"):
        flambeau.cuda.current_device()
