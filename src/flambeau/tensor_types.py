"""torch.FloatTensor, torch.LongTensor and so on: constructors of one dtype, and what isinstance() asks about."""

from __future__ import annotations

from typing import Any

import flambeau

from .type_info import TENSOR_TYPES

__all__ = sorted(TENSOR_TYPES.values())


class _TensorType(type):
    dtype: Any

    def __instancecheck__(cls, instance: Any) -> bool:
        return (
            isinstance(instance, flambeau.Tensor)
            and instance.dtype is cls.dtype
            and not instance.is_sparse
        )

    def __call__(cls, *args: Any) -> Any:
        """Sizes give an uninitialised tensor, a sequence the tensor of its values."""
        if not args or all(isinstance(a, int) and not isinstance(a, bool) for a in args):
            return flambeau.empty(args or (0,), dtype=cls.dtype)
        if isinstance(args[0], flambeau.Size):
            return flambeau.empty(args[0], dtype=cls.dtype)
        source = args[0]
        if isinstance(source, flambeau.Tensor):
            if source.dtype is not cls.dtype:
                raise TypeError(
                    f"{cls.__name__}: expected a tensor of {cls.dtype}, got {source.dtype}. Use tensor.to()."
                )
            return source.detach()
        return flambeau.tensor(source, dtype=cls.dtype)


def __getattr__(name: str) -> Any:
    for dtype, type_name in TENSOR_TYPES.items():
        if type_name == name:
            attributes = {"dtype": getattr(flambeau, dtype), "__module__": "flambeau"}
            globals()[name] = _TensorType(name, (), attributes)
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
