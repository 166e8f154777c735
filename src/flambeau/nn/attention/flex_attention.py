"""Attention with a function that changes scores and one that masks them, computed on whole score matrices.

The functions get index tensors that broadcast to (batch, heads, queries, keys), once, instead of numbers for each
score: elementwise functions, which is what they may be, give the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import flambeau
from flambeau import Tensor

__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]

Mod = Callable[..., Tensor]
_DEFAULT_SPARSE_BLOCK_SIZE = 128


class AuxRequest(NamedTuple):
    """What flex_attention shall give besides the output."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What it gave: logsumexp and maximum of the scores of each query."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def _indices(batch: int, heads: int, queries: int, keys: int, device: Any) -> list[Tensor]:
    """Batch, head, query and key numbers; together they broadcast to (batch, heads, queries, keys)."""
    sizes = (batch, heads, queries, keys)
    return [
        flambeau.arange(size, device=device).view([-1 if i == dim else 1 for i in range(4)])
        for dim, size in enumerate(sizes)
    ]


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """Let every query see every key."""
    return flambeau.ones((), dtype=flambeau.bool)


def and_masks(*mask_mods: Mod) -> Mod:
    """Return the mask function that lets through what all of them let through."""

    def combined(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
        result = flambeau.ones((), dtype=flambeau.bool)
        for mod in mask_mods:
            result = result & mod(b, h, q, k)
        return result

    return combined


def or_masks(*mask_mods: Mod) -> Mod:
    """Return the mask function that lets through what one of them lets through."""

    def combined(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
        result = flambeau.zeros((), dtype=flambeau.bool)
        for mod in mask_mods:
            result = result | mod(b, h, q, k)
        return result

    return combined


def create_mask(
    mod_fn: Mod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = "cpu"
) -> Tensor:
    """Return the mask as a bool tensor of shape (B, H, Q_LEN, KV_LEN); None counts as 1."""
    indices = _indices(B or 1, H or 1, Q_LEN, KV_LEN, device)
    return mod_fn(*indices).expand(B or 1, H or 1, Q_LEN, KV_LEN).clone()


class BlockMask:
    """A mask function and the sizes that it is for."""

    def __init__(
        self, mask_mod: Mod, shape: tuple[int, int, int, int], block_size: Any = (128, 128)
    ) -> None:
        self.mask_mod, self.shape, self.BLOCK_SIZE = mask_mod, shape, block_size
        self.seq_lengths = shape[2:]

    def sparsity(self) -> float:
        """Return the masked part, in percent."""
        mask = create_mask(self.mask_mod, *self.shape)
        return 100.0 * (1.0 - float(mask.float().mean()))

    def __repr__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%)"


def create_block_mask(
    mask_mod: Mod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: Any = 128,
    _compile: bool = False,
) -> BlockMask:
    """Return the mask of a function mask_mod(batch, head, query, key) -> bool."""
    return BlockMask(mask_mod, (B or 1, H or 1, Q_LEN, KV_LEN), BLOCK_SIZE)


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Mod | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: Any = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """Attention whose scores pass through score_mod(score, batch, head, query, key) and the mask.

    softmax(mask(score_mod(query @ key.mT * scale))) @ value

    Args:
        query: shape (batch, heads, queries, head_dim).
        key, value: shapes (batch, heads, keys, head_dim); with enable_gqa fewer heads that divide query's.
        score_mod: changes scores; None leaves them.
        block_mask: made by create_block_mask; None lets every query see every key.
        scale: 1 / sqrt(head_dim) by default.
        return_lse: give (output, logsumexp of the scores).
        return_aux: give (output, AuxOutput with what is asked for).
    Returns:
        Shape (batch, heads, queries, head_dim); rows without a visible key are 0.
    """
    if enable_gqa and query.size(1) != key.size(1):
        repeats = query.size(1) // key.size(1)
        key, value = key.repeat_interleave(repeats, 1), value.repeat_interleave(repeats, 1)
    factor = 1.0 / math.sqrt(query.size(-1)) if scale is None else scale
    scores = (query @ key.mT).float() * factor  # (batch, heads, queries, keys)
    batch, heads, queries, keys = scores.shape
    indices = _indices(batch, heads, queries, keys, scores.device)
    if score_mod is not None:
        scores = score_mod(scores, *indices)
    if block_mask is not None:
        scores = scores.masked_fill(~block_mask.mask_mod(*indices), -math.inf)
    lse = scores.logsumexp(-1)
    weights = (scores - lse.masked_fill(lse == -math.inf, 0.0).unsqueeze(-1)).exp()
    output = weights.to(query.dtype) @ value
    if return_aux is not None:
        largest = scores.amax((-1,)) if return_aux.max_scores else None
        return output, AuxOutput(lse if return_aux.lse else None, largest)
    return (output, lse) if return_lse else output
