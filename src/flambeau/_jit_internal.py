"""Names of jit under the private path that programs use as well."""

from .jit import Final, export, ignore, is_scripting, unused

__all__ = ["Final", "export", "ignore", "is_scripting", "unused"]
