"""Llama 3's reference model on one process: cached steps, rotary positions in complex numbers, grouped heads"""

import sys
import types

import torch
from repositories import load

PACKAGES = ()
REPOSITORY = "meta-llama/llama3@a0940f9cf7065d45bb6675660f80d305c041a754"


class _Linear(torch.nn.Linear):
    """fairscale's parallel layer as it is on one process."""

    def __init__(
        self,
        inputs,
        outputs,
        bias=True,
        gather_output=True,
        input_is_parallel=False,
        init_method=None,
    ):
        super().__init__(inputs, outputs, bias)


class _Embedding(torch.nn.Embedding):
    def __init__(self, count, size, init_method=None):
        super().__init__(count, size)


def fairscale():
    initialize = types.ModuleType("fairscale.nn.model_parallel.initialize")
    initialize.get_model_parallel_world_size = lambda: 1
    layers = types.ModuleType("fairscale.nn.model_parallel.layers")
    layers.ColumnParallelLinear = layers.RowParallelLinear = _Linear
    layers.VocabParallelEmbedding = _Embedding
    found = {module.__name__: module for module in (initialize, layers)}
    for name in ("fairscale", "fairscale.nn", "fairscale.nn.model_parallel"):
        found[name] = types.ModuleType(name)
        found[name].__path__ = []
    found["fairscale.nn.model_parallel"].initialize = initialize
    found["fairscale.nn.model_parallel"].layers = layers
    return found


def generate():
    torch.Tensor.cuda, saved = (
        lambda self, *a, **k: self,
        torch.Tensor.cuda,
    )  # its caches are on a GPU
    sys.modules.update(fairscale())
    try:
        llama = load("model", "llama3/llama")
        model = llama.Transformer(
            llama.ModelArgs(
                dim=32,
                n_layers=2,
                n_heads=4,
                n_kv_heads=2,
                vocab_size=50,
                multiple_of=8,
                max_seq_len=32,
                max_batch_size=2,
            )
        ).eval()
    finally:
        torch.Tensor.cuda = saved
        for name in fairscale():
            del sys.modules[name]
    ids = torch.randint(50, (2, 6))
    outputs, at = [model(ids, 0)], 6
    for _ in range(10):
        following = outputs[-1][:, -1].argmax(-1, keepdim=True)
        ids = torch.cat([ids, following], 1)
        outputs.append(model(following, at))
        at += 1
    return [ids, torch.cat(outputs, 1), model.freqs_cis]


CASES = {"generate": generate}
