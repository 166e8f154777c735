"""DETR: its transformer with positions as queries, sine and learned positions"""

import types

import torch
import training
from repositories import load

PACKAGES = ()
REPOSITORY = "facebookresearch/detr@29901c51d7fe8712168b8d0d64351170bc0f83e0"


def transformer(**options):
    def run():
        module = load("transformer", "detr/models")
        model = module.Transformer(16, 2, 2, 2, 24, 0.1, **options)
        features, mask = torch.randn(2, 16, 4, 5), torch.zeros(2, 4, 5, dtype=torch.bool)
        mask[0, 3:] = True
        queries, places = torch.randn(6, 16), torch.randn(2, 16, 4, 5)

        def loss_of(model):
            output, memory = model(features, mask, queries, places)
            return output.square().mean() + memory.abs().mean(), output

        return [training.step(model, loss_of, lr=1e-3), len(repr(model))]

    return run


def positions():
    module = load("position_encoding", "detr/models", "detr")
    mask = torch.zeros(2, 4, 5, dtype=torch.bool)
    mask[1, :, 3:] = True
    pair = types.SimpleNamespace(tensors=torch.randn(2, 8, 4, 5), mask=mask)
    return [
        module.PositionEmbeddingSine(4, normalize=True)(pair),
        module.PositionEmbeddingLearned(4)(pair),
    ]


CASES = {
    "after_norm": transformer(return_intermediate_dec=True),
    "before_norm": transformer(normalize_before=True, activation="gelu"),
    "positions": positions,
}
