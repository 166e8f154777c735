"""DiT: a training step of the diffusion transformer with its learned variances, guided sampling with respaced steps"""

import torch
import training
from repositories import on_path

PACKAGES = ("timm",)
REPOSITORY = "facebookresearch/DiT@ed81ce2229091fd4ecc9a223645f95cf379d582b"


def parts():
    import torchvision_names

    torchvision_names.install()
    import timm.models.vision_transformer  # while those names are there

    assert timm
    with on_path("DiT"):
        import models
        from diffusion import create_diffusion

        return models, create_diffusion


def build():
    models, create = parts()
    model = models.DiT(
        input_size=8, patch_size=2, hidden_size=32, depth=2, num_heads=2, num_classes=10
    )
    for parameter in model.parameters():
        if parameter.requires_grad and parameter.abs().sum() == 0:
            torch.nn.init.normal_(parameter, std=0.02)
    return model, create


def step():
    model, create = build()
    diffusion = create(timestep_respacing="")
    images, labels = torch.randn(4, 4, 8, 8), torch.randint(10, (4,))
    times = torch.randint(0, diffusion.num_timesteps, (4,))
    noise = torch.randn_like(images)

    def loss_of(model):
        terms = diffusion.training_losses(model, images, times, {"y": labels}, noise)
        return terms["loss"].mean(), terms["loss"]

    return training.step(model, loss_of)


def sample():
    model, create = build()
    model.eval()
    diffusion = create("8")
    noise = torch.randn(2, 4, 8, 8).repeat(2, 1, 1, 1)
    arguments = {"y": torch.tensor([1, 2, 10, 10]), "cfg_scale": 4.0}
    ancestral = diffusion.p_sample_loop(
        model.forward_with_cfg,
        noise.shape,
        noise,
        clip_denoised=False,
        model_kwargs=arguments,
        device="cpu",
    )
    implicit = diffusion.ddim_sample_loop(
        model.forward_with_cfg,
        noise.shape,
        noise,
        clip_denoised=False,
        model_kwargs=arguments,
        device="cpu",
    )
    return [ancestral, implicit]


CASES = {"step": step, "sample": sample}
