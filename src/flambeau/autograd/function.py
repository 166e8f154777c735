"""Custom autograd functions. The context, the node and apply() are C++ (csrc/bindings/function.cpp)."""

import functools
import inspect

from .. import _C
from .grad_mode import no_grad

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "NestedIOFunction",
    "once_differentiable",
]


class FunctionCtx:
    """What forward and backward get as `ctx`; methods as in the C type, for objects that stand in for it."""

    def save_for_backward(self, *tensors):
        """Keep tensors (inputs, outputs or None) for backward, where they are `ctx.saved_tensors`."""
        self.to_save = tensors

    def save_for_forward(self, *tensors):
        """Keep tensors for jvp."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args):
        """Name the inputs that forward changed in place."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args):
        """Name the outputs that have no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value):
        """Choose whether backward gets zeros (True) or None for outputs without gradient."""
        self.materialize_grads = value


class BackwardCFunction(_C._FunctionBase, FunctionCtx):
    """The context type: each Function has a subclass of it, which is the type of `grad_fn`."""

    def apply(self, *args):
        """Call the user's backward with this context."""
        forward_cls = self._forward_cls
        backward, vjp = forward_cls.backward, forward_cls.vjp
        if backward is not Function.backward and vjp is not Function.vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
                "implement one of them."
            )
        return (vjp if vjp is not Function.vjp else backward)(self, *args)

    def __repr__(self):
        return f"<flambeau.autograd.function.{type(self).__name__} object at {id(self):#x}>"


def _is_overridden(cls, name):
    for base in cls.__mro__:
        if name in vars(base):
            return base.__name__ != "_SingleLevelFunction"
    return False


class FunctionMeta(type):
    """Gives each Function class the context type `<name>Backward`."""

    def __init__(cls, name, bases, attributes):
        context = type(name + "Backward", (BackwardCFunction,), {"_forward_cls": cls})
        context.__module__ = "flambeau.autograd.function"
        cls._backward_cls = context
        cls._has_setup_context = _is_overridden(cls, "setup_context")
        super().__init__(name, bases, attributes)


def _bind_default_args(function, args, kwargs):
    """The positional arguments of forward with defaults and keywords filled in."""
    if not kwargs:
        code = getattr(function, "__code__", None)
        if code is not None and not function.__defaults__ and not code.co_kwonlyargcount:
            return args
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args


def _derived_jvp(cls, inputs, tangents):
    """Tangents of a Function without a jvp of its own, whose backward is differentiable: two reverse passes.

    The backward is linear in its cotangent u; its derivative in u, applied to the tangents, is what is asked for.
    """
    from ._api import grad

    create_graph = _C.is_grad_enabled()
    with _C._EnableGrad():
        places = [i for i, tangent in enumerate(tangents) if tangent is not None]
        aliases = list(inputs)
        for i in places:
            alias = inputs[i].view_as(inputs[i])
            aliases[i] = alias if alias.requires_grad else alias.requires_grad_()
        results = cls.apply(*aliases)
        outputs = results if isinstance(results, tuple) else (results,)
        chosen = [o for o in outputs if isinstance(o, _C.TensorBase) and o.requires_grad]
        seeds = [o.detach().new_zeros(o.shape).requires_grad_() for o in chosen]
        adjoints = grad(
            chosen, [aliases[i] for i in places], seeds, create_graph=True, allow_unused=True
        )
        pairs = [
            (adjoint, tangents[i])
            for i, adjoint in zip(places, adjoints, strict=True)
            if adjoint is not None and adjoint.requires_grad
        ]
        create_graph = create_graph and any(
            tensor.requires_grad for i in places for tensor in (inputs[i], tangents[i])
        )
        found = grad(
            [a for a, _ in pairs],
            seeds,
            [t for _, t in pairs],
            create_graph=create_graph,
            allow_unused=True,
        )
    found = iter(found)
    return tuple(next(found) if any(o is c for c in chosen) else None for o in outputs)


class _SingleLevelFunction(_C._FunctionBase, FunctionCtx, metaclass=FunctionMeta):
    _has_setup_context = False
    # Set by Functions of this package whose backward is differentiable: forward mode goes through it.
    _jvp_from_backward = False

    @staticmethod
    def forward(*args, **kwargs):
        """Compute the outputs: forward(ctx, *args), or forward(*args) with setup_context."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Save what backward needs: inputs is the tuple of forward's arguments."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """Return one gradient per argument of forward, None where there is none."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it "
            "with backward mode AD."
        )

    @staticmethod
    def vjp(ctx, *grad_outputs):
        """Another name for backward."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it "
            "with backward mode AD."
        )

    @staticmethod
    def jvp(ctx, *grad_inputs):
        """Return one tangent per result from one per argument of forward.

        ctx.saved_tensors is what save_for_forward kept. Tensors without a tangent come as zeros, other arguments as
        None. A result that forward wrote in place has the tangent it had, changed in place; a result that is a view of
        an argument has a view of its tangent.
        """
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )


class Function(_SingleLevelFunction):
    """Base class of operations with a gradient of their own.

    Subclass it with static methods `forward` and `backward`, and call `apply`:

    Example:
        >>> import flambeau
        >>> class Exp(flambeau.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, input):
        ...         result = input.exp()
        ...         ctx.save_for_backward(result)
        ...         return result
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         (result,) = ctx.saved_tensors
        ...         return grad * result
        >>> x = flambeau.zeros(1, requires_grad=True)
        >>> Exp.apply(x).backward()
        >>> x.grad
        tensor([1.])
    """

    generate_vmap_rule = False

    def __new__(cls, *args, **kwargs):
        raise RuntimeError(
            f"{cls.__name__}: an autograd.Function is not instantiated; call {cls.__name__}.apply(...). "
            "Functions with non-static forward methods are not supported."
        )

    @staticmethod
    def vmap(info, in_dims, *args):
        """Batching rule; accepted, and not called."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )


class _DelayedError(Function):
    """Passes its inputs through; differentiating the results is an error."""

    @staticmethod
    def forward(ctx, *tensors):
        return tuple(None if tensor is None else tensor.view_as(tensor) for tensor in tensors)

    @staticmethod
    def backward(ctx, *grads):
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )


def once_differentiable(function):
    """Mark a backward that can not be differentiated itself: doing so is an error instead of a wrong number."""

    @functools.wraps(function)
    def wrapper(ctx, *args, **kwargs):
        with no_grad():
            outputs = function(ctx, *args, **kwargs)
        if not _C.is_grad_enabled():
            return outputs
        if not any(getattr(arg, "requires_grad", False) for arg in args):
            return outputs
        single = not isinstance(outputs, tuple)
        # Aliases that require grad, so that the results have a grad_fn: the one that raises.
        leaves = [
            None if output is None else output.detach().requires_grad_()
            for output in ((outputs,) if single else outputs)
        ]
        results = _DelayedError.apply(*leaves)
        return results[0] if single else results

    return wrapper


class InplaceFunction(Function):
    """Kept for programs that still derive from it."""


class NestedIOFunction(Function):
    """Kept as a name; nested inputs and outputs are passed as they are."""
