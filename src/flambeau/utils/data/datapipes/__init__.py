"""DataPipes: datasets as chains of small steps. `iter` has those that stream, `map` those with an index."""

from . import iter, map

__all__ = ["iter", "map"]
