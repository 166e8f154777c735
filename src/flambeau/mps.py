"""Apple GPUs: there is none. Only what programs ask before they use one is here."""

__all__ = ["device_count", "empty_cache", "is_available", "manual_seed"]


def is_available() -> bool:
    """Return False."""
    return False


def device_count() -> int:
    """Return 0."""
    return 0


def empty_cache() -> None:
    """Do nothing."""


def manual_seed(seed: int) -> None:
    """Do nothing: there is no generator to seed."""
