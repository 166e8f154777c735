"""Data parallelism over devices of one process. On a CPU there is one device: the module itself runs."""

from .data_parallel import DataParallel, data_parallel

__all__ = ["DataParallel", "data_parallel"]
