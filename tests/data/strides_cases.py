"""Calls whose results' strides are compared with PyTorch's: expressions over `t`, `f` (nn.functional), `x` and `y`."""

SHAPES = {3: (2, 4, 6), 4: (2, 4, 6, 8), 5: (2, 4, 3, 6, 8)}
# Dense in another order of dims, broadcast, and parts of a larger tensor.
LAYOUTS = ("plain", "last", "reversed", "swapped", "turned", "broadcast", "strided", "channels")

ANY = """
t.exp(x); x.clone(); x.contiguous(); x.double(); t.empty_like(x); t.zeros_like(x); t.rand_like(x); f.gelu(x)
f.hardswish(x); f.logsigmoid(x); f.rrelu(x); f.rrelu(x, training=True); f.glu(x, 1); f.softmax(x, 1); f.dropout(x)
x > 0.5; x + y; y * x; t.maximum(x, y); t.lerp(x, y, 0.5); t.where(x > 0.5, x, y); t.addcmul(x, x, y); x.clamp(0, 1)
x**y
x.masked_fill(x > 0.5, 0); x.masked_scatter(x > 0.5, x); f.mse_loss(x, y, reduction='none')
t.add(x, y, out=t.empty(0)); t.exp(x, out=t.empty(0)); t.sum(x, 1); t.mean(x, -1, keepdim=True); t.amax(x, (0, -1))
t.max(x, 1); t.argmax(x, -1)
t.var_mean(x, 1); t.prod(x, 1); t.logsumexp(x, -1); t.linalg.vector_norm(x, dim=1); t.median(x, 1)
t.kthvalue(x, 1, -1)
t.cumsum(x, 1); t.cummax(x, 1); t.sort(x, 1); t.topk(x, 2, -1); t.argsort(x, -1); t.cat([x, x], 1); t.cat([x, x], -1)
t.cat([x, y]); t.stack([x, x]); t.stack([x, x], 1); t.stack([x, x], -1); t.stack([x, y], 2); t.hstack([x, x])
t.roll(x, 1, 1); t.roll(x, 1); t.roll(x, (1, 2), (0, 1)); t.flip(x, (1,)); t.rot90(x, 1, (0, 1)); t.rot90(x, 4)
x.repeat(*([2] * x.dim())); t.repeat_interleave(x, 2, 1); t.index_select(x, 1, i)
t.gather(x, 1, t.zeros_like(x).long()); x[i]; x[:, i]; x[..., i]; x[i, i]; x[:, [1, 0], 1:]; x[i, :, i]
x[i.reshape(2, 1)]; x[t.tensor([True, False])]
t.index_fill(x, 1, i, 2.0); t.index_add(x, 1, i, x[:, :2]); t.scatter(x, 1, t.zeros_like(x).long(), x); t.tril(x)
x.reshape(2, -1); x.flatten(-2); t.bernoulli(x); t.normal(x, 1.0); t.nan_to_num(x); t.complex(x, x).abs()
f.normalize(x); t.matmul(x, x.mT); f.linear(x, t.ones(3, x.shape[-1])); f.layer_norm(x, x.shape[-1:])
f.rms_norm(x, x.shape[-1:])
f.group_norm(x, 2); f.instance_norm(x); f.batch_norm(x, None, None, training=True)
f.pad(x, (1, 1)); f.pad(x, (0, 0)); f.pad(x, (1, 1) * (x.dim() - 2), mode='reflect')
f.pad(x, (1, 1) * (x.dim() - 2), mode='replicate'); f.pad(x, (1, 1) * (x.dim() - 2), mode='circular')
x.expand(2, *x.shape).clone(); x.to(t.float64, memory_format=t.contiguous_format)
"""

IMAGES = """
x.to(memory_format=t.channels_last); x.contiguous(memory_format=t.channels_last); f.pixel_shuffle(x, 2)
f.pixel_unshuffle(x, 2); f.pixel_shuffle(x, 1); f.channel_shuffle(x, 2); t.channel_shuffle(x, 4); f.max_pool2d(x, 2)
f.max_pool2d(x, 2, return_indices=True); f.avg_pool2d(x, 2); f.adaptive_avg_pool2d(x, 2); f.adaptive_avg_pool2d(x, 1)
f.adaptive_max_pool2d(x, 2); f.max_unpool2d(*f.max_pool2d(x, 2, return_indices=True), 2); f.max_pool2d(x[0], 2)
f.interpolate(x, scale_factor=2); f.interpolate(x, scale_factor=2, mode='bilinear')
f.interpolate(x, scale_factor=2, mode='bicubic', antialias=True); f.interpolate(x, scale_factor=2, mode='area')
f.conv2d(x, t.ones(5, 4, 3, 3)); f.conv2d(x, t.ones(5, 4, 3, 3).to(memory_format=t.channels_last)); f.unfold(x, 2)
f.conv2d(x, t.ones(5, 4, 1, 1)); f.conv2d(x, t.ones(4, 1, 3, 3), groups=4); f.conv2d(x[0], t.ones(5, 4, 3, 3))
f.conv_transpose2d(x, t.ones(4, 5, 3, 3)); f.scaled_dot_product_attention(x, x, x); f.dropout2d(x)
f.conv2d(x[:, :1], t.ones(5, 1, 3, 3)); f.conv2d(x[:, :1].to(memory_format=t.channels_last), t.ones(5, 1, 3, 3))
f.conv2d(x[:, :1].clone(memory_format=t.channels_last).clone(), t.ones(5, 1, 3, 3))
"""

SIGNALS = """
f.max_pool1d(x, 2); f.max_pool1d(x, 2, return_indices=True); f.avg_pool1d(x, 2); f.adaptive_avg_pool1d(x, 2)
f.adaptive_max_pool1d(x, 2); f.interpolate(x, scale_factor=2); f.conv1d(x, t.ones(5, 4, 3))
f.conv_transpose1d(x, t.ones(4, 5, 3))
f.bilinear(x, x, t.ones(3, 6, 6)); x.clone().resize_(2, 4, 6); t.put(x, i, t.ones(2)); t.unbind_copy(x, 1)
t.renorm(x, 2, 1, 1.0); t.fake_quantize_per_tensor_affine(x, 0.1, 0, 0, 255); t.narrow_copy(x, 1, 0, 2)
"""

VOLUMES = """
x.to(memory_format=t.channels_last_3d); f.max_pool3d(x, 2); f.avg_pool3d(x, 2); f.adaptive_avg_pool3d(x, 2)
f.adaptive_max_pool3d(x, 2); f.interpolate(x, scale_factor=2, mode='trilinear'); f.conv3d(x, t.ones(5, 4, 3, 3, 3))
f.conv_transpose3d(x, t.ones(4, 5, 3, 3, 3))
"""

# Random masks are drawn in memory order.
MASKS = """
f.dropout(f.pixel_shuffle(x, 2)); f.dropout(f.pixel_unshuffle(x, 2)); f.dropout(f.channel_shuffle(x, 2))
f.dropout(t.roll(x, 1, 1)); f.dropout(t.stack([x, x])); f.dropout(f.rms_norm(x, (8,))); f.dropout(f.conv2d(x, w))
f.dropout(f.pad(x, (1, 1, 1, 1), mode='reflect')); f.dropout(f.pad(x, (1, 1, 1, 1))); f.dropout(x[t.tensor([1, 0])])
f.dropout(f.max_pool2d(x, 2)); f.dropout(f.group_norm(x, 2) * 0 + 1); f.dropout(t.cat([x, x], 1))
t.empty_like(x).normal_(); f.dropout(x.masked_fill(x > 2, 0)); f.dropout(f.scaled_dot_product_attention(x, x, x))
f.dropout(f.interpolate(x, (9, 9)))
"""


def expressions(text: str) -> list[str]:
    return [part.strip() for line in text.strip().splitlines() for part in line.split(";")]


def cases() -> list[tuple[str, int]]:
    """(expression, rank of x)."""
    anywhere = [(case, rank) for case in expressions(ANY) for rank in SHAPES]
    anywhere += [(c, 3) for c in expressions(SIGNALS)]
    return anywhere + [(c, 4) for c in expressions(IMAGES)] + [(c, 5) for c in expressions(VOLUMES)]


def tensor(t, rank: int, layout: str):
    """A tensor of SHAPES[rank] and that layout, of positive values."""
    shape = SHAPES[rank]
    if layout == "strided":
        return tensor_of(t, (*shape[:-1], 2 * shape[-1]), "last")[..., ::2]
    if layout == "channels":
        return tensor_of(t, (shape[0], 2 * shape[1], *shape[2:]), "last")[:, : shape[1]]
    return tensor_of(t, shape, layout)


def tensor_of(t, shape, layout):
    n, rank = 1, len(shape)
    for size in shape:
        n *= size
    values = (t.arange(n).float() % 7 + 1).div(8).reshape(shape)
    if layout == "broadcast":
        return values[:, :1].expand(shape)
    order = {
        "plain": list(range(rank)),
        "last": [0, *range(2, rank), 1],
        "reversed": list(range(rank))[::-1],
        "swapped": [1, 0, *range(2, rank)],
        "turned": [*range(rank - 2), rank - 1, rank - 2],
    }[layout]
    return values.permute(order).contiguous().permute([order.index(d) for d in range(rank)])


def geometry(result) -> str:
    """Strides of every tensor in a result; those of dims of size 1 mean nothing."""
    results = result if isinstance(result, (tuple, list)) else [result]
    return ";".join(
        ",".join(str(s) if n != 1 else "_" for n, s in zip(r.shape, r.stride(), strict=True))
        for r in results
    )


def evaluate(t, case: str, rank: int, layout: str):
    t.manual_seed(0)
    x = tensor(t, rank, layout)
    names = {
        "t": t,
        "f": t.nn.functional,
        "x": x,
        "y": tensor(t, rank, "last"),
        "i": t.tensor([1, 0]),
        "w": t.ones(5, 4, 3, 3),
    }
    return eval(case, names)


def drawn(t, case: str, layout: str) -> str:
    """Which elements, in logical order, a mask keeps, as hexadecimal digits of one number."""
    kept = evaluate(t, case, 4, layout).reshape(-1) > 0
    return f"{int('1' + ''.join('01'[int(bit)] for bit in kept.tolist()), 2):x}"
