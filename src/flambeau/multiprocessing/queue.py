"""Queues: Python's own, which send tensors as shared memory like everything in multiprocessing."""

from multiprocessing.queues import Queue, SimpleQueue

__all__ = ["Queue", "SimpleQueue"]
