"""CleanRL's scripts, as they are, shortened: what they log for TensorBoard, returns, losses, values"""

import contextlib
import io
import os
import runpy
import sys
import tempfile
from unittest import mock

import numpy as np
from repositories import folder, on_path

PACKAGES = ("gymnasium", "tyro")
REPOSITORY = "vwxyzjn/cleanrl@fe8d8a03c41a7ef5b523e2e354bd01c363e786bb"
TIMES = ("charts/SPS", "SPS")


class Log:
    """SummaryWriter's place: keeps the numbers."""

    def __init__(self, *arguments, **options):
        self.found = {}

    def add_scalar(self, name, value, step=None):
        if name not in TIMES:
            self.found.setdefault(name, []).append(
                float(np.asarray(value.detach() if hasattr(value, "detach") else value).squeeze())
            )

    def add_text(self, *arguments):
        pass

    def close(self):
        pass


def script(name, *arguments):
    def run():
        logs = []

        def start(*a, **k):
            logs.append(Log())
            return logs[0]

        before = os.getcwd()
        path = str(folder().resolve() / "cleanrl" / "cleanrl" / f"{name}.py")
        text = io.StringIO()
        with tempfile.TemporaryDirectory() as place, on_path("cleanrl"):
            os.chdir(place)
            try:
                import torch.utils.tensorboard

                with (
                    mock.patch.object(torch.utils.tensorboard, "SummaryWriter", start),
                    mock.patch.object(sys, "argv", [path, *map(str, arguments)]),
                    contextlib.redirect_stdout(text),
                ):
                    runpy.run_path(path, run_name="__main__")
            finally:
                os.chdir(before)
        return {key: np.array(values) for key, values in sorted(logs[0].found.items())}

    return run


OFF_POLICY = (
    "--total-timesteps",
    260,
    "--learning-starts",
    100,
    "--batch-size",
    16,
    "--buffer-size",
    500,
    "--no-cuda",
)
CASES = {
    "ppo": script("ppo", "--total-timesteps", 512, "--num-steps", 64, "--num-envs", 2, "--no-cuda"),
    "ppo_continuous": script(
        "ppo_continuous_action", "--env-id", "Pendulum-v1", "--total-timesteps", 256, "--num-steps", 128,
        "--num-minibatches", 4, "--update-epochs", 2, "--no-cuda",
    ),
    "rpo_continuous": script(
        "rpo_continuous_action", "--env-id", "Pendulum-v1", "--total-timesteps", 256, "--num-steps", 128,
        "--num-minibatches", 4, "--update-epochs", 2, "--no-cuda",
    ),
    "dqn": script("dqn", *OFF_POLICY),
    "c51": script("c51", *OFF_POLICY),
    "sac": script("sac_continuous_action", "--env-id", "Pendulum-v1", *OFF_POLICY),
    "td3": script("td3_continuous_action", "--env-id", "Pendulum-v1", *OFF_POLICY),
    "ddpg": script("ddpg_continuous_action", "--env-id", "Pendulum-v1", *OFF_POLICY),
    "pqn": script("pqn", "--total-timesteps", 512, "--num-steps", 64, "--num-envs", 2, "--no-cuda"),
}  # fmt: skip
