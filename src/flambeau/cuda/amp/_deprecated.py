"""The warning that the names of this package give."""

import warnings


def deprecated(name: str) -> None:
    """Name the replacement."""
    warnings.warn(
        f"`torch.cuda.amp.{name}(args...)` is deprecated. Please use `torch.amp.{name}('cuda', args...)` instead.",
        FutureWarning,
        stacklevel=3,
    )
