"""flex_attention computes what scaled_dot_product_attention does with the same mask."""

import flambeau
from flambeau.nn.attention import SDPBackend, sdpa_kernel
from flambeau.nn.attention.flex_attention import and_masks, create_block_mask, flex_attention
from flambeau.nn.functional import scaled_dot_product_attention as sdpa


def test_masks_and_scores():
    flambeau.manual_seed(0)
    q, k, v = (flambeau.randn(2, 4, 6, 8) for _ in range(3))

    def causal(b, h, q_index, k_index):
        return q_index >= k_index

    mask = create_block_mask(and_masks(causal), None, None, 6, 6)
    expected = sdpa(q, k, v, is_causal=True)
    assert flambeau.allclose(flex_attention(q, k, v, block_mask=mask), expected, atol=1e-6)
    biased = flex_attention(q, k, v, score_mod=lambda s, b, h, i, j: s + (i - j))
    distance = flambeau.arange(6)[:, None] - flambeau.arange(6)
    assert flambeau.allclose(biased, sdpa(q, k, v, attn_mask=distance.float()), atol=1e-6)


def test_grouped_heads_and_lse():
    q, k, v = flambeau.randn(1, 4, 3, 8), flambeau.randn(1, 2, 5, 8), flambeau.randn(1, 2, 5, 8)
    output, lse = flex_attention(q, k, v, enable_gqa=True, return_lse=True)
    with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION]):
        expected = sdpa(q, k, v, enable_gqa=True)
    assert flambeau.allclose(output, expected, atol=1e-6) and lse.shape == (1, 4, 3)


def test_attention_of_an_empty_sequence():
    x = flambeau.ones(0, 1, 4)
    output, _ = flambeau.nn.MultiheadAttention(4, 2)(x, x, x)
    assert output.shape == (0, 1, 4)
