"""Complex numbers from parts, their phase and conjugate. Views of complex tensors are in view_dtype.py."""

from .pointwise import unary, zeros_like
from .registry import composite, native
from .ternary import where

complex = native(
    "complex(Tensor real, OnlyTensor imag) -> Tensor",
    out=True,
    doc="A complex tensor from its real and imaginary parts, both float32 or both float64.",
)


@complex.vjp("real")
def _(grad):
    return grad.real


@complex.vjp("imag")
def _(grad):
    return grad.imag


polar = native(
    "polar(Tensor abs, OnlyTensor angle) -> Tensor",
    out=True,
    doc="A complex tensor from modulus and phase (radians): abs * (cos(angle) + i sin(angle)).",
)


@polar.vjp("abs")
def _(grad, result):
    return (grad * result.sgn().conj()).real


@polar.vjp("angle")
def _(grad, result):
    return (grad * (result * 1j).conj()).real


angle = unary("angle", "Phase in radians, in (-pi, pi]; 0 or pi for real numbers.", inplace=False)


@angle.vjp
def _(grad, input):
    if not input.is_complex():
        return zeros_like(grad)
    re, im = input.real, input.imag
    square = re * re + im * im
    return where(square == 0, 0, grad * complex(-im, re) / square)


conj_physical = unary("conj_physical", "Complex conjugate, carried out at once.")


@conj_physical.vjp
def _(grad):
    return conj_physical(grad)


@composite
def is_complex(input):
    """Whether the dtype is complex."""
    return input.is_complex()


@composite
def is_floating_point(input):
    """Whether the dtype is a floating point one."""
    return input.is_floating_point()


__all__ = ["angle", "complex", "conj_physical", "is_complex", "is_floating_point", "polar"]
