"""Transform: invertible maps with log determinants; inverse, composition, and transforms of parts of a value.

The maps themselves are in _scalar_transforms.py and _vector_transforms.py; the public module is transforms.py.
"""

import itertools
import weakref

import flambeau

from . import constraints
from .utils import sum_rightmost

__all__ = [
    "CatTransform",
    "ComposeTransform",
    "IndependentTransform",
    "ReshapeTransform",
    "StackTransform",
    "Transform",
    "identity_transform",
]


class Transform:
    """A map from `domain` to `codomain`, with an inverse and the logarithm of its derivative.

    Subclasses write _call, _inverse and log_abs_det_jacobian, and say in `bijective` whether transform.inv undoes it
    exactly.

    Args:
        cache_size: 1 keeps the last pair (x, y), so that inverting y gives the very same x; 0 keeps nothing.
    """

    bijective = False
    domain: constraints.Constraint
    codomain: constraints.Constraint

    def __init__(self, cache_size=0):
        if cache_size not in (0, 1):
            raise ValueError(
                f"{type(self).__name__}: expected cache_size 0 or 1, got {cache_size}."
            )
        self._cache_size = cache_size
        self._inv = None
        if cache_size:
            self._cached_x_y = None, None
        super().__init__()

    def __getstate__(self):
        return {**self.__dict__, "_inv": None}  # weak references cannot be pickled

    @property
    def event_dim(self):
        """Number of dims of an event, where domain and codomain agree on it."""
        if self.domain.event_dim != self.codomain.event_dim:
            raise ValueError(
                f"{type(self).__name__}: the event has {self.domain.event_dim} dims in the domain and"
                f" {self.codomain.event_dim} in the codomain: ask .domain.event_dim or .codomain.event_dim."
            )
        return self.domain.event_dim

    @property
    def inv(self):
        """The inverse transform; transform.inv.inv is transform."""
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = _InverseTransform(self)
            self._inv = weakref.ref(inverse)
        return inverse

    @property
    def sign(self):
        """Sign of the derivative of a monotone scalar map: 1, -1, or a tensor of these."""
        raise NotImplementedError

    def with_cache(self, cache_size=1):
        """The same transform with the given cache size."""
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        raise NotImplementedError(f"{type(self)}.with_cache is not implemented")

    def __eq__(self, other):
        return self is other

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def __call__(self, x):
        if self._cache_size == 0:
            return self._call(x)
        old_x, old_y = self._cached_x_y
        if x is old_x:
            return old_y
        y = self._call(x)
        self._cached_x_y = x, y
        return y

    def _inv_call(self, y):
        if self._cache_size == 0:
            return self._inverse(y)
        old_x, old_y = self._cached_x_y
        if y is old_y:
            return old_x
        x = self._inverse(y)
        self._cached_x_y = x, y
        return x

    def _call(self, x):
        raise NotImplementedError

    def _inverse(self, y):
        raise NotImplementedError

    def log_abs_det_jacobian(self, x, y):
        """log |det dy/dx| for y = transform(x); shape of x without the event's dims."""
        raise NotImplementedError

    def __repr__(self):
        return type(self).__name__ + "()"

    def forward_shape(self, shape):
        """Shape of transform(x) for x of the given shape."""
        return shape

    def inverse_shape(self, shape):
        """Shape of transform.inv(y) for y of the given shape."""
        return shape


class _InverseTransform(Transform):
    """transform.inv; holds on to the transform, which knows it only weakly."""

    def __init__(self, transform):
        super().__init__(cache_size=transform._cache_size)
        self._inv = transform

    def __getstate__(self):
        return dict(self.__dict__)

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        return self._inv.codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        return self._inv.domain

    @property
    def bijective(self):
        return self._inv.bijective

    @property
    def sign(self):
        return self._inv.sign

    @property
    def inv(self):
        return self._inv

    def with_cache(self, cache_size=1):
        return self._inv.with_cache(cache_size).inv

    def __eq__(self, other):
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    __hash__ = None

    def __repr__(self):
        return f"{type(self).__name__}({self._inv!r})"

    def __call__(self, x):
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x, y):
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape):
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape):
        return self._inv.forward_shape(shape)


class ComposeTransform(Transform):
    """Several transforms one after the other; the first in the list is applied first.

    Args:
        parts: list of transforms; none is the identity.
        cache_size: given to the parts.
    """

    def __init__(self, parts, cache_size=0):
        if cache_size:
            parts = [part.with_cache(cache_size) for part in parts]
        super().__init__(cache_size=cache_size)
        self.parts = parts

    def __eq__(self, other):
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = None

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        """The first part's domain, with as many event dims as the later parts need."""
        if not self.parts:
            return constraints.real
        dims = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            dims = max(
                dims + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim
            )
        return _widened(self.parts[0].domain, dims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        """The last part's codomain, with as many event dims as the earlier parts leave."""
        if not self.parts:
            return constraints.real
        dims = self.parts[0].domain.event_dim
        for part in self.parts:
            dims = max(
                dims + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim
            )
        return _widened(self.parts[-1].codomain, dims)

    @property
    def bijective(self):
        """Whether all parts are."""
        return all(part.bijective for part in self.parts)

    @property
    def sign(self):
        """Product of the parts' signs."""
        result = 1
        for part in self.parts:
            result = result * part.sign
        return result

    @property
    def inv(self):
        """The parts' inverses in reverse order."""
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv = weakref.ref(inverse)
            inverse._inv = weakref.ref(self)
        return inverse

    def with_cache(self, cache_size=1):
        """The same composition with the given cache size."""
        if self._cache_size == cache_size:
            return self
        return ComposeTransform(self.parts, cache_size=cache_size)

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x, y):
        """Sum of the parts' log determinants, each reduced to the shape of the whole event."""
        if not self.parts:
            return flambeau.zeros_like(x)
        values = [*itertools.accumulate(self.parts[:-1], lambda v, part: part(v), initial=x), y]
        dims = self.domain.event_dim
        total = None
        for part, (before, after) in zip(self.parts, itertools.pairwise(values), strict=True):
            term = part.log_abs_det_jacobian(before, after)
            term = sum_rightmost(term, dims - part.domain.event_dim)
            total = term if total is None else total + term
            dims += part.codomain.event_dim - part.domain.event_dim
        return total

    def forward_shape(self, shape):
        """Shape after all parts."""
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape):
        """Shape before all parts."""
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self):
        inner = ",\n    ".join(repr(part) for part in self.parts)
        return f"{type(self).__name__}(\n    {inner}\n)"


identity_transform = ComposeTransform([])


def _widened(constraint, dims):
    """The constraint over `dims` event dims, at least its own."""
    more = dims - constraint.event_dim
    return constraints.independent(constraint, more) if more > 0 else constraint


class IndependentTransform(Transform):
    """A transform whose last batch dims count as part of the event: log determinants are summed over them.

    Args:
        base_transform: the transform.
        reinterpreted_batch_ndims: number of these dims.
    """

    def __init__(self, base_transform, reinterpreted_batch_ndims, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size=1):
        """The same transform with the given cache size."""
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size)

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        """The base's domain with more event dims."""
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        """The base's codomain with more event dims."""
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self):
        """That of the base."""
        return self.base_transform.bijective

    @property
    def sign(self):
        """That of the base."""
        return self.base_transform.sign

    def _call(self, x):
        self._check_dims(x, self.domain)
        return self.base_transform(x)

    def _inverse(self, y):
        self._check_dims(y, self.codomain)
        return self.base_transform.inv(y)

    @staticmethod
    def _check_dims(value, constraint):
        if value.dim() < constraint.event_dim:
            raise ValueError(
                f"IndependentTransform: expected a value of at least {constraint.event_dim} dims, got {value.dim()}."
            )

    def log_abs_det_jacobian(self, x, y):
        """The base's log determinants, summed over the reinterpreted dims."""
        result = self.base_transform.log_abs_det_jacobian(x, y)
        return sum_rightmost(result, self.reinterpreted_batch_ndims)

    def __repr__(self):
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"

    def forward_shape(self, shape):
        """That of the base."""
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape):
        """That of the base."""
        return self.base_transform.inverse_shape(shape)


class ReshapeTransform(Transform):
    """Gives the event another shape of the same number of elements; log determinant 0.

    Args:
        in_shape, out_shape: event shapes.
    """

    bijective = True

    def __init__(self, in_shape, out_shape, cache_size=0):
        self.in_shape = flambeau.Size(in_shape)
        self.out_shape = flambeau.Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError(
                "ReshapeTransform: expected in_shape and out_shape of equally many elements,"
                f" got {tuple(in_shape)} and {tuple(out_shape)}."
            )
        super().__init__(cache_size=cache_size)

    @constraints.dependent_property
    def domain(self):
        """Real tensors of in_shape's dims."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self):
        """Real tensors of out_shape's dims."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def with_cache(self, cache_size=1):
        """The same transform with the given cache size."""
        if self._cache_size == cache_size:
            return self
        return ReshapeTransform(self.in_shape, self.out_shape, cache_size=cache_size)

    def _call(self, x):
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y):
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x, y):
        """Zeros of the batch shape."""
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape):
        """Replace in_shape at the end by out_shape."""
        return self._replaced(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape):
        """Replace out_shape at the end by in_shape."""
        return self._replaced(shape, self.out_shape, self.in_shape)

    @staticmethod
    def _replaced(shape, old, new):
        cut = len(shape) - len(old)
        if cut < 0 or tuple(shape[cut:]) != tuple(old):
            raise ValueError(
                f"ReshapeTransform: expected a shape that ends in {tuple(old)}, got {tuple(shape)}."
            )
        return flambeau.Size(shape[:cut]) + new


class _PieceTransform(Transform):
    """What CatTransform and StackTransform share: each part transforms its piece along self.dim."""

    def _pieces(self, value):
        """The pieces of value, one per part."""
        raise NotImplementedError

    def _joined(self, pieces):
        raise NotImplementedError

    def _check_dim(self, value):
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(
                f"{type(self).__name__}: expected dim within value.dim() {value.dim()}, got {self.dim}."
            )

    def _call(self, x):
        pieces = self._pieces(x)
        return self._joined([part(p) for part, p in zip(self.transforms, pieces, strict=True)])

    def _inverse(self, y):
        pieces = self._pieces(y)
        return self._joined([part.inv(p) for part, p in zip(self.transforms, pieces, strict=True)])

    @property
    def bijective(self):
        """Whether all parts are."""
        return all(part.bijective for part in self.transforms)

    def _terms(self, x, y):
        triples = zip(self.transforms, self._pieces(x), self._pieces(y), strict=True)
        return [part.log_abs_det_jacobian(before, after) for part, before, after in triples]


class CatTransform(_PieceTransform):
    """Applies each transform to its own piece along a dim, as flambeau.cat joins pieces.

    Args:
        tseq: the transforms.
        dim: along which the pieces lie.
        lengths: of the pieces; 1 each if None.
    """

    def __init__(self, tseq, dim=0, lengths=None, cache_size=0):
        tseq = list(tseq)
        if not all(isinstance(part, Transform) for part in tseq):
            raise AssertionError(f"CatTransform: expected transforms, got {tseq!r}.")
        super().__init__(cache_size=cache_size)
        self.transforms = [part.with_cache(cache_size) for part in tseq] if cache_size else tseq
        self.lengths = [1] * len(tseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(tseq):
            raise AssertionError(
                f"CatTransform: expected one length per transform, got {len(self.lengths)} for {len(tseq)}."
            )
        self.dim = dim

    @property
    def event_dim(self):
        """The largest among the parts."""
        return max(part.event_dim for part in self.transforms)

    @property
    def length(self):
        """Size of the whole along dim."""
        return sum(self.lengths)

    def with_cache(self, cache_size=1):
        """The same transform with the given cache size."""
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _pieces(self, value):
        self._check_dim(value)
        if value.size(self.dim) != self.length:
            raise AssertionError(
                f"CatTransform: expected size {self.length} along dim {self.dim}, got {value.size(self.dim)}."
            )
        return value.split(self.lengths, self.dim)

    def _joined(self, pieces):
        return flambeau.cat(pieces, self.dim)

    def log_abs_det_jacobian(self, x, y):
        """The parts' log determinants: joined along dim if it is a batch dim, else summed."""
        terms = []
        for part, term in zip(self.transforms, self._terms(x, y), strict=True):
            terms.append(sum_rightmost(term, self.event_dim - part.event_dim))
        dim = self.dim if self.dim < 0 else self.dim - x.dim()
        dim += self.event_dim
        if dim < 0:
            return flambeau.cat(terms, dim)
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total

    @constraints.dependent_property
    def domain(self):
        """The parts' domains, piece by piece."""
        return constraints.cat([part.domain for part in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self):
        """The parts' codomains, piece by piece."""
        return constraints.cat([part.codomain for part in self.transforms], self.dim, self.lengths)


class StackTransform(_PieceTransform):
    """Applies one transform to each index along a dim, as flambeau.stack joins tensors.

    Args:
        tseq: the transforms.
        dim: along which they lie.
    """

    def __init__(self, tseq, dim=0, cache_size=0):
        tseq = list(tseq)
        if not all(isinstance(part, Transform) for part in tseq):
            raise AssertionError(f"StackTransform: expected transforms, got {tseq!r}.")
        super().__init__(cache_size=cache_size)
        self.transforms = [part.with_cache(cache_size) for part in tseq] if cache_size else tseq
        self.dim = dim

    def with_cache(self, cache_size=1):
        """The same transform with the given cache size."""
        if self._cache_size == cache_size:
            return self
        return StackTransform(self.transforms, self.dim, cache_size)

    def _pieces(self, value):
        self._check_dim(value)
        if value.size(self.dim) != len(self.transforms):
            raise AssertionError(
                f"StackTransform: expected size {len(self.transforms)} along dim {self.dim},"
                f" got {value.size(self.dim)}."
            )
        return value.unbind(self.dim)

    def _joined(self, pieces):
        return flambeau.stack(pieces, self.dim)

    def log_abs_det_jacobian(self, x, y):
        """The parts' log determinants, stacked along dim."""
        return flambeau.stack(self._terms(x, y), self.dim)

    @constraints.dependent_property
    def domain(self):
        """The parts' domains, index by index."""
        return constraints.stack([part.domain for part in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self):
        """The parts' codomains, index by index."""
        return constraints.stack([part.codomain for part in self.transforms], self.dim)
