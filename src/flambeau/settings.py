"""Switches that programs set and that change nothing here: one precision, no denormal mode, Python's warnings."""

from __future__ import annotations

from typing import Any

import flambeau

from . import _C

__all__ = [
    "compiled_with_cxx11_abi",
    "from_file",
    "get_device_module",
    "get_float32_matmul_precision",
    "has_lapack",
    "has_mkl",
    "has_openmp",
    "has_spectral",
    "is_warn_always_enabled",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_warn_always",
]

# What PyTorch tells about its build: OpenBLAS brings LAPACK, threads are OpenMP's, Fourier transforms are our own.
has_lapack = "linalg_lu_factor_ex" in _C._kernel_names()
has_mkl = False
has_openmp = True
has_spectral = "fft_c2c" in _C._kernel_names()

_state = {"precision": "highest", "warn_always": False}


def set_float32_matmul_precision(precision: str) -> None:
    """Accept "highest", "high" or "medium"; products of float32 are always computed in float32."""
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(
            f"set_float32_matmul_precision: expected highest, high or medium, got {precision!r}"
        )
    _state["precision"] = precision


def get_float32_matmul_precision() -> str:
    """Return what was set."""
    return str(_state["precision"])


def set_warn_always(b: bool, /) -> None:
    """Remember the switch; Python's warning filters decide how often a warning is shown."""
    _state["warn_always"] = bool(b)


def is_warn_always_enabled() -> bool:
    """Return what was set."""
    return bool(_state["warn_always"])


def set_flush_denormal(mode: bool, /) -> bool:
    """Return False: the processor's denormal mode isn't changed."""
    return False


def compiled_with_cxx11_abi() -> bool:
    """Return True."""
    return True


def from_file(
    filename: str,
    shared: bool = False,
    size: int = 0,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Return a tensor over the bytes of a file, mapped.

    Args:
        filename: path.
        shared: True writes changes back to the file, which is made or extended to the size; False keeps them in memory.
        size: number of elements.
        dtype: element type; the default dtype if None.
        requires_grad: whether operations on the result are recorded.
    """
    from . import _C
    from .storage import UntypedStorage

    dtype = dtype or flambeau.get_default_dtype()
    nbytes = size * dtype.itemsize
    if nbytes == 0:
        return flambeau.empty(0, dtype=dtype, requires_grad=requires_grad)
    storage = UntypedStorage.from_file(filename, shared, nbytes)
    return _C._tensor_over(storage, dtype, 0, (size,), (1,)).requires_grad_(requires_grad)


def get_device_module(device: Any = None) -> Any:
    """Return the module of a kind of device: flambeau.cpu for "cpu", flambeau.cuda for "cuda".

    Args:
        device: a device, its name, or None for the CPU.
    """
    kind = flambeau.device("cpu" if device is None else device).type
    module = getattr(flambeau, kind, None)
    if module is None:
        raise RuntimeError(f"get_device_module: expected a device with a module, got {device!r}")
    return module
