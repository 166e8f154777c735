"""Filter: samples that pass a test."""

from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import _check_unpickable_fn, validate_input_col

__all__ = ["FilterIterDataPipe"]


@functional_datapipe("filter")
class FilterIterDataPipe(IterDataPipe):
    """Yields the samples for which filter_fn is True.

    Args:
        filter_fn: returns a bool.
        input_col: index or key of the entry that it looks at, or a list of them (several arguments).
    """

    def __init__(self, datapipe, filter_fn, input_col=None):
        super().__init__()
        self.datapipe = datapipe
        _check_unpickable_fn(filter_fn)
        self.filter_fn = filter_fn
        self.input_col = input_col
        validate_input_col(filter_fn, input_col)

    def _apply_filter_fn(self, data):
        if self.input_col is None:
            return self.filter_fn(data)
        if isinstance(self.input_col, (list, tuple)):
            return self.filter_fn(*[data[column] for column in self.input_col])
        return self.filter_fn(data[self.input_col])

    def __iter__(self):
        for data in self.datapipe:
            passes = self._apply_filter_fn(data)
            if not isinstance(passes, bool):
                raise ValueError(
                    "Boolean output is required for `filter_fn` of FilterIterDataPipe, got",
                    type(passes),
                )
            if passes:
                yield data
