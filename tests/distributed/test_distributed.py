"""One process: programs that ask first find that out; a collective is PyTorch's error without a group."""

import pytest

import flambeau
from flambeau import distributed
from flambeau.distributed.optim import ZeroRedundancyOptimizer
from flambeau.nn.parallel import DistributedDataParallel


def test_nothing_is_available():
    assert not distributed.is_available() and not distributed.is_initialized()
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        distributed.get_rank()
    with pytest.raises(NotImplementedError, match="one process"):
        distributed.init_process_group("gloo")
    with pytest.raises(NotImplementedError, match="Use the module itself"):
        DistributedDataParallel(flambeau.nn.Linear(1, 1))
    with pytest.raises(NotImplementedError):
        ZeroRedundancyOptimizer([], flambeau.optim.SGD)


def test_divided_tensors_are_names_only():
    from flambeau.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor

    assert not isinstance(flambeau.ones(1), DTensor)
    assert Shard(0) == Shard(0) != Shard(1) and Replicate() == Replicate()
    with pytest.raises(NotImplementedError, match="one process"):
        distribute_tensor(flambeau.ones(1), None)


def test_collectives_for_autograd_need_a_group():
    from flambeau.distributed import nn

    for name in nn.__all__:
        with pytest.raises(ValueError, match="process group has not been initialized"):
            getattr(nn, name)(flambeau.ones(1))
