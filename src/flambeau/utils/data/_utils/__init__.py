"""Internals of the DataLoader under the names that programs import them by."""

from . import collate, fetch, pin_memory, worker

__all__ = ["collate", "fetch", "pin_memory", "worker"]

# Seconds between looks at whether a worker, or its parent, still lives.
MP_STATUS_CHECK_INTERVAL = 5.0
HAS_NUMPY = True
