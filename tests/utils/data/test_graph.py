"""Graphs of DataPipes, and settings of all their pipes; DataLoaders over them."""

import multiprocessing

import pytest

import flambeau
from flambeau.utils.data import DataLoader
from flambeau.utils.data.datapipes.iter import IterableWrapper
from flambeau.utils.data.datapipes.map import SequenceWrapper
from flambeau.utils.data.graph import traverse, traverse_dps
from flambeau.utils.data.graph_settings import (
    apply_random_seed,
    apply_sharding,
    apply_shuffle_settings,
    get_all_graph_pipes,
)


def negative(x):
    return -x


def seeded(seed):
    generator = flambeau.Generator()
    generator.manual_seed(seed)
    return generator


def batches(*args, **kwargs):
    return [batch.tolist() for batch in DataLoader(*args, **kwargs)]


def test_graph_follows_the_sources():
    source = IterableWrapper(range(3))
    left, right = source.fork(2)
    zipped = left.zip(right)
    graph = traverse_dps(zipped)
    assert list(graph) == [id(zipped)]
    assert set(graph[id(zipped)][1]) == {id(left), id(right)}
    assert (
        len(get_all_graph_pipes(graph)) == 5
    )  # zip, two children, what is behind them, the source
    with pytest.warns(FutureWarning, match="traverse_dps"):
        assert len(get_all_graph_pipes(traverse(zipped))) == 5
    with pytest.raises(RuntimeError, match="Expected `IterDataPipe`"):
        traverse_dps([1])


def test_settings_reach_every_pipe():
    pipe = IterableWrapper(range(8)).shuffle().sharding_filter()
    apply_shuffle_settings(pipe, shuffle=False)
    apply_sharding(pipe, 2, 1)
    assert list(pipe) == [1, 3, 5, 7]
    apply_shuffle_settings(pipe, shuffle=True)
    apply_random_seed(pipe, seeded(1))
    first = list(pipe)
    apply_random_seed(pipe, seeded(1))
    assert list(pipe) == first
    with pytest.warns(UserWarning, match="does not contain a `Shuffler`"):
        apply_shuffle_settings(IterableWrapper([1]), shuffle=True)
    twice = pipe.map(negative).sharding_filter()
    with pytest.raises(RuntimeError, match="Sharding twice"):
        apply_sharding(twice, 2, 1)


def test_loader_shuffles_as_pytorch():
    pipe = IterableWrapper(range(10)).shuffle()
    loader = DataLoader(pipe, batch_size=5, generator=seeded(3))
    assert [b.tolist() for b in loader] == [[1, 2, 9, 7, 0], [8, 6, 5, 3, 4]]
    assert [b.tolist() for b in loader] == [[7, 2, 8, 5, 9], [0, 3, 4, 6, 1]]
    assert batches(pipe, batch_size=5, shuffle=False) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    with pytest.raises(ValueError, match="unspecified sampler"):
        DataLoader(pipe, sampler=[1])


def test_loader_adds_a_shuffler():
    with pytest.warns(UserWarning, match="Adding one at the end"):
        found = batches(IterableWrapper(range(50)), batch_size=50, shuffle=True)[0]
    assert found != sorted(found) == list(range(50))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_share_the_samples(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system can't {method}")
    pipe = IterableWrapper(range(10)).shuffle().sharding_filter()
    found = batches(
        pipe, batch_size=3, num_workers=2, generator=seeded(3), multiprocessing_context=method
    )
    assert found == [[1, 9, 0], [2, 7, 8], [6, 3], [5, 4]]  # PyTorch's


def test_persistent_workers_get_a_new_seed():
    pipe = IterableWrapper(range(10)).shuffle().sharding_filter()
    loader = DataLoader(pipe, batch_size=5, num_workers=2, persistent_workers=True)
    passes = [[x for batch in loader for x in batch.tolist()] for _ in range(3)]
    assert all(sorted(found) == list(range(10)) for found in passes)
    assert len({tuple(found) for found in passes}) == 3


def test_map_pipes_load_by_index():
    pipe = SequenceWrapper(range(6)).map(negative)
    assert batches(pipe, batch_size=4) == [[0, -1, -2, -3], [-4, -5]]
    assert batches(pipe, batch_size=4, num_workers=1) == [[0, -1, -2, -3], [-4, -5]]
