"""Functions on images."""

import numpy as np
from PIL import Image

from . import Resize, ToTensor

to_tensor = ToTensor()


def to_pil_image(pixels):
    if hasattr(pixels, "numpy"):
        pixels = pixels.mul(255).byte().permute(1, 2, 0).numpy()
    return Image.fromarray(np.ascontiguousarray(pixels))


def resize(image, size):
    return Resize(size)(image)
