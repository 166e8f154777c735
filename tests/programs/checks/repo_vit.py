"""vit-pytorch: a training step of 27 of its transformers of images, attention maps"""

import torch
import training
from repositories import on_path

PACKAGES = ("einops",)
REPOSITORY = "lucidrains/vit-pytorch@69d24fe9e3024c0d4b02761123b8583a24ebed1e"
VIT = {
    "image_size": 16,
    "patch_size": 4,
    "num_classes": 5,
    "dim": 16,
    "depth": 2,
    "heads": 2,
    "mlp_dim": 24,
}
MODELS = {
    "vit": ("ViT", {**VIT, "dim_head": 8, "dropout": 0.1}),
    "simple_vit": ("SimpleViT", VIT),
    "simple_flash_attn_vit": ("SimpleViT", VIT),
    "simple_vit_with_patch_dropout": ("SimpleViT", {**VIT, "patch_dropout": 0.3}),
    "simple_vit_with_qk_norm": ("SimpleViT", VIT),
    "simple_vit_with_register_tokens": ("SimpleViT", VIT),
    "simple_vit_with_fft": ("SimpleViT", {**VIT, "freq_patch_size": 4}),
    "simple_vit_with_value_residual": ("SimpleViT", VIT),
    "vit_for_small_dataset": ("ViT", VIT),
    "vit_with_patch_merger": ("ViT", {**VIT, "patch_merge_layer": 1, "patch_merge_num_tokens": 4}),
    "vit_with_patch_dropout": ("ViT", VIT),
    "parallel_vit": ("ViT", {**VIT, "num_parallel_branches": 2}),
    "deepvit": ("DeepViT", VIT),
    "normalized_vit": ("nViT", VIT),
    "cait": ("CaiT", {**VIT, "cls_depth": 1, "layer_dropout": 0.0}),
    "rvt": ("RvT", VIT),
    "pit": ("PiT", {**VIT, "depth": (1, 1)}),
    "levit": (
        "LeViT",
        {
            "image_size": 64,
            "num_classes": 5,
            "stages": 2,
            "dim": (16, 24),
            "depth": 1,
            "heads": (2, 2),
            "mlp_mult": 2,
        },
    ),
    "cvt": (
        "CvT",
        {"num_classes": 5, "s1_emb_dim": 8, "s2_emb_dim": 16, "s3_emb_dim": 24, "s3_depth": 1},
    ),
    "max_vit": (
        "MaxViT",
        {
            "num_classes": 5,
            "dim_conv_stem": 8,
            "dim": 8,
            "dim_head": 8,
            "depth": (1, 1),
            "window_size": 4,
        },
    ),
    "mobile_vit": (
        "MobileViT",
        {
            "image_size": (64, 64),
            "dims": [16, 16, 16],
            "channels": [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 16],
            "num_classes": 5,
        },
    ),
    "xcit": ("XCiT", {**VIT, "cls_depth": 1}),
    "nest": (
        "NesT",
        {
            "image_size": 16,
            "patch_size": 2,
            "dim": 8,
            "heads": 1,
            "num_hierarchies": 2,
            "block_repeats": (1, 1),
            "num_classes": 5,
        },
    ),
    "scalable_vit": (
        "ScalableViT",
        {
            "num_classes": 5,
            "dim": 8,
            "heads": (1, 1),
            "depth": (1, 1),
            "ssa_dim_key": (4, 4),
            "reduction_factor": (2, 1),
            "window_size": (4, 2),
        },
    ),
    "cct": (
        "CCT",
        {
            "img_size": 16,
            "embedding_dim": 16,
            "n_conv_layers": 1,
            "num_layers": 2,
            "num_heads": 2,
            "mlp_ratio": 2.0,
            "num_classes": 5,
            "positional_embedding": "learnable",
        },
    ),
    "learnable_memory_vit": ("ViT", VIT),
    "ats_vit": ("ViT", {**VIT, "max_tokens_per_depth": (16, 8)}),
}
SIDES = {"levit": 64, "cvt": 64, "max_vit": 64, "mobile_vit": 64, "scalable_vit": 32}


def step(module):
    def run():
        name, options = MODELS[module]
        with on_path("vit-pytorch"):
            model = getattr(__import__(f"vit_pytorch.{module}", fromlist=["x"]), name)(**options)
        side = SIDES.get(module, 16)
        images, labels = torch.randn(2, 3, side, side), torch.tensor([1, 4])

        def loss_of(model):
            torch.manual_seed(3)
            output = model(images)
            return torch.nn.functional.cross_entropy(output, labels), output

        return training.step(model, loss_of)

    return run


def recorder():
    with on_path("vit-pytorch"):
        from vit_pytorch import ViT
        from vit_pytorch.extractor import Extractor
        from vit_pytorch.recorder import Recorder

    model = ViT(**VIT).eval()
    images = torch.randn(2, 3, 16, 16)
    watched = Recorder(model)
    predictions, maps = watched(images)
    watched.eject()
    return [predictions, maps, Extractor(model)(images)[1]]


CASES = {module: step(module) for module, (_, options) in MODELS.items() if options}
CASES |= {
    "recorder": recorder,
}
