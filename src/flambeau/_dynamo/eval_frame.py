"""The wrapper that torch.compile puts around a module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..nn import Module

__all__ = ["OptimizedModule", "optimize"]


class OptimizedModule(Module):
    """A module under the name `_orig_mod`: calls, attributes and their changes go to it.

    So state_dict has the keys that a compiled module's has in PyTorch, and the module runs eagerly.
    """

    def __init__(self, mod: Module, dynamo_ctx: Any = None) -> None:
        super().__init__()
        self._modules["_orig_mod"] = mod

    @property
    def training(self) -> bool:  # type: ignore[override]
        """The module's own flag."""
        return bool(self._modules["_orig_mod"].training)

    @training.setter
    def training(self, value: bool) -> None:
        modules = self.__dict__.get("_modules")
        if modules and "_orig_mod" in modules:
            modules["_orig_mod"].training = value

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._modules["_orig_mod"](*args, **kwargs)

    forward = __call__

    def __getattr__(self, name: str) -> Any:
        modules = self.__dict__.get("_modules", {})
        if "_orig_mod" not in modules:
            raise AttributeError(name)
        original = modules["_orig_mod"]
        return original if name == "_orig_mod" else getattr(original, name)

    def __setattr__(self, name: str, value: Any) -> None:
        modules = self.__dict__.get("_modules")
        if not modules or name == "training":
            super().__setattr__(name, value)
        elif name == "_orig_mod":
            modules["_orig_mod"] = value
        else:
            setattr(modules["_orig_mod"], name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._modules["_orig_mod"], name)

    def __len__(self) -> int:
        return len(self._orig_mod)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._orig_mod)

    def __getitem__(self, index: Any) -> Any:
        return self._orig_mod[index]


def optimize(*args: Any, **kwargs: Any) -> Any:
    """Return a decorator that leaves the function as it is."""
    return lambda fn: fn
