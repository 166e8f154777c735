"""attention-is-all-you-need-pytorch: tied embeddings, warmed-up steps, smoothed loss, beam search"""

import torch
from repositories import on_path
from torch.nn import functional

PACKAGES = ()
REPOSITORY = (
    "jadore801120/attention-is-all-you-need-pytorch@132907dd272e2cc92e3c10e6c4e783a87ff8893d"
)


def train():
    with on_path("attention-is-all-you-need-pytorch"):
        from transformer.Models import Transformer
        from transformer.Optim import ScheduledOptim
        from transformer.Translator import Translator
    model = Transformer(
        20, 20, 1, 1, d_word_vec=16, d_model=16, d_inner=24, n_layers=2, n_head=2, d_k=8, d_v=8, n_position=12,
        emb_src_trg_weight_sharing=True, scale_emb_or_prj="emb",
    )  # fmt: skip
    optimizer = ScheduledOptim(
        torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9), 2.0, 16, 10
    )
    losses = []
    for _ in range(6):
        source, target = torch.randint(2, 20, (4, 7)), torch.randint(2, 20, (4, 6))
        source[0, 5:] = target[1, 4:] = 1
        optimizer.zero_grad()
        logits = model(source, target[:, :-1])
        loss = functional.cross_entropy(
            logits, target[:, 1:].flatten(), ignore_index=1, label_smoothing=0.1
        )
        loss.backward()
        optimizer.step_and_update_lr()
        losses.append([loss, optimizer._optimizer.param_groups[0]["lr"]])
    found = Translator(model.eval(), 3, 8, 1, 1, 2, 3).translate_sentence(
        torch.randint(4, 20, (1, 6))
    )
    return [losses, model(source, target), found]


CASES = {"train": train}
