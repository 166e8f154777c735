"""`flambeau demo`: real handwritten digits from training to classified image files, in under a minute.

Trains on four fifths of the UCI digits that scikit-learn ships, saves a checkpoint, and starts a fresh process that
loads it and classifies PNG files. Also draws the training curves and the confusion matrix.
"""

import argparse
import math
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import flambeau
from flambeau import nn
from flambeau.nn import functional
from flambeau.optim import AdamW
from flambeau.optim.lr_scheduler import LambdaLR
from flambeau.utils.data import DataLoader, TensorDataset

BATCH_SIZE = 32
PEAK_LEARNING_RATE = 2e-3
WEIGHT_DECAY = 0.02
MAX_SHIFT = 1  # pixels: training images are moved by up to this much
IMAGE_SCALE = 16  # a PNG shows each of the 8 x 8 pixels as a square of this side
CHECKPOINT = "digits.pt"
TARGET_ACCURACY = 0.98

NEEDED = {"sklearn": "scikit-learn", "matplotlib": "matplotlib", "PIL": "pillow", "tqdm": "tqdm"}


class DigitNet(nn.Module):
    """Two convolutions, two linear layers: 8 x 8 grey images to 10 classes."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.Conv2d(32, 64, 3, padding=1),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(
            nn.Flatten(),
            nn.Dropout(0.3),
            nn.Linear(64 * 4 * 4, 128),
            nn.ReLU(),
            nn.Dropout(0.3),
            nn.Linear(128, 10),
        )

    def forward(self, images: Any) -> Any:
        """Scores, shape (n, 10), of images, shape (n, 1, 8, 8), values in [0, 1]."""
        return self.classifier(self.features(images))


@dataclass
class History:
    """One entry per epoch; accuracies are of the held-out fifth."""

    loss: list[float] = field(default_factory=list)
    test_loss: list[float] = field(default_factory=list)
    accuracy: list[float] = field(default_factory=list)


def main(options: argparse.Namespace) -> int:
    """Run the demo; the exit status is 0 if the accuracy is as promised."""
    missing = [package for module, package in NEEDED.items() if not importable(module)]
    if missing:
        print(
            f"flambeau demo: expected the demo extra, missing {', '.join(missing)}. "
            "Install it with: pip install flambeau[demo]",
            file=sys.stderr,
        )
        return 2
    if options.classify:
        return classify(options.out / CHECKPOINT, options.classify)

    started = time.perf_counter()
    flambeau.manual_seed(options.seed)
    device = flambeau.device(options.device)
    train_set, test_set = load_digits(options.seed)
    model = DigitNet().to(device)
    parameters = sum(p.numel() for p in model.parameters())
    print(
        f"{len(train_set)} images to train on, {len(test_set)} held out; "
        f"a network of {parameters:,} parameters on {device}, {flambeau.get_num_threads()} threads"
    )

    history = train(model, train_set, test_set, options.epochs, device)
    accuracy = history.accuracy[-1]
    print(f"held-out accuracy {accuracy:.2%} after {time.perf_counter() - started:.1f} s")

    options.out.mkdir(parents=True, exist_ok=True)
    checkpoint = options.out / CHECKPOINT
    flambeau.save(
        {"model": model.state_dict(), "accuracy": accuracy, "seed": options.seed}, checkpoint
    )
    print(f"saved {checkpoint}")
    draw_curves(history, options.out / "training.png")
    draw_confusion(model, test_set, device, options.out / "confusion.png")

    files = write_images(test_set, options.out / "digits")
    print(
        f"wrote {len(files)} images to {options.out / 'digits'}; a fresh process classifies them:"
    )
    command = [sys.executable, "-m", "flambeau", "demo", "--out", options.out, "--classify", *files]
    fresh = subprocess.run([str(part) for part in command], check=False)
    if fresh.returncode:
        return fresh.returncode
    if accuracy < TARGET_ACCURACY:
        print(
            f"flambeau demo: expected at least {TARGET_ACCURACY:.0%} on the held-out images, got {accuracy:.2%}. "
            "Try more --epochs.",
            file=sys.stderr,
        )
        return 1
    return 0


def importable(module: str) -> bool:
    """Whether the module is installed, without importing it."""
    from importlib.util import find_spec

    return find_spec(module) is not None


def load_digits(seed: int) -> tuple[TensorDataset, TensorDataset]:
    """Training and held-out sets: images (n, 1, 8, 8) in [0, 1] and labels (n,). The seed shuffles before the split."""
    from sklearn.datasets import load_digits as sklearn_digits

    data = sklearn_digits()
    images = flambeau.from_numpy(data.images).float().unsqueeze(1) / 16  # pixel values are 0 to 16
    labels = flambeau.from_numpy(data.target).long()
    order = flambeau.randperm(len(labels), generator=flambeau.Generator().manual_seed(seed))
    held_out = len(labels) // 5
    test, rest = order[:held_out], order[held_out:]
    return TensorDataset(images[rest], labels[rest]), TensorDataset(images[test], labels[test])


def train(
    model: nn.Module, train_set: TensorDataset, test_set: TensorDataset, epochs: int, device: Any
) -> History:
    """AdamW with warm-up and cosine decay; a progress bar and one line per epoch."""
    from tqdm import tqdm

    loader = DataLoader(train_set, batch_size=BATCH_SIZE, shuffle=True)
    optimizer = AdamW(model.parameters(), lr=PEAK_LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    steps = epochs * len(loader)
    warm_up = max(1, steps // 10)
    scheduler = LambdaLR(
        optimizer,
        lambda step: min(
            (step + 1) / warm_up, 0.5 + 0.5 * math.cos(math.pi * min(1, step / steps))
        ),
    )
    history = History()
    with tqdm(total=steps, unit="step", leave=False, disable=None) as bar:
        for epoch in range(epochs):
            model.train()
            total = 0.0
            for images, labels in loader:
                loss = functional.cross_entropy(
                    model(shifted(images).to(device)), labels.to(device)
                )
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                scheduler.step()
                total += loss.item() * len(labels)
                bar.update()
            test_loss, accuracy = evaluate(model, test_set, device)
            history.loss.append(total / len(train_set))
            history.test_loss.append(test_loss)
            history.accuracy.append(accuracy)
            bar.write(
                f"epoch {epoch + 1:2d}/{epochs}  loss {history.loss[-1]:.4f}  "
                f"held-out loss {test_loss:.4f}  accuracy {accuracy:.2%}"
            )
    return history


def shifted(images: Any) -> Any:
    """The batch moved by the same random offset of up to MAX_SHIFT pixels each way, zeros coming in."""
    size = images.shape[-1]
    padded = functional.pad(images, (MAX_SHIFT,) * 4)
    top, left = flambeau.randint(0, 2 * MAX_SHIFT + 1, (2,)).tolist()
    return padded[..., top : top + size, left : left + size]


def evaluate(model: nn.Module, data: TensorDataset, device: Any) -> tuple[float, float]:
    """Mean loss and accuracy."""
    images, labels = data.tensors
    scores = predict(model, images.to(device))
    loss = functional.cross_entropy(scores, labels.to(device))
    return loss.item(), (scores.argmax(1).cpu() == labels).float().mean().item()


def predict(model: nn.Module, images: Any) -> Any:
    """Scores in evaluation mode, without recording a graph."""
    model.eval()
    with flambeau.no_grad():
        return model(images)


def write_images(data: TensorDataset, folder: Path) -> list[Path]:
    """One PNG per digit class, from the held-out images: `digit-<label>.png`."""
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    images, labels = data.tensors
    files = []
    for digit in range(10):
        chosen = images[labels == digit]
        if len(chosen) == 0:
            continue
        pixels = (chosen[0, 0] * 255).round().to(flambeau.uint8).numpy()
        side = pixels.shape[0] * IMAGE_SCALE
        file = folder / f"digit-{digit}.png"
        Image.fromarray(pixels).resize((side, side), Image.Resampling.NEAREST).save(file)
        files.append(file)
    return files


def classify(checkpoint: Path, files: Iterable[Path]) -> int:
    """Load the checkpoint and print label and confidence for each image file."""
    if not checkpoint.is_file():
        print(
            f"flambeau demo: expected a checkpoint at {checkpoint}, found none. Train first: flambeau demo",
            file=sys.stderr,
        )
        return 2
    model = DigitNet()
    model.load_state_dict(flambeau.load(checkpoint)["model"])
    files = list(files)
    try:
        images = flambeau.stack([read_image(file) for file in files])  # (n, 1, 8, 8)
    except OSError as error:
        print(
            f"flambeau demo: expected image files, got one that cannot be read: {error}",
            file=sys.stderr,
        )
        return 2
    confidences, labels = functional.softmax(predict(model, images), dim=1).max(dim=1)
    width = max(len(str(file)) for file in files)
    for file, label, confidence in zip(files, labels.tolist(), confidences.tolist(), strict=True):
        print(f"  {file!s:{width}}  label {label}  confidence {confidence:.1%}")
    return 0


def read_image(file: Path) -> Any:
    """A grey image of any size, light on dark, as (1, 8, 8) in [0, 1]."""
    import numpy as np
    from PIL import Image

    with Image.open(file) as image:
        small = image.convert("L").resize((8, 8), Image.Resampling.BOX)
    return flambeau.from_numpy(np.array(small)).float().unsqueeze(0) / 255


def draw_curves(history: History, file: Path) -> None:
    """Loss and accuracy per epoch, as a PNG."""
    plt = pyplot()
    epochs = range(1, len(history.loss) + 1)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    left.plot(epochs, history.loss, marker=".", label="training (augmented)")
    left.plot(epochs, history.test_loss, marker=".", label="held out")
    left.set(title="Loss", xlabel="epoch", ylabel="cross-entropy (nats)", yscale="log")
    left.legend()
    right.plot(epochs, [100 * a for a in history.accuracy], marker=".", color="tab:green")
    right.axhline(
        100 * TARGET_ACCURACY, color="grey", linestyle=":", label=f"target {TARGET_ACCURACY:.0%}"
    )
    right.set(
        title=f"Held-out accuracy: {history.accuracy[-1]:.2%}",
        xlabel="epoch",
        ylabel="accuracy (%)",
    )
    right.legend(loc="lower right")
    for axes in (left, right):
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.grid(alpha=0.3)
    figure.savefig(file, dpi=120)
    plt.close(figure)
    print(f"drew {file}")


def draw_confusion(model: nn.Module, data: TensorDataset, device: Any, file: Path) -> None:
    """Counts of held-out images by true and predicted label, as a PNG."""
    plt = pyplot()
    images, labels = data.tensors
    predicted = predict(model, images.to(device)).argmax(1).cpu()
    counts = flambeau.bincount(labels * 10 + predicted, minlength=100).reshape(10, 10).numpy()
    figure, axes = plt.subplots(figsize=(6, 5.5), layout="constrained")
    axes.imshow(counts, cmap="Blues")
    for row in range(10):
        for column in range(10):
            if counts[row, column]:
                dark = counts[row, column] > counts.max() / 2
                axes.text(
                    column,
                    row,
                    str(counts[row, column]),
                    ha="center",
                    va="center",
                    color="white" if dark else "black",
                    fontsize=9,
                )
    wrong = int(counts.sum() - counts.trace())
    axes.set(
        title=f"{wrong} of {int(counts.sum())} held-out images wrong",
        xlabel="predicted",
        ylabel="true",
        xticks=range(10),
        yticks=range(10),
    )
    figure.savefig(file, dpi=120)
    plt.close(figure)
    print(f"drew {file}")


def pyplot() -> Any:
    """matplotlib.pyplot, drawing to files only."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt
