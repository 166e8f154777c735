"""lion-pytorch: Lion, cautious Lion and its foreach form: ten steps, decoupled decay, saved and resumed"""

import torch
from repositories import on_path

PACKAGES = ()
REPOSITORY = "lucidrains/lion-pytorch@6a74fdc0ba572ab5683dc0270c66c20ecbc02d09"


def train(module, **options):
    def run():
        with on_path("lion-pytorch"):
            Lion = __import__(f"lion_pytorch.{module}", fromlist=["x"]).Lion
        net = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
        x, y = torch.randn(20, 5), torch.randn(20, 1)
        optimizer = Lion(net.parameters(), lr=1e-2, weight_decay=0.1, **options)
        losses = []
        for index in range(10):
            loss = torch.nn.functional.mse_loss(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss)
            if index == 5:
                state = optimizer.state_dict()
                optimizer = Lion(net.parameters(), lr=1.0)
                optimizer.load_state_dict(state)
        return [losses, list(net.parameters()), str(optimizer)]

    return run


CASES = {
    "lion": train("lion_pytorch"),
    "cautious_module": train("cautious_lion"),
    "foreach": train("foreach"),
}
