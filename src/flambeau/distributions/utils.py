"""What the distributions share: broadcasting of parameters, probabilities and logits, lazy properties."""

import math
from functools import update_wrapper
from numbers import Number

import flambeau
from flambeau.nn import functional as F

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

euler_constant = 0.57721566490153286060


def broadcast_all(*values):
    """Broadcast numbers and tensors together.

    Numbers get the dtype of the first tensor, or the default dtype where there is no tensor.

    Raises:
        ValueError: a value is neither a number nor a tensor.
    """
    if not all(isinstance(value, flambeau.Tensor | Number) for value in values):
        kinds = ", ".join(type(value).__name__ for value in values)
        raise ValueError(f"broadcast_all: expected numbers and tensors, got {kinds}.")
    like = next((value for value in values if isinstance(value, flambeau.Tensor)), None)
    dtype = flambeau.get_default_dtype() if like is None else like.dtype
    tensors = [
        value if isinstance(value, flambeau.Tensor) else flambeau.tensor(value, dtype=dtype)
        for value in values
    ]
    return flambeau.broadcast_tensors(*tensors)


def all_numbers(*values):
    """Whether no value is a tensor: then a distribution has an empty batch shape."""
    return all(isinstance(value, Number) for value in values)


def sum_rightmost(value, dims):
    """Sum out the last `dims` dims."""
    if dims == 0:
        return value
    kept = value.dim() - dims
    return value.reshape(value.shape[:kept] + (-1,)).sum(-1)


def standard_normal(shape, dtype, device=None):
    """Draw standard normals: the noise of reparameterised samples."""
    return flambeau.empty(shape, dtype=dtype, device=device).normal_()


# The names under which programs import these from PyTorch.
_sum_rightmost = sum_rightmost
_standard_normal = standard_normal


def logits_to_probs(logits, is_binary=False):
    """Probabilities of log odds (is_binary), or of unnormalised log probabilities in the last dim."""
    return flambeau.sigmoid(logits) if is_binary else F.softmax(logits, dim=-1)


def clamp_probs(probs):
    """Move probabilities into [eps, 1 - eps], so that their logarithms are finite."""
    eps = flambeau.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs, is_binary=False):
    """Log odds of probabilities (is_binary), or their logarithms; clamped to stay finite."""
    clamped = clamp_probs(probs)
    if is_binary:
        return flambeau.log(clamped) - flambeau.log1p(-clamped)
    return flambeau.log(clamped)


class lazy_property:
    """A property that is computed at the first access and then kept in the instance."""

    def __init__(self, wrapped):
        self.wrapped = wrapped
        update_wrapper(self, wrapped)

    def __get__(self, instance, owner=None):
        if instance is None:
            return _ClassAccess(self.wrapped)
        with flambeau.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _ClassAccess(lazy_property, property):
    """What `Class.name` gives for a lazy property, so that documentation tools see a property."""

    def __init__(self, wrapped):
        property.__init__(self, wrapped)


class ProbsOrLogits:
    """Parameters given as `probs` or `logits`, the other one computed when asked for.

    `_binary` says whether logits are log odds, or log probabilities that sum to one over the last dim. `_param` is the
    one that was given.
    """

    _binary = True

    def _take(self, probs, logits):
        """Check that exactly one was given."""
        if (probs is None) == (logits is None):
            given = "neither" if probs is None else "both"
            raise ValueError(
                f"{type(self).__name__}: expected either `probs` or `logits`, got {given}."
            )
        return "logits" if probs is None else "probs"

    def _new(self, *args, **kwargs):
        return self._param.new(*args, **kwargs)

    @lazy_property
    def logits(self):
        """Log odds, or log probabilities."""
        return probs_to_logits(self.probs, is_binary=self._binary)

    @lazy_property
    def probs(self):
        """Probabilities."""
        return logits_to_probs(self.logits, is_binary=self._binary)

    @property
    def param_shape(self):
        """Shape of probs and logits."""
        return self._param.size()


def tril_matrix_to_vec(mat, diag=0):
    """The entries of a lower triangle, row by row.

    Args:
        mat: shape (..., n, n).
        diag: the last diagonal that counts; in [-n, n).
    Returns:
        Shape (..., entries).
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"tril_matrix_to_vec: expected -{n} <= diag < {n}, got {diag}.")
    index = flambeau.arange(n, device=mat.device)
    mask = index < (index + (diag + 1)).unsqueeze(-1)
    return mat[..., mask]


def vec_to_tril_matrix(vec, diag=0):
    """The matrix whose lower triangle is given row by row, zeros above: the inverse of tril_matrix_to_vec."""
    count = vec.shape[-1]
    if diag < 0:  # a full triangle of size n + diag
        size = (math.isqrt(1 + 8 * count) - 1) // 2 - diag
    else:  # n (n + 1) / 2 + n diag - diag (diag + 1) / 2 entries
        linear = 1 + 2 * diag
        size = (math.isqrt(linear * linear + 4 * (diag * (diag + 1) + 2 * count)) - linear) // 2
    index = flambeau.arange(size, device=vec.device)
    mask = index < (index + (diag + 1)).unsqueeze(-1)
    if int(mask.sum()) != count:
        raise ValueError(
            f"vec_to_tril_matrix: expected the last dim to fill a lower triangle, got {count} entries."
        )
    matrix = vec.new_zeros((*vec.shape[:-1], size, size))
    matrix[..., mask] = vec
    return matrix


# PyTorch's names, which libraries import all the same.
_standard_normal = standard_normal
_sum_rightmost = sum_rightmost
