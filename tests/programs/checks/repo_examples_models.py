"""Models of pytorch/examples: graph networks, SNLI, super-resolution, translation, neural style"""

import io
import types

import numpy as np
import torch
import training
from PIL import Image
from repositories import load, script
from torch import nn

PACKAGES = ()
REPOSITORY = "pytorch/examples@77f55b912142e11fcfdf5b530231fb9c52f181e8"


def graph():
    """Features, weighted links, labels of 40 nodes, and which are for training and for testing."""
    links = (torch.rand(40, 40) < 0.1).float()
    links = ((links + links.T) > 0).float() + torch.eye(40)
    scale = links.sum(1).rsqrt()
    return (
        torch.rand(40, 12),
        scale[:, None] * links * scale,
        torch.randint(0, 4, (40,)),
        range(25),
        range(25, 40),
    )


def picture(seed, width, height):
    pixels = np.random.RandomState(seed).randint(0, 256, (height, width, 3)).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def network(folder, build):
    def run():
        module = load("main", f"examples/{folder}")
        features, links, labels, train, held = graph()
        model = build(module)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
        criterion = nn.NLLLoss()
        found = []
        for epoch in range(1, 9):
            module.train_iter(
                epoch,
                model,
                optimizer,
                criterion,
                (features, links),
                labels,
                train,
                held,
                print_every=99,
            )
            found.append(list(module.test(model, criterion, (features, links), labels, held)))
        return [found, model.eval()(features, links)]

    return run


def snli():
    config = types.SimpleNamespace(
        n_embed=30,
        d_embed=8,
        d_proj=6,
        d_hidden=5,
        n_layers=2,
        birnn=True,
        dp_ratio=0.2,
        d_out=3,
        projection=True,
        fix_emb=False,
        n_cells=4,
    )
    model = load("model", "examples/legacy/snli").SNLIClassifier(config)
    batch = types.SimpleNamespace(
        premise=torch.randint(0, 30, (7, 4)), hypothesis=torch.randint(0, 30, (5, 4)), batch_size=4
    )
    labels = torch.randint(0, 3, (4,))

    def loss_of(model):
        output = model(batch)
        return nn.functional.cross_entropy(output, labels), output

    return training.step(model, loss_of)


def super_resolution():
    model = load("model", "examples/super_resolution").Net(3)
    images = torch.rand(2, 1, 8, 8)
    target = nn.functional.interpolate(images, scale_factor=3, mode="bicubic", align_corners=False)

    def loss_of(model):
        output = model(images)
        return nn.functional.mse_loss(output, target), output

    return training.step(model, loss_of)


def translation():
    model = load("model", "examples/language_translation/src").Translator(
        2, 2, 16, 2, 20, 25, 24, 0.1
    )
    source, target = torch.randint(2, 20, (6, 3)), torch.randint(2, 25, (5, 3))
    source[4:, 1] = 1
    causal = nn.Transformer.generate_square_subsequent_mask(5)
    padding = (source == 1).T

    def loss_of(model):
        output = model(
            source,
            target,
            torch.zeros(6, 6),
            causal,
            padding.float() * -1e4,
            torch.zeros(3, 5),
            padding.float() * -1e4,
        )
        return nn.functional.cross_entropy(
            output.flatten(0, 1), target.flatten(), ignore_index=1
        ), output

    return training.step(model, loss_of)


def style():
    return script(
        "examples/fast_neural_style/neural_style/neural_style.py",
        "train",
        "--dataset",
        ".",
        "--style-image",
        "style.png",
        "--save-model-dir",
        "out",
        "--epochs",
        1,
        "--lr",
        1e-4,
        "--batch-size",
        4,
        "--image-size",
        32,
        "--log-interval",
        4,
        files={"style.png": picture(1, 48, 48)},
        keep="content",
        drop=r"^.*?Epoch",
    )


CASES = {
    "gcn": network("gcn", lambda m: m.GCN(12, 8, 4, dropout_p=0.3)),
    "gat": network("gat", lambda m: m.GAT(12, 8, 2, 4, concat=True, dropout=0.2)),
    "snli": snli,
    "super_resolution": super_resolution,
    "translation": translation,
    "style": style,
}
SCRIPTS = ("style",)
