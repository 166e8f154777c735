"""DataLoader in one process and with workers: order, errors, shutdown."""

import os
import pickle
import signal
import subprocess
import sys
import time

import pytest

import flambeau
from flambeau.utils import data


class Squares(data.Dataset):
    def __init__(self, fail_at=None, die_at=None, delay=0.0):
        self.fail_at, self.die_at, self.delay = fail_at, die_at, delay

    def __len__(self):
        return 20

    def __getitem__(self, index):
        if index == self.fail_at:
            raise KeyError("seven")
        if index == self.die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(self.delay)
        return flambeau.tensor(index * index)


class Shared(data.IterableDataset):
    """Each worker gives its own part."""

    def __iter__(self):
        info = data.get_worker_info()
        return iter(range(10) if info is None else range(info.id, 10, info.num_workers))


def test_shuffle_and_base_seed_follow_the_default_generator():
    flambeau.manual_seed(0)
    loader = data.DataLoader(data.TensorDataset(flambeau.arange(6)), 2, shuffle=True)
    first = [batch.tolist() for (batch,) in loader]
    after = flambeau.rand(1).item()
    second = [batch.tolist() for (batch,) in loader]
    # Recorded from PyTorch 2.13.
    assert first == [[0, 4], [3, 5], [2, 1]]
    assert after == pytest.approx(0.3074, abs=1e-4)
    assert second == [[5, 3], [4, 2], [1, 0]]


def test_tensor_dataset_batches_own_their_memory():
    rows = flambeau.zeros(4, 2)
    (batch,) = next(iter(data.DataLoader(data.TensorDataset(rows), 2)))
    batch.fill_(1)
    assert rows.sum().item() == 0


def test_batch_size_none_gives_samples():
    assert [int(x) for x in data.DataLoader(Squares(), batch_size=None)][:3] == [0, 1, 4]


def test_iterable_dataset_and_drop_last():
    batches = [b.tolist() for b in data.DataLoader(Shared(), 4, drop_last=True)]
    assert batches == [[0, 1, 2, 3], [4, 5, 6, 7]]


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"shuffle": True, "sampler": [1]}, "sampler option is mutually exclusive with shuffle"),
        ({"batch_sampler": [[1]], "batch_size": 2}, "batch_sampler option is mutually exclusive"),
        ({"num_workers": -1}, "num_workers option should be non-negative"),
        (
            {"prefetch_factor": 2},
            "prefetch_factor option could only be specified in multiprocessing",
        ),
        ({"timeout": -1}, "timeout option should be non-negative"),
        ({"persistent_workers": True}, "persistent_workers option needs num_workers > 0"),
        ({"batch_size": None, "drop_last": True}, "batch_size=None option disables auto-batching"),
    ],
)
def test_bad_arguments(kwargs, message):
    with pytest.raises(ValueError, match=message):
        data.DataLoader(range(3), **kwargs)


@pytest.mark.parametrize("persistent", [False, True])
def test_workers_keep_the_order(persistent):
    loader = data.DataLoader(Squares(), 3, num_workers=2, persistent_workers=persistent)
    for _ in range(2):
        assert [i for batch in loader for i in batch.tolist()] == [i * i for i in range(20)]


def test_workers_out_of_order_give_everything():
    loader = data.DataLoader(Squares(), 3, num_workers=2, in_order=False)
    assert sorted(i for batch in loader for i in batch.tolist()) == [i * i for i in range(20)]


def test_workers_share_an_iterable_dataset():
    batches = [b.tolist() for b in data.DataLoader(Shared(), 3, num_workers=2)]
    assert batches == [[0, 2, 4], [1, 3, 5], [6, 8], [7, 9]]


def test_workers_have_seeds_of_their_own():
    class Noise(data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            return flambeau.rand(1)

    flambeau.manual_seed(0)
    first = [b.item() for b in data.DataLoader(Noise(), 1, num_workers=2)]
    flambeau.manual_seed(0)
    assert [b.item() for b in data.DataLoader(Noise(), 1, num_workers=2)] == first
    assert len(set(first)) == 4


class Images(data.Dataset):
    """Large enough for shared memory, in nested containers."""

    def __len__(self):
        return 12

    def __getitem__(self, index):
        return {
            "image": flambeau.full((64, 64), index),
            "pair": (flambeau.full((80, 64), -index), index),
        }


@pytest.mark.parametrize(
    "dtype", [flambeau.float32, flambeau.bfloat16, flambeau.bool, flambeau.complex64]
)
def test_large_batches_arrive_whole(dtype):
    def collate(samples):
        batch = data.default_collate(samples)
        return {"image": batch["image"].to(dtype), "pair": batch["pair"]}

    batches = list(data.DataLoader(Images(), 4, num_workers=2, collate_fn=collate))
    for i, batch in enumerate(batches):
        expected = flambeau.arange(4 * i, 4 * i + 4)
        assert flambeau.equal(batch["image"][:, 5, 7], expected.to(dtype))
        assert batch["image"].shape == (4, 64, 64)
        assert flambeau.equal(batch["pair"][0][:, 79, 63], -expected)
        assert flambeau.equal(batch["pair"][1], expected)
        batch["image"].zero_()  # the memory is the receiver's own


def test_error_of_a_worker_carries_its_traceback():
    with pytest.raises(KeyError, match=r"(?s)in DataLoader worker process 1.*__getitem__.*seven"):
        list(data.DataLoader(Squares(fail_at=7), 4, num_workers=2))


def test_error_in_worker_init_fn():
    def fail(worker_id):
        raise ValueError("no")

    with pytest.raises(ValueError, match="in DataLoader worker process 0"):
        list(data.DataLoader(Squares(), 4, num_workers=1, worker_init_fn=fail))


def test_dead_worker_is_an_error_at_once():
    start = time.monotonic()
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(data.DataLoader(Squares(die_at=9), 4, num_workers=2))
    assert time.monotonic() - start < 4


def test_timeout():
    with pytest.raises(RuntimeError, match=r"timed out after 0\.2 seconds"):
        list(data.DataLoader(Squares(delay=0.4), 2, num_workers=1, timeout=0.2))


def test_dropped_iterator_ends_its_workers():
    iterator = iter(data.DataLoader(Squares(), 2, num_workers=2))
    next(iterator)
    workers = iterator._workers
    del iterator
    assert not any(worker.is_alive() for worker in workers)


def test_interrupt_leaves_no_process_behind(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import time\n"
        "from flambeau.utils import data\n"
        "class Slow(data.Dataset):\n"
        "    def __len__(self): return 1000\n"
        "    def __getitem__(self, index): time.sleep(0.05); return index\n"
        "for i, _ in enumerate(data.DataLoader(Slow(), 2, num_workers=2)):\n"
        "    if i == 0: print('ready', flush=True)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        env=environment,
    )  # fmt: skip
    assert process.stdout.readline() == b"ready\n"
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=20) != 0
    process.stdout.close()
    time.sleep(0.2)
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


class Draws(Squares):
    def __getitem__(self, index):
        import random

        import numpy

        return flambeau.rand(1).item(), random.random(), numpy.random.rand()


def test_random_numbers_of_workers_are_pytorchs():
    # Recorded with PyTorch 2.13: torch, random and NumPy in each worker.
    generator = flambeau.Generator()
    generator.manual_seed(7)
    loader = data.DataLoader(
        Draws(), sampler=[0, 1], batch_size=None, num_workers=2, generator=generator
    )
    expected = [
        [0.11662513017654419, 0.9290632898373887, 0.03541536592796235],
        [0.3148404359817505, 0.5574193789609411, 0.240715442815568],
    ]
    for found, values in zip(loader, expected, strict=True):
        assert found == pytest.approx(values, abs=1e-12)


def test_persistent_workers_leave_the_random_stream_alone():
    flambeau.manual_seed(0)
    loader = data.DataLoader(
        range(6), shuffle=True, batch_size=6, num_workers=1, persistent_workers=True
    )
    passes = [batch.tolist() for _ in range(2) for batch in loader]
    assert [passes, flambeau.randint(1000, (1,)).item()] == [
        [[0, 4, 3, 5, 2, 1], [5, 0, 3, 2, 1, 4]],
        427,
    ]


def test_warnings():
    with pytest.warns(UserWarning, match="will create 1000 worker processes"):
        data.DataLoader(range(3), num_workers=1000)
    with pytest.warns(UserWarning, match="no accelerator is found"):
        assert len(list(data.DataLoader(range(3), pin_memory=True))) == 3

    class Longer(data.IterableDataset):
        def __len__(self):
            return 2

        def __iter__(self):
            yield from range(3)

    loader = data.DataLoader(Longer(), batch_size=None)
    assert len(loader) == 2
    with pytest.warns(UserWarning, match="3 samples have been fetched"):
        list(loader)


def test_failed_start_leaves_nothing_behind():
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    with pytest.raises((AttributeError, TypeError)):  # a local function can't be sent
        iter(
            data.DataLoader(
                range(3),
                num_workers=1,
                multiprocessing_context="spawn",
                collate_fn=lambda batch: batch,
            )
        )
    if before:
        import gc

        gc.collect()
        assert len(os.listdir("/proc/self/fd")) <= before + 1  # the resource tracker's pipe


class _Unsendable:
    def __reduce__(self):
        raise ValueError("cannot be sent")


class _Unsent(data.Dataset):
    def __len__(self):
        return 3

    def __getitem__(self, index):
        return _Unsendable()


class _LocalError(_Unsent):
    def __getitem__(self, index):
        class Local(Exception):
            pass

        raise Local("only the worker knows it")


@pytest.mark.parametrize(
    ("dataset", "error", "message"),
    [
        (_Unsent(), ValueError, "cannot be sent"),
        (_LocalError(), RuntimeError, "only the worker knows it"),
    ],
)
def test_what_a_worker_cannot_pickle_is_an_error(dataset, error, message):
    with pytest.raises(error, match=message):
        list(data.DataLoader(dataset, num_workers=1, collate_fn=list, timeout=20))


class DiesInAMessage(data.Dataset):
    """The second sample is so long that its message is still on the way when the worker is killed."""

    def __len__(self):
        return 8

    def __getitem__(self, index):
        if index == 2:
            time.sleep(0.3)
            os.kill(os.getpid(), signal.SIGKILL)
        return b"x" * (20 << 20) if index == 0 else b"y"


def test_worker_killed_within_a_message_is_an_error():
    iterator = iter(data.DataLoader(DiesInAMessage(), batch_size=None, num_workers=2))
    time.sleep(0.6)  # it is dead before anything is read
    with pytest.raises(RuntimeError, match=r"worker \(pid\(s\) \d+\) exited unexpectedly"):
        list(iterator)


def test_result_that_cannot_be_pickled_is_an_error():
    loader = data.DataLoader(
        Squares(),
        num_workers=1,
        collate_fn=lambda batch: [flambeau.zeros(1 << 16), lambda: batch],
        multiprocessing_context="fork",
    )
    with pytest.raises((AttributeError, TypeError, pickle.PicklingError), match="Can't pickle"):
        list(loader)


def test_many_long_results_arrive():
    loader = data.DataLoader(
        [b"x" * 300_000 for _ in range(30)], batch_size=None, num_workers=2, prefetch_factor=8
    )
    assert [len(item) for item in loader] == [300_000] * 30


class Pictures(data.Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, index):
        return flambeau.full((100, 100), float(index)), index, {"x": flambeau.ones(3) * index}


def test_large_batches_are_shared_and_keep_no_file_open():
    expected = list(data.DataLoader(Pictures(), batch_size=8))
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    found = list(data.DataLoader(Pictures(), batch_size=8, num_workers=2))
    for (image, index, extra), (other, number, rest) in zip(found, expected, strict=True):
        assert flambeau.equal(image, other)
        assert flambeau.equal(index, number)
        assert flambeau.equal(extra["x"], rest["x"])
        if before is not None:
            assert image.is_shared()
    if before is not None:
        assert len(os.listdir("/proc/self/fd")) <= before
    image = found[0][0]
    image.share_memory_()  # can be sent on
    assert image.is_shared()
    assert flambeau.equal(image, expected[0][0])
