"""From indices to batches."""

from ..dataloader import _BaseDatasetFetcher, _IterableDatasetFetcher, _MapDatasetFetcher

__all__ = ["_BaseDatasetFetcher", "_IterableDatasetFetcher", "_MapDatasetFetcher"]
