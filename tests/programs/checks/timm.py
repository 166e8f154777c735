"""one model of each family: initial weights, output, loss and gradients of a training step"""

import torchvision_names

torchvision_names.install()  # before timm, which imports names of torchvision

import timm
import torch
import torch.nn.functional as F
import training

PACKAGES = ("timm",)

# Model -> side of the images. Small models; large enough images for the batch norms to see several values.
MODELS = {
    "cpubone_nano": 96,
    "cs3darknet_focus_s": 96,
    "cspnext_tiny": 96,
    "deit_tiny_patch16_224": 224,
    "dla46x_c": 96,
    "dpn48b": 96,
    "edgenext_xx_small": 96,
    "efficientformer_l1": 224,
    "efficientformerv2_s0": 224,
    "test_efficientnet": 96,
    "efficientvim_m1": 128,
    "efficientvit_b0": 96,
    "efficientvit_m0": 224,
    "vit_tiny_patch16_dinov3_qkvb": 256,
    "fasternet_t0": 96,
    "fastvit_t8": 128,
    "gcvit_xxtiny": 224,
    "ghostnet_050": 96,
    "hardcorenas_b": 96,
    "hgnetv2_b0": 96,
    "iformer_t": 96,
    "inception_next_atto": 96,
    "lcnetv2_small": 96,
    "levit_conv_128s": 224,
    "lowformer_b0": 96,
    "test_mambaout": 96,
    "test_coatnet": 160,
    "poolformerv2_s12": 64,
    "gmlp_ti16_224": 224,
    "mobilenetv3_small_050": 96,
    "mobilevit_xxs": 96,
    "test_nfnet": 96,
    "pit_ti_224": 224,
    "pvt_v2_b0": 96,
    "regnetx_002": 96,
    "repghostnet_050": 96,
    "repvit_m1": 96,
    "resnest14d": 96,
    "test_resnet": 96,
    "resnet18": 96,
    "resnetv2_18": 96,
    "rexnet_100": 96,
    "legacy_seresnet18": 96,
    "shvit_s1": 96,
    "skresnet18": 96,
    "starnet_s050": 96,
    "swiftformer_xs": 224,
    "tiny_vit_5m_224": 96,
    "test_convnext": 96,
    "test_vit": 160,
    "test_vit_relpos": 160,
    "vit_tiny_r_s16_p8_224": 224,
    "ese_vovnet19b_slim_dw": 96,
    "visformer_tiny": 224,
    "tv_densenet121": 96,
    "crossvit_tiny_240": 240,
}

# Networks whose float32 gradients depend on rounding, in PyTorch as well: compared in float64.
IN_DOUBLE = """dla46x_c dpn48b ghostnet_050 hgnetv2_b0 lcnetv2_small ese_vovnet19b_slim_dw tv_densenet121
    levit_conv_128s skresnet18 rexnet_100""".split()


def case(name, size):
    def run():
        model = timm.create_model(name, pretrained=False, num_classes=10)
        images, labels = torch.randn(4, 3, size, size), torch.tensor([3, 1, 4, 1])
        if name in IN_DOUBLE:
            model, images = model.double(), 2 * torch.rand(images.shape, dtype=torch.float64) - 1
            # Normal numbers differ in their last bits, uniform ones do not.
            for weight in (p for p in model.parameters() if p.dim() > 1):
                bound = (6 / weight[0].numel()) ** 0.5
                weight.data = bound * (2 * torch.rand(weight.shape, dtype=torch.float64) - 1)

        def loss_of(model):
            output = model(images)
            return F.cross_entropy(output, labels), output

        return training.step(model, loss_of)

    return run


CASES = {name: case(name, size) for name, size in MODELS.items()}
