"""multi_head_attention_forward and its masks."""

import math

import flambeau
from flambeau import ops

__all__ = ["multi_head_attention_forward"]


def _none_or_dtype(input):
    if input is None:
        return None
    if isinstance(input, flambeau.Tensor):
        return input.dtype
    raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")


def _canonical_mask(mask, mask_name, other_type, other_name, target_type, check_other=True):
    """A mask as floats to add to the scores: -inf where a boolean mask is True."""
    if mask is None:
        return None
    is_float = mask.is_floating_point()
    if mask.dtype != flambeau.bool and not is_float:
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        import warnings

        warnings.warn(
            f"Support for mismatched {mask_name} and {other_name} "
            "is deprecated. Use same type for both instead.",
            stacklevel=2,
        )
    if is_float:
        return mask
    return ops.zeros_like(mask, dtype=target_type).masked_fill_(mask, float("-inf"))


def _in_projection_packed(q, k, v, w, b):
    """Project q, k and v by one packed weight (3 E, E), with as few products as identities allow."""
    dim = q.size(-1)
    if k is v:
        if q is k:
            return ops.linear(q, w, b).chunk(3, dim=-1)
        w_q, w_kv = w.split([dim, dim * 2])
        b_q, b_kv = (None, None) if b is None else b.split([dim, dim * 2])
        return (ops.linear(q, w_q, b_q), *ops.linear(k, w_kv, b_kv).chunk(2, dim=-1))
    w_q, w_k, w_v = w.chunk(3)
    b_q, b_k, b_v = (None, None, None) if b is None else b.chunk(3)
    return ops.linear(q, w_q, b_q), ops.linear(k, w_k, b_k), ops.linear(v, w_v, b_v)


def _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads):
    """Raise unless all dims fit; True for batched input."""
    dims = query.dim()
    if dims not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {dims}-D query tensor"
        )
    batched = dims == 3
    form = "batched" if batched else "unbatched"
    if key.dim() != dims or value.dim() != dims:
        raise AssertionError(
            f"For {form} ({dims}-D) `query`, expected `key` and `value` to be {dims}-D"
            f" but found {key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != dims - 1:
        raise AssertionError(
            f"For {form} ({dims}-D) `query`, expected `key_padding_mask` to be `None` or {dims - 1}-D"
            f" but found {key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None:
        if attn_mask.dim() not in (2, 3):
            raise AssertionError(
                f"For {form} ({dims}-D) `query`, expected `attn_mask` to be `None`, 2-D or 3-D"
                f" but found {attn_mask.dim()}-D tensor instead"
            )
        if not batched and attn_mask.dim() == 3:
            expected = (num_heads, query.shape[0], key.shape[0])
            if tuple(attn_mask.shape) != expected:
                raise AssertionError(
                    f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}"
                )
    return batched


def _check_attn_mask(mask, tgt_len, src_len, count):
    if mask is None:
        return None
    if mask.dim() == 2:
        expected = (tgt_len, src_len)
        if tuple(mask.shape) != expected:
            raise RuntimeError(
                f"The shape of the 2D attn_mask is {mask.shape}, but should be {expected}."
            )
        return mask.unsqueeze(0)
    expected = (count, tgt_len, src_len)
    if tuple(mask.shape) != expected:
        raise RuntimeError(
            f"The shape of the 3D attn_mask is {mask.shape}, but should be {expected}."
        )
    return mask


def _add_key(k, v, extra_k, extra_v, attn_mask, key_padding_mask, dim):
    """Append one key and value at the end of `dim`, visible to everybody."""
    from flambeau.nn import functional as F

    k = ops.cat([k, extra_k], dim=dim)
    v = ops.cat([v, extra_v], dim=dim)
    if attn_mask is not None:
        attn_mask = F.pad(attn_mask, (0, 1))
    if key_padding_mask is not None:
        key_padding_mask = F.pad(key_padding_mask, (0, 1))
    return k, v, attn_mask, key_padding_mask


def _split_heads(x, static, heads, head_dim):
    """(L, N, E) to (N, heads, L, head_dim), a view."""
    if static is not None:
        return static.view(-1, heads, static.size(1), head_dim)
    length, bsz, _ = x.shape
    return x.view(length, bsz, heads, head_dim).permute(1, 2, 0, 3)


def _merge_masks(attn_mask, key_padding_mask, bsz, num_heads, src_len):
    """Both masks as one that broadcasts to (N, heads, L, S); None if there is none."""
    if attn_mask is not None:
        one = attn_mask.size(0) == 1
        attn_mask = attn_mask.unsqueeze(0) if one else attn_mask.view(bsz, num_heads, -1, src_len)
    if key_padding_mask is None:
        return attn_mask
    if tuple(key_padding_mask.shape) != (bsz, src_len):
        raise AssertionError(
            f"expecting key_padding_mask shape of {(bsz, src_len)}, but got {key_padding_mask.shape}"
        )
    padding = key_padding_mask.view(bsz, 1, 1, src_len)
    return padding if attn_mask is None else attn_mask + padding


def _add_batch_dim(query, key, value, key_padding_mask):
    # Keep identities: _in_projection_packed looks at them.
    same_key, same_value = key is query, value is key
    query = query.unsqueeze(1)
    key = query if same_key else key.unsqueeze(1)
    value = key if same_value else value.unsqueeze(1)
    if key_padding_mask is not None:
        key_padding_mask = key_padding_mask.unsqueeze(0)
    return query, key, value, key_padding_mask


def _prepared_masks(attn_mask, key_padding_mask, is_causal, need_weights, dtype):
    """Both masks as floats; the causal hint stands for the mask where the attention op can use it."""
    key_padding_mask = _canonical_mask(
        key_padding_mask, "key_padding_mask", _none_or_dtype(attn_mask), "attn_mask", dtype
    )
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    if is_causal and key_padding_mask is None and not need_weights:
        return None, None, True
    attn_mask = _canonical_mask(attn_mask, "attn_mask", None, "", dtype, False)
    return attn_mask, key_padding_mask, is_causal and key_padding_mask is None


def _project(query, key, value, packed, separate, bias):
    """q, k and v from one packed weight, or from three separate ones."""
    if separate is None:
        if key.shape != value.shape:
            raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
        if packed is None:
            raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
        return _in_projection_packed(query, key, value, packed, bias)
    if key.shape[:2] != value.shape[:2]:
        raise AssertionError(
            f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
        )
    biases = (None, None, None) if bias is None else bias.chunk(3)
    return tuple(
        ops.linear(x, weight, b)
        for x, weight, b in zip((query, key, value), separate, biases, strict=True)
    )


def _check_embedding(embed_dim, expected, num_heads):
    if embed_dim != expected:
        raise AssertionError(
            f"was expecting embedding dimension of {expected}, but got {embed_dim}"
        )
    head_dim = embed_dim // num_heads
    if head_dim * num_heads != embed_dim:
        raise AssertionError(f"embed_dim {embed_dim} not divisible by num_heads {num_heads}")
    return head_dim


def multi_head_attention_forward(
    query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn,
    dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True,
    attn_mask=None, use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None,
    static_k=None, static_v=None, average_attn_weights=True, is_causal=False,
):  # fmt: skip
    """Multi-head attention with explicit parameters: see nn.MultiheadAttention for shapes and masks.

    Returns:
        (output (L, N, E), weights (N, L, S), per head unless average_attn_weights, or None).
    """
    batched = _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value, key_padding_mask = _add_batch_dim(query, key, value, key_padding_mask)
    tgt_len, bsz, embed_dim = query.shape
    src_len = key.shape[0]
    attn_mask, key_padding_mask, is_causal = _prepared_masks(
        attn_mask, key_padding_mask, is_causal, need_weights, query.dtype
    )
    head_dim = _check_embedding(embed_dim, embed_dim_to_check, num_heads)
    separate = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    q, k, v = _project(query, key, value, in_proj_weight, separate, in_proj_bias)
    attn_mask = _check_attn_mask(attn_mask, tgt_len, src_len, bsz * num_heads)
    if bias_k is not None and bias_v is not None:
        k, v, attn_mask, key_padding_mask = _add_key(
            k, v, bias_k.repeat(1, bsz, 1), bias_v.repeat(1, bsz, 1), attn_mask, key_padding_mask, 0
        )
    q = _split_heads(q, None, num_heads, head_dim)
    k = _split_heads(k, static_k, num_heads, head_dim)
    v = _split_heads(v, static_v, num_heads, head_dim)
    if add_zero_attn:
        zeros = k.new_zeros((bsz, num_heads, 1, head_dim))
        k, v, attn_mask, key_padding_mask = _add_key(
            k, v, zeros, zeros, attn_mask, key_padding_mask, 2
        )
    src_len = k.size(2)
    mask = _merge_masks(attn_mask, key_padding_mask, bsz, num_heads, src_len)
    dropout_p = dropout_p if training else 0.0
    weights = None
    if need_weights:
        output, weights = _attend_with_weights(q, k, v, mask, dropout_p, is_causal)
    else:
        output = ops.scaled_dot_product_attention(
            q, k, v, mask, dropout_p, is_causal and mask is None
        )
    output = output.permute(2, 0, 1, 3).reshape(tgt_len * bsz, embed_dim)
    output = ops.linear(output, out_proj_weight, out_proj_bias)
    output = output.view(tgt_len, bsz, output.size(-1))
    if weights is not None and average_attn_weights:
        weights = weights.mean(dim=1)
    if not batched:
        output = output.squeeze(1)
        weights = weights.squeeze(0) if weights is not None else None
    return output, weights


def _attend_with_weights(q, k, v, mask, dropout_p, is_causal):
    if is_causal and mask is None:
        raise AssertionError("is_causal needs attn_mask when weights are asked for")
    scaled = q * math.sqrt(1.0 / float(q.size(-1)))
    scores = ops.matmul(scaled, k.transpose(-2, -1))  # (N, heads, L, S)
    if mask is not None:
        scores = scores + mask
    weights = ops.softmax(scores, -1)
    if dropout_p > 0.0:
        weights = ops.dropout(weights, dropout_p, True)
    return ops.matmul(weights, v), weights
