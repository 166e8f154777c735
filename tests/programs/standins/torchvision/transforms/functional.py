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


def center_crop(images, size):
    top, left = (images.shape[-2] - size[0]) // 2, (images.shape[-1] - size[1]) // 2
    return images[..., top : top + size[0], left : left + size[1]]
