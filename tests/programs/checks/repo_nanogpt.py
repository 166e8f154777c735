"""nanoGPT: the model's training steps and texts; train.py and sample.py as they are, with resuming"""

import numpy as np
import torch
from repositories import load, script

PACKAGES = ()
REPOSITORY = "karpathy/nanoGPT@3adf61e154c3fe3fca428ad6bc3818b27a3b8291"


def build(**changes):
    nano = load("model", "nanoGPT")
    sizes = {"block_size": 16, "vocab_size": 50, "n_layer": 2, "n_head": 2, "n_embd": 32}
    return nano.GPT(nano.GPTConfig(**{**sizes, "dropout": 0.1, **changes}))


def steps(**changes):
    def run():
        model = build(**changes)
        optimizer = model.configure_optimizers(0.1, 1e-2, (0.9, 0.95), "cpu")
        losses = []
        for _ in range(10):
            ids = torch.randint(50, (4, 17))
            _, loss = model(ids[:, :-1].contiguous(), ids[:, 1:].contiguous())
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            losses.append([loss, norm])
        return [losses, sorted(model.state_dict()), model.lm_head.weight]

    return run


def generate():
    model = build(dropout=0.0).eval()
    start = torch.zeros(2, 1, dtype=torch.long)
    texts = [model.generate(start, 30, temperature=0.8, top_k=k) for k in (None, 5, 200)]
    model.crop_block_size(8)
    return [texts, model.generate(start, 12), model.get_num_params(), model.estimate_mfu(4, 1.0)]


def data():
    ids = np.random.RandomState(0).randint(0, 40, 4000).astype(np.uint16)
    return {
        "data/made/train.bin": ids.tobytes(),
        "data/made/val.bin": ids[:800].tobytes(),
        "configurator.py": "for arg in __import__('sys').argv[1:]:\n"
        "    key, val = arg[2:].split('=')\n"
        "    globals()[key] = type(globals()[key])(eval(val)) if not isinstance(globals()[key], str) else val\n",
    }


def train():
    return script(
        "nanoGPT/train.py", "--dataset=made", "--device=cpu", "--compile=False", "--dtype=float32",
        "--eval_interval=5", "--eval_iters=2", "--log_interval=1", "--block_size=16", "--batch_size=4",
        "--n_layer=2", "--n_head=2", "--n_embd=32", "--max_iters=12", "--lr_decay_iters=12",
        "--gradient_accumulation_steps=2", "--warmup_iters=3", "--always_save_checkpoint=True",
        files=data(), keep="iter|step|loss|num|param", drop=r"time [\d.]+ms, mfu [-\d.]+%",
    )  # fmt: skip


CASES = {
    "steps": steps(),
    "steps_no_bias": steps(bias=False, dropout=0.0),
    "generate": generate,
    "train": train,
}
SCRIPTS = ("train",)
