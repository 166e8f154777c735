"""Scaled dot-product attention."""

import numpy as np
import scipy.special

from flambeau.testing.opspec import Case, OpSpec, Sample

QUERY, KEY, VALUE = (2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 2)


def attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None):
    scores = q @ np.swapaxes(k, -1, -2) * (1 / np.sqrt(q.shape[-1]) if scale is None else scale)
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    if attn_mask is not None:
        if attn_mask.dtype == bool:
            scores = np.where(attn_mask, scores, -np.inf)
        else:
            scores = scores + attn_mask
    return scipy.special.softmax(scores, -1) @ v


def samples(draw):
    q, k, v = draw.array(QUERY), draw.array(KEY), draw.array(VALUE)
    yield Sample((q, k, v))
    yield Sample((q[0], k[0], v[0]), {"scale": 0.3})
    yield Sample((q, k, v), {"is_causal": True})
    yield Sample((q, k, v, draw.array((5, 6))))
    mask = draw.mask((2, 1, 5, 6))
    mask[..., 0] = True  # every row sees something
    yield Sample((q, k, v, mask))
    yield Sample((draw.array((1, 1, 70, 8)), draw.array((1, 1, 33, 8)), draw.array((1, 1, 33, 8))))


SPECS = [
    OpSpec(
        "nn.functional.scaled_dot_product_attention",
        attention,
        samples,
        dtypes=("float32", "float64", "float16", "bfloat16"),
        floor=64,  # scores reach 40 in size, and their rounding error is a relative error of the weights
        errors=[
            Case(args=(np.zeros(3), np.zeros(3), np.zeros(3)), match="at least 2 dimensional"),
            Case(
                args=(np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 2))),
                kwargs={"is_causal": True},
                match="is_causal",
            ),
        ],
    )
]


EMBED, HEADS = 4, 2


def multi_head(q, k, v, embed, heads, in_weight, in_bias, *rest, attn_mask=None, **options):
    """Projections, attention per head, and the projection back (Vaswani et al. 2017, section 3.2.2)."""
    out_weight, out_bias = rest[4], rest[5]
    parts = np.split(in_weight, 3), np.split(in_bias, 3)
    q, k, v = (x @ w.T + b for x, w, b in zip((q, k, v), *parts, strict=True))
    split = lambda x: x.reshape(*x.shape[:2], heads, -1).transpose(1, 2, 0, 3)
    scores = split(q) @ np.swapaxes(split(k), -1, -2) / np.sqrt(embed // heads)
    if attn_mask is not None:
        scores = np.where(attn_mask, -np.inf, scores)
    weights = scipy.special.softmax(scores, -1)  # (batch, heads, length, length of the source)
    output = (weights @ split(v)).transpose(2, 0, 1, 3).reshape(q.shape)
    return output @ out_weight.T + out_bias, weights.mean(1)


def multi_head_samples(draw):
    def arguments():
        q, k, v = draw.array((3, 2, EMBED)), draw.array((5, 2, EMBED)), draw.array((5, 2, EMBED))
        packed = draw.array((3 * EMBED, EMBED), -1, 1), draw.array((3 * EMBED,), -1, 1)
        out = draw.array((EMBED, EMBED), -1, 1), draw.array((EMBED,), -1, 1)
        return (q, k, v, EMBED, HEADS, *packed, None, None, False, 0.0, *out)

    yield Sample(arguments())
    mask = draw.mask((3, 5))
    mask[:, 0] = False  # every row sees something
    yield Sample(arguments(), {"attn_mask": mask})


WRONG_WIDTH = (np.zeros((3, 2, 5)),) * 3 + (
    4,
    2,
    np.zeros((12, 4)),
    np.zeros(12),
    None,
    None,
    False,
    0.0,
)

SPECS += [
    OpSpec(
        "nn.functional.multi_head_attention_forward",
        multi_head,
        multi_head_samples,
        floor=256,  # scores reach 100 in size, and their rounding error is a relative error of the weights
        errors=[
            Case(
                args=(*WRONG_WIDTH, np.zeros((4, 4)), np.zeros(4)),
                raises=AssertionError,
                match="embedding dimension of 4",
            )
        ],
    )
]
