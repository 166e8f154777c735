"""SAM, the sharpness-aware optimizer: two steps by hand and by closure, adaptive, scheduled, saved and resumed"""

import torch
from repositories import load, on_path

PACKAGES = ()
REPOSITORY = "davda54/sam@3c3afdbd71cff2462ec91c734b3d1170bd0f3707"


def train(adaptive):
    def run():
        sam = load("sam", "sam")
        with on_path("sam/example"):
            from model.smooth_cross_entropy import smooth_crossentropy
            from utility.bypass_bn import disable_running_stats, enable_running_stats

        model = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten(),
            torch.nn.Linear(288, 10),
        )  # fmt: skip
        optimizer = sam.SAM(
            model.parameters(), torch.optim.SGD, rho=0.5, adaptive=adaptive, lr=0.05, momentum=0.9
        )
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer.base_optimizer, 6)
        images, labels = torch.randn(4, 3, 8, 8), torch.randint(10, (4,))
        losses = []
        for index in range(4):
            enable_running_stats(model)
            loss = smooth_crossentropy(model(images), labels, 0.1).mean()
            loss.backward()
            if index < 2:
                optimizer.first_step(zero_grad=True)
                disable_running_stats(model)
                smooth_crossentropy(model(images), labels, 0.1).mean().backward()
                optimizer.second_step(zero_grad=True)
            else:

                def closure():
                    second = smooth_crossentropy(model(images), labels, 0.1).mean()
                    second.backward()
                    return second

                optimizer.step(closure)
                optimizer.zero_grad()
            scheduler.step()
            optimizer.load_state_dict(optimizer.state_dict())
            losses.append([loss, optimizer.param_groups[0]["lr"]])
        return [losses, model.eval()(images), str(optimizer)]

    return run


CASES = {"plain": train(False), "adaptive": train(True)}
