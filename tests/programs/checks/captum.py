"""attributions by gradients, perturbation, layers and neurons"""

import torch
from captum.attr import (
    DeepLift,
    FeatureAblation,
    GradientShap,
    GuidedBackprop,
    InputXGradient,
    IntegratedGradients,
    LayerConductance,
    LayerGradCam,
    NeuronGradient,
    NoiseTunnel,
    Occlusion,
    Saliency,
    ShapleyValueSampling,
)

PACKAGES = ("captum",)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 4, 3, padding=1)
        self.relu1 = torch.nn.ReLU()
        self.pool = torch.nn.MaxPool2d(2)
        self.linear = torch.nn.Linear(64, 8)
        self.relu2 = torch.nn.ReLU()
        self.head = torch.nn.Linear(8, 3)

    def forward(self, x):
        x = self.pool(self.relu1(self.conv(x)))
        return self.head(self.relu2(self.linear(x.flatten(1))))


def attributions():
    net, x = Net().eval(), torch.randn(2, 1, 8, 8)
    found = {
        "integrated": IntegratedGradients(net).attribute(
            x, target=1, n_steps=20, return_convergence_delta=True
        ),
        "saliency": Saliency(net).attribute(x, target=1),
        "input x gradient": InputXGradient(net).attribute(x, target=0),
        "guided": GuidedBackprop(net).attribute(x, target=2),
        "deep lift": DeepLift(net).attribute(x, torch.zeros_like(x), target=1),
        "grad cam": LayerGradCam(net, net.conv).attribute(x, target=1),
        "conductance": LayerConductance(net, net.linear).attribute(x, target=1, n_steps=10),
        "neuron": NeuronGradient(net, net.linear).attribute(x, 3),
        "ablation": FeatureAblation(net).attribute(x, target=1),
        "occlusion": Occlusion(net).attribute(x, (1, 4, 4), strides=(1, 2, 2), target=1),
    }
    return found


def sampled():
    net, x = Net().eval(), torch.randn(2, 1, 8, 8)
    mask = torch.arange(4).repeat_interleave(16).view(1, 1, 8, 8)
    torch.manual_seed(3)
    shapley = ShapleyValueSampling(net).attribute(x, target=1, feature_mask=mask, n_samples=4)
    torch.manual_seed(3)
    smooth = NoiseTunnel(Saliency(net)).attribute(x, nt_samples=4, nt_type="smoothgrad", target=1)
    import numpy as np

    np.random.seed(3)
    shap = GradientShap(net).attribute(x, torch.zeros_like(x), n_samples=4, target=1)
    return [shapley, smooth, shap]


CASES = {"attributions": attributions, "sampled": sampled}
