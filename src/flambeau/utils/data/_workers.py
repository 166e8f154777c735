"""Worker processes of the DataLoader.

Each worker has a queue of tasks, and a pipe for results of its own: a worker that is killed in the middle of a message
breaks that pipe only, and leaves no lock behind. A worker ends when it is told to, or when its parent is gone. A worker
that dies is an error and never a hang; the workers are ended when the iterator is dropped and when the interpreter
exits.
"""

import contextlib
import itertools
import multiprocessing
import os
import pickle
import queue
import random
import threading
import weakref
from multiprocessing import connection

import flambeau

from . import _transfer
from .dataloader import (
    _BaseDataLoaderIter,
    _DatasetKind,
    make_fetcher,
    seed_pipes,
    shard_pipes,
    shared_seed,
)
from .sampler import draw_seed

# In a worker: its WorkerInfo.
worker_info = None
# In a worker: whether tensors can travel as shared memory.
shares_memory = False

# Seconds between looks at whether the other side still lives.
_POLL = 5.0


class WorkerInfo:
    """What get_worker_info returns."""

    def __init__(self, **fields):
        self.__dict__.update(fields)
        self.__dict__["_initialized"] = True

    def __setattr__(self, name, value):
        raise RuntimeError(f"Cannot assign attributes to {type(self).__name__} objects")

    def __repr__(self):
        items = [f"{k}={v}" for k, v in self.__dict__.items() if k != "_initialized"]
        return f"{type(self).__name__}({', '.join(items)})"


class RemoteError:
    """An exception of a worker, on its way to the parent: its class and the text of its traceback."""

    def __init__(self, error, where):
        import traceback

        self.kind = type(error)
        self.where = where
        self.text = "".join(traceback.format_exception(type(error), error, error.__traceback__))

    def reraise(self):
        """Raise the same class of exception with the worker's traceback as its message."""
        message = f"Caught {self.kind.__name__} {self.where}.\nOriginal {self.text}"
        if self.kind is KeyError:
            message = _Message(message)  # KeyError prints the repr of its argument
        try:
            error = self.kind(message)
        except Exception:
            # Its constructor wants other arguments.
            raise RuntimeError(message) from None
        raise error


class _Message(str):
    __slots__ = ()

    def __repr__(self):
        return str(self)


def _end_of_iteration(worker_id):
    return ("end", worker_id)


def _unsent(error, data, worker_id):
    """What to send in place of an answer that cannot be pickled."""
    if isinstance(data, RemoteError):  # of a class that the main process cannot find
        data.kind = RuntimeError
        return data
    return RemoteError(error, f"in DataLoader worker process {worker_id}")


def _worker_main(kind, dataset, tasks, results, channel, stop, auto_collation, collate_fn, drop_last, seed, init_fn,
                 worker_id, num_workers, pipe_seed):  # fmt: skip
    """Body of a worker process."""
    global worker_info, shares_memory
    shares_memory = channel is not None
    try:
        flambeau.set_num_threads(1)
        random.seed(seed)
        flambeau.manual_seed(seed)
        _seed_numpy(seed - worker_id, worker_id)
        worker_info = WorkerInfo(id=worker_id, num_workers=num_workers, seed=seed, dataset=dataset)
        failure = fetcher = None

        def make(pipe_seed):
            seed_pipes(dataset, pipe_seed)
            return make_fetcher(kind, dataset, auto_collation, collate_fn, drop_last)

        try:
            shard_pipes(dataset, num_workers, worker_id)
            if init_fn is not None:
                init_fn(worker_id)
            fetcher = make(pipe_seed)
        except Exception as error:
            failure = RemoteError(error, f"in DataLoader worker process {worker_id}")

        answer = _answers(results, channel, worker_id)
        _serve(kind, tasks, answer, stop, fetcher, failure, worker_id, make)
    except KeyboardInterrupt:
        return  # the parent reports it


def _answers(results, channel, worker_id):
    """The function that sends results. A thread writes them, so that the worker goes on while the parent is busy."""
    waiting = queue.SimpleQueue()

    def write():
        # The parent closes its end when it has had enough.
        with contextlib.suppress(OSError):
            while True:
                results.send_bytes(waiting.get())

    threading.Thread(target=write, daemon=True).start()

    def answer(number, data):
        descriptors = []
        try:
            if channel is not None:
                data, descriptors = _transfer.pack(data)
            # Not multiprocessing's pickler: by it small tensors would go through shared memory too, at a higher price.
            message = pickle.dumps((number, data))
        except Exception as error:  # no memory, no descriptors; or something that can't be pickled
            _transfer.close(descriptors)
            descriptors = []
            try:
                message = pickle.dumps((number, _unsent(error, data, worker_id)))
            except Exception:  # the error's own class
                failure = RemoteError(
                    RuntimeError(str(error)), f"in DataLoader worker process {worker_id}"
                )
                message = pickle.dumps((number, failure))
        if descriptors:
            with contextlib.suppress(OSError):  # the parent is gone
                _transfer.send_descriptors(descriptors, channel)
        waiting.put(message)

    return answer


def _serve(kind, tasks, answer, stop, fetcher, failure, worker_id, make):
    """Answer tasks until there are no more, or nobody to ask."""
    parent = os.getppid()
    while not stop.is_set():
        try:
            task = tasks.get(timeout=_POLL)
        except queue.Empty:
            if os.getppid() != parent:
                return
            continue
        if task is None:
            return
        if task[0] == "resume":
            answer("resume", None)
            if kind == _DatasetKind.Iterable:
                fetcher = make(task[1])
            continue
        number, index = task
        if failure is not None:
            data, failure = failure, None
        else:
            data = _fetch(fetcher, kind, index, worker_id)
        answer(number, data)
        del data


def _fetch(fetcher, kind, index, worker_id):
    try:
        return fetcher.fetch(index)
    except StopIteration as error:
        if kind == _DatasetKind.Iterable:
            return _end_of_iteration(worker_id)
        return RemoteError(error, f"in DataLoader worker process {worker_id}")
    except Exception as error:
        return RemoteError(error, f"in DataLoader worker process {worker_id}")


def _seed_numpy(base_seed, worker_id):
    import numpy

    # Mixed, so that the streams of neighbouring workers and runs have nothing in common; PyTorch's own numbers.
    words = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    numpy.random.seed(numpy.random.SeedSequence(words).generate_state(4))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """One pass (or, with persistent workers, one pass after the other), loaded by worker processes."""

    def __init__(self, loader):
        super().__init__(loader)
        context = loader.multiprocessing_context or multiprocessing
        self._workers, self._tasks, self._channels = [], [], []
        self._results = []  # the workers' pipes
        self._open = {}  # those that may still give something -> worker
        self._stop = context.Event()
        # Runs when this object goes and at exit; must not refer to it.
        self._finalizer = weakref.finalize(
            self,
            _shutdown,
            os.getpid(),
            self._workers,
            self._tasks,
            self._channels,
            self._results,
            self._stop,
        )
        pipe_seed = shared_seed(loader)
        self._base_seed = draw_seed(loader.generator)
        try:
            for worker_id in range(loader.num_workers):
                self._start_worker(context, worker_id, pipe_seed)
        except BaseException:
            self._finalizer()
            raise
        shared_seed(
            loader
        )  # not used: PyTorch draws it again here, and the random stream has to go on alike
        self._start_pass()

    def _start_worker(self, context, worker_id, pipe_seed):
        loader = self._loader
        tasks = context.Queue()
        self._tasks.append(tasks)
        own, channel = _transfer.new_channel()
        self._channels.append(own)
        reader, writer = context.Pipe(duplex=False)
        self._results.append(reader)
        try:
            worker = context.Process(
                target=_worker_main,
                args=(
                    loader._dataset_kind, loader.dataset, tasks, writer, channel, self._stop,
                    loader._auto_collation, loader.collate_fn, loader.drop_last, self._base_seed + worker_id,
                    loader.worker_init_fn, worker_id, loader.num_workers, pipe_seed,
                ),
                daemon=True,
            )  # fmt: skip
            worker.start()
        finally:
            writer.close()  # the worker has the only one: when it ends, the pipe does
            if channel is not None:
                channel.close()
        self._workers.append(worker)
        self._open[reader] = worker_id

    def reset(self, loader):
        """Begin another pass with the same workers."""
        self._drain()
        resume = ("resume", shared_seed(loader))  # the workers' own generators go on
        for tasks in self._tasks:
            tasks.put(resume)
        waiting = len(self._workers)
        while waiting:
            number, _ = self._receive()
            waiting -= number == "resume"
        self._start_pass()

    def _start_pass(self):
        self._indices = iter(self._loader._index_sampler)
        self._sent = 0  # number of the next task
        self._expected = 0  # number of the next batch to give
        self._owner = {}  # tasks under way: number -> worker
        self._arrived = {}  # results that came too early
        self._active = [True] * len(self._workers)
        self._turn = itertools.cycle(range(len(self._workers)))
        self._num_yielded = 0
        self._closed = False
        for _ in range(self._loader.prefetch_factor * len(self._workers)):
            self._send()

    def _drain(self):
        """Wait for results that are still under way."""
        while self._owner:
            number, _ = self._receive()
            self._owner.pop(number, None)

    def _send(self):
        """Give the next indices to the next active worker."""
        for _ in range(len(self._workers)):
            worker_id = next(self._turn)
            if self._active[worker_id]:
                break
        else:
            return
        try:
            index = next(self._indices)
        except StopIteration:
            return
        self._tasks[worker_id].put((self._sent, index))
        self._owner[self._sent] = worker_id
        self._sent += 1

    def _receive(self):
        """The next result of any worker; RuntimeError if a worker died or the timeout passed."""
        timeout = self._loader.timeout or None
        while True:
            # A worker's sentinel becomes ready when it ends, however it ends. One that has no more to give (of an
            # iterable dataset) still answers the tasks that it had got before.
            watched = {w.sentinel: None for i, w in enumerate(self._workers) if self._active[i]}
            watched.update(self._open)
            ready = connection.wait(list(watched), timeout)
            if not ready:
                raise RuntimeError(f"DataLoader timed out after {timeout} seconds")
            for reader in ready:
                worker_id = watched[reader]
                if worker_id is None:
                    continue
                try:
                    message = reader.recv_bytes()
                except (EOFError, OSError):  # it ended, perhaps within a message
                    del self._open[reader]
                    self._workers[worker_id].join(_POLL)
                    continue
                number, data = pickle.loads(message)
                return number, _transfer.receive(data, self._channels[worker_id])
            self._check_workers()

    def _check_workers(self):
        asked = set(self._owner.values())
        dead = [
            worker
            for i, worker in enumerate(self._workers)
            if (self._active[i] or i in asked) and not worker.is_alive()
        ]
        if dead:
            pids = ", ".join(str(w.pid) for w in dead)
            self._finalizer()
            codes = ", ".join(str(w.exitcode) for w in dead)
            raise RuntimeError(
                f"DataLoader worker (pid(s) {pids}) exited unexpectedly (exit code {codes}; a "
                "negative one is the signal "
                "that ended it, -9 often means: out of memory)."
            )

    def _next_data(self):
        if self._closed:
            raise StopIteration
        while True:
            if self._loader.in_order:
                number = self._expected
                # Tasks that a finished iterable worker never answers are skipped.
                if number >= self._sent:
                    return self._end()
                if number not in self._arrived and number not in self._owner:
                    self._expected += 1
                    continue
                data = self._take(number)
                self._expected += 1
            else:
                if not self._owner and not self._arrived:
                    return self._end()
                number, data = self._take_any()
            worker_id = self._owner.pop(number, None)
            if (
                isinstance(data, tuple)
                and len(data) == 2
                and data[0] == "end"
                and worker_id == data[1]
            ):
                self._active[worker_id] = False
                self._send()
                continue
            self._send()
            if isinstance(data, RemoteError):
                if not self._loader.persistent_workers:
                    self._finalizer()
                    self._closed = True
                data.reraise()
            return data

    def _end(self):
        self._closed = True
        if not self._loader.persistent_workers:
            self._finalizer()
        raise StopIteration

    def _take(self, number):
        while number not in self._arrived:
            got, data = self._receive()
            self._arrived[got] = data
        return self._arrived.pop(number)

    def _take_any(self):
        if self._arrived:
            return self._arrived.popitem()
        return self._receive()


def _shutdown(owner, workers, tasks, sockets, results, stop):
    """End all workers: ask, wait a little, then insist."""
    if os.getpid() != owner:
        return  # a copy of the iterator in a forked process: the workers are not its own
    stop.set()
    for channel in tasks:
        with contextlib.suppress(Exception):
            channel.put(None)
    for worker in workers:
        worker.join(timeout=_POLL)
        if worker.is_alive():
            worker.terminate()
            worker.join(timeout=_POLL)
    for channel in tasks:
        channel.cancel_join_thread()
        channel.close()
    for reader in results:
        reader.close()
    for channel in sockets:
        if channel is not None:
            channel.close()
