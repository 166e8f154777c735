"""The caching allocator: reuse, statistics, trim, alignment."""

import threading

import pytest

import flambeau


def stats():
    return flambeau.memory.memory_stats()


def test_freed_memory_is_reused():
    first = flambeau.empty(100_000)
    address = first.data_ptr()
    del first
    before = stats()["system_allocations"]
    assert flambeau.empty(100_000).data_ptr() == address
    assert stats()["system_allocations"] == before


def test_sizes_in_use_displace_cached_sizes_that_are_not():
    flambeau.memory.trim()
    flambeau.memory.reset_peak_memory_stats()
    for k in range(20):  # one block of 1 to 28 MiB after the other: more than is kept
        flambeau.empty((4 + k % 4) << (16 + k // 4))
    flambeau.empty(6 << 20)
    before = stats()["system_allocations"]
    for _ in range(4):
        flambeau.empty(6 << 20)
    assert stats()["system_allocations"] == before


def test_statistics_follow_allocation():
    flambeau.memory.trim()
    base = stats()["allocated_bytes"]
    big = flambeau.empty(1 << 20)
    assert stats()["allocated_bytes"] - base >= 4 << 20
    assert stats()["peak_allocated_bytes"] >= stats()["allocated_bytes"]
    del big
    assert stats()["allocated_bytes"] - base < 4 << 20


def test_trim_gives_cached_memory_back():
    blocks = [flambeau.empty(1 << 18) for _ in range(8)]
    del blocks
    flambeau.memory.trim()
    assert stats()["cached_bytes"] == 0


@pytest.mark.parametrize("count", [0, 1, 16, 17, 255, 256, 257, 100_003])
def test_blocks_are_aligned(count):
    assert flambeau.zeros(count).sum().item() == 0
    x = flambeau.ones(count)
    assert x.data_ptr() % 64 == 0


def test_memory_freed_on_another_thread():
    tensors = [flambeau.ones(1000) for _ in range(100)]

    def drop():
        tensors.clear()
        assert flambeau.ones(1000).sum().item() == 1000

    thread = threading.Thread(target=drop)
    thread.start()
    thread.join()
    assert flambeau.ones(1000).sum().item() == 1000


@pytest.mark.parametrize("shape", [(1 << 62,), (1 << 40, 1 << 40), (1 << 45,)])
def test_impossible_sizes_raise(shape):
    with pytest.raises(RuntimeError):
        flambeau.empty(shape)
