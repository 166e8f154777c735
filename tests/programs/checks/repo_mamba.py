"""mamba-minimal: scan, training steps, tied weights"""

import torch
import training
from repositories import load

PACKAGES = ("einops",)
REPOSITORY = "johnma2006/mamba-minimal@03de542a36d873f6e6c4057ad687278cc6ae944d"


def step():
    mamba = load("model", "mamba-minimal")
    model = mamba.Mamba(mamba.ModelArgs(d_model=16, n_layer=2, vocab_size=40, d_state=4))
    ids = torch.randint(40, (2, 12))

    def loss_of(model):
        logits = model(ids)
        return torch.nn.functional.cross_entropy(
            logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten()
        ), logits

    return [training.step(model, loss_of), model.lm_head.weight is model.embedding.weight]


CASES = {"step": step}
