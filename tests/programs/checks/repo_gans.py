"""PyTorch-GAN's scripts that take MNIST, as they are (old tensor types, Variable): losses that they print"""

from repositories import script

PACKAGES = ()
REPOSITORY = "eriklindernoren/PyTorch-GAN@36d3c77e5ff20ebe0aeefd322326a134a279b93e"
NAMES = "acgan aae cgan dcgan ebgan gan infogan lsgan wgan wgan_div wgan_gp"


def train(name):
    return lambda: script(
        f"PyTorch-GAN/implementations/{name}/{name}.py",
        "--n_epochs",
        1,
        "--batch_size",
        128,
        "--sample_interval",
        1000,
        seed=0,
        drop=r"took .*|time: .*",
    )


CASES = {name: train(name) for name in NAMES.split()}
SCRIPTS = tuple(CASES)
