"""Batches for an accelerator: there is none, so they stay where they are."""

__all__ = ["pin_memory"]


def pin_memory(data, device=None):
    """Call the pin_memory method of objects that have one of their own; everything else is returned as it is."""
    method = getattr(data, "pin_memory", None)
    if method is None or _is_tensor(data):
        return data
    return method()


def _is_tensor(data):
    from flambeau import Tensor

    return isinstance(data, Tensor)
