"""decoders, encoders and variants: a training step each, generation"""

import torch
import training
from x_transformers import (
    AutoregressiveWrapper,
    Decoder,
    Encoder,
    TransformerWrapper,
    ViTransformerWrapper,
)

PACKAGES = ("x-transformers", "torch-einops-utils", "einops", "einx", "loguru")
VARIANTS = {
    "plain": {},
    "rotary": {"rotary_pos_emb": True},
    "alibi": {"alibi_pos_bias": True},
    "rms_swiglu": {"use_rmsnorm": True, "ff_glu": True, "ff_swish": True},
    "relative": {"rel_pos_bias": True},
    "grouped": {"attn_kv_heads": 2},
    "qk_norm": {"attn_qk_norm": True},
    "flash": {"attn_flash": True},
}


def variant(options):
    def run():
        decoder = Decoder(dim=32, depth=2, heads=4, attn_dim_head=8, **options)
        model = TransformerWrapper(num_tokens=50, max_seq_len=24, attn_layers=decoder)
        ids = torch.randint(50, (2, 16))

        def loss_of(model):
            logits = model(ids[:, :-1])
            return torch.nn.functional.cross_entropy(logits.transpose(1, 2), ids[:, 1:]), logits

        return training.step(model, loss_of)

    return run


def generation():
    decoder = Decoder(dim=32, depth=2, heads=4, attn_dim_head=8, rotary_pos_emb=True)
    model = AutoregressiveWrapper(
        TransformerWrapper(num_tokens=50, max_seq_len=32, attn_layers=decoder)
    ).eval()
    prompt = torch.randint(50, (1, 4))
    greedy = model.generate(prompt, 10, temperature=0.0)
    torch.manual_seed(2)
    return [greedy.tolist(), model.generate(prompt, 10).tolist()]


def vision():
    encoder = Encoder(dim=32, depth=2, heads=4, attn_dim_head=8)
    model = ViTransformerWrapper(image_size=16, patch_size=4, num_classes=3, attn_layers=encoder)
    images = torch.randn(2, 3, 16, 16)

    def loss_of(model):
        logits = model(images)
        return torch.nn.functional.cross_entropy(logits, torch.tensor([0, 2])), logits

    return training.step(model, loss_of)


CASES = {name: variant(options) for name, options in VARIANTS.items()} | {
    "generation": generation,
    "vision": vision,
}
