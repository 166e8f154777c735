"""transform_to and biject_to: from a constraint to a transform of unconstrained values onto its set.

Both give transforms whose codomain is the constraint. biject_to gives bijections (for change of variables),
transform_to may give overparametrised maps that behave better under optimisation, such as softmax for the simplex.
"""

from numbers import Number

from . import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Maps constraint classes to functions constraint -> Transform; call it with a constraint."""

    def __init__(self):
        self._registry = {}
        super().__init__()

    def register(self, constraint, factory=None):
        """Set the function for a constraint class, or for the class of an instance; works as a decorator too.

        Raises:
            TypeError: constraint is neither a Constraint nor a class of them.
        """
        if factory is None:
            return lambda function: self.register(constraint, function)
        if isinstance(constraint, constraints.Constraint):
            constraint = type(constraint)
        if not isinstance(constraint, type) or not issubclass(constraint, constraints.Constraint):
            raise TypeError(
                f"register: expected a Constraint or a class of them, got {constraint!r}."
            )
        self._registry[constraint] = factory
        return factory

    def __call__(self, constraint):
        """The transform for a constraint.

        Raises:
            NotImplementedError: nothing is registered for its class.
        """
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _both(*registered):
    """Register a function in both registries."""

    def decorate(function):
        for constraint in registered:
            biject_to.register(constraint, function)
            transform_to.register(constraint, function)
        return function

    return decorate


@_both(constraints.real)
def _identity(constraint):
    return transforms.identity_transform


@_both(constraints.greater_than, constraints.greater_than_eq)
def _above(constraint):
    shift = transforms.AffineTransform(constraint.lower_bound, 1)
    return transforms.ComposeTransform([transforms.ExpTransform(), shift])


@_both(constraints.less_than)
def _below(constraint):
    shift = transforms.AffineTransform(constraint.upper_bound, -1)
    return transforms.ComposeTransform([transforms.ExpTransform(), shift])


@_both(constraints.interval, constraints.half_open_interval)
def _between(constraint):
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, Number) and low == 0 and isinstance(high, Number) and high == 1:
        return transforms.SigmoidTransform()
    stretch = transforms.AffineTransform(low, high - low)
    return transforms.ComposeTransform([transforms.SigmoidTransform(), stretch])


@_both(constraints.corr_cholesky)
def _corr_cholesky(constraint):
    return transforms.CorrCholeskyTransform()


@biject_to.register(constraints.simplex)
def _simplex_bijection(constraint):
    return transforms.StickBreakingTransform()


@transform_to.register(constraints.simplex)
def _simplex(constraint):
    return transforms.SoftmaxTransform()


@transform_to.register(constraints.lower_cholesky)
def _lower_cholesky(constraint):
    return transforms.LowerCholeskyTransform()


def _positive_definite(constraint):
    return transforms.PositiveDefiniteTransform()


transform_to.register(constraints.positive_definite, _positive_definite)
transform_to.register(constraints.positive_semidefinite, _positive_definite)


def _register_composed(registry):
    """Constraints made of others: their transforms are made of the others' transforms in the same registry."""

    @registry.register(constraints.independent)
    def _independent(constraint):
        base = registry(constraint.base_constraint)
        return transforms.IndependentTransform(base, constraint.reinterpreted_batch_ndims)

    @registry.register(constraints.cat)
    def _cat(constraint):
        parts = [registry(piece) for piece in constraint.cseq]
        return transforms.CatTransform(parts, constraint.dim, constraint.lengths)

    @registry.register(constraints.stack)
    def _stack(constraint):
        return transforms.StackTransform(
            [registry(piece) for piece in constraint.cseq], constraint.dim
        )


_register_composed(biject_to)
_register_composed(transform_to)
