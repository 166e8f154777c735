"""labml's annotated implementations: 20 layers and networks forwards and backwards, eight optimizers"""

import torch
import training
from repositories import on_path

PACKAGES = ("labml",)
REPOSITORY = (
    "labmlai/annotated_deep_learning_paper_implementations@e6b3c8a6a2cdae4071bcde1abeaaf9a2bc37bd53"
)
FOLDER = "annotated_deep_learning_paper_implementations"


def part(module):
    from labml import tracker

    tracker.debug = lambda *arguments: None  # a name that the installed labml no longer has
    with on_path(FOLDER):
        return __import__(f"labml_nn.{module}", fromlist=["x"])


def first(value):
    return first(value[0]) if isinstance(value, tuple | list) else value


def layer(module, build, make_input):
    """Output and gradients of a module that build() makes of the imported file."""

    def run():
        with on_path(FOLDER):
            net = build(part(module))
            inputs = make_input()
            output = net(**inputs) if isinstance(inputs, dict) else net(*inputs)
            first(output).square().mean().backward()
        return [output, training.gradients(net)]

    return run


def randn(*shape):
    return lambda: (torch.randn(*shape),)


def attention(*shape, mask=False):
    def make():
        x = torch.randn(*shape)
        masks = {"mask": torch.ones(shape[0], shape[0], 1, dtype=torch.bool)} if mask else {}
        return {"query": x, "key": x, "value": x, **masks}

    return make


def graph():
    return torch.randn(7, 5), (torch.rand(7, 7, 1) > 0.5) | torch.eye(7, dtype=torch.bool)[
        ..., None
    ]


def optimize(module, name, **options):
    def run():
        with on_path(FOLDER):
            loaded = part(f"optimizers.{module}")
            net = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Tanh(), torch.nn.Linear(6, 1))
            optimizer = getattr(loaded, name)(net.parameters(), lr=1e-2, **options)
            x = torch.randn(20, 4)
            losses = []
            for _ in range(8):
                loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss)
        return [losses, list(net.parameters())]

    return run


def switch():
    with on_path(FOLDER):
        loaded = part("transformers.switch")
        feed_forward = part("transformers.feed_forward").FeedForward
        net = loaded.SwitchFeedForward(
            capacity_factor=1.2,
            drop_tokens=True,
            is_scale_prob=True,
            n_experts=3,
            expert=feed_forward(8, 12),
            d_model=8,
        ).eval()
        output = net(torch.randn(5, 2, 8))
        output[0].square().mean().backward()
    return [list(output), training.gradients(net)]


def evidence():
    loaded = part("uncertainty.evidence")
    found = []
    for name in (
        "MaximumLikelihoodLoss",
        "CrossEntropyBayesRisk",
        "SquaredErrorBayesRisk",
        "KLDivergenceLoss",
    ):
        scores = (torch.rand(4, 3) * 3).requires_grad_()
        loss = getattr(loaded, name)()(scores, torch.eye(3)[torch.tensor([0, 2, 1, 1])])
        found.append([loss, torch.autograd.grad(loss, scores)[0]])
    return found


CASES = {
    "group_norm": layer("normalization.group_norm", lambda m: m.GroupNorm(2, 6), randn(2, 6, 4)),
    "instance_norm": layer(
        "normalization.instance_norm", lambda m: m.InstanceNorm(6), randn(2, 6, 4)
    ),
    "layer_norm": layer("normalization.layer_norm", lambda m: m.LayerNorm([6, 4]), randn(2, 6, 4)),
    "channel_norm": layer(
        "normalization.batch_channel_norm", lambda m: m.BatchChannelNorm(6, 2), randn(2, 6, 4)
    ),
    "standardized": layer(
        "normalization.weight_standardization.conv2d",
        lambda m: m.Conv2d(3, 4, 3),
        randn(2, 3, 6, 6),
    ),
    "multi_head": layer(
        "transformers.mha", lambda m: m.MultiHeadAttention(2, 8, 0.1), attention(5, 2, 8)
    ),
    "relative": layer(
        "transformers.xl.relative_mha",
        lambda m: m.RelativeMultiHeadAttention(2, 8, 0.1),
        attention(5, 2, 8),
    ),
    "rotary": layer(
        "transformers.rope", lambda m: m.RotaryPEMultiHeadAttention(2, 8), attention(5, 2, 8)
    ),
    "aft": layer("transformers.aft", lambda m: m.AFTLocal(8, 5, 3), attention(5, 2, 8, mask=True)),
    "gmlp": layer(
        "transformers.gmlp", lambda m: m.GMLPBlock(8, 12, 5), lambda: {"x": torch.randn(5, 2, 8)}
    ),
    "switch": switch,
    "capsules": layer("capsule_networks", lambda m: m.Router(5, 3, 4, 6, 3), randn(2, 5, 4)),
    "lstm": layer("lstm", lambda m: m.LSTM(4, 6, 2), randn(5, 2, 4)),
    "hyper_lstm": layer(
        "hypernetworks.hyper_lstm", lambda m: m.HyperLSTM(4, 6, 5, 3, 2), randn(5, 2, 4)
    ),
    "highway": layer("recurrent_highway_networks", lambda m: m.RHN(4, 6, 2, 2), randn(5, 2, 4)),
    "ponder": layer(
        "adaptive_computation.ponder_net", lambda m: m.ParityPonderGRU(6, 5, 4), randn(3, 6)
    ),
    "conv_mixer": layer(
        "conv_mixer",
        lambda m: m.ConvMixer(
            m.ConvMixerLayer(8, 3), 2, m.PatchEmbeddings(8, 2, 3), m.ClassificationHead(8, 4)
        ),
        randn(4, 3, 8, 8),
    ),
    "unet": layer("unet", lambda m: m.UNet(1, 2), randn(1, 1, 32, 32)),
    "gat": layer("graphs.gat", lambda m: m.GraphAttentionLayer(5, 6, 2, dropout=0.1), graph),
    "gatv2": layer("graphs.gatv2", lambda m: m.GraphAttentionV2Layer(5, 6, 2, dropout=0.1), graph),
    "evidence": evidence,
    "adam": optimize("adam", "Adam"),
    "adam_plain_update": optimize("adam", "Adam", optimized_update=False),
    "amsgrad": optimize("amsgrad", "AMSGrad"),
    "belief": optimize("ada_belief", "AdaBelief"),
    "radam": optimize("radam", "RAdam"),
    "noam": optimize("noam", "Noam", warmup=4, d_model=64),
    "warmup": optimize("adam_warmup", "AdamWarmup", warmup=4),
    "cosine": optimize(
        "adam_warmup_cosine_decay", "AdamWarmupCosineDecay", warmup=2, total_steps=8
    ),
}
