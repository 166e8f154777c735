"""Attention. The multi-head form with its projections is in nn/_functional/attention.py."""

import math

from .. import _C
from .recompute import recomputed_vjp
from .registry import composite, native

__all__ = ["scaled_dot_product_attention"]

fused_attention = native(
    "fused_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, bool is_causal=False, "
    "float? scale=None) -> (Tensor output, Tensor logsumexp)",
    doc="""Attention in one kernel, float32 and float64, without materialising the scores.

    Args:
        query, key, value: shapes (b, h, l, e), (b, h, s, e), (b, h, s, v).
        attn_mask: broadcastable to (b, h, l, s); bool (true: attend) or added to the scores. Not differentiable.
        is_causal: position i attends to positions up to i.
        scale: factor of the scores; 1 / sqrt(e) by default.
    Returns:
        output (b, h, l, v), and the log of each row's sum of exponentials (b, h, l).
    """,
)
fused_attention_grad = native(
    "fused_attention_grad(Tensor cotangent, Tensor query, Tensor key, Tensor value, Tensor output, Tensor logsumexp, "
    "Tensor? attn_mask=None, bool is_causal=False, float? scale=None) -> (Tensor query, Tensor key, Tensor value)",
    non_differentiable="fused_attention's rule takes the differentiable path when a graph is asked for",
    doc="Gradients of fused_attention in query, key and value.",
)


@fused_attention.vjp
def _(grad_output, query, key, value, attn_mask, is_causal, scale, output, logsumexp):
    if grad_output is None:
        return None, None, None, None
    if _C._records_derivatives():
        grads = recomputed_vjp(
            lambda q, k, v: (_plain_attention(q, k, v, attn_mask, 0.0, is_causal, scale),),
            (query, key, value),
            (grad_output,),
        )
        return (*grads, None)
    return (
        *fused_attention_grad(
            grad_output, query, key, value, output, logsumexp, attn_mask, is_causal, scale
        ),
        None,
    )


def _plain_attention(query, key, value, attn_mask, dropout_p, is_causal, scale):
    """The same over plain ops: for dropout, masks that need gradients, and shapes that broadcast."""
    from .softmax import softmax

    # The factor is split over both sides, as in PyTorch: half types overflow later.
    factor = math.sqrt(scale if scale is not None else 1.0 / math.sqrt(max(1, query.shape[-1])))
    scores = (query * factor) @ (key * factor).mT
    if is_causal:
        keep = query.new_ones((query.shape[-2], key.shape[-2])).tril() != 0
        scores = scores.masked_fill(~keep, -math.inf)
    if attn_mask is not None:
        if attn_mask.dtype == _C.bool:
            scores = scores.masked_fill(~attn_mask, -math.inf)
        else:
            scores = scores + attn_mask
    weights = softmax(scores, -1)
    if attn_mask is not None:
        # Rows that may look at nothing are zero instead of NaN.
        dead = (scores == -math.inf).all(-1, keepdim=True)
        weights = weights.masked_fill(dead, 0.0)
    if dropout_p > 0.0:
        from .random import dropout

        weights = dropout(weights, dropout_p, True)
    return weights @ value


def _check_attention(query, key, value, attn_mask, is_causal):
    if query.dim() < 2 or key.dim() < 2 or value.dim() < 2:
        raise RuntimeError(
            "scaled_dot_product_attention: Expected query, key, and value to all be at least 2 dimensional, but got "
            f"query.dim(): {query.dim()}, key.dim(): {key.dim()} and value.dim(): {value.dim()} instead."
        )
    if query.dtype != key.dtype or query.dtype != value.dtype:
        raise RuntimeError(
            "scaled_dot_product_attention: Expected query, key, and value to have the same dtype, but got "
            f"query.dtype: {query.dtype}, key.dtype: {key.dtype}, and value.dtype: {value.dtype} instead."
        )
    if attn_mask is not None and is_causal:
        raise RuntimeError(
            "scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        )
    if attn_mask is not None and attn_mask.dtype != _C.bool and attn_mask.dtype != query.dtype:
        raise RuntimeError(
            "scaled_dot_product_attention: Expected attn_mask dtype to be bool or to match query dtype, but got "
            f"attn_mask.dtype: {attn_mask.dtype} and query.dtype: {query.dtype} instead."
        )


@composite()
def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """softmax(query @ key.mT * scale + mask) @ value.

    Args:
        query: shape (*, heads, l, e).
        key: shape (*, heads, s, e).
        value: shape (*, heads, s, v).
        attn_mask: broadcastable to (*, heads, l, s); bool (true: attend) or added to the scores.
        dropout_p: probability of dropping a weight.
        is_causal: position i attends to positions up to i; not together with attn_mask.
        scale: factor of the scores; 1 / sqrt(e) by default.
        enable_gqa: repeat the heads of key and value to match query's.
    Returns:
        Shape (*, heads, l, v). Rows that may attend to nothing are zero.
    Raises:
        RuntimeError: dtypes or shapes do not match.
    Differentiable in query, key, value, attn_mask; supports second derivatives.
    """
    _check_attention(query, key, value, attn_mask, is_causal)
    if enable_gqa and query.dim() >= 3:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
    plain = (
        dropout_p > 0.0
        or (attn_mask is not None and _C._is_differentiated(attn_mask))
        or query.dim() not in (3, 4)
        or not query.is_floating_point()
        or query.shape[:-2] != key.shape[:-2]
        or key.shape[:-1] != value.shape[:-1]
        or query.shape[-1] != key.shape[-1]
        or (attn_mask is not None and attn_mask.dim() > query.dim())
    )
    dtype = query.dtype
    if dtype in (_C.float16, _C.bfloat16):
        query, key, value = query.float(), key.float(), value.float()
        if attn_mask is not None and attn_mask.dtype != _C.bool:
            attn_mask = attn_mask.float()
    if plain:
        result = _plain_attention(query, key, value, attn_mask, dropout_p, is_causal, scale)
    elif query.dim() == 3:
        if attn_mask is not None and attn_mask.dim() == 3:
            attn_mask = attn_mask.unsqueeze(0)
        result = fused_attention(
            query.unsqueeze(0), key.unsqueeze(0), value.unsqueeze(0), attn_mask, is_causal, scale
        )
        result = result[0].squeeze(0)
    else:
        result = fused_attention(query, key, value, attn_mask, is_causal, scale)[0]
    return result if result.dtype == dtype else result.to(dtype)
