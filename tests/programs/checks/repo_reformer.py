"""reformer-pytorch: hashed attention and reversible layers, a causal language model"""

import torch
import training
from repositories import on_path

PACKAGES = ("einops", "local-attention")
REPOSITORY = "lucidrains/reformer-pytorch@66a19b6caf481a880c97d331306aba55d2ae4b9c"


def language(**options):
    def run():
        with on_path("reformer-pytorch"):
            from reformer_pytorch import ReformerLM
        model = ReformerLM(
            num_tokens=30, dim=16, depth=2, max_seq_len=32, heads=2, dim_head=8, bucket_size=8, n_hashes=2, causal=True,
            **options,
        )  # fmt: skip
        ids = torch.randint(0, 30, (2, 32))

        def loss_of(model):
            torch.manual_seed(4)
            logits = model(ids)
            return torch.nn.functional.cross_entropy(logits.transpose(1, 2), ids), logits

        return training.step(model, loss_of)

    return run


CASES = {
    "plain": language(),
    "reversible_chunks": language(
        ff_chunks=2, attn_chunks=2, lsh_dropout=0.1, ff_dropout=0.1, reverse_thres=8
    ),
    "shared_axial": language(
        weight_tie=True, axial_position_emb=True, axial_position_shape=(4, 8), ff_glu=True
    ),
    "full": language(use_full_attn=True, one_value_head=True),
}
