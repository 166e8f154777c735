"""Mapper and Collator: a function applied to every sample."""

import copy

from ...collate import default_collate
from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import _check_unpickable_fn, validate_input_col

__all__ = ["CollatorIterDataPipe", "MapperIterDataPipe"]


@functional_datapipe("map")
class MapperIterDataPipe(IterDataPipe):
    """Yields fn(sample).

    Args:
        fn: function; with input_col, of those entries of the sample.
        input_col: index or key of the entry that fn gets, or a list of them (several arguments).
        output_col: where the result goes in the sample: None replaces the (first) input entry and drops the others,
            -1 appends to a list or tuple, else an index or key.
    """

    def __init__(self, datapipe, fn, input_col=None, output_col=None):
        super().__init__()
        self.datapipe = datapipe
        _check_unpickable_fn(fn)
        self.fn = fn
        self.input_col = input_col
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        if isinstance(output_col, (list, tuple)):
            if len(output_col) > 1:
                raise ValueError("`output_col` must be a single-element list or tuple")
            output_col = output_col[0]
        self.output_col = output_col
        validate_input_col(fn, input_col)

    def _apply_fn(self, data):
        columns = self.input_col
        if columns is None:
            return self.fn(data)
        several = isinstance(columns, (list, tuple))
        if several:
            result = self.fn(*[data[column] for column in columns])
        else:
            result = self.fn(data[columns])
        # The sample may be shared with others: change a copy.
        is_tuple = isinstance(data, tuple)
        data = list(data) if is_tuple else copy.copy(data)
        if self.output_col is None:
            if several:
                data[columns[0]] = result
                for column in sorted(columns[1:], reverse=True):
                    del data[column]
            else:
                data[columns] = result
        elif self.output_col == -1:
            data.append(result)
        else:
            data[self.output_col] = result
        return tuple(data) if is_tuple else data

    def __iter__(self):
        for data in self.datapipe:
            yield self._apply_fn(data)

    def __len__(self):
        try:
            return len(self.datapipe)
        except TypeError:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length") from None


@functional_datapipe("collate")
class CollatorIterDataPipe(MapperIterDataPipe):
    """Yields batches as tensors.

    Args:
        conversion: function of a batch (default_collate if not given).
        collate_fn: the same; it takes precedence.
    """

    def __init__(self, datapipe, conversion=default_collate, collate_fn=None):
        fn = conversion if collate_fn is None else collate_fn
        if not callable(fn):
            raise TypeError(
                f"collate: expected a function, got {type(fn).__name__}. Conversions by column are for data frames, "
                "which have no DataPipes here; map each column with input_col."
            )
        super().__init__(datapipe, fn=fn)
