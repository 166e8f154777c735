"""a training loop with events, metrics, schedules, early stopping and a checkpoint"""

import tempfile
from pathlib import Path

import torch
import torch.nn.functional as F
from ignite.engine import Engine, Events, create_supervised_evaluator, create_supervised_trainer
from ignite.handlers import Checkpoint, DiskSaver, EarlyStopping, PiecewiseLinear
from ignite.metrics import Accuracy, ConfusionMatrix, Loss, Precision, Recall, RunningAverage
from torch.utils.data import DataLoader, TensorDataset

PACKAGES = ("pytorch-ignite",)


def training():
    x = torch.randn(120, 8)
    y = (x[:, 0] + x[:, 1] > 0).long()
    loader = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    trainer = create_supervised_trainer(model, optimizer, F.cross_entropy)
    precision = Precision(average=False)
    evaluator = create_supervised_evaluator(
        model,
        {"accuracy": Accuracy(), "loss": Loss(F.cross_entropy), "confusion": ConfusionMatrix(2),
         "precision": precision, "recall": Recall(average=True)},
    )  # fmt: skip
    RunningAverage(output_transform=lambda loss: loss).attach(trainer, "running")
    schedule = PiecewiseLinear(optimizer, "lr", [(0, 0.05), (10, 0.2), (24, 0.0)])
    trainer.add_event_handler(Events.ITERATION_STARTED, schedule)
    history = []

    @trainer.on(Events.EPOCH_COMPLETED)
    def evaluate(engine):
        evaluator.run(loader)
        history.append(dict(evaluator.state.metrics) | {"running": engine.state.metrics["running"]})

    evaluator.add_event_handler(
        Events.COMPLETED, EarlyStopping(5, lambda e: -e.state.metrics["loss"], trainer)
    )
    with tempfile.TemporaryDirectory() as folder:
        saver = Checkpoint({"model": model}, DiskSaver(folder, require_empty=False), n_saved=1)
        trainer.add_event_handler(Events.EPOCH_COMPLETED, saver)
        trainer.run(loader, max_epochs=4)
        state = torch.load(f"{folder}/{Path(saver.last_checkpoint).name}", weights_only=True)
    return [history, state, trainer.state.iteration]


def engine():
    seen = []
    runner = Engine(lambda e, batch: batch * 2)
    runner.add_event_handler(
        Events.ITERATION_COMPLETED(every=3), lambda e: seen.append(e.state.output)
    )
    runner.run(torch.arange(10), max_epochs=2)
    return [[int(v) for v in seen], runner.state.epoch]


CASES = {"training": training, "engine": engine}
