"""IterableWrapper: any iterable as a DataPipe."""

from ..datapipe import IterDataPipe, copied

__all__ = ["IterableWrapperIterDataPipe"]


class IterableWrapperIterDataPipe(IterDataPipe):
    """Yields the items of an iterable.

    Args:
        deepcopy: iterate over a deep copy, so that samples changed in place don't change the source.
    """

    def __init__(self, iterable, deepcopy=True):
        self.iterable = iterable
        self.deepcopy = deepcopy

    def __iter__(self):
        source = self.iterable
        if self.deepcopy:
            source = copied(
                source,
                "The input iterable can not be deepcopied, "
                "please be aware of in-place modification would affect source data.",
            )
        yield from source

    def __len__(self):
        try:
            return len(self.iterable)
        except TypeError:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length") from None
