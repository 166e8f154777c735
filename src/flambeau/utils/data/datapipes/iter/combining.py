"""Concater, Forker, Demultiplexer, Multiplexer and Zipper: several pipes into one, one into several."""

import copy
import warnings
from collections import deque
from collections.abc import Sized

from .._decorator import functional_datapipe
from .._hook_iterator import _FEEDBACK, _describe
from ..datapipe import IterDataPipe
from ..utils.common import _check_unpickable_fn

__all__ = [
    "ConcaterIterDataPipe",
    "DemultiplexerIterDataPipe",
    "ForkerIterDataPipe",
    "MultiplexerIterDataPipe",
    "ZipperIterDataPipe",
]


@functional_datapipe("concat")
class ConcaterIterDataPipe(IterDataPipe):
    """Yields the samples of several pipes, one pipe after the other."""

    def __init__(self, *datapipes):
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        if not all(isinstance(datapipe, IterDataPipe) for datapipe in datapipes):
            raise TypeError("Expected all inputs to be `IterDataPipe`")
        self.datapipes = datapipes

    def __iter__(self):
        for datapipe in self.datapipes:
            yield from datapipe

    def __len__(self):
        if all(isinstance(datapipe, Sized) for datapipe in self.datapipes):
            return sum(len(datapipe) for datapipe in self.datapipes)
        raise TypeError(f"{type(self).__name__} instance doesn't have valid length")


@functional_datapipe("fork")
class ForkerIterDataPipe(IterDataPipe):
    """Makes several pipes that all yield the samples of one, which is iterated once.

    Args:
        num_instances: number of pipes, returned as a list.
        buffer_size: how many samples the fastest may be ahead of the slowest; -1 has no limit.
        copy: None gives all pipes the same objects, "shallow" or "deep" copies.
    """

    def __new__(cls, datapipe, num_instances, buffer_size=1000, copy=None):
        if num_instances < 1:
            raise ValueError(
                f"Expected `num_instances` larger than 0, but {num_instances} is found"
            )
        if num_instances == 1:
            return datapipe
        container = _ForkerIterDataPipe(datapipe, num_instances, buffer_size, copy)
        return [_ChildDataPipe(container, i) for i in range(num_instances)]


class _Container(IterDataPipe):
    """Behind the children of fork and demux: iterates the source and keeps what a child hasn't taken."""

    def __init__(self, datapipe, num_instances, buffer_size):
        self.main_datapipe = datapipe
        self.num_instances = num_instances
        self.buffer_size = buffer_size
        if buffer_size < 0:
            warnings.warn(
                f"Unlimited buffer size is set for `{self._functional}`, "
                "please be aware of OOM at random places",
                UserWarning,
                stacklevel=3,
            )
        self._start()

    def _start(self):
        self._datapipe_iterator = None
        self._child_stop = [True] * self.num_instances

    def _source(self):
        if self._datapipe_iterator is None:
            self._datapipe_iterator = iter(self.main_datapipe)
        return self._datapipe_iterator

    def is_every_instance_exhausted(self):
        """Whether no child is in the middle of the samples."""
        return all(self._child_stop)

    def get_length_by_instance(self, instance_id):
        """Number of samples of a child."""
        raise TypeError

    def reset(self):
        """Forget what children took: the source starts again."""
        self._start()

    def __getstate__(self):
        # What is buffered belongs to the iteration, which starts again in the copy.
        state = super().__getstate__()
        return {**state, **self._fresh()} if isinstance(state, dict) else state

    def _fresh(self):
        return {"_datapipe_iterator": None, "_child_stop": [True] * self.num_instances}


class _ForkerIterDataPipe(_Container):
    _functional = "fork"

    def __init__(self, datapipe, num_instances, buffer_size=1000, copy=None):
        if copy not in (None, "shallow", "deep"):
            raise ValueError(
                f"Unknown copy method `{copy}` requested, choose one of None, `shallow` or `deep`."
            )
        self.copy = copy
        super().__init__(datapipe, num_instances, buffer_size)

    def _start(self):
        super()._start()
        self.buffer = deque()
        self.slowest_ptr = 0  # position of the first buffered sample
        self.end_ptr = None  # number of samples, once it is known
        self.child_pointers = [0] * self.num_instances

    def _fresh(self):
        positions = {"slowest_ptr": 0, "end_ptr": None}
        pointers = [0] * self.num_instances
        return {**super()._fresh(), **positions, "buffer": deque(), "child_pointers": pointers}

    def __len__(self):
        return len(self.main_datapipe)

    def get_length_by_instance(self, instance_id):
        """Number of samples of a child: all."""
        return len(self.main_datapipe)

    def get_next_element_by_instance(self, instance_id):
        """Iterate over all samples."""
        copied = {"shallow": copy.copy, "deep": copy.deepcopy}.get(self.copy)
        self._child_stop[instance_id] = False
        self.child_pointers[instance_id] = 0
        try:
            while self._available(instance_id):
                item = self.buffer[self.child_pointers[instance_id] - self.slowest_ptr]
                self.child_pointers[instance_id] += 1
                slowest = min(self.child_pointers)
                while self.slowest_ptr < slowest:
                    self.buffer.popleft()
                    self.slowest_ptr += 1
                yield item if copied is None else copied(item)
        finally:
            self._child_stop[instance_id] = True
            if self.end_ptr is not None and all(p >= self.end_ptr for p in self.child_pointers):
                self._datapipe_iterator = None

    def _available(self, instance_id):
        """Have the child's next sample in the buffer; False at the end."""
        position = self.child_pointers[instance_id]
        if position < self.slowest_ptr + len(self.buffer):
            return True
        if self.end_ptr is not None:
            return False
        try:
            item = next(self._source())
        except StopIteration:
            self.end_ptr = position
            return False
        if 0 <= self.buffer_size <= len(self.buffer):
            raise BufferError(
                "ForkerIterDataPipe buffer overflow, "
                f"buffer size {self.buffer_size} is insufficient."
            )
        self.buffer.append(item)
        return True


class _ChildDataPipe(IterDataPipe):
    """One of the pipes that fork and demux make."""

    _is_child_datapipe = True

    def __init__(self, main_datapipe, instance_id):
        self.main_datapipe = main_datapipe
        self.instance_id = instance_id

    def __iter__(self):
        return self.main_datapipe.get_next_element_by_instance(self.instance_id)

    def __len__(self):
        return self.main_datapipe.get_length_by_instance(self.instance_id)

    # The children's iterators of one pass have the same number. A child that starts again while it has the current
    # number begins another pass of all of them.

    def _set_main_datapipe_valid_iterator_id(self):
        main = self.main_datapipe
        if main._valid_iterator_id is None:
            main._valid_iterator_id = 0
        elif self._valid_iterator_id == main._valid_iterator_id:
            main._valid_iterator_id += 1
            if not main.is_every_instance_exhausted():
                warnings.warn(
                    "Some child DataPipes are not exhausted when __iter__ is called. We are resetting "
                    "the buffer and each child DataPipe will read from the start again.",
                    UserWarning,
                    stacklevel=4,
                )
            main.reset()
        self._valid_iterator_id = main._valid_iterator_id

    def _check_valid_iterator_id(self, iterator_id):
        main = self.main_datapipe
        if not iterator_id == self._valid_iterator_id == main._valid_iterator_id:
            raise RuntimeError(
                "This iterator has been invalidated, because a new iterator has been created "
                f"from one of the ChildDataPipes of {_describe(main)}." + _FEEDBACK
            )


@functional_datapipe("demux")
class DemultiplexerIterDataPipe(IterDataPipe):
    """Makes several pipes that share the samples of one, which is iterated once.

    Args:
        num_instances: number of pipes, returned as a list.
        classifier_fn: number of the pipe that a sample goes to, or None.
        drop_none: drop samples whose number is None, instead of an error.
        buffer_size: how many samples may wait for slower pipes; -1 has no limit.
    """

    def __new__(cls, datapipe, num_instances, classifier_fn, drop_none=False, buffer_size=1000):
        if num_instances < 1:
            raise ValueError(
                f"Expected `num_instances` larger than 0, but {num_instances} is found"
            )
        _check_unpickable_fn(classifier_fn)
        container = _DemultiplexerIterDataPipe(
            datapipe, num_instances, classifier_fn, drop_none, buffer_size
        )
        return [_ChildDataPipe(container, i) for i in range(num_instances)]


class _DemultiplexerIterDataPipe(_Container):
    _functional = "demux"

    def __init__(self, datapipe, num_instances, classifier_fn, drop_none, buffer_size):
        self.classifier_fn = classifier_fn
        self.drop_none = drop_none
        super().__init__(datapipe, num_instances, buffer_size)

    def _start(self):
        super()._start()
        self.child_buffers = [deque() for _ in range(self.num_instances)]
        self.current_buffer_usage = 0
        self.main_datapipe_exhausted = False

    def _fresh(self):
        buffers = [deque() for _ in range(self.num_instances)]
        usage = {"current_buffer_usage": 0, "main_datapipe_exhausted": False}
        return {**super()._fresh(), **usage, "child_buffers": buffers}

    def _find_next(self, instance_id):
        """The source's next sample for a child; those of others are kept."""
        while True:
            value = next(self._source())
            target = self.classifier_fn(value)
            if target is None and self.drop_none:
                continue
            if target is None or not 0 <= target < self.num_instances:
                raise ValueError(
                    f"Output of the classification fn should be between 0 and {self.num_instances - 1}. "
                    f"{target} is returned."
                )
            if target == instance_id:
                return value
            self.child_buffers[target].append(value)
            self.current_buffer_usage += 1
            if 0 <= self.buffer_size < self.current_buffer_usage:
                raise BufferError(
                    f"DemultiplexerIterDataPipe buffer overflow, buffer size {self.buffer_size} is insufficient."
                )

    def get_next_element_by_instance(self, instance_id):
        """Iterate over a child's samples."""
        self._child_stop[instance_id] = False
        waiting = self.child_buffers[instance_id]
        try:
            while True:
                if waiting:
                    self.current_buffer_usage -= 1
                    yield waiting.popleft()
                elif self.main_datapipe_exhausted:
                    return
                else:
                    try:
                        value = self._find_next(instance_id)
                    except StopIteration:
                        self.main_datapipe_exhausted = True
                        self._datapipe_iterator = None
                        continue
                    yield value
        finally:
            self._child_stop[instance_id] = True


@functional_datapipe("mux")
class MultiplexerIterDataPipe(IterDataPipe):
    """Yields one sample of each pipe in turn, until the first of them ends; a round is given whole or not at all."""

    def __init__(self, *datapipes):
        self.datapipes = datapipes

    def __iter__(self):
        for values in zip(*self.datapipes, strict=False):
            yield from values

    def __len__(self):
        if all(isinstance(datapipe, Sized) for datapipe in self.datapipes):
            return min(len(datapipe) for datapipe in self.datapipes) * len(self.datapipes)
        raise TypeError(f"{type(self).__name__} instance doesn't have valid length")


@functional_datapipe("zip")
class ZipperIterDataPipe(IterDataPipe):
    """Yields tuples of a sample of each pipe, until the first of them ends."""

    def __init__(self, *datapipes):
        if not all(isinstance(datapipe, IterDataPipe) for datapipe in datapipes):
            raise TypeError("All inputs are required to be `IterDataPipe` for `ZipIterDataPipe`.")
        super().__init__()
        self.datapipes = datapipes

    def __iter__(self):
        yield from zip(*self.datapipes, strict=False)

    def __len__(self):
        if all(isinstance(datapipe, Sized) for datapipe in self.datapipes):
            return min(len(datapipe) for datapipe in self.datapipes)
        raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
