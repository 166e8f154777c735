"""Pools of processes: Python's own, which send tensors as shared memory like everything in multiprocessing."""

from multiprocessing.pool import Pool

__all__ = ["Pool"]
