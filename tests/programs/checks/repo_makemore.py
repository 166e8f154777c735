"""makemore: each of its six models trained by its script, with samples; resuming"""

from repositories import script

PACKAGES = ()
REPOSITORY = "karpathy/makemore@988aa59e4d8fefa526d06f3b453ad116258398d4"
TIMES = r"step time [\d.]+ms|took [\d.]+"
SYLLABLES = ("an", "be", "co", "da", "el", "fi", "go", "ha", "io", "ja", "ka", "lu", "mi", "no")


def names():
    found = []
    for i in range(1400):
        a, b, c = i % 14, (i // 14) % 14, (i * 7 + i // 50) % 14
        found.append(SYLLABLES[a] + SYLLABLES[b] + (SYLLABLES[c] if i % 3 else ""))
    return "\n".join(found) + "\n"


def train(kind):
    return lambda: script(
        "makemore/makemore.py", "--type", kind, "--max-steps", 11, "-n", 0, "--n-layer", 2, "--n-embd", 16,
        "--n-embd2", 16, "--n-head", 2, "-b", 8, files={"names.txt": names()}, drop=TIMES,
    )  # fmt: skip


CASES = {kind: train(kind) for kind in ("transformer", "rnn", "gru", "mlp", "bow", "bigram")}
SCRIPTS = tuple(CASES)
