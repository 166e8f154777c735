"""Concater and Zipper: several pipes into one."""

from collections.abc import Sized

from .._decorator import functional_datapipe
from ..datapipe import MapDataPipe

__all__ = ["ConcaterMapDataPipe", "ZipperMapDataPipe"]


def _check(datapipes):
    if not datapipes:
        raise ValueError("Expected at least one DataPipe, but got nothing")
    if not all(isinstance(datapipe, MapDataPipe) for datapipe in datapipes):
        raise TypeError("Expected all inputs to be `MapDataPipe`")
    if not all(isinstance(datapipe, Sized) for datapipe in datapipes):
        raise TypeError("Expected all inputs to be `Sized`")
    return datapipes


@functional_datapipe("concat")
class ConcaterMapDataPipe(MapDataPipe):
    """The samples of several pipes, one pipe after the other."""

    def __init__(self, *datapipes):
        self.datapipes = _check(datapipes)

    def __getitem__(self, index):
        offset = 0
        for datapipe in self.datapipes:
            if index - offset < len(datapipe):
                return datapipe[index - offset]
            offset += len(datapipe)
        raise IndexError(f"Index {index} is out of range.")

    def __len__(self):
        return sum(len(datapipe) for datapipe in self.datapipes)


@functional_datapipe("zip")
class ZipperMapDataPipe(MapDataPipe):
    """Tuples of the samples of several pipes at one index; as long as the shortest."""

    def __init__(self, *datapipes):
        self.datapipes = _check(datapipes)

    def __getitem__(self, index):
        sample = []
        for datapipe in self.datapipes:
            try:
                sample.append(datapipe[index])
            except IndexError as error:
                raise IndexError(
                    f"Index {index} is out of range for one of the input MapDataPipes {datapipe}."
                ) from error
        return tuple(sample)

    def __len__(self):
        return min(len(datapipe) for datapipe in self.datapipes)
