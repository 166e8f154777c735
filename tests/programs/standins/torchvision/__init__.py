"""Stand-in for torchvision where scripts of repositories import it: made-up data, few transforms, untrained networks.

It is on the path of such scripts only (repositories.py), with PyTorch and with Flambeau.
"""

from . import datasets, models, transforms, utils

__all__ = ["datasets", "models", "transforms", "utils"]
__version__ = "0.20.0"
