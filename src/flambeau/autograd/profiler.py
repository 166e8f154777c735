"""The labels of torch.autograd.profiler; see flambeau.profiler."""

from ..profiler import profile, record_function

__all__ = ["profile", "record_function"]
