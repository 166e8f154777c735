"""Worker processes."""

from .._workers import WorkerInfo
from ..dataloader import get_worker_info

__all__ = ["WorkerInfo", "get_worker_info"]
