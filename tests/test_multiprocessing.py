"""Tensors between processes, and spawn."""

import gc
import multiprocessing
import os
import pickle
import sys

import pytest

import flambeau
import flambeau.multiprocessing as mp

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="shared memory by descriptors")

METHODS = ["fork", "spawn"]


@pytest.fixture(params=["file_descriptor", "file_system"])
def strategy(request):
    before = mp.get_sharing_strategy()
    mp.set_sharing_strategy(request.param)
    yield request.param
    mp.set_sharing_strategy(before)


def test_sharing_moves_all_views():
    base = flambeau.arange(6.0)
    view = base[2:]
    assert not base.is_shared()
    assert view.share_memory_() is view
    assert base.is_shared()
    assert base.untyped_storage().is_shared()
    assert base.storage().is_shared()
    base[3] = 10.0
    assert view[1] == 10.0
    assert base.tolist() == [0.0, 1.0, 2.0, 10.0, 4.0, 5.0]
    assert flambeau.empty(0).share_memory_().is_shared()
    assert not flambeau.empty(2, device="meta").is_shared()


def test_memory_with_a_numpy_array_on_it_stays():
    tensor = flambeau.ones(3)
    array = tensor.numpy()
    with pytest.raises(RuntimeError, match="NumPy array"):
        tensor.share_memory_()
    assert array.tolist() == [1.0, 1.0, 1.0]


def write_from_child(queue, answers):
    tensor, view = queue.get()
    tensor[0] = 7.0
    answers.put((view.tolist(), tensor.is_shared()))
    queue.get()  # until the parent has looked


@pytest.mark.parametrize("method", METHODS)
def test_both_sides_see_writes(method, strategy):
    context = mp.get_context(method)
    queue, answers = context.SimpleQueue(), context.SimpleQueue()
    process = context.Process(target=write_from_child, args=(queue, answers))
    process.start()
    tensor = flambeau.zeros(4)
    queue.put((tensor, tensor[:2]))
    assert answers.get() == ([7.0, 0.0], True)
    assert tensor[0] == 7.0
    queue.put(None)
    process.join()
    assert process.exitcode == 0


def train(model, start):
    start.wait()
    with flambeau.no_grad():
        model.weight.add_(1.0)


@pytest.mark.parametrize("method", METHODS)
def test_modules_are_shared(method, strategy):
    context = mp.get_context(method)
    model = flambeau.nn.Linear(2, 2).share_memory()
    before = model.weight.detach().clone()
    start = context.Event()
    process = context.Process(target=train, args=(model, start))
    process.start()
    start.set()
    process.join()
    assert process.exitcode == 0
    assert flambeau.equal(model.weight, before + 1.0)


def send_many(queue, done):
    base = flambeau.arange(1000.0)
    for i in range(20):
        queue.put([base, base[i:], flambeau.nn.Parameter(base[:2]), flambeau.ones(i)])
    done.wait()  # the memory is ours until it has arrived


def test_a_queue_of_many(strategy):
    context = mp.get_context("fork")
    queue, done = context.Queue(), context.Event()
    process = context.Process(target=send_many, args=(queue, done))
    process.start()
    pointers = set()
    for i in range(20):
        base, view, parameter, ones = queue.get(timeout=60)
        assert view[0] == float(i)
        assert isinstance(parameter, flambeau.nn.Parameter)
        assert parameter.requires_grad
        assert len(ones) == i
        pointers.add(base.data_ptr())
        assert view.untyped_storage() == base.untyped_storage()
    assert len(pointers) == 1  # one storage, sent once
    done.set()
    process.join()


def test_leaves_travel_and_graphs_do_not():
    context = mp.get_context("fork")
    queue = context.SimpleQueue()
    leaf = flambeau.ones(2, requires_grad=True)
    queue.put(leaf)
    assert queue.get().requires_grad
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        queue.put(leaf * 2)


def test_other_kinds_of_tensors():
    context = mp.get_context("fork")
    queue = context.SimpleQueue()
    for tensor in (
        flambeau.eye(3).to_sparse(),
        flambeau.ones(2, dtype=flambeau.complex64).conj(),
        flambeau.tensor([True, False]),
        flambeau.ones(3, dtype=flambeau.bfloat16),
        flambeau.empty(0, 3),
        flambeau.ones(2, 3).t(),
    ):
        queue.put(tensor)
        found = queue.get()
        assert found.dtype == tensor.dtype
        assert found.shape == tensor.shape
        assert flambeau.equal(found.to_dense(), tensor.to_dense())
    queue.put(flambeau.empty(2, device="meta"))
    assert queue.get().is_meta


def test_plain_pickles_are_copies():
    tensor = flambeau.ones(2).share_memory_()
    copied = pickle.loads(pickle.dumps(tensor))
    assert not copied.is_shared()
    copied[0] = 5.0
    assert tensor[0] == 1.0


def test_nothing_is_left_behind(strategy):
    folder = "/proc/self/fd"

    def names():
        return {name for name in os.listdir("/dev/shm") if name.startswith("flambeau_")}

    flambeau.ones(2).share_memory_()  # the resource tracker starts with the first file
    gc.collect()
    before, files = len(os.listdir(folder)), names()
    kept = [flambeau.ones(5).share_memory_() for _ in range(10)]
    assert (len(names()) > len(files)) == (strategy == "file_system")
    del kept
    gc.collect()
    assert len(os.listdir(folder)) == before
    assert names() == files


def test_strategies():
    assert mp.get_all_sharing_strategies() == {"file_descriptor", "file_system"}
    with pytest.raises(AssertionError, match="invalid sharing strategy"):
        mp.set_sharing_strategy("other")


def record(i, folder, number):
    (folder / str(i)).write_text(str(number))


def fail_second(i):
    if i == 1:
        raise ValueError("no second")
    import time

    time.sleep(30)


def exit_first(i, how):
    if i == 0:
        how()
    import time

    time.sleep(30)


def die():
    os.kill(os.getpid(), 9)


def leave():
    sys.exit(3)


def test_spawn_runs_every_index(tmp_path):
    mp.spawn(record, args=(tmp_path, 5), nprocs=2)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["0", "1"]


def test_errors_of_processes_are_raised():
    with pytest.raises(mp.ProcessRaisedException, match="no second") as caught:
        mp.start_processes(fail_second, nprocs=2, start_method="fork")
    assert caught.value.error_index == 1
    assert "-- Process 1 terminated with the following error:" in str(caught.value)
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), mp.ProcessException)
    with pytest.raises(mp.ProcessExitedException, match="exit code 3") as caught:
        mp.start_processes(exit_first, (leave,), nprocs=2, start_method="fork")
    assert caught.value.exit_code == 3
    with pytest.raises(mp.ProcessExitedException, match="signal SIGKILL") as caught:
        mp.start_processes(exit_first, (die,), nprocs=2, start_method="fork")
    assert caught.value.signal_name == "SIGKILL"
    assert not multiprocessing.active_children()


def test_context_can_be_joined_later(tmp_path):
    context = mp.start_processes(record, (tmp_path, 1), 2, join=False, start_method="fork")
    assert len(context.pids()) == 2
    while not context.join():
        pass
    assert context.join()
