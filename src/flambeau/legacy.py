"""Old or accelerator-only names that programs still mention: streams, symbolic ints, deprecated Tensor methods."""

import math
import warnings

from . import _C, ops

__all__ = ["Stream", "SymInt"]


class Stream:
    """A queue of work on a device. The CPU has one and runs everything in order, so waiting returns at once."""

    def __init__(self, device="cpu", *, priority: int = 0) -> None:
        self.device = _C.device(device)
        if self.device.type != "cpu":
            raise RuntimeError(
                f"Stream: expected device cpu, got {device!r}. There are no accelerators here."
            )
        self.priority = priority
        self.stream_id = 0
        self.device_index = -1

    def synchronize(self) -> None:
        """Return: nothing is ever pending."""

    def query(self) -> bool:
        """Return True: all work is done."""
        return True

    def wait_stream(self, stream) -> None:
        """Return: nothing is ever pending."""

    def __repr__(self) -> str:
        return "torch.Stream device_type=cpu, device_index=-1, stream_id=0"


class SymInt:
    """An integer of a traced shape. Shapes are concrete here: this holds a plain int, for isinstance() tests."""

    def __init__(self, node) -> None:
        self.node = int(node)

    def __int__(self) -> int:
        return self.node

    __index__ = __int__

    def __eq__(self, other) -> bool:
        return self.node == other

    def __hash__(self) -> int:
        return hash(self.node)

    def __repr__(self) -> str:
        return str(self.node)


def cuda(tensor, device=None, non_blocking=False, memory_format=None):
    """Raise AssertionError: there is no GPU support."""
    raise AssertionError(
        "Torch not compiled with CUDA enabled: Flambeau computes on the CPU. Leave the tensor there."
    )


def pin_memory(tensor, device=None):
    """Raise RuntimeError: pinned memory is for copies to an accelerator."""
    raise RuntimeError(
        "pin_memory: Cannot access accelerator device when none is available. Leave it out on a CPU."
    )


def record_stream(tensor, stream) -> None:
    """Accept a Stream: memory is never handed to another queue."""
    if not isinstance(stream, Stream):
        raise RuntimeError(f"record_stream: expected a torch.Stream, got {type(stream).__name__}")


def reinforce(tensor, reward):
    """Raise RuntimeError: PyTorch removed it in favour of distributions."""
    raise RuntimeError(
        "reinforce() was removed. Use torch.distributions: loss = -Categorical(probs).log_prob(action) * reward"
    )


def resize(tensor, *sizes):
    """A view of another shape with as many elements (deprecated)."""
    warnings.warn("non-inplace resize is deprecated", stacklevel=3)
    size = tuple(sizes[0]) if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
    if math.prod(size) != tensor.numel():
        raise RuntimeError(
            f"requested resize to {'x'.join(map(str, size))} ({math.prod(size)} elements in total), but the given "
            f"tensor has a size of {'x'.join(map(str, tensor.shape))} ({tensor.numel()} elements). autograd's resize "
            "can only change the shape of a given tensor, while preserving the number of elements."
        )
    return ops.reshape(tensor, size)


def resize_as(tensor, other):
    """A view with the shape of other (deprecated)."""
    warnings.warn("non-inplace resize_as is deprecated", stacklevel=3)
    return resize(tensor, other.shape)


def storage_type(tensor):
    """The class of typed storages of this tensor's dtype, such as FloatStorage."""
    from . import storage

    name = storage.STORAGE_NAMES.get(str(tensor.dtype).removeprefix("torch."))
    if name is None:
        raise NotImplementedError(f"storage_type: {tensor.dtype} tensors have no typed storage")
    return getattr(storage, name)


def to_padded_tensor(tensor, padding, output_size=None):
    """Raise NotImplementedError: it converts nested tensors, which do not exist here."""
    raise NotImplementedError(
        "to_padded_tensor: expected a nested tensor, got a strided one, which needs no padding"
    )


def __long__(tensor):
    """int(tensor)."""
    return int(tensor)
