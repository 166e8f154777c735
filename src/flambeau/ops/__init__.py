"""Every op, one family per file. Star-imported by the package."""

# ruff: noqa: F403 - the families' __all__ lists say what is exported
from .conv import *
from .matmul import *
from .registry import verify

verify()
