"""Pickles whose globals carry PyTorch's names, with storages kept apart as persistent ids.

Python's own C pickler imports every module it names; PyTorch need not be installed, so the pure-Python one is used.
"""

from __future__ import annotations

import pickle
import types
from collections import OrderedDict
from typing import IO, Any, ClassVar

import flambeau

from .. import storage

__all__ = ["Pickler", "our_name", "torch_name"]

_HOOK_TABLES = ("_backward_hooks", "_forward_hooks")

_PACKAGES = {
    "vision": "torchvision",
    "audio": "torchaudio",
    "text": "torchtext",
    "rec": "torchrec",
    "launch": "torchx",
    "kernels": "fbgemm_gpu",
}


def torch_name(module: str) -> str:
    """PyTorch's module for one of ours; others are unchanged."""
    top, _, rest = module.partition(".")
    if top != "flambeau":
        return module
    first, _, deeper = rest.partition(".")
    if first in _PACKAGES:
        return _PACKAGES[first] + ("." + deeper if deeper else "")
    return "torch" + ("." + rest if rest else "")


def our_name(module: str) -> str:
    """Our module for one of PyTorch's; others are unchanged."""
    top, dot, rest = module.partition(".")
    if top == "torch":
        return "flambeau" + dot + rest
    for ours, theirs in _PACKAGES.items():
        if top == theirs:
            return f"flambeau.{ours}{dot}{rest}"
    return module


def _public_home(module: str, name: str, obj: Any) -> str:
    """The module in which users find an op: families of ops are files of ours only."""
    if not module.startswith("flambeau.ops."):
        return module
    homes = {"flambeau": flambeau, "flambeau.nn.functional": flambeau.nn.functional}
    return next(
        (home for home, where in homes.items() if getattr(where, name, None) is obj), module
    )


class _StorageClass:
    """Stands for torch.FloatStorage and so on in a persistent id."""

    def __init__(self, name: str) -> None:
        self.name = name


class Pickler(pickle._Pickler):  # type: ignore[name-defined]
    """Collects storages in `storages` by key; `legacy` writes the persistent ids of the older format."""

    def __init__(self, file: IO[bytes], protocol: int, legacy: bool = False) -> None:
        super().__init__(file, protocol)
        self.legacy = legacy
        self.storages: dict[str, storage.UntypedStorage] = {}
        self.sizes: dict[str, int] = {}  # in elements
        self._keys: dict[int, tuple[str, str]] = {}
        self._classes: dict[str, _StorageClass] = {}

    def persistent_id(self, obj: Any) -> Any:
        """The tuple that stands for a storage; None for anything else."""
        if isinstance(obj, storage.TypedStorage):
            name, size = obj.pickle_storage_type(), len(obj)
        elif isinstance(obj, storage.UntypedStorage):
            name, size = "UntypedStorage", obj.nbytes()
        else:
            return None
        untyped = obj.untyped()
        key, seen = self._keys.setdefault(untyped._cdata, (str(len(self._keys)), name))
        if seen != name and "UntypedStorage" not in (seen, name):
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different types: "
                f"expected one dtype per storage, got {seen} and {name}. Save tensor.clone() of one of them."
            )
        self.storages[key] = untyped
        self.sizes[key] = size
        cls = self._classes.setdefault(name, _StorageClass(name))
        pid = ("storage", cls, key, str(untyped.device), size)
        return (*pid, None) if self.legacy else pid  # None: not a view of another storage

    def reducer_override(self, obj: Any) -> Any:
        """Modules get the two hook tables that PyTorch takes for granted; ours are made on first use."""
        if not isinstance(obj, flambeau._C.ModuleBase):
            return NotImplemented
        reduced: Any = obj.__reduce_ex__(self.proto)
        if len(reduced) < 3 or not isinstance(reduced[2], dict) or "_modules" not in reduced[2]:
            return reduced
        state = {**{name: OrderedDict() for name in _HOOK_TABLES}, **reduced[2]}
        return (*reduced[:2], state, *reduced[3:])

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """Write `module name` with PyTorch's module."""
        name = name or getattr(obj, "__qualname__", None) or obj.__name__
        module = getattr(obj, "__module__", None) or pickle.whichmodule(obj, name)
        translated = _MOVED.get((module, name)) or torch_name(_public_home(module, name, obj))
        if translated == module:
            super().save_global(obj, name)
            return
        self._put_global(translated, name, obj)

    def _put_global(self, module: str, name: str, obj: Any) -> None:
        if self.proto >= 4:
            self.save(module)
            self.save(name)
            self.write(pickle.STACK_GLOBAL)
        else:
            self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())
        self.memoize(obj)

    dispatch: ClassVar[dict[Any, Any]] = dict(pickle._Pickler.dispatch)  # type: ignore[attr-defined]

    def _save_storage_class(self, obj: _StorageClass) -> None:
        module = "torch.storage" if obj.name == "UntypedStorage" else "torch"
        self._put_global(module, obj.name, obj)

    def _save_dtype(self, obj: Any) -> None:
        self._put_global("torch", str(obj).removeprefix("torch."), obj)

    def _save_size(self, obj: Any) -> None:
        self.save_reduce(flambeau.Size, (tuple(obj),), obj=obj)

    def _save_device(self, obj: Any) -> None:
        args = (obj.type,) if obj.index is None else (obj.type, obj.index)
        self.save_reduce(flambeau.device, args, obj=obj)

    def _save_memory_format(self, obj: Any) -> None:
        self._put_global("torch", str(obj).removeprefix("torch."), obj)

    def _save_layout(self, obj: Any) -> None:
        from ..serialization import _get_layout

        self.save_reduce(_get_layout, (str(obj),), obj=obj)

    def _save_type(self, obj: type) -> None:
        # Python's own save_type knows NoneType and the like; ours are plain globals.
        if obj.__module__.partition(".")[0] == "flambeau":
            self.save_global(obj)
        else:
            pickle._Pickler.save_type(self, obj)  # type: ignore[attr-defined]

    dispatch[types.FunctionType] = save_global
    dispatch[_StorageClass] = _save_storage_class
    dispatch[flambeau.dtype] = _save_dtype
    dispatch[flambeau.Size] = _save_size
    dispatch[flambeau.device] = _save_device
    dispatch[flambeau.memory_format] = _save_memory_format
    dispatch[flambeau.layout] = _save_layout
    dispatch[type] = _save_type


# Where PyTorch has a name that lives elsewhere here.
_MOVED = {
    ("flambeau.tensor", "Tensor"): "torch",
    ("flambeau._C", "Generator"): "torch._C",
    ("flambeau._utils", "_rebuild_from_type_v2"): "torch._tensor",
    ("flambeau.storage", "_storage_from_bytes"): "torch.storage",
    **{
        ("flambeau.quantized.scheme", f"per_{scheme}"): "torch"
        for scheme in ("tensor_affine", "channel_affine", "channel_affine_float_qparams")
    },
}
