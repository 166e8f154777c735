"""A character-level GPT: an ordinary PyTorch script, run with `flambeau run examples/char_gpt.py`.

Trains on the Zen of Python, prints the loss of each step, and writes text. The model is that of
Karpathy's nanoGPT: tied embeddings, pre-norm blocks, causal attention, AdamW with weight decay on matrices only, a
cosine schedule with warm-up.
"""

import argparse
import codecs
import contextlib
import io
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

BLOCK = 64  # characters of context
BATCH = 12
LAYERS, HEADS, WIDTH = 2, 4, 64
LEARNING_RATE, WARM_UP = 2e-3, 20  # peak; steps
DROPOUT = 0.1


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.proj = nn.Linear(WIDTH, WIDTH, bias=False)
        self.drop = nn.Dropout(DROPOUT)

    def forward(self, x):  # (batch, time, WIDTH)
        batch, time, _ = x.shape
        q, k, v = self.qkv(x).split(WIDTH, dim=2)
        q, k, v = (y.view(batch, time, HEADS, -1).transpose(1, 2) for y in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)  # (batch, HEADS, time, head)
        return self.drop(self.proj(y.transpose(1, 2).reshape(batch, time, WIDTH)))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(WIDTH), Attention()
        self.norm2 = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH), nn.Dropout(DROPOUT)
        )

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, WIDTH)
        self.positions = nn.Embedding(BLOCK, WIDTH)
        self.drop = nn.Dropout(DROPOUT)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, vocabulary, bias=False)
        self.tokens.weight = self.head.weight
        self.apply(self.init_weights)
        for name, parameter in self.named_parameters():
            if name.endswith("proj.weight"):
                nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * LAYERS))

    @staticmethod
    def init_weights(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, ids, targets=None):
        x = self.tokens(ids) + self.positions(torch.arange(ids.size(1), device=ids.device))
        logits = self.head(self.norm(self.blocks(self.drop(x))))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))

    @torch.no_grad()
    def write(self, ids, count, temperature=0.8, top_k=10):
        for _ in range(count):
            logits = self(ids[:, -BLOCK:])[0][:, -1] / temperature
            kept, _ = torch.topk(logits, top_k)
            logits[logits < kept[:, [-1]]] = -float("inf")
            ids = torch.cat([ids, torch.multinomial(F.softmax(logits, dim=-1), 1)], dim=1)
        return ids


def corpus():
    with contextlib.redirect_stdout(io.StringIO()):
        import this
    return codecs.decode(this.s, "rot13")


def optimizer_of(model):
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=LEARNING_RATE, betas=(0.9, 0.99))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--smoke", action="store_true", help="a few steps only")
    options = parser.parse_args()
    steps = 10 if options.smoke else options.steps

    torch.manual_seed(1337)
    text = corpus()
    letters = sorted(set(text))
    number = {letter: i for i, letter in enumerate(letters)}
    data = torch.tensor([number[letter] for letter in text])
    model = GPT(len(letters))
    optimizer = optimizer_of(model)

    def rate(step):
        if step < WARM_UP:
            return (step + 1) / WARM_UP
        return 0.1 + 0.45 * (1 + math.cos(math.pi * (step - WARM_UP) / max(steps - WARM_UP, 1)))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    model.train()
    for step in range(steps):
        starts = torch.randint(len(data) - BLOCK - 1, (BATCH,))
        ids = torch.stack([data[i : i + BLOCK] for i in starts])
        targets = torch.stack([data[i + 1 : i + BLOCK + 1] for i in starts])
        _, loss = model(ids, targets)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        print(f"step {step} loss {loss.item():.8f}")

    model.eval()
    print("".join(letters[i] for i in model.write(data[None, :8], 80)[0].tolist()))


if __name__ == "__main__":
    main()
