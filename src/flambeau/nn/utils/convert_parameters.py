"""Parameters as one vector, and back."""

import flambeau

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters):
    """All parameters, flattened and concatenated."""
    return flambeau.cat([param.view(-1) for param in parameters])


def vector_to_parameters(vec, parameters):
    """Make the parameters views of consecutive slices of a vector."""
    if not isinstance(vec, flambeau.Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec)}")
    start = 0
    for param in parameters:
        count = param.numel()
        param.data = vec[start : start + count].view_as(param).data
        start += count
