"""The warning that the names of this package give."""

import warnings


def deprecated(name: str) -> None:
    """Name the replacement."""
    warnings.warn(
        f"`torch.cpu.amp.{name}(args...)` is deprecated. Please use `torch.amp.{name}('cpu', args...)` instead.",
        FutureWarning,
        stacklevel=3,
    )
