"""Forward-mode differentiation: dual tensors, whose tangents every operation carries along.

Tangents are kept and propagated in C++ (csrc/autograd/forward.h). An op's tangent rule is derived from its gradient
rule, so every differentiable op has one.
"""

from typing import NamedTuple

from .. import _C
from ._forward_kinds import register as _register_kinds
from .grad_mode import _decorate

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]

_register_kinds()

# What the functions below take for `level` by default.
_current_level = -1


def enter_dual_level():
    """Enter a dual level: until it is left, operations propagate tangents. Returns its number.

    Raises:
        RuntimeError: inside another level; levels do not nest.
    """
    global _current_level
    _current_level = _C._enter_dual_level()
    return _current_level


def exit_dual_level(*, level=None):
    """Leave the dual level; the tangents made in it are gone.

    Args:
        level: number of the level, the current one by default.
    Raises:
        RuntimeError: it is not the current level.
    """
    global _current_level
    level = _current_level if level is None else level
    if level != _current_level:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    _C._exit_dual_level(level)
    _current_level = level - 1


def make_dual(tensor, tangent, *, level=None):
    """Make a view of `tensor` that has `tangent` as its derivative. Differentiable in both.

    If J is the Jacobian of a function f, f(make_dual(x, v)) has the tangent J v.

    Args:
        tensor: the primal, floating point or complex, without a tangent.
        tangent: of the same size; used as it is if its strides fit, else copied.
        level: accepted; there is only one.
    Raises:
        RuntimeError: outside of a dual level, the tensor has a tangent already, or the sizes differ.
        ValueError: the primal or the tangent is neither floating point nor complex.
    Example:
        >>> import flambeau
        >>> import flambeau.autograd.forward_ad as fwAD
        >>> with fwAD.dual_level():
        ...     dual = fwAD.make_dual(flambeau.tensor([2.0]), flambeau.tensor([1.0]))
        ...     fwAD.unpack_dual(dual * dual).tangent
        tensor([4.])
    """
    level = _current_level if level is None else level
    if level < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    for value, what in ((tensor, "primal"), (tangent, "tangent")):
        if not (value.is_floating_point() or value.is_complex()):
            raise ValueError(
                f"Expected {what} to be floating point or complex, but got: {value.dtype}"
            )
    return _C._make_dual(tensor, tangent)


class UnpackedDualTensor(NamedTuple):
    """What unpack_dual() returns."""

    primal: _C.TensorBase
    tangent: _C.TensorBase | None


def unpack_dual(tensor, *, level=None):
    """Split a dual tensor into (primal, tangent).

    Args:
        tensor: any tensor.
        level: accepted; there is only one.
    Returns:
        A named tuple: a view of the tensor that has no tangent, and the tangent itself; None if the tensor is not dual.
    """
    level = _current_level if level is None else level
    if level < 0:
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(*_C._unpack_dual(tensor))


class dual_level:
    """A dual level for the length of a `with` block, or of a decorated function."""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, exc_type, exc_value, traceback):
        exit_dual_level()

    def __call__(self, function):
        return _decorate(type(self), function)


_is_fwd_grad_enabled = _C._is_fwd_grad_enabled


class _set_fwd_grad_enabled:
    """Switch propagation of tangents on or off on this thread: at once, and back at the end of a `with` block."""

    def __init__(self, mode):
        self.prev = _C._is_fwd_grad_enabled()
        _C._set_fwd_grad_enabled(mode)

    def __enter__(self):
        return None

    def __exit__(self, exc_type, exc_value, traceback):
        _C._set_fwd_grad_enabled(self.prev)
