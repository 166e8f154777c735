"""Names of PyTorch's native module that programs call all the same; dropin puts them into flambeau._C."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from .overrides import disabled_torch_function

__all__ = ["NAMES"]


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Do nothing."""


def _false(*args: Any, **kwargs: Any) -> bool:
    """Return False."""
    return False


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """The (device, dtype, non_blocking, memory_format) that the arguments of Module.to mean."""
    from . import Tensor, dtype

    found: dict[str, Any] = dict(kwargs)
    other = found.pop("tensor", found.pop("other", None))
    positional = list(args)
    if positional and isinstance(positional[0], Tensor):
        other = positional.pop(0)
    if other is not None:
        found["device"], found["dtype"] = other.device, other.dtype
    names = ["device", "dtype", "non_blocking", "copy"]
    if positional and isinstance(positional[0], dtype):
        names = names[1:]
    found.update(zip(names, positional, strict=False))
    device = found.get("device")
    if isinstance(device, str):
        from . import device as make_device

        device = make_device(device)
    return device, found.get("dtype"), bool(found.get("non_blocking")), found.get("memory_format")


NAMES: dict[str, Any] = {
    "DisableTorchFunction": disabled_torch_function,
    "DisableTorchFunctionSubclass": disabled_torch_function,
    "_are_functorch_transforms_active": _false,
    "_get_privateuse1_backend_name": lambda: "privateuseone",
    "_get_tracing_state": _nothing,
    "_is_tracing": _false,
    "_log_api_usage_once": _nothing,
    "_nn": SimpleNamespace(_parse_to=_parse_to),
    # The settings of PyTorch's TorchScript compiler: there is none.
    "_jit_set_profiling_executor": _false,
    "_jit_set_profiling_mode": _false,
    "_jit_override_can_fuse_on_cpu": _nothing,
    "_jit_override_can_fuse_on_gpu": _nothing,
    "_jit_set_texpr_fuser_enabled": _nothing,
    "_jit_set_nvfuser_enabled": _nothing,
}
