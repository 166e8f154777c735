"""vector-quantize-pytorch: codebooks by averages, k-means, residual, finite scalar, lookup-free"""

import torch
import training
from repositories import on_path

PACKAGES = ("einops", "einx")
REPOSITORY = "lucidrains/vector-quantize-pytorch@0d7d1aa83334b6f2f8a40306bece75cdaa13d065"


def quantize(name, shape=(2, 12, 8), **options):
    def run():
        with on_path("vector-quantize-pytorch"):
            import vector_quantize_pytorch as library

            net = getattr(library, name)(**options)
        results = []
        for _ in range(3):
            x = torch.randn(*shape, requires_grad=True)
            result = net(x)
            quantized = result[0] if isinstance(result, tuple) else result
            loss = quantized.square().mean() + sum(
                value.float().sum()
                for value in result[2:]
                if torch.is_tensor(value) and value.requires_grad
            )
            loss.backward()
            results.append([list(result) if isinstance(result, tuple) else result, x.grad])
        net.eval()
        final = net(torch.randn(*shape))
        trained = (
            training.gradients(net) if any(p.grad is not None for p in net.parameters()) else None
        )
        return [results, list(final) if isinstance(final, tuple) else final, trained]

    return run


CASES = {
    "averages": quantize(
        "VectorQuantize", dim=8, codebook_size=16, decay=0.8, commitment_weight=1.0
    ),
    "kmeans": quantize("VectorQuantize", dim=8, codebook_size=8, kmeans_init=True, kmeans_iters=4),
    "cosine": quantize(
        "VectorQuantize", dim=8, codebook_size=16, codebook_dim=4, use_cosine_sim=True
    ),
    "rotation": quantize("VectorQuantize", dim=8, codebook_size=16, rotation_trick=True),
    "learned": quantize(
        "VectorQuantize", dim=8, codebook_size=16, learnable_codebook=True, ema_update=False
    ),
    "expired": quantize("VectorQuantize", dim=8, codebook_size=16, threshold_ema_dead_code=2),
    "residual": quantize(
        "ResidualVQ", dim=8, codebook_size=16, num_quantizers=3, shared_codebook=True
    ),
    "grouped": quantize("GroupedResidualVQ", dim=8, codebook_size=16, num_quantizers=2, groups=2),
    "finite": quantize("FSQ", (2, 12, 4), levels=[8, 5, 5, 5]),
    "residual_finite": quantize("ResidualFSQ", dim=8, levels=[8, 5, 5], num_quantizers=2),
    "lookup_free": quantize("LFQ", (2, 12, 4), codebook_size=16, dim=4, entropy_loss_weight=0.1),
    "sim": quantize("SimVQ", dim=8, codebook_size=16),
}
