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
