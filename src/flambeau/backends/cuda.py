"""GPU settings: there is no GPU, setting them has no effect."""

from __future__ import annotations


class _Matmul:
    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True


matmul = _Matmul()


def is_built() -> bool:
    """Return False."""
    return False
