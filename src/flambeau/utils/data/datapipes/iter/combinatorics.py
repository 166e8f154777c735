"""Sampler and Shuffler: another order."""

import random
from collections.abc import Sized

import flambeau

from ...sampler import Sampler, SequentialSampler
from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe

__all__ = ["SamplerIterDataPipe", "ShufflerIterDataPipe"]


class SamplerIterDataPipe(IterDataPipe):
    """Yields the indices of a sampler over a pipe that has a length.

    Args:
        sampler: class of the sampler. sampler_args, sampler_kwargs: its further arguments.
    """

    def __init__(self, datapipe, sampler=SequentialSampler, sampler_args=None, sampler_kwargs=None):
        if not isinstance(datapipe, Sized):
            raise AssertionError("Sampler class requires input datapipe implemented `__len__`")
        super().__init__()
        self.datapipe = datapipe
        self.sampler_args = () if sampler_args is None else sampler_args
        self.sampler_kwargs = {} if sampler_kwargs is None else sampler_kwargs
        self.sampler = sampler(*self.sampler_args, data_source=datapipe, **self.sampler_kwargs)

    def __iter__(self):
        return iter(self.sampler)

    def __len__(self):
        if isinstance(self.sampler, Sampler) and isinstance(self.sampler, Sized):
            return len(self.sampler)
        raise TypeError(f"{type(self).__name__} instance doesn't have valid length")


@functional_datapipe("shuffle")
class ShufflerIterDataPipe(IterDataPipe):
    """Yields samples in a random order, through a buffer: each comes from a random place in it.

    With a buffer as large as the data, every order is equally likely. In a DataLoader, `shuffle=False` turns it off.
    Seeded from the default generator for each pass, unless set_seed gave a seed.

    Args:
        buffer_size: samples to choose among.
        unbatch_level: take batches apart first, so many levels.
    """

    def __init__(self, datapipe, *, buffer_size=10000, unbatch_level=0):
        super().__init__()
        self._buffer = []
        if buffer_size <= 0:
            raise AssertionError("buffer_size should be larger than 0")
        self.datapipe = (
            datapipe if unbatch_level == 0 else datapipe.unbatch(unbatch_level=unbatch_level)
        )
        self.buffer_size = buffer_size
        self._enabled = True
        self._seed = None
        self._rng = random.Random()

    def set_shuffle(self, shuffle=True):
        """Turn shuffling on or off; returns self."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed):
        """Seed of the next pass; returns self."""
        self._seed = seed
        return self

    def __iter__(self):
        if not self._enabled:
            yield from self.datapipe
            return
        for item in self.datapipe:
            if len(self._buffer) == self.buffer_size:
                index = self._rng.randint(0, len(self._buffer) - 1)
                chosen, self._buffer[index] = self._buffer[index], item
                yield chosen
            else:
                self._buffer.append(item)
        while self._buffer:
            index = self._rng.randint(0, len(self._buffer) - 1)
            yield self._buffer.pop(index)

    def __len__(self):
        if isinstance(self.datapipe, Sized):
            return len(self.datapipe)
        raise TypeError(f"{type(self).__name__} instance doesn't have valid length")

    def reset(self):
        """Empty the buffer and seed the numbers."""
        self._buffer = []
        if self._enabled:
            if self._seed is None:
                self._seed = int(flambeau.empty((), dtype=flambeau.int64).random_().item())
            self._rng.seed(self._seed)
            self._seed = None
