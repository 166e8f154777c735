"""Anomaly mode: backward errors show the line of the forward call, and NaN in gradients is an error."""

import os
import sys
import traceback
import warnings

from .. import _C

__all__ = [
    "detect_anomaly",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "set_detect_anomaly",
]

is_anomaly_enabled = _C.is_anomaly_enabled
is_anomaly_check_nan_enabled = _C.is_anomaly_check_nan_enabled

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def _format_user_stack():
    """Text of the current stack without the library's own frames."""
    frames = traceback.extract_stack(sys._getframe(1))
    users = [frame for frame in frames if not frame.filename.startswith(_PACKAGE)]
    return "".join(traceback.format_list(users or frames))


class detect_anomaly:
    """Find the operation whose backward fails.

    Inside the block each operation remembers where it was called; an error in its backward warns with that
    place, and a backward that returns NaN raises. Slow: for debugging only.

    Args:
        check_nan: also raise RuntimeError when a gradient holds a NaN.
    Example:
        >>> import flambeau
        >>> with flambeau.autograd.set_detect_anomaly(True):  # the same without a warning
        ...     flambeau.is_anomaly_enabled()
        True
    """

    def __init__(self, check_nan=True):
        self.check_nan = check_nan
        self.previous = None
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be "
            "enabled for debugging.",
            stacklevel=2,
        )

    def __enter__(self):
        self.previous = _C.is_anomaly_enabled(), _C.is_anomaly_check_nan_enabled()
        _C._set_anomaly_enabled(True, self.check_nan)

    def __exit__(self, *error):
        _C._set_anomaly_enabled(*self.previous)


class set_detect_anomaly:
    """Switch anomaly mode: at once when called, until the end of the block when used with `with`.

    Args:
        mode: on or off.
        check_nan: also raise RuntimeError when a gradient holds a NaN.
    """

    def __init__(self, mode, check_nan=True):
        self.previous = _C.is_anomaly_enabled(), _C.is_anomaly_check_nan_enabled()
        _C._set_anomaly_enabled(bool(mode), check_nan)

    def __enter__(self):
        return None

    def __exit__(self, *error):
        _C._set_anomaly_enabled(*self.previous)
