"""oneDNN, formerly MKL-DNN."""

import os

enabled = True


def is_available() -> bool:
    """Return whether oneDNN may be used (the environment variable FLAMBEAU_ONEDNN=0 forbids it)."""
    return os.environ.get("FLAMBEAU_ONEDNN") != "0"
