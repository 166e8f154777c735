"""Batcher, UnBatcher and Grouper: samples to lists and back."""

from collections import defaultdict
from collections.abc import Sized

from .._decorator import functional_datapipe
from ..datapipe import DataChunk, IterDataPipe
from ..utils.common import _check_unpickable_fn

__all__ = ["BatcherIterDataPipe", "GrouperIterDataPipe", "UnBatcherIterDataPipe"]


@functional_datapipe("batch")
class BatcherIterDataPipe(IterDataPipe):
    """Yields lists of batch_size samples; drop_last leaves out a shorter last one."""

    def __init__(self, datapipe, batch_size, drop_last=False, wrapper_class=DataChunk):
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        super().__init__()
        self.datapipe = datapipe
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.wrapper_class = wrapper_class

    def __iter__(self):
        batch = []
        for item in self.datapipe:
            batch.append(item)
            if len(batch) == self.batch_size:
                yield self.wrapper_class(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.wrapper_class(batch)

    def __len__(self):
        if not isinstance(self.datapipe, Sized):
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
        size = len(self.datapipe)
        return size // self.batch_size if self.drop_last else -(-size // self.batch_size)


@functional_datapipe("unbatch")
class UnBatcherIterDataPipe(IterDataPipe):
    """Takes lists of samples apart: unbatch_level levels of them, -1 all."""

    def __init__(self, datapipe, unbatch_level=1):
        self.datapipe = datapipe
        self.unbatch_level = unbatch_level

    def __iter__(self):
        for element in self.datapipe:
            yield from self._dive(element, self.unbatch_level)

    def _dive(self, element, level):
        if level < -1:
            raise ValueError("unbatch_level must be -1 or >= 0")
        if level == 0 or (level == -1 and not isinstance(element, list)):
            yield element
        elif isinstance(element, list):
            for item in element:
                yield from self._dive(item, -1 if level == -1 else level - 1)
        else:
            raise IndexError(
                f"unbatch_level {self.unbatch_level} exceeds the depth of the DataPipe"
            )


@functional_datapipe("groupby")
class GrouperIterDataPipe(IterDataPipe):
    """Yields lists of samples with the same key.

    A full group is yielded at once. When the buffer is full, the largest group goes; at the end, all that are left.

    Args:
        group_key_fn: key of a sample.
        keep_key: yield pairs (key, group).
        buffer_size: samples to hold.
        group_size: size of a full group; None has no limit.
        guaranteed_group_size: smallest size of a group that leaves a full buffer (default: group_size).
        drop_remaining: drop smaller groups then, instead of an error.
    """

    def __init__(
        self,
        datapipe,
        group_key_fn,
        *,
        keep_key=False,
        buffer_size=10000,
        group_size=None,
        guaranteed_group_size=None,
        drop_remaining=False,
    ):
        _check_unpickable_fn(group_key_fn)
        self.datapipe = datapipe
        self.group_key_fn = group_key_fn
        self.keep_key = keep_key
        self.max_buffer_size = buffer_size
        self.buffer_elements = defaultdict(list)
        self.curr_buffer_size = 0
        self.group_size = group_size
        if group_size is not None and not 0 < group_size <= buffer_size:
            raise AssertionError("group_size must be > 0 and <= buffer_size")
        self.guaranteed_group_size = group_size
        if guaranteed_group_size is not None:
            if group_size is None or not 0 < guaranteed_group_size <= group_size:
                raise AssertionError(
                    "guaranteed_group_size must be > 0 and <= group_size and group_size must be set"
                )
            self.guaranteed_group_size = guaranteed_group_size
        self.drop_remaining = drop_remaining
        self.wrapper_class = DataChunk

    def _remove_biggest_key(self):
        """Take the largest group out of the buffer; None if it is too small and dropped."""
        key = max(self.buffer_elements, key=lambda k: len(self.buffer_elements[k]))
        group = self.buffer_elements[key]
        least = self.guaranteed_group_size
        too_small = least is not None and len(group) < least
        if too_small and not self.drop_remaining:
            raise RuntimeError("Failed to group items", str(group))
        self._take(key)
        return None if too_small else (key, group)

    def _take(self, key):
        group = self.buffer_elements.pop(key)
        self.curr_buffer_size -= len(group)
        return group

    def _wrapped(self, key, group):
        chunk = self.wrapper_class(group)
        return (key, chunk) if self.keep_key else chunk

    def __iter__(self):
        for item in self.datapipe:
            key = self.group_key_fn(item)
            self.buffer_elements[key].append(item)
            self.curr_buffer_size += 1
            if len(self.buffer_elements[key]) == self.group_size:
                yield self._wrapped(key, self._take(key))
            if self.curr_buffer_size == self.max_buffer_size:
                removed = self._remove_biggest_key()
                if removed is not None:
                    yield self._wrapped(*removed)
        for key in tuple(self.buffer_elements):
            yield self._wrapped(key, self._take(key))

    def reset(self):
        """Empty the buffer."""
        self.curr_buffer_size = 0
        self.buffer_elements = defaultdict(list)
