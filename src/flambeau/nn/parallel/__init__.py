"""Data parallelism over devices of one process. On a CPU there is one device: the module itself runs."""

from .data_parallel import DataParallel, data_parallel
from .distributed import DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]
