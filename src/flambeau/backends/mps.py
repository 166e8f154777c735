"""Apple GPUs: not used."""


def is_available() -> bool:
    """Return False."""
    return False


def is_built() -> bool:
    """Return False."""
    return False
