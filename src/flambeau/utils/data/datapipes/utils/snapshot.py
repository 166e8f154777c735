"""Restoring a chain of pipes to where an iteration was."""

from .._hook_iterator import _SnapshotState

__all__ = ["_simple_graph_snapshot_restoration"]


def _simple_graph_snapshot_restoration(datapipe, n_iterations, rng=None):
    """Reset a chain and advance it: the next iteration goes on after n_iterations samples.

    Args:
        rng: generator that the random pipes of the chain are seeded from, as at the first start.
    """
    if datapipe._snapshot_state is _SnapshotState.Restored:
        raise RuntimeError(
            "Snapshot restoration cannot be applied. You can only restore simple snapshot to the graph "
            "if your graph has not been restored."
        )
    datapipe.reset()
    from ...graph_settings import apply_random_seed

    apply_random_seed(datapipe, rng)
    iterator = iter(datapipe)
    for _ in range(n_iterations):
        try:
            next(iterator)
        except StopIteration as error:
            raise RuntimeError(
                f"Fast-forward {datapipe} by {n_iterations} iterations exceeds the number of samples available."
            ) from error
    datapipe._fast_forward_iterator = iterator
    # The next __iter__ returns the iterator above and does not reset.
    datapipe._snapshot_state = _SnapshotState.Restored
