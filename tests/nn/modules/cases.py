"""Modules with inputs, written against whichever library is passed in as T; see record_modules.py.

A case is (name, module, inputs, keyword arguments, training, number of calls).
"""


def digest(value, T):
    """Nested numbers that identify a result: shape, sum and a weighted sum of every tensor."""
    if value is None:
        return None
    if isinstance(value, (tuple, list)):
        return [digest(item, T) for item in value]
    if value.is_complex():
        value = T.view_as_real(value)
    flat = value.detach().double().reshape(-1)
    return [
        list(value.shape),
        flat.sum().item(),
        (flat * T.linspace(0.5, 1.5, flat.numel()).double()).sum().item(),
    ]


def run(case, T):
    """Digests of output, input gradients, parameter gradients, and state."""
    _, make, make_inputs, kwargs, training, calls = case
    T.manual_seed(0)
    module = make()
    module.train(training)
    inputs = make_inputs()
    for value in inputs:
        if value.is_floating_point() and not value.requires_grad:
            value.requires_grad_()
    for _ in range(calls):
        output = module(*inputs, **kwargs)
    total = sum(
        (t * T.linspace(0.5, 1.5, t.numel()).reshape(t.shape)).sum()
        for t in tensors(output, T)
        if t.is_floating_point()
    )
    if total.requires_grad:
        total.backward()
    return {
        "output": digest(output, T),
        "input_grads": digest([value.grad for value in inputs], T),
        "grads": digest([p.grad for p in module.parameters()], T),
        "state": [list(module.state_dict()), digest(list(module.state_dict().values()), T)],
    }


def tensors(value, T):
    """The tensors in nested tuples and lists."""
    if isinstance(value, T.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [t for item in value for t in tensors(item, T)]
    return []


class Builder:
    def __init__(self, T):
        self.T = T
        self.cases = []

    def add(self, name, make, *shapes, training=True, calls=1, **kwargs):
        T = self.T

        def inputs():
            return [shape() if callable(shape) else T.randn(*shape) for shape in shapes]

        self.cases.append((name, make, inputs, kwargs, training, calls))


def spatial(b, nn):
    """Convolution, pooling, normalisation, padding, dropout and upsampling in one to three dims."""
    for d, shape in ((1, (2, 4, 9)), (2, (2, 4, 9, 8)), (3, (1, 4, 5, 6, 5))):

        def kind(name, d=d):
            return getattr(nn, f"{name}{d}d")

        for mode in ("zeros", "reflect", "circular", "replicate"):
            b.add(
                f"conv{d}_{mode}",
                lambda k=kind, m=mode: k("Conv")(4, 6, 3, padding=1, padding_mode=m, groups=2),
                shape,
            )
        b.add(f"conv{d}_same", lambda k=kind: k("Conv")(4, 6, 4, padding="same"), shape)
        b.add(
            f"conv_transpose{d}",
            lambda k=kind: k("ConvTranspose")(4, 6, 3, 2, 1, 1, groups=2),
            shape,
        )
        size = [extent * 2 + 2 for extent in shape[2:]]
        b.add(
            f"conv_transpose{d}_size",
            lambda k=kind: k("ConvTranspose")(4, 6, 3, 2),
            shape,
            output_size=size,
        )
        b.add(f"lazy_conv{d}", lambda k=kind: k("LazyConv")(6, 3), shape)
        b.add(f"lazy_conv_transpose{d}", lambda k=kind: k("LazyConvTranspose")(6, 3), shape)
        b.add(f"max_pool{d}", lambda k=kind: k("MaxPool")(3, 2, 1, return_indices=True), shape)
        b.add(f"avg_pool{d}", lambda k=kind: k("AvgPool")(3, 2, 1, ceil_mode=True), shape)
        b.add(f"lp_pool{d}", lambda k=kind: k("LPPool")(2, 2), shape)
        b.add(f"adaptive_max{d}", lambda k=kind: k("AdaptiveMaxPool")(3), shape)
        b.add(f"adaptive_avg{d}", lambda k=kind: k("AdaptiveAvgPool")(3), shape)
        for training in (True, False):
            b.add(
                f"batch_norm{d}_{training}",
                lambda k=kind: k("BatchNorm")(4),
                shape,
                training=training,
                calls=2,
            )
            average = lambda k=kind: k("BatchNorm")(4, momentum=None, affine=False)
            b.add(f"batch_norm{d}_average_{training}", average, shape, training=training, calls=3)
            tracked = lambda k=kind: k("InstanceNorm")(4, affine=True, track_running_stats=True)
            b.add(f"instance_norm{d}_{training}", tracked, shape, training=training)
        b.add(f"instance_norm{d}_unbatched", lambda k=kind: k("InstanceNorm")(4), shape[1:])
        b.add(f"lazy_batch_norm{d}", lambda k=kind: k("LazyBatchNorm")(), shape)
        b.add(f"lazy_instance_norm{d}", lambda k=kind: k("LazyInstanceNorm")(affine=True), shape)
        b.add(f"constant_pad{d}", lambda k=kind: k("ConstantPad")(2, 1.5), shape)
        for pad in ("Zero", "Reflection", "Replication", "Circular"):
            b.add(f"{pad.lower()}_pad{d}", lambda k=kind, p=pad: k(f"{p}Pad")(2), shape)
        b.add(f"dropout{d}", lambda k=kind: k("Dropout")(0.4), shape)
        b.add(f"upsample{d}", lambda: nn.Upsample(scale_factor=1.7), shape)
        mode = ("linear", "bilinear", "trilinear")[d - 1]
        b.add(
            f"upsample{d}_{mode}",
            lambda m=mode: nn.Upsample(size=7, mode=m, align_corners=True),
            shape,
        )

        class Unpool(nn.Module):
            def __init__(self, k=kind):
                super().__init__()
                self.pool, self.unpool = k("MaxPool")(2, return_indices=True), k("MaxUnpool")(2)

            def forward(self, x):
                y, indices = self.pool(x)
                return self.unpool(y, indices, output_size=x.size())

        b.add(f"max_unpool{d}", Unpool, shape)
    b.add("fractional2", lambda: nn.FractionalMaxPool2d(2, output_ratio=0.6), (2, 4, 9, 8))
    b.add("fractional3", lambda: nn.FractionalMaxPool3d(2, output_size=3), (2, 4, 6, 6, 7))


def pointwise(b, nn):
    """Activations, in place too, and the small modules."""
    names = """ReLU ReLU6 RReLU Hardtanh Sigmoid Hardsigmoid Tanh SiLU Mish Hardswish ELU CELU SELU GELU Hardshrink
        LeakyReLU LogSigmoid Softplus Softshrink PReLU Softsign Tanhshrink Softmax2d Dropout AlphaDropout
        FeatureAlphaDropout Identity Flatten""".split()
    for name in names:
        b.add(name, getattr(nn, name), (2, 4, 3, 6))
    b.add("GLU", nn.GLU, (2, 6))
    for name in ("Softmin", "Softmax", "LogSoftmax"):
        b.add(name, lambda n=name: getattr(nn, n)(1), (2, 4, 3))
    for name in "ReLU ReLU6 SiLU Mish Hardswish ELU SELU CELU LeakyReLU Hardsigmoid Hardtanh RReLU Dropout".split():

        class Inplace(nn.Module):
            def __init__(self, name=name):
                super().__init__()
                self.inner = getattr(nn, name)(inplace=True)

            def forward(self, x):
                return self.inner(x * 1.0)

        b.add(f"{name}_inplace", Inplace, (2, 4, 3))
    b.add("prelu_channels", lambda: nn.PReLU(4), (2, 4, 3))
    b.add("threshold", lambda: nn.Threshold(0.1, 0.5), (3, 3))
    b.add("layer_norm", lambda: nn.LayerNorm((3, 4)), (2, 3, 4))
    b.add("group_norm", lambda: nn.GroupNorm(2, 4), (2, 4, 5))
    b.add("rms_norm", lambda: nn.RMSNorm(4), (2, 3, 4))
    b.add("local_response_norm", lambda: nn.LocalResponseNorm(3), (2, 6, 4, 4))
    b.add("linear", lambda: nn.Linear(3, 4), (2, 3))
    b.add("lazy_linear", lambda: nn.LazyLinear(4), (2, 3))
    b.add("bilinear", lambda: nn.Bilinear(3, 4, 5), (2, 3), (2, 4))
    b.add("pixel_shuffle", lambda: nn.PixelShuffle(2), (1, 8, 2, 3))
    b.add("pixel_unshuffle", lambda: nn.PixelUnshuffle(2), (1, 2, 4, 6))
    b.add("channel_shuffle", lambda: nn.ChannelShuffle(2), (1, 6, 2, 2))
    b.add("fold", lambda: nn.Fold((4, 5), 2), (2, 8, 12))
    b.add("unfold", lambda: nn.Unfold(2, padding=1), (2, 3, 4, 4))
    b.add("cosine", nn.CosineSimilarity, (4, 5), (4, 5))
    b.add("pairwise", nn.PairwiseDistance, (4, 5), (4, 5))
    b.add("unflatten", lambda: nn.Unflatten(1, (2, 3)), (2, 6))


def tables(b, nn, T):
    """Embeddings and the adaptive softmax."""

    def ints(high, *shape):
        return lambda: T.randint(high, shape)

    b.add("embedding", lambda: nn.Embedding(10, 4, padding_idx=1), ints(10, 3, 5))
    b.add(
        "embedding_max_norm",
        lambda: nn.Embedding(10, 4, max_norm=1.0, scale_grad_by_freq=True),
        ints(10, 3, 5),
    )
    for mode in ("sum", "mean", "max"):
        b.add(
            f"bag_{mode}",
            lambda m=mode: nn.EmbeddingBag(10, 4, mode=m, padding_idx=2),
            ints(10, 3, 5),
        )
        offsets = lambda: T.tensor([0, 2, 2, 5])
        b.add(
            f"bag_offsets_{mode}",
            lambda m=mode: nn.EmbeddingBag(10, 4, mode=m),
            ints(10, 9),
            offsets,
        )
    b.add(
        "adaptive_softmax",
        lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10]),
        (6, 8),
        ints(20, 6),
    )


def recurrent(b, nn):
    """RNN, GRU and LSTM: layers, directions, layouts, projections, packed input; and the cells."""
    settings = (
        {},
        {"bidirectional": True, "num_layers": 2},
        {"num_layers": 2, "dropout": 0.3, "batch_first": True},
    )
    for name in ("RNN", "GRU", "LSTM"):
        for i, kwargs in enumerate(settings):
            b.add(f"{name}_{i}", lambda n=name, k=kwargs: getattr(nn, n)(3, 4, **k), (2, 5, 3))
        b.add(f"{name}Cell", lambda n=name: getattr(nn, f"{n}Cell")(3, 4), (2, 3))
        b.add(
            f"{name}Cell_unbatched", lambda n=name: getattr(nn, f"{n}Cell")(3, 4, bias=False), (3,)
        )

        class Packed(nn.Module):
            def __init__(self, name=name):
                super().__init__()
                self.inner = getattr(nn, name)(3, 4, 2, bidirectional=True)

            def forward(self, x):
                packed = nn.utils.rnn.pack_padded_sequence(x, [2, 5, 3], enforce_sorted=False)
                output, hidden = self.inner(packed)
                return nn.utils.rnn.pad_packed_sequence(output, padding_value=-1), hidden

        b.add(f"{name}_packed", Packed, (5, 3, 3))
    b.add("LSTM_projected", lambda: nn.LSTM(3, 4, 2, proj_size=2, bidirectional=True), (5, 2, 3))
    b.add("RNN_relu", lambda: nn.RNN(3, 4, nonlinearity="relu", bias=False), (5, 3))


def attention(b, nn, T):
    """Multi-head attention and the transformer."""
    settings = ({}, {"bias": False}, {"add_bias_kv": True, "add_zero_attn": True}, {"kdim": 5, "vdim": 6},
                {"batch_first": True}, {"dropout": 0.2})  # fmt: skip
    for i, kwargs in enumerate(settings):
        k, v = kwargs.get("kdim", 4), kwargs.get("vdim", 4)
        for weights in (True, False):
            make = lambda kw=kwargs: nn.MultiheadAttention(4, 2, **kw)
            b.add(f"mha{i}_{weights}", make, (3, 3, 4), (3, 3, k), (3, 3, v), need_weights=weights)
            b.add(f"mha{i}_masked_{weights}", make, (3, 3, 4), (3, 3, k), (3, 3, v), need_weights=weights,
                  attn_mask=T.ones(3, 3).triu(1).bool(),
                  key_padding_mask=T.tensor([[False, False, True]] * 3))  # fmt: skip
            b.add(f"mha{i}_unbatched_{weights}", make, (3, 4), (3, k), (3, v), need_weights=weights,
                  average_attn_weights=False)  # fmt: skip
    causal = nn.Transformer.generate_square_subsequent_mask
    b.add("mha_causal", lambda: nn.MultiheadAttention(4, 2), (3, 2, 4), (3, 2, 4), (3, 2, 4), need_weights=False,
          is_causal=True, attn_mask=causal(3))  # fmt: skip
    for first in (True, False):
        for act in ("relu", "gelu"):
            encoder = lambda f=first, a=act: nn.TransformerEncoderLayer(
                4, 2, 8, 0.0, a, norm_first=f
            )
            b.add(f"encoder_layer_{first}_{act}", encoder, (3, 2, 4))
            b.add(f"decoder_layer_{first}_{act}",
                  lambda f=first, a=act: nn.TransformerDecoderLayer(4, 2, 8, 0.1, a, norm_first=f, batch_first=True),
                  (2, 3, 4), (2, 5, 4))  # fmt: skip
    b.add(
        "transformer",
        lambda: nn.Transformer(4, 2, 2, 2, 8),
        (3, 2, 4),
        (5, 2, 4),
        tgt_mask=causal(5),
    )


def losses(b, nn, T):
    """Losses with each reduction."""
    x, p = (4, 5), lambda: T.rand(4, 5)
    classes, signs = lambda: T.randint(5, (4,)), lambda: T.tensor([1.0, -1, 1, -1])
    names = """L1Loss MSELoss SmoothL1Loss HuberLoss BCEWithLogitsLoss PoissonNLLLoss KLDivLoss HingeEmbeddingLoss
        MultiLabelSoftMarginLoss""".split()
    for red in ("mean", "sum", "none"):

        def make(name, r=red, **kwargs):
            return lambda: getattr(nn, name)(reduction=r, **kwargs)

        for name in names:
            b.add(f"{name}_{red}", make(name), x, p)
        b.add(f"bce_{red}", make("BCELoss"), p, p)
        b.add(f"cross_entropy_{red}", make("CrossEntropyLoss", label_smoothing=0.1), x, classes)
        b.add(f"cross_entropy_probabilities_{red}", make("CrossEntropyLoss"), x, p)
        b.add(f"nll_{red}", make("NLLLoss", ignore_index=2), x, classes)
        b.add(f"multi_margin_{red}", make("MultiMarginLoss", p=2), x, classes)
        b.add(
            f"multilabel_margin_{red}",
            make("MultiLabelMarginLoss"),
            x,
            lambda: T.tensor([[0, 2, -1, 1, 1]] * 4),
        )
        b.add(f"gaussian_{red}", make("GaussianNLLLoss", full=True), x, x, p)
        b.add(f"margin_ranking_{red}", make("MarginRankingLoss", margin=0.2), (4,), (4,), signs)
        b.add(
            f"cosine_embedding_{red}",
            make("CosineEmbeddingLoss", margin=0.1),
            x,
            x,
            lambda: signs().long(),
        )
        b.add(f"triplet_{red}", make("TripletMarginLoss", swap=True), x, x, x)
        b.add(f"triplet_distance_{red}", make("TripletMarginWithDistanceLoss"), x, x, x)
        b.add(f"ctc_{red}", make("CTCLoss"), lambda: T.randn(8, 2, 5).log_softmax(2).detach(),
              lambda: T.randint(1, 5, (2, 3)), lambda: T.tensor([8, 7]), lambda: T.tensor([3, 2]))  # fmt: skip


def all_cases(T):
    """Every case, for the library T."""
    b = Builder(T)
    nn = T.nn
    spatial(b, nn)
    pointwise(b, nn)
    tables(b, nn, T)
    recurrent(b, nn)
    attention(b, nn, T)
    losses(b, nn, T)
    return b.cases
