"""DLPack: hand memory to other array libraries and take theirs, without a copy."""

from __future__ import annotations

import enum
from typing import Any

import flambeau

from .. import _C

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]


class DLDeviceType(enum.IntEnum):
    """Device numbers of the DLPack standard."""

    kDLCPU = (1,)
    kDLCUDA = (2,)
    kDLCUDAHost = (3,)
    kDLOpenCL = (4,)
    kDLVulkan = (7,)
    kDLMetal = (8,)
    kDLVPI = (9,)
    kDLROCM = (10,)
    kDLROCMHost = (11,)
    kDLExtDev = (12,)
    kDLCUDAManaged = (13,)
    kDLOneAPI = (14,)
    kDLWebGPU = (15,)
    kDLHexagon = (16,)
    kDLMAIA = (17,)


def device_of(tensor: Any) -> tuple[DLDeviceType, int]:
    """Tensor.__dlpack_device__()."""
    if tensor.device.type != "cpu":
        raise ValueError(f"Unknown device type {tensor.device.type} for Dlpack")
    return DLDeviceType.kDLCPU, 0


def export(tensor: Any, stream: Any, max_version: Any, dl_device: Any, copy: Any) -> Any:
    """Tensor.__dlpack__(): a capsule over the tensor's memory."""
    if tensor.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if tensor.is_conj():
        raise BufferError("Can't export tensors with the conjugate bit set")
    if stream is not None and type(stream) is not int:
        raise TypeError("stream must be ``int`` or ``none``")
    if stream not in (None, -1):
        raise AssertionError("stream should be None on cpu.")
    if dl_device is not None and tuple(dl_device) != (DLDeviceType.kDLCPU, 0):
        raise BufferError(f"__dlpack__: expected dl_device (1, 0), the CPU, got {tuple(dl_device)}")
    if copy:
        tensor = tensor.clone()
    versioned = max_version is not None and max_version[0] >= 1
    return _C._to_dlpack(tensor, versioned, bool(copy))


def to_dlpack(tensor: Any) -> Any:
    """Return an unversioned capsule over the tensor's memory.

    It can be consumed once; from_dlpack of most libraries takes the tensor itself.
    """
    return export(tensor, None, None, None, None)


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Any:
    """Return a tensor over the memory of another library's array.

    Args:
        ext_tensor: object with `__dlpack__`, or a capsule.
        device: where the result should be: cpu.
        copy: True always copies, False never does, None only when it must: the array is read-only.
    Returns:
        A tensor that shares the memory, unless copied.
    Raises:
        BufferError: the array's dtype, device or strides have no counterpart here.
    """
    if device is not None and flambeau.device(device).type != "cpu":
        raise BufferError(f"from_dlpack: expected device cpu, got {device}")
    mode = -1 if copy is None else int(copy)
    if not hasattr(ext_tensor, "__dlpack__"):
        if type(ext_tensor).__name__ != "PyCapsule":
            raise RuntimeError(
                "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, "
                "so you might have already constructed a tensor from it once."
            )
        return _C._from_dlpack(ext_tensor, mode)
    try:
        capsule = ext_tensor.__dlpack__(max_version=(1, 0))
    except TypeError:  # the array standard before 2023
        capsule = ext_tensor.__dlpack__()
    if type(capsule).__name__ != "PyCapsule":
        raise RuntimeError(
            "from_dlpack received an invalid capsule: __dlpack__ gave something else"
        )
    return _C._from_dlpack(capsule, mode)
