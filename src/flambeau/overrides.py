"""The __torch_function__ protocol: classes that define it take over the ops they are passed to."""

import contextlib

from . import _C

__all__ = ["DisableTorchFunctionSubclass", "disabled_torch_function"]


@contextlib.contextmanager
def disabled_torch_function():
    """Within this context ops run as usual on tensors of every class."""
    _C._disable_torch_function(True)
    try:
        yield
    finally:
        _C._disable_torch_function(False)


DisableTorchFunction = DisableTorchFunctionSubclass = disabled_torch_function
