"""autocast regions, their switches, and decorators for custom Functions. What is cast: flambeau/ops/_autocast.py."""

from __future__ import annotations

import collections.abc
import functools
import warnings
from collections.abc import Callable
from typing import Any

import flambeau
from flambeau import _C

__all__ = [
    "autocast",
    "autocast_decrement_nesting",
    "autocast_increment_nesting",
    "clear_autocast_cache",
    "custom_bwd",
    "custom_fwd",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_autocast_gpu_dtype",
    "is_autocast_available",
    "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
    "set_autocast_cache_enabled",
    "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
    "set_autocast_gpu_dtype",
]

_LOWER_DTYPES = (flambeau.bfloat16, flambeau.float16)

# Devices that programs may name but that are not here: what was set is remembered and has no effect.
_ABSENT: dict[str, dict[str, Any]] = {
    name: {"enabled": False, "dtype": flambeau.float16}
    for name in ("cuda", "xpu", "mps", "hpu", "mtia", "xla", "ipu", "maia", "privateuseone")
}
_ABSENT["xla"]["dtype"] = flambeau.bfloat16


def _device_type(device_type: Any, name: str) -> str:
    if not isinstance(device_type, str):
        raise TypeError(
            f"{name}: expected device_type to be a str, got {type(device_type).__name__}"
        )
    if device_type != "cpu" and device_type not in _ABSENT:
        raise RuntimeError(
            f"{name}: expected device_type to be cpu or one of {', '.join(sorted(_ABSENT))}, got {device_type!r}."
        )
    return device_type


def is_autocast_available(device_type: str) -> bool:
    """Whether autocast accepts this device."""
    if device_type != "cpu" and device_type not in _ABSENT:
        flambeau.device(device_type)  # raises for what is no device
        return False
    return True


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether ops on this device cast their arguments now."""
    if _device_type(device_type, "is_autocast_enabled") == "cpu":
        return bool(_C._autocast_enabled())
    return bool(_ABSENT[device_type]["enabled"])


def set_autocast_enabled(device_type: Any, enabled: bool | None = None) -> None:
    """Turn autocast on or off; a bool alone means cuda, as it did before there were several devices."""
    if enabled is None:
        device_type, enabled = "cuda", device_type
    if _device_type(device_type, "set_autocast_enabled") == "cpu":
        _C._set_autocast_enabled(bool(enabled))
    else:
        _ABSENT[device_type]["enabled"] = bool(enabled)


def get_autocast_dtype(device_type: str) -> Any:
    """Return the dtype that the lower precision ops of this device compute in."""
    if _device_type(device_type, "get_autocast_dtype") == "cpu":
        return _C._autocast_dtype()
    return _ABSENT[device_type]["dtype"]


def set_autocast_dtype(device_type: str, dtype: Any) -> None:
    """Choose the dtype that the lower precision ops of this device compute in."""
    if _device_type(device_type, "set_autocast_dtype") == "cpu":
        _C._set_autocast_dtype(dtype)
    else:
        _ABSENT[device_type]["dtype"] = dtype


def _deprecated(old: str, new: str) -> None:
    warnings.warn(
        f"torch.{old} is deprecated. Please use torch.{new} instead.",
        DeprecationWarning,
        stacklevel=3,
    )


def is_autocast_cpu_enabled() -> bool:
    """Deprecated form of is_autocast_enabled("cpu")."""
    _deprecated("is_autocast_cpu_enabled()", "is_autocast_enabled('cpu')")
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """Deprecated form of set_autocast_enabled("cpu", enabled)."""
    _deprecated("set_autocast_cpu_enabled(enabled)", "set_autocast_enabled('cpu', enabled)")
    set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> Any:
    """Deprecated form of get_autocast_dtype("cpu")."""
    _deprecated("get_autocast_cpu_dtype()", "get_autocast_dtype('cpu')")
    return get_autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype: Any) -> None:
    """Deprecated form of set_autocast_dtype("cpu", dtype)."""
    _deprecated("set_autocast_cpu_dtype(dtype)", "set_autocast_dtype('cpu', dtype)")
    set_autocast_dtype("cpu", dtype)


def get_autocast_gpu_dtype() -> Any:
    """Deprecated form of get_autocast_dtype("cuda")."""
    _deprecated("get_autocast_gpu_dtype()", "get_autocast_dtype('cuda')")
    return get_autocast_dtype("cuda")


def set_autocast_gpu_dtype(dtype: Any) -> None:
    """Deprecated form of set_autocast_dtype("cuda", dtype)."""
    _deprecated("set_autocast_gpu_dtype(dtype)", "set_autocast_dtype('cuda', dtype)")
    set_autocast_dtype("cuda", dtype)


def is_autocast_cache_enabled() -> bool:
    """Whether casts of parameters are kept until the outermost region ends."""
    return bool(_C._autocast_cache_enabled())


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Turn the cache of cast parameters on or off."""
    _C._set_autocast_cache_enabled(bool(enabled))


def clear_autocast_cache() -> None:
    """Forget the casts of parameters."""
    _C._clear_autocast_cache()


def autocast_increment_nesting() -> int:
    """Count one more region; return how many are active."""
    return int(_C._autocast_nesting(1))


def autocast_decrement_nesting() -> int:
    """Count one region less; return how many are active."""
    return int(_C._autocast_nesting(-1))


class autocast:
    """Region in which ops choose the dtype they compute in; also a decorator.

    On the CPU, products (matmul, linear, convolutions, attention, LSTM, ...) run in `dtype`; losses, factorisations,
    transforms and other sensitive ops run in float32; cat, stack and index_copy take the widest dtype of their tensors.
    All others compute in what they get. float64 tensors, in-place ops and calls with out= are left alone.

    Backward runs in the dtypes that forward chose, so it needs no region of its own. Casts of parameters are kept until
    the outermost region ends; a parameter that changed meanwhile is cast again (PyTorch uses the old cast).

    Args:
        device_type: "cpu". Other devices of PyTorch are accepted and have no effect; "cuda" warns.
        dtype: bfloat16 (the default) or float16; others warn and disable the region.
        enabled: False makes a region without casts inside another one.
        cache_enabled: False casts parameters anew in every op.
    """

    def __init__(
        self,
        device_type: str,
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if not is_autocast_available(device_type):
            raise RuntimeError(
                f"User specified an unsupported autocast device_type '{device_type}'"
            )
        self.device = device_type
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self._cache_enabled = (
            is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        )
        if enabled and device_type == "cuda":
            warnings.warn(
                "CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=2
            )
            enabled = False
        elif enabled and self.fast_dtype not in _LOWER_DTYPES:
            name = device_type.upper()
            warnings.warn(
                f"In {name} autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"{name} Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.",
                stacklevel=2,
            )
            enabled = False
        self._enabled = enabled
        self._before: list[tuple[bool, bool, Any]] = []  # one entry per time this object is active

    def __enter__(self) -> autocast:
        self._before.append(
            (
                is_autocast_cache_enabled(),
                is_autocast_enabled(self.device),
                get_autocast_dtype(self.device),
            )
        )
        set_autocast_enabled(self.device, self._enabled)
        set_autocast_dtype(self.device, self.fast_dtype)
        autocast_increment_nesting()
        set_autocast_cache_enabled(self._cache_enabled)
        return self

    def __exit__(self, *error: object) -> None:
        if autocast_decrement_nesting() == 0:
            clear_autocast_cache()
        cache_enabled, enabled, dtype = self._before.pop()
        set_autocast_enabled(self.device, enabled)
        set_autocast_dtype(self.device, dtype)
        set_autocast_cache_enabled(cache_enabled)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return decorated


def _enter_autocast(*settings: Any) -> autocast:
    """Enter a region; _exit_autocast leaves it."""
    return autocast(*settings).__enter__()


def _exit_autocast(region: autocast) -> None:
    region.__exit__()


def _cast(value: Any, device_type: str, dtype: Any) -> Any:
    """Cast the floating point tensors, except float64 ones, in nested containers."""
    if isinstance(value, flambeau.Tensor):
        eligible = (
            value.is_floating_point()
            and value.device.type == device_type
            and value.dtype is not flambeau.float64
        )
        return value.to(dtype) if eligible else value
    if isinstance(value, collections.abc.Mapping):
        return {
            _cast(key, device_type, dtype): _cast(item, device_type, dtype)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return type(value)([_cast(item, device_type, dtype) for item in value])
    return value


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: Any = None
) -> Any:
    """Decorate Function.forward.

    Args:
        fwd: the static method.
        device_type: whose autocast it is about.
        cast_inputs: in an autocast region, cast the arguments to this dtype and run forward with autocast off. None
            runs forward with autocast as it is, and backward (decorated with custom_bwd) alike.
    """
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        ctx._dtype = get_autocast_dtype(device_type)
        active = is_autocast_enabled(device_type)
        ctx._fwd_used_autocast = active and cast_inputs is None
        if not active or cast_inputs is None:
            return fwd(*args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(
                ctx,
                *_cast(args[1:], device_type, cast_inputs),
                **_cast(kwargs, device_type, cast_inputs),
            )

    return decorated


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """Decorate Function.backward: it runs with autocast as forward did."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(*args, **kwargs)

    return decorated
