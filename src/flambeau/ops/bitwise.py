"""Logic on the bits of integers (bool: on truth values), and shifts."""

from .pointwise import INTEGRAL, binary, number_first, unary
from .registry import native, overload


def _bitwise(name, doc, *methods):
    tensor_form = binary(name, doc, methods=(name, *methods), non_differentiable=INTEGRAL)
    return overload(name, tensor_form, number_first(name, non_differentiable=INTEGRAL))


bitwise_and = _bitwise("bitwise_and", "Bits set in both.", "__and__", "__rand__")
bitwise_or = _bitwise("bitwise_or", "Bits set in one.", "__or__", "__ror__")
bitwise_xor = _bitwise("bitwise_xor", "Bits set in exactly one.", "__xor__", "__rxor__")
bitwise_left_shift = _bitwise(
    "bitwise_left_shift",
    "input * 2^other on bits; 0 for shifts by the width or more.",
    "__lshift__",
)
bitwise_right_shift = _bitwise(
    "bitwise_right_shift",
    "input / 2^other rounded down; the sign fills in from the left.",
    "__rshift__",
)
bitwise_not = unary(
    "bitwise_not",
    "All bits inverted; bool: not.",
    methods=("bitwise_not", "__invert__"),
    non_differentiable=INTEGRAL,
)

native(
    "rlshift(Tensor input, Tensor other) -> Tensor",
    methods=("__rlshift__",),
    non_differentiable=INTEGRAL,
    doc="other << input.",
)
native(
    "rrshift(Tensor input, Tensor other) -> Tensor",
    methods=("__rrshift__",),
    non_differentiable=INTEGRAL,
    doc="other >> input.",
)

__all__ = [
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
]
