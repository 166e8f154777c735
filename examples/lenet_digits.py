"""LeNet on handwritten digits: an ordinary PyTorch script, run with `flambeau run examples/lenet_digits.py`.

Prints the loss of each of 100 training steps and the accuracy on held-out images. The digits are those that
scikit-learn ships, scaled up to LeNet's 32 x 32 pixels.
"""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

BATCH_SIZE = 256
LEARNING_RATE = 0.03  # small enough that rounding differences do not grow over the steps
MOMENTUM = 0.9
HELD_OUT = 360  # images


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):  # (n, 1, 32, 32)
        x = F.max_pool2d(torch.tanh(self.conv1(x)), 2)  # (n, 6, 14, 14)
        x = F.max_pool2d(torch.tanh(self.conv2(x)), 2)  # (n, 16, 5, 5)
        x = torch.flatten(x, 1)
        x = torch.tanh(self.fc1(x))
        x = torch.tanh(self.fc2(x))
        return F.log_softmax(self.fc3(x), dim=1)


def digits():
    data = load_digits()
    images = torch.from_numpy(data.images).float().unsqueeze(1) / 16
    images = F.interpolate(images, size=(32, 32), mode="bilinear", align_corners=False)
    labels = torch.from_numpy(data.target).long()
    train = TensorDataset(images[HELD_OUT:], labels[HELD_OUT:])
    return train, images[:HELD_OUT], labels[:HELD_OUT]


def train(model, loader, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE, momentum=MOMENTUM)
    step = 0
    model.train()
    while True:
        for images, labels in loader:
            optimizer.zero_grad()
            loss = F.nll_loss(model(images), labels)
            loss.backward()
            optimizer.step()
            step += 1
            print(f"step {step} loss {loss.item():.8f}")
            if step == steps:
                return


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--smoke", action="store_true", help="check the final accuracy")
    args = parser.parse_args()

    torch.manual_seed(0)
    train_set, images, labels = digits()
    model = LeNet()
    train(model, DataLoader(train_set, batch_size=BATCH_SIZE, shuffle=True), args.steps)
    model.eval()
    with torch.no_grad():
        accuracy = (model(images).argmax(1) == labels).float().mean().item()
    print(f"accuracy {accuracy:.4f}")
    if args.smoke:
        assert accuracy > 0.85, accuracy


if __name__ == "__main__":
    main()
