"""Distribution: batch and event shapes, checks of parameters and samples, what every distribution answers."""

import math
import warnings
from typing import ClassVar

import flambeau

from . import constraints
from .utils import lazy_property

__all__ = ["Distribution"]


def _one_line(values):
    text = " ".join(str(values).split())
    return text if len(text) < 200 else text[:200] + " ..."


class Distribution:
    """Base of all distributions.

    A sample has shape sample_shape + batch_shape + event_shape: independent draws, then differently
    parameterised ones, then the dims of one draw that belong together. log_prob has shape
    sample_shape + batch_shape.

    Args:
        batch_shape, event_shape: see above.
        validate_args: whether parameters and samples are checked; the class-wide default if None, see
            set_default_validate_args.
    Raises:
        ValueError: a parameter does not satisfy its constraint.
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__

    # What expand() does, for subclasses that say so: attribute -> number of its last dims that belong to the event
    # and stay; None for what is handed on as it is.
    _batched: ClassVar[dict]

    @staticmethod
    def set_default_validate_args(value):
        """Switch checks of parameters and samples on (True) or off for distributions made from now on."""
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args: expected True or False, got {value!r}.")
        Distribution._validate_args = value

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self._batch_shape = flambeau.Size(batch_shape)
        self._event_shape = flambeau.Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self):
        try:
            arg_constraints = self.arg_constraints
        except NotImplementedError:
            arg_constraints = {}
            warnings.warn(
                f"{type(self)} does not define `arg_constraints`: set it to {{}}, or pass validate_args=False.",
                stacklevel=3,
            )
        for name, constraint in arg_constraints.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property):
                continue  # not given, and computed from one that was
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"{type(self).__name__}: expected parameter {name} ({type(value).__name__} of shape"
                    f" {tuple(value.shape)}) to satisfy the constraint {constraint!r}, got {_one_line(value)}."
                )

    def expand(self, batch_shape, _instance=None):
        """A copy with a larger batch shape, whose parameters are views of these (no memory is copied).

        Args:
            batch_shape: what the present batch shape expands to.
            _instance: an object to fill, for subclasses that override this.
        Raises:
            NotImplementedError: the class has an __init__ of its own and inherits expand.
        """
        owner = next((cls for cls in type(self).__mro__ if "_batched" in vars(cls)), None)
        if owner is None:
            raise NotImplementedError(f"{type(self).__name__} does not implement expand.")
        new = self._get_checked_instance(owner, _instance)
        batch_shape = flambeau.Size(batch_shape)
        for name, event_dims in owner._batched.items():
            if name not in self.__dict__:
                continue
            value = self.__dict__[name]
            if event_dims is None:
                new.__dict__[name] = value
            else:
                kept = value.dim() - event_dims
                new.__dict__[name] = value.expand(batch_shape + value.shape[kept:])
        return self._finish_expanded(new, batch_shape, self.event_shape)

    def _finish_expanded(self, new, batch_shape, event_shape):
        """Set the shapes of an expanded copy without checking its parameters again."""
        Distribution.__init__(new, batch_shape, event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _get_checked_instance(self, cls, _instance=None):
        """An empty object for expand() of `cls` to fill; fails if a subclass would lose what its __init__ sets."""
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"{type(self).__name__}: expected a subclass with its own __init__ to override expand() too."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    @property
    def batch_shape(self):
        """Shape over which parameters differ."""
        return self._batch_shape

    @property
    def event_shape(self):
        """Shape of one draw."""
        return self._event_shape

    @property
    def arg_constraints(self):
        """Parameter name -> Constraint."""
        raise NotImplementedError

    @property
    def support(self):
        """Constraint that samples satisfy."""
        raise NotImplementedError

    @property
    def mean(self):
        """Mean, of shape batch_shape + event_shape."""
        raise NotImplementedError

    @property
    def mode(self):
        """Most likely value."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self):
        """Variance, elementwise."""
        raise NotImplementedError

    @property
    def stddev(self):
        """Square root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape=()):
        """Draw without gradients. Shape sample_shape + batch_shape + event_shape."""
        with flambeau.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()):
        """Draw with gradients in the parameters (reparameterised); only where has_rsample is true."""
        raise NotImplementedError

    def sample_n(self, n):
        """Draw n times; deprecated, use sample((n,))."""
        warnings.warn("sample_n(n) is deprecated: use sample((n,)).", FutureWarning, stacklevel=2)
        return self.sample(flambeau.Size((n,)))

    def log_prob(self, value):
        """Logarithm of the density or probability of value."""
        raise NotImplementedError

    def cdf(self, value):
        """Probability of a draw of at most value."""
        raise NotImplementedError

    def icdf(self, value):
        """Quantile: the inverse of cdf."""
        raise NotImplementedError

    def enumerate_support(self, expand=True):
        """All values of a discrete distribution along a new first dim.

        Args:
            expand: repeat them over the batch; otherwise the batch dims have size 1.
        """
        raise NotImplementedError

    def entropy(self):
        """Entropy in nats, of shape batch_shape."""
        raise NotImplementedError

    def perplexity(self):
        """exp(entropy)."""
        return flambeau.exp(self.entropy())

    def _extended_shape(self, sample_shape=()):
        """Shape of a sample."""
        return flambeau.Size(sample_shape) + self._batch_shape + self._event_shape

    def _validate_sample(self, value):
        """Check what log_prob, cdf and icdf are given.

        Raises:
            ValueError: value is no tensor, does not broadcast to the distribution's shape, or is outside the support.
        """
        name = type(self).__name__
        if not isinstance(value, flambeau.Tensor):
            raise ValueError(
                f"{name}: expected the value to be a Tensor, got {type(value).__name__}."
            )
        event_dim = len(self._event_shape)
        if event_dim and value.shape[value.dim() - event_dim :] != self._event_shape:
            raise ValueError(
                f"{name}: expected a value whose last dims are the event shape {tuple(self._event_shape)},"
                f" got shape {tuple(value.shape)}."
            )
        expected = self._batch_shape + self._event_shape
        for got, size in zip(reversed(value.shape), reversed(expected), strict=False):
            if got != 1 and size != 1 and got != size:
                raise ValueError(
                    f"{name}: expected a value that broadcasts with batch_shape + event_shape {tuple(expected)},"
                    f" got shape {tuple(value.shape)}."
                )
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `support`: define it, or pass validate_args=False.",
                stacklevel=3,
            )
            return
        if not support.check(value).all():
            raise ValueError(
                f"{name}: expected a value within the support {support!r}, got {_one_line(value)}."
            )

    def __repr__(self):
        shown = []
        for name in self.arg_constraints:
            if name in self.__dict__:
                value = self.__dict__[name]
                shown.append(f"{name}: {value if value.numel() == 1 else value.size()}")
        return f"{type(self).__name__}({', '.join(shown)})"


LOG_2PI = math.log(2 * math.pi)
