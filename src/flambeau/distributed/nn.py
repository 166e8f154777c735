"""Collectives that autograd goes through. Each needs a process group, and there is none."""

from __future__ import annotations

from . import _needs_group

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "broadcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
]

all_gather = _needs_group("nn.all_gather")
all_reduce = _needs_group("nn.all_reduce")
all_to_all = _needs_group("nn.all_to_all")
all_to_all_single = _needs_group("nn.all_to_all_single")
broadcast = _needs_group("nn.broadcast")
gather = _needs_group("nn.gather")
reduce = _needs_group("nn.reduce")
reduce_scatter = _needs_group("nn.reduce_scatter")
scatter = _needs_group("nn.scatter")
