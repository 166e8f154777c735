"""The version of this package, and PyTorch's names for what it was not built with."""

from . import __version__

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "xpu"]

debug = False
cuda: str | None = None
hip: str | None = None
xpu: str | None = None
git_version = "unknown"
