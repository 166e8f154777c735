"""Data sets under torchvision's names: images that are noise with one bright square per class."""

import numpy as np
import torch
from PIL import Image

SIZES = {True: 640, False: 128}  # images for training, for testing


class _Squares(torch.utils.data.Dataset):
    classes = tuple(map(str, range(10)))
    size, channels = 28, 1

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        self.transform, self.target_transform, self.train = transform, target_transform, train
        generator = np.random.RandomState(1 if train else 2)
        count, side = SIZES[train], self.size
        targets = generator.randint(0, len(self.classes), count)
        images = generator.randint(0, 96, (count, side, side, self.channels)).astype(np.uint8)
        for image, target in zip(images, targets, strict=True):
            row, column = divmod(int(target) % 10, 4)
            image[row * 8 : row * 8 + 8, column * 7 : column * 7 + 7] += 120
        self._keep(images, targets)

    def _keep(self, images, targets):
        self.data = torch.from_numpy(images[..., 0])
        self.targets = torch.from_numpy(targets)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        image, target = Image.fromarray(np.asarray(self.data[index])), int(self.targets[index])
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return image, target


class MNIST(_Squares):
    pass


class FashionMNIST(_Squares):
    pass


class CIFAR10(_Squares):
    size, channels = 32, 3

    def _keep(self, images, targets):
        self.data, self.targets = images, targets.tolist()


class CIFAR100(CIFAR10):
    classes = tuple(map(str, range(100)))


class FakeData(torch.utils.data.Dataset):
    """Noise, as torchvision makes it: the index seeds the image."""

    def __init__(
        self, size=1000, image_size=(3, 224, 224), num_classes=10, transform=None, *rest, **options
    ):
        self.size, self.image_size, self.num_classes = size, image_size, num_classes
        self.transform = transform

    def __len__(self):
        return min(self.size, 64)

    def __getitem__(self, index):
        channels, height, width = self.image_size
        generator = np.random.RandomState(index)
        pixels = generator.randint(0, 256, (height, width, channels)).astype(np.uint8)
        image = Image.fromarray(pixels)
        return self.transform(image) if self.transform else image, index % self.num_classes


class ImageFolder(FakeData):
    def __init__(self, root, transform=None, *rest, **options):
        super().__init__(transform=transform)
