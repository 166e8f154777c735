"""Intel MKL: not used."""


def is_available() -> bool:
    """Return False."""
    return False
