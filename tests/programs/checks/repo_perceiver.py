"""perceiver-pytorch: Perceiver, Perceiver IO, its language model, gated and mixed forms"""

import torch
import training
from repositories import on_path

PACKAGES = ("einops",)
REPOSITORY = "lucidrains/perceiver-pytorch@96097c6a27cc64fc1f196d3a58d32b8a82f573e1"
SIZES = {
    "input_channels": 3, "input_axis": 2, "num_freq_bands": 3, "max_freq": 8.0, "depth": 2, "num_latents": 8,
    "latent_dim": 16, "cross_heads": 1, "latent_heads": 2, "cross_dim_head": 8, "latent_dim_head": 8,
    "num_classes": 5,
}  # fmt: skip


def perceiver(module, **changes):
    def run():
        with on_path("perceiver-pytorch"):
            loaded = __import__(f"perceiver_pytorch.{module}", fromlist=["x"])
        model = loaded.Perceiver(**{**SIZES, **changes})
        images = torch.randn(2, 6, 6, 3)
        labels = torch.tensor([1, 3])

        def loss_of(model):
            output = model(images)
            return torch.nn.functional.cross_entropy(output, labels), output

        return training.step(model, loss_of)

    return run


def language():
    with on_path("perceiver-pytorch"):
        from perceiver_pytorch import PerceiverLM
    model = PerceiverLM(num_tokens=40, dim=16, depth=2, max_seq_len=20, num_latents=6, latent_dim=16,
                        cross_dim_head=8, latent_dim_head=8, latent_heads=2)  # fmt: skip
    ids, mask = torch.randint(0, 40, (2, 20)), torch.rand(2, 20) > 0.2

    def loss_of(model):
        output = model(ids, mask=mask)
        return torch.nn.functional.cross_entropy(output.transpose(1, 2), ids), output

    return training.step(model, loss_of)


CASES = {
    "plain": perceiver("perceiver_pytorch"),
    "tied": perceiver("perceiver_pytorch", weight_tie_layers=True, self_per_cross_attn=2),
    "gated": perceiver("gated"),
    "mixed": perceiver("mixed_latents"),
    "language": language,
}
