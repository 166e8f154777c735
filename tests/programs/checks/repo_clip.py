"""CLIP: both towers, contrastive training steps, half-precision weights, a model built from a state dict"""

import torch
import training
from repositories import load

PACKAGES = ()
REPOSITORY = "openai/CLIP@d05afc436d78f1c48dc0dbf8e5980a9d471f35f6"


def build(layers):
    torch.manual_seed(1)
    return load("model", "CLIP/clip").CLIP(
        embed_dim=16, image_resolution=32, vision_layers=layers, vision_width=64 if isinstance(layers, int) else 8,
        vision_patch_size=8, context_length=10, vocab_size=50, transformer_width=64, transformer_heads=1,
        transformer_layers=2,
    )  # fmt: skip


def step(layers):
    def run():
        model = build(layers)
        images, texts = torch.randn(4, 3, 32, 32), torch.randint(0, 50, (4, 10))

        def loss_of(model):
            by_image, by_text = model(images, texts)
            labels = torch.arange(4)
            loss = (
                sum(torch.nn.functional.cross_entropy(x, labels) for x in (by_image, by_text)) / 2
            )
            return loss, by_image

        return training.step(model, loss_of)

    return run


def from_state():
    module = load("model", "CLIP/clip")
    state = build(2).state_dict()
    state |= {
        "input_resolution": torch.tensor(32),
        "context_length": torch.tensor(10),
        "vocab_size": torch.tensor(50),
    }
    model = module.build_model(state)
    return [
        str(model.visual.conv1.weight.dtype),
        model.float()(torch.randn(2, 3, 32, 32), torch.randint(0, 50, (2, 10))),
    ]


CASES = {"vision_transformer": step(2), "resnet": step((1, 1, 1, 1)), "from_state": from_state}
