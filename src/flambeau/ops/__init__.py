"""Every op, one family per file. Star-imported by the package."""

from .registry import verify

verify()
