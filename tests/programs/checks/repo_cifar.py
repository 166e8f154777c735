"""pytorch-cifar: one training step of each of its networks, in float64 (their batch norms see few values)"""

import numpy as np
import torch
import training
from repositories import on_path

PACKAGES = ()
REPOSITORY = "kuangliu/pytorch-cifar@49b7aa97b0c12fe0d4054e670403a16b6b834ddd"
BUILDERS = {
    "lenet": ("LeNet", ()), "vgg": ("VGG", ("VGG11",)), "resnet": ("ResNet18", ()),
    "preact_resnet": ("PreActResNet18", ()), "googlenet": ("GoogLeNet", ()), "densenet": ("densenet_cifar", ()),
    "resnext": ("ResNeXt29_2x64d", ()), "mobilenet": ("MobileNet", ()), "mobilenetv2": ("MobileNetV2", ()),
    "dpn": ("DPN26", ()), "shufflenetv2": ("ShuffleNetV2", (0.5,)),
    "senet": ("SENet18", ()), "efficientnet": ("EfficientNetB0", ()), "regnet": ("RegNetX_200MF", ()),
    "pnasnet": ("PNASNetA", ()), "dla": ("DLA", ()), "dla_simple": ("SimpleDLA", ()),
}  # fmt: skip


def step(name):
    def run():
        builder, arguments = BUILDERS[name]
        with on_path("pytorch-cifar"):
            import models

            model = getattr(models, builder)(*arguments).double()
        images = torch.from_numpy(np.random.RandomState(0).randn(2, 3, 32, 32))
        labels = torch.tensor([3, 7])

        def loss_of(model):
            output = model(images)
            return torch.nn.functional.cross_entropy(output, labels), output

        return training.step(model, loss_of)

    return run


CASES = {name: step(name) for name in BUILDERS}
