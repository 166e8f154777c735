"""NeRF: positional encoding, rays, coarse and fine samples rendered, training steps"""

import sys
import types

import numpy as np
import torch
from repositories import on_path

PACKAGES = ()
REPOSITORY = "yenchenlin/nerf-pytorch@63a5a630c9abd62b0f21c08703d0ac2ea7d4b9dd"


def nerf():
    stand_ins = {name: types.ModuleType(name) for name in ("imageio", "cv2")}
    missing = {name: module for name, module in stand_ins.items() if name not in sys.modules}
    sys.modules.update(missing)
    try:
        with on_path("nerf-pytorch"):
            import run_nerf

            return run_nerf
    finally:
        torch.set_default_dtype(torch.float32)
        for name in missing:
            del sys.modules[name]


def train():
    program = nerf()
    embed, size = program.get_embedder(4, 0)
    embed_view, size_view = program.get_embedder(2, 0)
    nets = [
        program.NeRF(
            D=3,
            W=32,
            input_ch=size,
            input_ch_views=size_view,
            output_ch=5,
            skips=[1],
            use_viewdirs=True,
        )
        for _ in range(2)
    ]

    def query(points, views, network):
        return program.run_network(points, views, network, embed, embed_view, netchunk=256)

    pose = torch.tensor([[1.0, 0, 0, 0.1], [0, 0.8, -0.6, 0.2], [0, 0.6, 0.8, 3.0]])
    intrinsics = np.array([[8.0, 0, 4], [0, 8.0, 4], [0, 0, 1]])
    target = torch.rand(8, 8, 3)
    optimizer = torch.optim.Adam([p for net in nets for p in net.parameters()], lr=5e-4)
    losses = []
    for _ in range(4):
        color, _, opacity, extras = program.render(
            8, 8, intrinsics, chunk=40, c2w=pose, near=2.0, far=4.0, ndc=False, use_viewdirs=True,
            network_fn=nets[0], network_fine=nets[1], network_query_fn=query, N_samples=8, N_importance=8,
            perturb=1.0, raw_noise_std=1.0, white_bkgd=True, retraw=True,
        )  # fmt: skip
        loss = program.img2mse(color, target) + program.img2mse(extras["rgb0"], target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append([loss, program.mse2psnr(loss)])
    ndc = program.ndc_rays(8, 8, 8.0, 1.0, torch.randn(5, 3) + 3, torch.randn(5, 3))
    return [losses, color, opacity, extras["raw"], list(ndc)]


CASES = {"train": train}
