"""Scripts of pytorch/examples, as they are: printed losses, accuracies, texts (made-up images in place of downloads)"""

import sys

import numpy as np
from repositories import load, script

PACKAGES = ()
REPOSITORY = "pytorch/examples@77f55b912142e11fcfdf5b530231fb9c52f181e8"
TIMES = r"ms/batch +[\d.]+ \||time: +[\d.]+s|[\d.]+s\b|[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ [\d:]+ \d+"


def corpus(seed, count):
    generator = np.random.RandomState(seed)
    words = ["the", "cat", "dog", "sat", "on", "a", "mat", "ran", "to", "house", "and", "then"]
    return "\n".join(" ".join(generator.choice(words, 12)) for _ in range(count)) + "\n"


TEXTS = {f"data/{name}.txt": corpus(i, 60) for i, name in enumerate(("train", "valid", "test"))}


def words(model, *more):
    return lambda: script(
        "examples/word_language_model/main.py", "--data", "data", "--model", model, "--epochs", 2,
        "--emsize", 24, "--nhid", 24, "--log-interval", 5, "--batch_size", 5, "--bptt", 10,
        *(more or ("--lr", 2)), files=TEXTS, drop=TIMES,
    )  # fmt: skip


def sines():
    """The LSTM cells of time_sequence_prediction in float64, trained by LBFGS."""
    import torch

    train = load("train", "examples/time_sequence_prediction")
    shifts = np.random.RandomState(2).randint(-80, 80, (12, 1))
    data = torch.from_numpy(np.sin((np.arange(60) + shifts) / 20.0))
    model = train.Sequence().double()
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.8, max_iter=6)
    losses = []

    def closure():
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(data[3:, :-1]), data[3:, 1:])
        loss.backward()
        losses.append(loss.item())
        return loss

    optimizer.step(closure)
    with torch.no_grad():
        return [losses, model(data[:3, :-1], future=20)]


def rl(name):
    """Ten episodes of the agent with its own functions; the script itself runs until CartPole is solved."""

    def run():
        arguments, sys.argv = sys.argv, [name]
        try:
            agent = load(name, "examples/reinforcement_learning")
        finally:
            sys.argv = arguments
        rewards = []
        for episode in range(10):
            state, _ = agent.env.reset(seed=episode)
            for _ in range(200):
                state, reward, done, _, _ = agent.env.step(agent.select_action(state))
                (agent.policy if name == "reinforce" else agent.model).rewards.append(reward)
                if done:
                    break
            rewards.append(len((agent.policy if name == "reinforce" else agent.model).rewards))
            agent.finish_episode()
        return [rewards, list((agent.policy if name == "reinforce" else agent.model).parameters())]

    return run


CASES = {
    "mnist": lambda: script("examples/mnist/main.py", "--epochs", 1, "--save-model"),
    "mnist_rnn": lambda: script("examples/mnist_rnn/main.py", "--epochs", 1),
    "mnist_forward_forward": lambda: script(
        "examples/mnist_forward_forward/main.py",
        "--epochs",
        20,
        "--train_size",
        200,
        "--test_size",
        100,
        seed=0,
    ),
    "siamese": lambda: script(
        "examples/siamese_network/main.py", "--epochs", 1, "--dry-run", seed=0
    ),
    "vae": lambda: script("examples/vae/main.py", "--epochs", 2, files={"results/keep": ""}),
    "regression": lambda: script("examples/regression/main.py", seed=0, last=1),
    "words_lstm": words("LSTM", "--tied", "--lr", 2),
    "words_gru": words("GRU"),
    "words_rnn_tanh": words("RNN_TANH"),
    "words_transformer": words("Transformer", "--use-optimizer", "--lr", 0.001),
    "sines": sines,
    "dcgan": lambda: script(
        "examples/dcgan/main.py",
        "--dataset",
        "fake",
        "--niter",
        1,
        "--batchSize",
        8,
        "--ngf",
        8,
        "--ndf",
        8,
        "--manualSeed",
        1,
        "--workers",
        0,
    ),
    "reinforce": rl("reinforce"),
    "actor_critic": rl("actor_critic"),
    "imagenet": lambda: script(
        "examples/imagenet/main.py",
        "--dummy",
        "-b",
        16,
        "--epochs",
        1,
        "-j",
        0,
        "--seed",
        0,
        "-p",
        1,
        "--lr",
        0.001,
        keep="Loss",
        drop=r"(Time|Data) +[\d.]+ \( *[\d.]+\)",
    ),
    "hogwild": lambda: script(
        "examples/mnist_hogwild/main.py",
        "--epochs",
        1,
        "--num-processes",
        1,
        "--dry-run",
        keep="Test|Train",
        drop=r"^\d+",
    ),
}
SCRIPTS = tuple(set(CASES) - {"sines", "reinforce", "actor_critic"})  # in processes of their own
