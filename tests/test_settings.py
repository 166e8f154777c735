"""Switches that programs set, multiprocessing, tensors over files."""

import numpy as np
import pytest

import flambeau
from flambeau import multiprocessing


def test_switches_are_remembered():
    flambeau.set_float32_matmul_precision("high")
    assert flambeau.get_float32_matmul_precision() == "high"
    flambeau.set_float32_matmul_precision("highest")
    with pytest.raises(RuntimeError, match="highest, high or medium"):
        flambeau.set_float32_matmul_precision("low")
    flambeau.set_warn_always(True)
    assert flambeau.is_warn_always_enabled()
    flambeau.set_warn_always(False)
    assert flambeau.set_flush_denormal(True) is False


def test_tensor_over_a_file(tmp_path):
    path = tmp_path / "x.bin"
    np.arange(4, dtype=np.float32).tofile(path)
    private = flambeau.from_file(str(path), size=4)
    private.fill_(9)
    assert np.fromfile(path, np.float32).tolist() == [0, 1, 2, 3]
    shared = flambeau.from_file(str(path), shared=True, size=6)
    shared[5] = 7
    del shared
    assert np.fromfile(path, np.float32).tolist() == [0, 1, 2, 3, 0, 7]
    with pytest.raises(RuntimeError, match="at least"):
        flambeau.from_file(str(path), size=100)
    assert flambeau.from_file(str(path), size=0).shape == (0,)


def write_rank(rank, folder):
    (folder / str(rank)).write_text(str(flambeau.ones(rank + 1).sum().item()))


def fail(rank):
    raise SystemExit(3)


def test_spawn_runs_every_rank(tmp_path):
    multiprocessing.start_processes(write_rank, (tmp_path,), nprocs=2, start_method="fork")
    assert [(tmp_path / str(rank)).read_text() for rank in range(2)] == ["1.0", "2.0"]
    with pytest.raises(
        multiprocessing.ProcessException, match="process 0 terminated with exit code 3"
    ):
        multiprocessing.start_processes(fail, nprocs=1, start_method="fork")


def test_tensors_travel_through_queues():
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    queue.put(flambeau.arange(3.0))
    assert queue.get().tolist() == [0, 1, 2]
    assert multiprocessing.get_sharing_strategy() in multiprocessing.get_all_sharing_strategies()


def test_build_tells_what_it_has():
    assert flambeau.has_lapack is True
    assert flambeau.has_mkl is False
    assert flambeau.has_openmp is True
    assert flambeau.has_spectral is True


def test_questions_about_the_build():
    assert flambeau.compiled_with_cxx11_abi() is True
    assert flambeau.get_device_module("cpu") is flambeau.cpu
