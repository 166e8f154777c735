"""Constraints: sets of values that parameters and samples must lie in.

A constraint is an object with check(value) -> bool tensor. Its event_dim says how many last dims of the value it judges
together; is_discrete, whether the set is discrete. transform_to and biject_to (constraint_registry.py) map
unconstrained values onto these sets.
"""

import flambeau

__all__ = [
    "Constraint",
    "MixtureSameFamilyConstraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]

_UNKNOWN = NotImplemented  # an is_discrete or event_dim that only an instance has


class Constraint:
    """Base of all constraints.

    Attributes:
        is_discrete: whether the set is discrete.
        event_dim: number of last dims that check() reduces over.
    """

    is_discrete = False
    event_dim = 0

    def check(self, value):
        """Which events of value are in the set: shape value.shape without the last event_dim dims, bool."""
        raise NotImplementedError

    def __repr__(self):
        shown = ", ".join(f"{name}={getattr(self, name)}" for name in self._bounds)
        return f"{type(self).__name__.removeprefix('_')}({shown})"

    _bounds = ()  # attributes that the repr shows


class _Dependent(Constraint):
    """A constraint that depends on other parameters: known only for an instance."""

    def __init__(self, *, is_discrete=_UNKNOWN, event_dim=_UNKNOWN):
        self._is_discrete = is_discrete
        self._event_dim = event_dim
        super().__init__()

    @property
    def is_discrete(self):
        if self._is_discrete is _UNKNOWN:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self):
        if self._event_dim is _UNKNOWN:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def __call__(self, *, is_discrete=_UNKNOWN, event_dim=_UNKNOWN):
        """A copy with more known about it."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is _UNKNOWN else is_discrete,
            event_dim=self._event_dim if event_dim is _UNKNOWN else event_dim,
        )

    def check(self, value):
        raise ValueError(
            "a dependent constraint cannot check values: ask an instance of the distribution."
        )


def is_dependent(constraint):
    """Whether a constraint is known only for an instance."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """Decorator for a property that is a constraint; the class attribute itself is a dependent constraint.

    Used as `@constraints.dependent_property(is_discrete=False, event_dim=0)`.
    """

    def __init__(self, fn=None, *, is_discrete=_UNKNOWN, event_dim=_UNKNOWN):
        property.__init__(self, fn)
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    def __call__(self, fn):
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _IndependentConstraint(Constraint):
    """Reads `reinterpreted_batch_ndims` more dims as part of the event: all of them must satisfy the base."""

    def __init__(self, base_constraint, reinterpreted_batch_ndims):
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(f"independent: expected a Constraint, got {base_constraint!r}.")
        if not isinstance(reinterpreted_batch_ndims, int) or reinterpreted_batch_ndims < 0:
            raise AssertionError(
                f"independent: expected an int of at least 0, got {reinterpreted_batch_ndims!r}."
            )
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__()

    @property
    def is_discrete(self):
        return self.base_constraint.is_discrete

    @property
    def event_dim(self):
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value):
        result = self.base_constraint.check(value)
        kept = result.dim() - self.reinterpreted_batch_ndims
        if kept < 0:
            needed = self.event_dim
            raise ValueError(f"independent: expected value.dim() >= {needed}, got {value.dim()}.")
        return result.reshape(result.shape[:kept] + (-1,)).all(-1)

    def __repr__(self):
        return (
            f"{type(self).__name__[1:]}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"
        )


class MixtureSameFamilyConstraint(Constraint):
    """The support of a mixture: that of its components, which have one more batch dim than the value.

    Args:
        base_constraint: the support of the component distribution.
    """

    def __init__(self, base_constraint):
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(
                f"MixtureSameFamilyConstraint: expected a Constraint, got {base_constraint!r}."
            )
        self.base_constraint = base_constraint
        super().__init__()

    @property
    def is_discrete(self):
        """That of the components."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self):
        """That of the components."""
        return self.base_constraint.event_dim

    def check(self, value):
        """Check value against every component; a value must suit all of them."""
        wide = value.unsqueeze(-1 - self.event_dim)
        result = self.base_constraint.check(wide)
        kept = value.dim() - self.event_dim
        if kept < 0:
            raise ValueError(
                f"MixtureSameFamilyConstraint: expected value.dim() >= {self.event_dim}, got {value.dim()}."
            )
        return result.reshape(result.shape[:kept] + (-1,)).all(-1)

    def __repr__(self):
        return f"{type(self).__name__}({self.base_constraint!r})"


class _Boolean(Constraint):
    """{0, 1}."""

    is_discrete = True

    def check(self, value):
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    """Vectors of zeros with a single one."""

    is_discrete = True
    event_dim = 1

    def check(self, value):
        return ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1)


class _IntegerInterval(Constraint):
    """Integers from lower_bound to upper_bound, both included."""

    is_discrete = True
    _bounds = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound, upper_bound):
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        super().__init__()

    def check(self, value):
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerLessThan(Constraint):
    """Integers up to upper_bound, included."""

    is_discrete = True
    _bounds = ("upper_bound",)

    def __init__(self, upper_bound):
        self.upper_bound = upper_bound
        super().__init__()

    def check(self, value):
        return (value % 1 == 0) & (value <= self.upper_bound)


class _IntegerGreaterThan(Constraint):
    """Integers from lower_bound on, included."""

    is_discrete = True
    _bounds = ("lower_bound",)

    def __init__(self, lower_bound):
        self.lower_bound = lower_bound
        super().__init__()

    def check(self, value):
        return (value % 1 == 0) & (value >= self.lower_bound)


class _Real(Constraint):
    """Real numbers, infinities included: everything but NaN."""

    def check(self, value):
        return value == value


class _GreaterThan(Constraint):
    """(lower_bound, inf]."""

    _bounds = ("lower_bound",)

    def __init__(self, lower_bound):
        self.lower_bound = lower_bound
        super().__init__()

    def check(self, value):
        return self.lower_bound < value


class _GreaterThanEq(Constraint):
    """[lower_bound, inf]."""

    _bounds = ("lower_bound",)

    def __init__(self, lower_bound):
        self.lower_bound = lower_bound
        super().__init__()

    def check(self, value):
        return self.lower_bound <= value


class _LessThan(Constraint):
    """[-inf, upper_bound)."""

    _bounds = ("upper_bound",)

    def __init__(self, upper_bound):
        self.upper_bound = upper_bound
        super().__init__()

    def check(self, value):
        return value < self.upper_bound


class _Interval(Constraint):
    """[lower_bound, upper_bound]."""

    _bounds = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound, upper_bound):
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        super().__init__()

    def check(self, value):
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(Constraint):
    """[lower_bound, upper_bound)."""

    _bounds = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound, upper_bound):
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        super().__init__()

    def check(self, value):
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _Simplex(Constraint):
    """Vectors of nonnegative numbers that sum to 1 within 1e-6."""

    event_dim = 1

    def check(self, value):
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Vectors of nonnegative integers whose sum is upper_bound at most."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound):
        self.upper_bound = upper_bound

    def check(self, value):
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _LowerTriangular(Constraint):
    """Lower triangular square matrices."""

    event_dim = 2

    def check(self, value):
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(Constraint):
    """Lower triangular square matrices with positive diagonals."""

    event_dim = 2

    def check(self, value):
        triangular = (value.tril() == value).flatten(-2).all(-1)
        return triangular & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(Constraint):
    """Cholesky factors of correlation matrices: lower triangular, rows of norm 1, positive diagonals."""

    event_dim = 2

    def check(self, value):
        # A row's norm sums as many rounding errors as it has entries; 10 leaves some room.
        tolerance = flambeau.finfo(value.dtype).eps * value.size(-1) * 10
        norm = flambeau.linalg.norm(value.detach(), dim=-1)
        return _LowerCholesky().check(value) & (norm - 1).abs().le(tolerance).all(-1)


class _Square(Constraint):
    """Square matrices."""

    event_dim = 2

    def check(self, value):
        square = value.shape[-2] == value.shape[-1]
        return flambeau.full(value.shape[:-2], square, dtype=flambeau.bool, device=value.device)


class _Symmetric(_Square):
    """Symmetric matrices, within 1e-6."""

    def check(self, value):
        square = super().check(value)
        if not square.all():
            return square
        return flambeau.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without negative eigenvalues."""

    def check(self, value):
        symmetric = super().check(value)
        if not symmetric.all():
            return symmetric
        return flambeau.linalg.eigvalsh(value).ge(0).all(-1)


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices that have a Cholesky factor."""

    def check(self, value):
        symmetric = super().check(value)
        if not symmetric.all():
            return symmetric
        return flambeau.linalg.cholesky_ex(value).info.eq(0)


class _Pieces(Constraint):
    """What _Cat and _Stack share: several constraints, each for its piece along one dim."""

    @property
    def is_discrete(self):
        return any(constraint.is_discrete for constraint in self.cseq)

    @property
    def event_dim(self):
        return max(constraint.event_dim for constraint in self.cseq)


class _Cat(_Pieces):
    """Pieces of the given lengths along dim, each with its own constraint; see flambeau.cat."""

    def __init__(self, cseq, dim=0, lengths=None):
        self.cseq = list(cseq)
        if not all(isinstance(constraint, Constraint) for constraint in self.cseq):
            raise AssertionError(f"cat: expected constraints, got {self.cseq!r}.")
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(
                f"cat: expected one length per constraint, got {len(self.lengths)} for {len(self.cseq)}."
            )
        self.dim = dim
        super().__init__()

    def check(self, value):
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(
                f"cat: expected dim within value.dim() {value.dim()}, got {self.dim}."
            )
        checks, start = [], 0
        for constraint, length in zip(self.cseq, self.lengths, strict=True):
            checks.append(constraint.check(value.narrow(self.dim, start, length)))
            start += length
        return flambeau.cat(checks, self.dim)


class _Stack(_Pieces):
    """One constraint for each index along dim; see flambeau.stack."""

    def __init__(self, cseq, dim=0):
        self.cseq = list(cseq)
        if not all(isinstance(constraint, Constraint) for constraint in self.cseq):
            raise AssertionError(f"stack: expected constraints, got {self.cseq!r}.")
        self.dim = dim
        super().__init__()

    @property
    def event_dim(self):
        """One more than the pieces' where dim, counted from the end, lies within the event."""
        dims = super().event_dim
        return dims + 1 if self.dim + dims < 0 else dims

    def check(self, value):
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(
                f"stack: expected dim within value.dim() {value.dim()}, got {self.dim}."
            )
        if value.size(self.dim) != len(self.cseq):
            raise ValueError(
                f"stack: expected size {len(self.cseq)} along dim {self.dim}, got {value.size(self.dim)}."
            )
        pieces = [value.select(self.dim, index) for index in range(value.size(self.dim))]
        checks = [piece.check(part) for part, piece in zip(pieces, self.cseq, strict=True)]
        return flambeau.stack(checks, self.dim)


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
