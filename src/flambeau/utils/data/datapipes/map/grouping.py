"""Batcher: samples to lists."""

from collections.abc import Sized

from .._decorator import functional_datapipe
from ..datapipe import DataChunk, MapDataPipe

__all__ = ["BatcherMapDataPipe"]


@functional_datapipe("batch")
class BatcherMapDataPipe(MapDataPipe):
    """Lists of batch_size consecutive samples; drop_last leaves out a shorter last one."""

    def __init__(self, datapipe, batch_size, drop_last=False, wrapper_class=DataChunk):
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        super().__init__()
        self.datapipe = datapipe
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.wrapper_class = wrapper_class

    def __getitem__(self, index):
        start = index * self.batch_size
        batch = []
        try:
            for i in range(start, start + self.batch_size):
                batch.append(self.datapipe[i])
        except IndexError:
            if self.drop_last or not batch:
                raise IndexError(f"Index {index} is out of bound.") from None
        return self.wrapper_class(batch)

    def __len__(self):
        if not isinstance(self.datapipe, Sized):
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
        size = len(self.datapipe)
        return size // self.batch_size if self.drop_last else -(-size // self.batch_size)
