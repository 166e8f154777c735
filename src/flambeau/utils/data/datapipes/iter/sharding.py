"""ShardingFilter: each process its own part of the samples."""

from collections.abc import Sized
from enum import IntEnum

from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe

__all__ = ["SHARDING_PRIORITIES", "ShardingFilterIterDataPipe"]


class SHARDING_PRIORITIES(IntEnum):
    """Groups of processes that samples are divided among; DEFAULT doesn't mix with others."""

    DEFAULT = 1
    DISTRIBUTED = 2
    MULTIPROCESSING = 3


class _ShardingIterDataPipe(IterDataPipe):
    def apply_sharding(self, num_of_instances, instance_id, sharding_group):
        raise NotImplementedError


@functional_datapipe("sharding_filter")
class ShardingFilterIterDataPipe(_ShardingIterDataPipe):
    """Yields every n-th sample, as apply_sharding says; the DataLoader calls it in its workers.

    Args:
        sharding_group_filter: look at this group only.
    """

    def __init__(self, source_datapipe, sharding_group_filter=None):
        self.source_datapipe = source_datapipe
        self.sharding_group_filter = sharding_group_filter
        self.groups = {}
        self.num_of_instances = 1
        self.instance_id = 0
        self._update_num_of_instances()

    def apply_sharding(
        self, num_of_instances, instance_id, sharding_group=SHARDING_PRIORITIES.DEFAULT
    ):
        """Say that this is process instance_id of num_of_instances of a group."""
        if instance_id >= num_of_instances:
            raise ValueError(
                f"instance_id({instance_id}) should be smaller than num_of_instances({num_of_instances})"
            )
        default = SHARDING_PRIORITIES.DEFAULT
        mixes = (
            self.groups and default not in self.groups
            if sharding_group == default
            else default in self.groups
        )
        if mixes:
            raise RuntimeError("ShardingFilter cannot mix DEFAULT and non DEFAULT groups")
        self.groups[sharding_group] = (num_of_instances, instance_id)
        self._update_num_of_instances()

    def _update_num_of_instances(self):
        chosen = [
            self.groups[group]
            for group in sorted(self.groups, reverse=True)
            if self.sharding_group_filter in (None, group)
        ]
        self.num_of_instances, self.instance_id = 1, 0
        for size, rank in chosen:
            self.instance_id += self.num_of_instances * rank
            self.num_of_instances *= size

    def __iter__(self):
        for i, item in enumerate(self.source_datapipe):
            if i % self.num_of_instances == self.instance_id:
                yield item

    def __len__(self):
        if isinstance(self.source_datapipe, Sized):
            share, rest = divmod(len(self.source_datapipe), self.num_of_instances)
            return share + (self.instance_id < rest)
        raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
