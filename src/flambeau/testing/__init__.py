"""Comparing results and making inputs in tests. The op suites' own helpers are in opspec.py and opcheck.py."""

from .comparison import assert_allclose, assert_close
from .creation import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
