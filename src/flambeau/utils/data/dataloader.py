"""DataLoader. The worker processes are in _workers.py."""

import itertools

import flambeau

from .collate import default_collate, default_convert
from .datapipes.datapipe import (
    IterDataPipe,
    MapDataPipe,
    _IterDataPipeSerializationWrapper,
    _MapDataPipeSerializationWrapper,
)
from .dataset import IterableDataset, TensorDataset
from .graph_settings import apply_random_seed, apply_sharding, apply_shuffle_settings
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, draw_seed

__all__ = ["DataLoader", "get_worker_info"]


class _DatasetKind:
    Map = 0
    Iterable = 1


class _InfiniteConstantSampler(Sampler):
    """For iterable datasets: the iteration itself says when it is over."""

    def __init__(self):
        pass

    def __iter__(self):
        return itertools.repeat(None)


def get_worker_info():
    """In a worker process: its id, num_workers, seed and copy of the dataset. None in the main process."""
    from . import _workers

    return _workers.worker_info


def _share_dist_seed(generator):
    """A seed that all processes of a distributed job have: that of the first."""
    seed = flambeau.empty((), dtype=flambeau.int64).random_(generator=generator)
    if _processes()[0] > 1:
        from flambeau import distributed

        distributed.broadcast(seed, src=0)
    return int(seed.item())


def _processes():
    """Number of processes of the distributed job, and this one's; (1, 0) without one."""
    import sys

    distributed = sys.modules.get("flambeau.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return 1, 0
    return distributed.get_world_size(), distributed.get_rank()


def shared_seed(loader):
    """The seed of the random pipes of one pass; None if the dataset isn't a DataPipe that streams."""
    if isinstance(loader.dataset, IterDataPipe):
        return _share_dist_seed(loader.generator)
    return None


def seed_pipes(dataset, seed):
    """Seed the random pipes of a dataset, everywhere alike."""
    if seed is not None:
        generator = flambeau.Generator()
        generator.manual_seed(seed)
        apply_random_seed(dataset, generator)


def shard_pipes(dataset, num_workers=1, worker_id=0):
    """Tell the sharding pipes of a dataset which of all workers of all processes this is."""
    if isinstance(dataset, (IterDataPipe, MapDataPipe)):
        world_size, rank = _processes()
        apply_sharding(dataset, num_workers * world_size, worker_id * world_size + rank)


class _BaseDatasetFetcher:
    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last

    def fetch(self, index):
        raise NotImplementedError


class _MapDatasetFetcher(_BaseDatasetFetcher):
    """Batches of a dataset with __getitem__."""

    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.fetch_many = getattr(dataset, "__getitems__", None)

    def fetch(self, index):
        """The batch (or, without automatic batching, the sample) at an index."""
        if not self.auto_collation:
            data = self.dataset[index]
        elif self.fetch_many:
            data = self.fetch_many(index)
        else:
            data = [self.dataset[i] for i in index]
        return self.collate_fn(data)


class _TensorDatasetFetcher(_BaseDatasetFetcher):
    """Batches of a TensorDataset with the default collate: rows are selected at once."""

    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.tensors = dataset.tensors

    def fetch(self, index):
        """The batch at a list of indices."""
        first, count = index[0], len(index)
        # Consecutive rows are copied as a slice; the copy keeps what stacking gives: memory of its own.
        if (
            first >= 0
            and index[-1] == first + count - 1
            and index == list(range(first, first + count))
        ):
            if first + count > self.tensors[0].size(0):
                raise IndexError(
                    f"index {self.tensors[0].size(0)} is out of bounds for dimension 0 with size "
                    f"{self.tensors[0].size(0)}"
                )
            return [tensor[first : first + count].clone() for tensor in self.tensors]
        rows = flambeau.tensor(index)
        return [tensor[rows] for tensor in self.tensors]


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    """Batches of a dataset with __iter__."""

    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.iterator = iter(dataset)
        self.ended = False

    def fetch(self, index):
        """The next batch; raises StopIteration at the end."""
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.iterator))
        data = list(itertools.islice(self.iterator, len(index)))
        if len(data) < len(index):
            self.ended = True
            if not data or self.drop_last:
                raise StopIteration
        return self.collate_fn(data)


def make_fetcher(kind, dataset, auto_collation, collate_fn, drop_last):
    """The way to get batches from this dataset."""
    if kind == _DatasetKind.Iterable:
        return _IterableDatasetFetcher(dataset, auto_collation, collate_fn, drop_last)
    if (
        type(dataset) is TensorDataset
        and auto_collation
        and collate_fn is default_collate
        and all(
            type(tensor) is flambeau.Tensor and not tensor.requires_grad
            for tensor in dataset.tensors
        )
    ):
        return _TensorDatasetFetcher(dataset, auto_collation, collate_fn, drop_last)
    return _MapDatasetFetcher(dataset, auto_collation, collate_fn, drop_last)


class DataLoader:
    """Iterates over a dataset in batches, optionally shuffled and loaded by worker processes.

    Args:
        dataset: with __getitem__ and __len__, or an IterableDataset.
        batch_size: samples per batch; None: samples one by one, only converted.
        shuffle: a new permutation in each pass. sampler: an order of one's own. batch_sampler: lists of indices.
        num_workers: processes that load; 0 loads in this one.
        collate_fn: list of samples -> batch.
        pin_memory: accepted; there is no accelerator to copy to.
        drop_last: leave out a shorter last batch.
        timeout: seconds to wait for a worker's batch; 0 waits as long as it takes.
        worker_init_fn: called with the worker's id in each worker.
        multiprocessing_context: a context or start method of multiprocessing.
        generator: of seeds and permutations; None is the default generator.
        prefetch_factor: batches each worker works ahead (default 2).
        persistent_workers: keep the workers between passes.
        in_order: give batches in the order of the sampler, whoever is first.
    """

    _multiprocessing_context = None

    def __init__(  # noqa: C901, PLR0915 - one argument after the other
        self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None,
        pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None, multiprocessing_context=None,
        generator=None, *, prefetch_factor=None, persistent_workers=False, pin_memory_device="", in_order=True,
    ):  # fmt: skip
        _check_worker_settings(num_workers, timeout, prefetch_factor, persistent_workers)
        if num_workers > 0 and prefetch_factor is None:
            prefetch_factor = 2
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        if isinstance(dataset, IterableDataset):
            self._dataset_kind = _DatasetKind.Iterable
            if isinstance(dataset, IterDataPipe):
                # The pipe has its own way to shuffle.
                self.dataset = apply_shuffle_settings(dataset, shuffle)
                shuffle = None
            _check_iterable(shuffle, sampler, batch_sampler)
        else:
            self._dataset_kind = _DatasetKind.Map
            shuffle = bool(shuffle)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size = None
            drop_last = False
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
            )
        if sampler is None:
            if self._dataset_kind == _DatasetKind.Iterable:
                sampler = _InfiniteConstantSampler()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        if isinstance(dataset, IterDataPipe):
            self.dataset = _IterDataPipeSerializationWrapper(self.dataset)
        elif isinstance(dataset, MapDataPipe):
            self.dataset = _MapDataPipeSerializationWrapper(self.dataset)
        self._iterator = None
        self._length_told = None  # what len() of an iterable dataset said
        self.check_worker_number_rationality()

    @property
    def multiprocessing_context(self):
        """The context of multiprocessing that workers are started by; None is the default."""
        return self._multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context):
        if context is not None:
            if self.num_workers == 0:
                raise ValueError(
                    "multiprocessing_context can only be used with "
                    "multi-process loading (num_workers > 0), but got "
                    f"num_workers={self.num_workers}"
                )
            import multiprocessing
            from multiprocessing.context import BaseContext

            if isinstance(context, str):
                valid = multiprocessing.get_all_start_methods()
                if context not in valid:
                    raise ValueError(
                        "multiprocessing_context option should specify a valid start method in "
                        f"{valid!r}, but got multiprocessing_context={context!r}"
                    )
                context = multiprocessing.get_context(context)
            elif not isinstance(context, BaseContext) and not callable(
                getattr(context, "Process", None)
            ):
                raise TypeError(
                    "multiprocessing_context option should be a valid context object or a string specifying the "
                    f"start method, but got multiprocessing_context={context}"
                )
        self._multiprocessing_context = context

    def __setattr__(self, name, value):
        fixed = (
            "batch_size",
            "batch_sampler",
            "sampler",
            "drop_last",
            "dataset",
            "persistent_workers",
        )
        if "_iterator" in self.__dict__ and name in fixed:
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        object.__setattr__(self, name, value)

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.batch_sampler if self._auto_collation else self.sampler

    def _get_iterator(self):
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        from ._workers import _MultiProcessingDataLoaderIter

        self.check_worker_number_rationality()
        return _MultiProcessingDataLoaderIter(self)

    def __iter__(self):
        if self.persistent_workers and self.num_workers > 0:
            if self._iterator is None:
                self._iterator = self._get_iterator()
            else:
                self._iterator.reset(self)
            return self._iterator
        return self._get_iterator()

    def __len__(self):
        if self._dataset_kind != _DatasetKind.Iterable:
            return len(self._index_sampler)
        self._length_told = length = len(self.dataset)
        if self.batch_size is not None:
            length = length // self.batch_size if self.drop_last else -(-length // self.batch_size)
        return length

    def check_worker_number_rationality(self):
        """Warn if there are more workers than cores that this process may use."""
        if not self.num_workers:
            return
        import os

        if hasattr(os, "sched_getaffinity"):
            cores = len(os.sched_getaffinity(0))
        else:
            cores = os.cpu_count() or self.num_workers
        if self.num_workers > cores:
            _warn(
                f"This DataLoader will create {self.num_workers} worker processes in total. Our suggested max number "
                f"of worker in current system is {cores}, which is smaller than what this DataLoader is going to "
                "create. Please be aware that excessive worker creation might get DataLoader running slow or even "
                "freeze, lower the worker number to avoid potential slowness/freeze if necessary.",
                stacklevel=4,
            )


def _warn(message, stacklevel=3):
    import warnings

    warnings.warn(message, UserWarning, stacklevel=stacklevel)


def _check_worker_settings(num_workers, timeout, prefetch_factor, persistent_workers):
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing."
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if num_workers > 0 and prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_iterable(shuffle, sampler, batch_sampler):
    if shuffle not in (False, None):
        raise ValueError(
            f"DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle={shuffle}"
        )
    if sampler is not None:
        raise ValueError(
            f"DataLoader with IterableDataset: expected unspecified sampler option, but got sampler={sampler}"
        )
    if batch_sampler is not None:
        raise ValueError(
            "DataLoader with IterableDataset: expected unspecified "
            f"batch_sampler option, but got batch_sampler={batch_sampler}"
        )


class _BaseDataLoaderIter:
    """One pass: subclasses define _next_data."""

    def __init__(self, loader):
        self._loader = loader
        self._num_yielded = 0
        if loader.pin_memory:
            _warn(
                "'pin_memory' argument is set as true but no accelerator is found, "
                "then device pinned memory won't be used.",
                stacklevel=5,
            )

    def __iter__(self):
        return self

    def __next__(self):
        batch = self._next_data()
        self._num_yielded += 1
        told = self._loader._length_told
        if told is not None and self._num_yielded > told:
            self._warn_length(told)
        return batch

    def _warn_length(self, told):
        message = (
            f"Length of IterableDataset {self._loader.dataset} was reported to be {told}(when accessing "
            f"len(dataloader)), but {self._num_yielded} samples have been fetched. "
        )
        if self._loader.num_workers > 0:
            message += (
                "For multiprocessing data-loading, this could be caused by not properly configuring the "
                "IterableDataset replica at each worker. Please see "
                "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples."
            )
        _warn(message)

    def __len__(self):
        return len(self._loader._index_sampler)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """One pass, loaded in this process."""

    def __init__(self, loader):
        super().__init__(loader)
        seed_pipes(loader.dataset, shared_seed(loader))
        # PyTorch draws the workers' base seed even without workers; the random stream has to go on alike.
        self._base_seed = draw_seed(loader.generator)
        shard_pipes(loader.dataset)
        self._indices = iter(loader._index_sampler)
        self._fetcher = make_fetcher(
            loader._dataset_kind,
            loader.dataset,
            loader._auto_collation,
            loader.collate_fn,
            loader.drop_last,
        )

    def _next_data(self):
        return self._fetcher.fetch(next(self._indices))


def __getattr__(name):
    if name == "_MultiProcessingDataLoaderIter":
        from ._workers import _MultiProcessingDataLoaderIter

        return _MultiProcessingDataLoaderIter
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
