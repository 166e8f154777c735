"""torch._foreach_*: one op on each tensor of a list. Optimizers outside this package use them in spite of the name.

Every name is made from the op that it applies: `_foreach_add(tensors, other)` gives a list, `_foreach_add_` writes into
the tensors. What is not a list of tensors goes to every call as it is, a list of numbers or tensors element by element.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flambeau
from flambeau import Tensor

_UNARY = """abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal
    round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc""".split()
_BINARY = "add sub mul div maximum minimum clamp_max clamp_min pow".split()
_TERNARY = "addcmul addcdiv".split()

__all__ = ["find"]


def _each(argument: Any, count: int) -> list[Any]:
    if isinstance(argument, list | tuple):
        if len(argument) != count:
            raise RuntimeError(
                f"Tensor lists must have the same number of tensors, got {count} and {len(argument)}"
            )
        return list(argument)
    if isinstance(argument, Tensor) and argument.dim() == 1 and argument.numel() == count > 1:
        return list(argument)  # the scalars of addcmul and addcdiv in one tensor
    return [argument] * count


def _call(
    op: str, inplace: bool, tensor: Tensor, arguments: list[Any], options: dict[str, Any]
) -> Any:
    if op in ("clamp_max", "clamp_min", "maximum", "minimum") and inplace:
        smaller = op in ("clamp_max", "minimum")
        bound = arguments[0]
        if isinstance(bound, Tensor):
            combined = (flambeau.minimum if smaller else flambeau.maximum)(tensor, bound)
            return tensor.copy_(combined)
        return tensor.clamp_(max=bound) if smaller else tensor.clamp_(min=bound)
    if op in ("clamp_max", "maximum", "clamp_min", "minimum") and not isinstance(
        arguments[0], Tensor
    ):
        name = "max" if op in ("clamp_max", "minimum") else "min"
        return flambeau.clamp(tensor, **{name: arguments[0]})
    if op == "addcmul" or op == "addcdiv":
        first, second, *value = arguments
        options = {**options, "value": value[0]} if value else options
        arguments = [first, second]
    method = getattr(tensor, f"{op}_" if inplace else op)
    return method(*arguments, **options)


def _apply(op: str, inplace: bool) -> Callable[..., Any]:
    def function(self: Any, *arguments: Any, **options: Any) -> list[Tensor] | None:
        tensors = list(self)
        names = {"other", "exponent", "tensor1", "tensor2", "scalars", "scalar", "weight"}
        arguments += tuple(options.pop(name) for name in list(options) if name in names)
        columns = [_each(argument, len(tensors)) for argument in arguments]
        results = [
            _call(op, inplace, tensor, [column[i] for column in columns], options)
            for i, tensor in enumerate(tensors)
        ]
        return None if inplace else results

    function.__name__ = function.__qualname__ = f"_foreach_{op}" + "_" * inplace
    function.__doc__ = f"{op} on each tensor of a list."
    return function


def _norm(self: Any, ord: Any = 2, dtype: Any = None) -> list[Tensor]:
    """Return the vector norm of each tensor."""
    return [flambeau.linalg.vector_norm(tensor, ord, dtype=dtype) for tensor in self]


def _lerp(inplace: bool) -> Callable[..., Any]:
    def function(self: Any, tensors1: Any, weight: Any) -> list[Tensor] | None:
        weights = _each(weight, len(self))
        pairs = zip(self, tensors1, weights, strict=True)
        if inplace:
            for tensor, end, by in pairs:
                tensor.lerp_(end, by)
            return None
        return [tensor.lerp(end, by) for tensor, end, by in pairs]

    return function


def _copy_(self: Any, src: Any, non_blocking: bool = False) -> None:
    """Copy each tensor of src into the one of self."""
    for tensor, source in zip(self, src, strict=True):
        tensor.copy_(source)


def _zero_(self: Any) -> None:
    """Set each tensor to 0."""
    for tensor in self:
        tensor.zero_()


_SPECIAL: dict[str, Callable[..., Any]] = {
    "norm": _norm,
    "lerp": _lerp(False),
    "lerp_": _lerp(True),
    "copy_": _copy_,
    "zero_": _zero_,
}


def find(name: str) -> Callable[..., Any] | None:
    """Return the function of a name such as `_foreach_add_`; None if there is no such op."""
    op = name.removeprefix("_foreach_")
    if op in _SPECIAL:
        return _SPECIAL[op]
    inplace = op.endswith("_")
    op = op.rstrip("_")
    return _apply(op, inplace) if op in (*_UNARY, *_BINARY, *_TERNARY) else None
