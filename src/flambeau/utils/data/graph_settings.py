"""Settings of all pipes of a graph: sharding, shuffling, seeds."""

import inspect
import warnings

import flambeau

from .datapipes.iter import Shuffler
from .datapipes.iter.sharding import SHARDING_PRIORITIES, _ShardingIterDataPipe
from .datapipes.map import Shuffler as MapShuffler
from .graph import traverse_dps

__all__ = [
    "apply_random_seed",
    "apply_sharding",
    "apply_shuffle_seed",
    "apply_shuffle_settings",
    "get_all_graph_pipes",
]


def get_all_graph_pipes(graph):
    """The pipes of a graph of traverse_dps, each once."""
    found = {}

    def visit(below):
        for datapipe, sources in below.values():
            if id(datapipe) not in found:
                found[id(datapipe)] = datapipe
                visit(sources)

    visit(graph)
    return list(found.values())


def _is_sharding_datapipe(datapipe):
    return isinstance(datapipe, _ShardingIterDataPipe) or _has_methods(datapipe, "apply_sharding")


def apply_sharding(
    datapipe, num_of_instances, instance_id, sharding_group=SHARDING_PRIORITIES.DEFAULT
):
    """Tell the sharding pipes of a graph which process this is; RuntimeError if two follow each other."""

    def visit(graph, above):
        for pipe, below in graph.values():
            applied = above
            if _is_sharding_datapipe(pipe):
                if above is not None:
                    raise RuntimeError(
                        "Sharding twice on a single pipeline is likely unintended and will cause data loss. "
                        f"Sharding already applied to {above} while trying to apply to {pipe}"
                    )
                if len(inspect.signature(pipe.apply_sharding).parameters) < 3:
                    # Written before groups were.
                    pipe.apply_sharding(num_of_instances, instance_id)
                else:
                    pipe.apply_sharding(
                        num_of_instances, instance_id, sharding_group=sharding_group
                    )
                applied = pipe
            visit(below, applied)

    visit(traverse_dps(datapipe), None)
    return datapipe


def _has_methods(datapipe, *names):
    return all(inspect.ismethod(getattr(datapipe, name, None)) for name in names)


def _is_shuffle_datapipe(datapipe):
    return isinstance(datapipe, (Shuffler, MapShuffler)) or _has_methods(
        datapipe, "set_shuffle", "set_seed"
    )


def apply_shuffle_settings(datapipe, shuffle=None):
    """Turn the shuffling pipes of a graph on or off; None leaves them alone."""
    if shuffle is None:
        return datapipe
    pipes = get_all_graph_pipes(traverse_dps(datapipe))
    shufflers = [pipe for pipe in pipes if _is_shuffle_datapipe(pipe)]
    if not shufflers and shuffle:
        warnings.warn(
            "`shuffle=True` was set, but the datapipe does not contain a `Shuffler`. Adding one at the end. "
            "Be aware that the default buffer size might not be sufficient for your task.",
            stacklevel=2,
        )
        datapipe = datapipe.shuffle()
        shufflers = [datapipe]
    for shuffler in shufflers:
        shuffler.set_shuffle(shuffle)
    return datapipe


def apply_shuffle_seed(datapipe, rng):
    """Deprecated for apply_random_seed."""
    warnings.warn(
        "`apply_shuffle_seed` is deprecated since 1.12 and will be removed in the future releases."
        "\nPlease use `apply_random_seed` instead.",
        FutureWarning,
        stacklevel=2,
    )
    return apply_random_seed(datapipe, rng)


def apply_random_seed(datapipe, rng):
    """Seed every pipe of a graph that has set_seed from a generator."""
    for pipe in get_all_graph_pipes(traverse_dps(datapipe)):
        if _has_methods(pipe, "set_seed"):
            seed = flambeau.empty((), dtype=flambeau.int64).random_(generator=rng)
            pipe.set_seed(int(seed.item()))
    return datapipe
