"""What the build contains, as text."""

from __future__ import annotations

import platform

import flambeau

from . import _C

__all__ = ["parallel_info", "show"]


def show() -> str:
    """Return a description of the build and the machine."""
    return "\n".join(
        [
            f"Flambeau {flambeau.__version__} built with:",
            f"  - Python {platform.python_version()} on {platform.machine()}",
            f"  - {len(_C._kernel_names())} kernels",
            f"  - threads: {_C.get_num_threads()} (OpenMP)",
            "",
        ]
    )


def parallel_info() -> str:
    """Return a description of the threads."""
    return (
        f"Threads:\n\tget_num_threads() : {_C.get_num_threads()}\n\tget_num_interop_threads() : 1\n"
    )
