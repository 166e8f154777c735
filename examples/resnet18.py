"""ResNet-18 on pictures made here: an ordinary PyTorch script, run with `flambeau run examples/resnet18.py`.

Trains to tell ten kinds of gratings apart (direction and colour), prints the loss of each step and the accuracy. The
network is that of He, Zhang, Ren, Sun, "Deep Residual Learning for Image Recognition", 2015, with PyTorch's usual
initialisation.
"""

import argparse
import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

SIZE = 64  # pixels
BATCH = 16
LEARNING_RATE = 0.01


class Gratings(Dataset):
    """Stripes in five directions and two colours, with noise."""

    def __init__(self, count, seed):
        self.generator = torch.Generator().manual_seed(seed)
        self.images, self.labels = zip(*(self.make(i % 10) for i in range(count)), strict=True)

    def make(self, label):
        y, x = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
        angle = math.pi * (label % 5) / 5
        phase = 6.28 * torch.rand(1, generator=self.generator)
        stripes = torch.sin((x * math.cos(angle) + y * math.sin(angle)) / 3 + phase)
        image = torch.stack(
            [stripes, -stripes, stripes] if label < 5 else [-stripes, stripes, stripes]
        )
        image = image + 0.7 * torch.randn(image.shape, generator=self.generator)
        return image, label

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.bn2(self.conv2(x))
        x += identity
        return self.relu(x)


class ResNet18(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = self.make_layer(64, 64, 1)
        self.layer2 = self.make_layer(64, 128, 2)
        self.layer3 = self.make_layer(128, 256, 2)
        self.layer4 = self.make_layer(256, 512, 2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, nn.BatchNorm2d):
                nn.init.ones_(module.weight)
                nn.init.zeros_(module.bias)

    @staticmethod
    def make_layer(inputs, outputs, stride):
        return nn.Sequential(BasicBlock(inputs, outputs, stride), BasicBlock(outputs, outputs))

    def forward(self, x):  # (n, 3, SIZE, SIZE)
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))  # (n, 512, SIZE / 32, SIZE / 32)
        return self.fc(torch.flatten(self.avgpool(x), 1))


@torch.no_grad()
def accuracy(model, data):
    model.eval()
    hits = [(model(x).argmax(1) == y).sum().item() for x, y in DataLoader(data, batch_size=50)]
    return sum(hits) / len(data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--smoke", action="store_true", help="a few steps only")
    parser.add_argument(
        "--double",
        action="store_true",
        help="float64, in which rounding does not decide the losses",
    )
    options = parser.parse_args()
    if options.double:
        torch.set_default_dtype(torch.float64)
    steps = 3 if options.smoke else options.steps

    torch.manual_seed(42)
    train, test = Gratings(400, 1), Gratings(50 if options.smoke else 100, 2)
    model = ResNet18(10)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), LEARNING_RATE, momentum=0.9, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, total_steps=steps)
    loader = DataLoader(train, batch_size=BATCH, shuffle=True)
    step = 0
    while step < steps:
        model.train()
        for images, labels in loader:
            loss = criterion(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            print(f"step {step} loss {loss.item():.8f}")
            step += 1
            if step == steps:
                break
    print(f"accuracy {accuracy(model, test):.3f}")


if __name__ == "__main__":
    main()
