"""Shuffler: the samples in a random order."""

import random

import flambeau

from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe, MapDataPipe

__all__ = ["ShufflerIterDataPipe"]


@functional_datapipe("shuffle")
class _MapShuffle(MapDataPipe):
    """`.shuffle()` of a MapDataPipe makes a pipe that streams."""

    def __new__(cls, datapipe, *, indices=None):
        return ShufflerIterDataPipe(datapipe, indices=indices)


class ShufflerIterDataPipe(IterDataPipe):
    """Yields the samples of a MapDataPipe in a random order.

    Seeded from the default generator for each pass, unless set_seed gave a seed.

    Args:
        indices: the indices or keys of the pipe; by default 0 ... len - 1.
    """

    def __init__(self, datapipe, *, indices=None):
        super().__init__()
        self.datapipe = datapipe
        self.indices = list(range(len(datapipe))) if indices is None else indices
        self._enabled = True
        self._seed = None
        self._rng = random.Random()
        self._shuffled_indices = self.indices

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
            for index in self.indices:
                yield self.datapipe[index]
            return
        while self._shuffled_indices:
            yield self.datapipe[self._shuffled_indices.pop()]

    def reset(self):
        """Draw an order."""
        if self._enabled:
            if self._seed is None:
                self._seed = int(flambeau.empty((), dtype=flambeau.int64).random_().item())
            self._rng.seed(self._seed)
            self._seed = None
            self._shuffled_indices = self._rng.sample(self.indices, len(self.indices))

    def __len__(self):
        return len(self.datapipe)
