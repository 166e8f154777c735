"""denoising-diffusion-pytorch: U-Nets, objectives, samplers, 1d, Karras networks, EMA training"""

import torch
import training
from repositories import on_path

PACKAGES = ("einops", "ema-pytorch", "accelerate")
REPOSITORY = "lucidrains/denoising-diffusion-pytorch@faed4db28e724735323fa91c70aa9b28a6e1cbac"


def library():
    with on_path("denoising-diffusion-pytorch"):
        import denoising_diffusion_pytorch

        return denoising_diffusion_pytorch


def objective(kind, **options):
    def run():
        ddpm = library()
        net = ddpm.Unet(dim=8, dim_mults=(1, 2), flash_attn=False, attn_heads=2, attn_dim_head=8)
        model = ddpm.GaussianDiffusion(net, image_size=8, timesteps=20, objective=kind, **options)
        images = torch.rand(2, 3, 8, 8)

        def loss_of(model):
            torch.manual_seed(1)
            loss = model(images)
            return loss, loss

        result = training.step(model, loss_of)
        torch.manual_seed(2)
        return [result, model.sample(batch_size=2)]

    return run


def line():
    ddpm = library()
    net = ddpm.Unet1D(dim=8, dim_mults=(1, 2), channels=3)
    model = ddpm.GaussianDiffusion1D(net, seq_length=16, timesteps=15, objective="pred_v")
    loss = model(torch.rand(2, 3, 16))
    loss.backward()
    return [loss, training.gradients(model), model.eval().sample(batch_size=2)]


def karras():
    ddpm = library()
    net = ddpm.KarrasUnet(image_size=8, dim=8, dim_max=16, num_downsamples=1, num_blocks_per_stage=1,
                          attn_dim_head=8, fourier_dim=8, attn_res=(4,))  # fmt: skip
    output = net(torch.randn(2, 4, 8, 8), torch.rand(2))
    output.square().mean().backward()
    return [output, training.gradients(net)]


def elucidated():
    ddpm = library()
    net = ddpm.Unet(
        dim=8, dim_mults=(1, 2), attn_heads=2, attn_dim_head=8, random_fourier_features=True
    )
    model = ddpm.ElucidatedDiffusion(net, image_size=8, num_sample_steps=4)
    loss = model(torch.rand(2, 3, 8, 8))
    loss.backward()
    return [loss, training.gradients(model), model.sample(batch_size=2)]


def guided():
    with on_path("denoising-diffusion-pytorch"):
        from denoising_diffusion_pytorch.classifier_free_guidance import GaussianDiffusion, Unet
    net = Unet(dim=8, dim_mults=(1, 2), num_classes=4, cond_drop_prob=0.5)
    model = GaussianDiffusion(net, image_size=8, timesteps=12)
    labels = torch.randint(0, 4, (2,))
    loss = model(torch.rand(2, 3, 8, 8), classes=labels)
    loss.backward()
    return [loss, training.gradients(model), model.sample(classes=labels, cond_scale=3.0)]


CASES = {
    "v": objective("pred_v"),
    "noise": objective("pred_noise", sampling_timesteps=5, beta_schedule="linear"),
    "start": objective("pred_x0", beta_schedule="cosine"),
    "1d": line,
    "karras": karras,
    "elucidated": elucidated,
    "guided": guided,
}
