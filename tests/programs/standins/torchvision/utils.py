"""Grids of images, saved as PNG."""

import math

import numpy as np
import torch
from PIL import Image


def make_grid(tensor, nrow=8, padding=2, normalize=False, **options):
    images = torch.stack(list(tensor)) if isinstance(tensor, list | tuple) else tensor
    if normalize:
        images = (images - images.min()) / (images.max() - images.min()).clamp(min=1e-5)
    count, channels, height, width = images.shape
    columns = min(nrow, count)
    rows = math.ceil(count / columns)
    grid = images.new_zeros(
        channels, rows * (height + padding) + padding, columns * (width + padding) + padding
    )
    for index in range(count):
        top = (index // columns) * (height + padding) + padding
        left = (index % columns) * (width + padding) + padding
        grid[:, top : top + height, left : left + width].copy_(images[index])
    return grid


@torch.no_grad()
def save_image(tensor, fp, **options):
    grid = make_grid(tensor, **options).mul(255).add_(0.5).clamp_(0, 255)
    pixels = grid.permute(1, 2, 0).to("cpu", torch.uint8).numpy()
    Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else np.ascontiguousarray(pixels)).save(
        fp
    )
