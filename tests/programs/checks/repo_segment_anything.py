"""Segment Anything: image encoder with relative positions, prompts, mask decoder, automatic masks' helpers"""

import torch
import training
from repositories import on_path

PACKAGES = ()
REPOSITORY = "facebookresearch/segment-anything@dca509fe793f601edb92606367a655c15ac00fdf"


def build():
    with on_path("segment-anything"):
        from segment_anything.modeling import (
            ImageEncoderViT, MaskDecoder, PromptEncoder, Sam, TwoWayTransformer,
        )  # fmt: skip

    encoder = ImageEncoderViT(
        depth=2, embed_dim=32, img_size=64, num_heads=2, patch_size=8, qkv_bias=True, use_rel_pos=True,
        global_attn_indexes=[1], window_size=3, out_chans=32,
    )  # fmt: skip
    prompts = PromptEncoder(32, (8, 8), (64, 64), 8)
    transformer = TwoWayTransformer(depth=2, embedding_dim=32, mlp_dim=48, num_heads=2)
    return Sam(encoder, prompts, MaskDecoder(transformer_dim=32, transformer=transformer))


def predict():
    model = build().eval()
    request = {
        "image": torch.randint(0, 255, (3, 48, 64)).float(),
        "original_size": (60, 80),
        "point_coords": torch.tensor([[[20.0, 30.0], [5.0, 7.0]]]),
        "point_labels": torch.tensor([[1, 0]]),
        "boxes": torch.tensor([[4.0, 4.0, 40.0, 40.0]]),
        "mask_inputs": torch.randn(1, 1, 32, 32),
    }
    (result,) = model([request], multimask_output=True)
    return [result["masks"].float().mean(), result["iou_predictions"], result["low_res_logits"]]


def gradients():
    model = build()
    images = torch.randn(1, 3, 64, 64)
    features = model.image_encoder(images)
    sparse, dense = model.prompt_encoder(None, torch.tensor([[4.0, 4.0, 40.0, 40.0]]), None)
    masks, quality = model.mask_decoder(
        features, model.prompt_encoder.get_dense_pe(), sparse, dense, False
    )
    (masks.square().mean() + quality.sum()).backward()
    return [masks, training.gradients(model)]


CASES = {"predict": predict, "gradients": gradients}
