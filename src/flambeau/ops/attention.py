"""Attention: scaled_dot_product_attention and multi_head_attention_forward."""

import math

from .. import _C
from .matmul import baddbmm, bmm, linear
from .recompute import recomputed_vjp
from .registry import composite, native

__all__ = ["multi_head_attention_forward", "scaled_dot_product_attention"]

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
    if _C.is_grad_enabled():
        grads = recomputed_vjp(
            lambda q, k, v: (_plain_attention(q, k, v, attn_mask, 0.0, is_causal, scale),),
            (query, key, value),
            (grad_output,),
        )
        return (*grads, None)
    return (
        *fused_attention_grad(grad_output, query, key, value, output, logsumexp, attn_mask, is_causal, scale),
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
        raise RuntimeError("scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
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
        or (attn_mask is not None and attn_mask.requires_grad)
        or query.dim() not in (3, 4)
        or not query.is_floating_point()
        or query.shape[:-2] != key.shape[:-2]
        or key.shape[:-1] != value.shape[:-1]
        or query.shape[-1] != key.shape[-1]
        or (attn_mask is not None and attn_mask.dim() > query.dim())
    )
    if plain:
        return _plain_attention(query, key, value, attn_mask, dropout_p, is_causal, scale)
    dtype = query.dtype
    if dtype in (_C.float16, _C.bfloat16):
        query, key, value = query.float(), key.float(), value.float()
        if attn_mask is not None and attn_mask.dtype != _C.bool:
            attn_mask = attn_mask.float()
    if query.dim() == 3:
        if attn_mask is not None and attn_mask.dim() == 3:
            attn_mask = attn_mask.unsqueeze(0)
        result = fused_attention(query.unsqueeze(0), key.unsqueeze(0), value.unsqueeze(0), attn_mask, is_causal, scale)
        result = result[0].squeeze(0)
    else:
        result = fused_attention(query, key, value, attn_mask, is_causal, scale)[0]
    return result if result.dtype == dtype else result.to(dtype)


def _mask_to_float(mask, name, dtype):
    """A bool mask (true: ignore) as one that is added to the scores."""
    if mask is None:
        return None
    if mask.dtype == _C.bool:
        return mask.new_zeros(mask.shape, dtype=dtype).masked_fill(mask, -math.inf)
    if not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {name} are supported")
    return mask


def _in_projection(query, key, value, in_proj_weight, in_proj_bias, separate):
    """Query, key and value through their own part of the stacked weight, or their own weight."""
    e = query.shape[-1]
    if separate is not None:
        biases = (None, None, None) if in_proj_bias is None else in_proj_bias.chunk(3)
        return [linear(x, w, b) for x, w, b in zip((query, key, value), separate, biases, strict=True)]
    if key is value and query is key:
        return list(linear(query, in_proj_weight, in_proj_bias).chunk(3, -1))
    weights = in_proj_weight.split([e, e, e])
    biases = (None, None, None) if in_proj_bias is None else in_proj_bias.split([e, e, e])
    return [linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True)]


@composite()
def multi_head_attention_forward(
    query,
    key,
    value,
    embed_dim_to_check,
    num_heads,
    in_proj_weight,
    in_proj_bias,
    bias_k,
    bias_v,
    add_zero_attn,
    dropout_p,
    out_proj_weight,
    out_proj_bias,
    training=True,
    key_padding_mask=None,
    need_weights=True,
    attn_mask=None,
    use_separate_proj_weight=False,
    q_proj_weight=None,
    k_proj_weight=None,
    v_proj_weight=None,
    static_k=None,
    static_v=None,
    average_attn_weights=True,
    is_causal=False,
):
    """Multi-head attention with its projections (Vaswani et al., "Attention Is All You Need", arXiv:1706.03762).

    Args:
        query: shape (l, batch, e) or (l, e); key and value: (s, batch, *) or (s, *).
        embed_dim_to_check: e.
        num_heads: heads; divides e.
        in_proj_weight, in_proj_bias: stacked projections (3 e, e) and (3 e,).
        bias_k, bias_v: one more key and value (1, 1, e), or None.
        add_zero_attn: one more key and value of zeros.
        dropout_p, training: dropout of the attention weights.
        out_proj_weight, out_proj_bias: the projection after the heads.
        key_padding_mask: (batch, s); true or -inf: ignore that key.
        need_weights: also return the attention weights, averaged over heads if average_attn_weights.
        attn_mask: (l, s) or (batch * heads, l, s); true: not allowed, or added to the scores.
        use_separate_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight: projections of their own.
        static_k, static_v: projected keys and values (batch * heads, s, e / heads).
        is_causal: a hint that attn_mask is causal; it has to be given as well.
    Returns:
        (output (l, batch, e), weights (batch, l, s) or (batch, heads, l, s), or None).
    """
    from .join import cat
    from .softmax import softmax

    batched = query.dim() == 3
    if query.dim() not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor"
        )
    if key.dim() != query.dim() or value.dim() != query.dim():
        raise AssertionError(
            f"For {'batched (3-D)' if batched else 'unbatched (2-D)'} `query`, expected `key` and `value` to be "
            f"{query.dim()}-D but found {key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    if not batched:
        same = query is key and key is value
        query = query.unsqueeze(1)
        key, value = (query, query) if same else (key.unsqueeze(1), value.unsqueeze(1))
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    length, batch, e = query.shape
    if e != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {e}")
    width = e // num_heads
    if width * num_heads != e:
        raise AssertionError(f"embed_dim {e} not divisible by num_heads {num_heads}")
    separate = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    if separate is not None and any(weight is None for weight in separate):
        raise AssertionError("use_separate_proj_weight is True but a projection weight is None")
    if key.shape[:2] != value.shape[:2]:
        raise AssertionError(
            f"key's sequence and batch dims {tuple(key.shape[:2])} do not match value's {tuple(value.shape[:2])}"
        )
    key_padding_mask = _mask_to_float(key_padding_mask, "key_padding_mask", query.dtype)
    attn_mask = _mask_to_float(attn_mask, "attn_mask", query.dtype)
    q, k, v = _in_projection(query, key, value, in_proj_weight, in_proj_bias, separate)
    if attn_mask is not None:
        expected = (length, key.shape[0]) if attn_mask.dim() == 2 else (batch * num_heads, length, key.shape[0])
        if attn_mask.dim() not in (2, 3) or tuple(attn_mask.shape) != expected:
            raise RuntimeError(
                f"The shape of the {attn_mask.dim()}D attn_mask is {tuple(attn_mask.shape)}, but should be {expected}."
            )
        attn_mask = attn_mask.unsqueeze(0) if attn_mask.dim() == 2 else attn_mask

    def one_more(mask):
        return None if mask is None else cat([mask, mask.new_zeros((*mask.shape[:-1], 1))], -1)

    if bias_k is not None and bias_v is not None:
        k = cat([k, bias_k.repeat(1, batch, 1)])
        v = cat([v, bias_v.repeat(1, batch, 1)])
        attn_mask, key_padding_mask = one_more(attn_mask), one_more(key_padding_mask)
    heads = batch * num_heads
    q = q.reshape(length, heads, width).transpose(0, 1)  # (batch * heads, l, width)
    k = k.reshape(k.shape[0], heads, width).transpose(0, 1) if static_k is None else static_k
    v = v.reshape(v.shape[0], heads, width).transpose(0, 1) if static_v is None else static_v
    if add_zero_attn:
        k = cat([k, k.new_zeros((heads, 1, width))], 1)
        v = cat([v, v.new_zeros((heads, 1, width))], 1)
        attn_mask, key_padding_mask = one_more(attn_mask), one_more(key_padding_mask)
    source = k.shape[1]
    if key_padding_mask is not None:
        if tuple(key_padding_mask.shape) != (batch, source):
            raise AssertionError(
                f"expecting key_padding_mask shape of {(batch, source)}, but got {tuple(key_padding_mask.shape)}"
            )
        padding = key_padding_mask.reshape(batch, 1, 1, source).expand(-1, num_heads, -1, -1).reshape(heads, 1, source)
        attn_mask = padding if attn_mask is None else attn_mask + padding
    if not training:
        dropout_p = 0.0
    if need_weights:
        scaled = q * math.sqrt(1.0 / width)
        scores = bmm(scaled, k.transpose(-2, -1)) if attn_mask is None else baddbmm(attn_mask, scaled, k.transpose(-2, -1))
        weights = softmax(scores, -1)
        if dropout_p > 0.0:
            from .random import dropout

            weights = dropout(weights, dropout_p, True)
        output = bmm(weights, v)
        weights = weights.reshape(batch, num_heads, length, source)
        if average_attn_weights:
            weights = weights.mean(1)
    else:
        if attn_mask is not None:
            one = attn_mask.shape[0] == 1
            attn_mask = attn_mask.unsqueeze(0) if one else attn_mask.reshape(batch, num_heads, -1, source)
        output = scaled_dot_product_attention(
            q.reshape(batch, num_heads, length, width),
            k.reshape(batch, num_heads, source, width),
            v.reshape(batch, num_heads, source, width),
            attn_mask,
            dropout_p,
        ).reshape(heads, length, width)
        weights = None
    output = output.transpose(0, 1).reshape(length * batch, e)
    output = linear(output, out_proj_weight, out_proj_bias).reshape(length, batch, out_proj_weight.shape[0])
    if not batched:
        output = output.squeeze(1)
        weights = None if weights is None else weights.squeeze(0)
    return output, weights
