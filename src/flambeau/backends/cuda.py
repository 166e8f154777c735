"""GPU settings: there is no GPU, setting them has no effect."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class _Matmul:
    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True


matmul = _Matmul()


def is_built() -> bool:
    """Return False."""
    return False


# Which implementations of attention may be used on a GPU. Programs set and ask for them; the CPU has one.
_attention = {"flash": True, "math": True, "mem_efficient": True, "cudnn": True}


def enable_flash_sdp(enabled: bool) -> None:
    """Set what flash_sdp_enabled() returns."""
    _attention["flash"] = bool(enabled)


def flash_sdp_enabled() -> bool:
    """Return what enable_flash_sdp() set; True at first."""
    return _attention["flash"]


def enable_math_sdp(enabled: bool) -> None:
    """Set what math_sdp_enabled() returns."""
    _attention["math"] = bool(enabled)


def math_sdp_enabled() -> bool:
    """Return what enable_math_sdp() set; True at first."""
    return _attention["math"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Set what mem_efficient_sdp_enabled() returns."""
    _attention["mem_efficient"] = bool(enabled)


def mem_efficient_sdp_enabled() -> bool:
    """Return what enable_mem_efficient_sdp() set; True at first."""
    return _attention["mem_efficient"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """Set what cudnn_sdp_enabled() returns."""
    _attention["cudnn"] = bool(enabled)


def cudnn_sdp_enabled() -> bool:
    """Return what enable_cudnn_sdp() set; True at first."""
    return _attention["cudnn"]


def is_flash_attention_available() -> bool:
    """Return False."""
    return False


@contextlib.contextmanager
def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[None]:
    """Set the four choices within a with statement. flambeau.nn.attention.sdpa_kernel is its successor."""
    before = dict(_attention)
    _attention.update(
        flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn
    )
    try:
        yield
    finally:
        _attention.update(before)


def preferred_linalg_library(backend: str | None = None) -> str:
    """Accept a choice of library and return "default"."""
    if backend not in (None, "default", "cusolver", "magma"):
        raise RuntimeError(
            f"Unknown input value. Choose from: default, cusolver, magma. Got {backend!r}"
        )
    return "default"
