"""The memory pool's statistics, the version and the build's description."""

import pytest

import flambeau
from flambeau import memory, version


def test_pool_counts_and_trims():
    before = memory.memory_stats()
    block = flambeau.empty(1 << 20)
    during = memory.memory_stats()
    assert during["allocated_bytes"] >= before["allocated_bytes"] + (4 << 20)
    del block
    after = memory.memory_stats()
    assert after["allocated_bytes"] <= during["allocated_bytes"] - (4 << 20)
    assert after["cached_bytes"] >= 4 << 20
    memory.trim()
    assert memory.memory_stats()["cached_bytes"] < after["cached_bytes"]
    memory.reset_peak_memory_stats()
    assert memory.memory_stats()["peak_allocated_bytes"] == memory.memory_stats()["allocated_bytes"]


def test_version_and_configuration():
    assert version.__version__ == flambeau.__version__
    assert version.cuda is None
    assert "threads" in flambeau.__config__.show()
    assert "get_num_threads" in flambeau.__config__.parallel_info()


def test_threads():
    threads = flambeau.get_num_threads()
    flambeau.set_num_threads(1)
    assert flambeau.get_num_threads() == 1
    flambeau.set_num_threads(threads)
    assert flambeau.get_num_interop_threads() == 1


def test_interop_threads_take_a_positive_number():
    with pytest.raises(RuntimeError, match="positive"):
        flambeau.set_num_interop_threads(0)
