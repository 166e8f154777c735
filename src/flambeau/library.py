"""Ops that programs define themselves: custom_op, Library, and `torch.ops.<namespace>.<name>` to call them.

Such an op runs its Python function. What a compiler would need (schemas, rules for captured programs) is accepted.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

from . import Tensor
from .autograd import Function
from .autograd.grad_mode import is_grad_enabled, no_grad

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "impl",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_vmap",
]

# Namespace -> its ops; flambeau.ops.<namespace> finds them here.
NAMESPACES: dict[str, SimpleNamespace] = {}
_OPS: dict[str, CustomOpDef] = {}


def _split(qualname: str) -> tuple[str, str]:
    namespace, separator, name = qualname.partition("::")
    if not separator:
        raise ValueError(f"library: expected a name of the form namespace::name, got {qualname!r}")
    return namespace, name.partition(".")[0]


class CustomOpDef:
    """An op that a program defined. Calling it runs the function for the inputs' device."""

    def __init__(self, namespace: str, name: str, fn: Callable[..., Any] | None) -> None:
        self._qualname = f"{namespace}::{name}"
        self._name = self._qualname
        self._kernels: dict[str | None, Callable[..., Any]] = {} if fn is None else {None: fn}
        self._signature = None if fn is None else inspect.signature(fn)
        self._autograd: Callable[..., Any] | None = None
        self._backward: Callable[..., Any] | None = None
        self._setup: Callable[..., Any] | None = None
        self.__name__ = name
        spaces = NAMESPACES.setdefault(namespace, SimpleNamespace())
        setattr(spaces, name, self)
        _OPS[self._qualname] = self
        self.default = self  # an op of one overload: torch.ops.ns.name.default

    def register_kernel(
        self, device_types: str | Iterable[str] | None, fn: Callable[..., Any] | None = None, /
    ) -> Any:
        """Set the function for devices; a decorator without fn."""
        if fn is None:
            return lambda given: self.register_kernel(device_types, given)
        names = (
            [device_types]
            if device_types is None or isinstance(device_types, str)
            else device_types
        )
        for name in names:
            self._kernels[name] = fn
        return fn

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """Set the function for tensors without data (device meta)."""
        self._kernels["meta"] = fn
        return fn

    def register_autograd(
        self,
        backward: Callable[..., Any],
        /,
        *,
        setup_context: Callable[..., Any] | None = None,
    ) -> None:
        """Set the gradient: backward(ctx, *grads), and setup_context(ctx, inputs, output) before it."""
        self._backward, self._setup = backward, setup_context

    def register_vmap(self, func: Any = None, /) -> Any:
        """Accept a batching rule."""
        return func if func is not None else lambda given: given

    def _run(self, tensors: list[Tensor], args: Any, kwargs: Any) -> Any:
        device = tensors[0].device.type if tensors else "cpu"
        kernel = self._kernels.get(device) or self._kernels.get(None)
        if kernel is None:
            raise NotImplementedError(
                f"{self._qualname}: expected inputs on a device with a registered function, got {device}"
            )
        return kernel(*args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]
        if self._autograd is not None:
            return self._autograd(*args, **kwargs)
        if self._signature is None:  # defined by a Library: its functions differentiate as they are
            return self._run(tensors, args, kwargs)
        if not (is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)):
            with no_grad():
                return self._run(tensors, args, kwargs)
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        apply: Any = _Differentiable.apply  # typed for calls on instances
        return apply(self, tensors, bound.kwargs, *bound.args)

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"


class _Differentiable(Function):
    """A custom op as one node of the gradient graph."""

    @staticmethod
    def forward(ctx: Any, op: CustomOpDef, tensors: Any, kwargs: Any, *args: Any) -> Any:
        output = op._run(tensors, args, kwargs)
        ctx.op = op
        if op._setup is not None:
            if kwargs:
                op._setup(ctx=ctx, inputs=args, keyword_only_inputs=kwargs, output=output)
            else:
                op._setup(ctx=ctx, inputs=args, output=output)
        return output

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        op = ctx.op
        if op._backward is None:
            raise RuntimeError(
                f"{op._qualname}: expected an op with a gradient to differentiate, got one without. "
                "Give it one with register_autograd."
            )
        result = op._backward(ctx, *grads)
        return (None, None, None, *(result if isinstance(result, tuple) else (result,)))


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: Any,
    device_types: str | Iterable[str] | None = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Define an op by a Python function; a decorator without fn.

    Args:
        name: namespace::name; torch.ops.namespace.name is the op.
        fn: what it computes. Gradients do not flow through its body: register_autograd gives them.
        mutates_args, schema, tags: for a compiler, accepted.
        device_types: devices that fn is for; None means all.
    Example:
        >>> import flambeau
        >>> @flambeau.library.custom_op("docs::twice", mutates_args=())
        ... def twice(x: flambeau.Tensor) -> flambeau.Tensor:
        ...     return x * 2
        >>> flambeau.ops.docs.twice(flambeau.tensor([1.0, 2.0]))
        tensor([2., 4.])
    """
    if fn is None:
        return lambda given: custom_op(
            name, given, mutates_args=mutates_args, device_types=device_types, schema=schema
        )
    op = CustomOpDef(*_split(name), fn)
    if device_types is not None:
        del op._kernels[None]
        op.register_kernel(device_types, fn)
    return op


def _find(op: Any) -> CustomOpDef:
    if isinstance(op, CustomOpDef):
        return op
    found = _OPS.get(op) if isinstance(op, str) else None
    if found is None:
        raise RuntimeError(f"library: expected an op that was defined here, got {op!r}")
    return found


def register_fake(
    op: Any,
    func: Any = None,
    /,
    *,
    lib: Any = None,
    _stacklevel: int = 1,
    allow_override: bool = False,
) -> Any:
    """Set the function of an op for tensors without data; a decorator without func."""
    return _find(op).register_fake(func) if func is not None else _find(op).register_fake


impl_abstract = register_fake


def register_kernel(op: Any, device_types: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """Set the function of an op for devices; a decorator without func."""
    return _find(op).register_kernel(device_types, func)


def register_autograd(
    op: Any, backward: Any, /, *, setup_context: Any = None, lib: Any = None
) -> None:
    """Set the gradient of an op."""
    _find(op).register_autograd(backward, setup_context=setup_context)


def register_vmap(op: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """Accept a batching rule."""
    return _find(op).register_vmap(func)


def define(qualname: str, schema: str, *, lib: Any = None, tags: Any = ()) -> None:
    """Define an op without a function; impl() gives it one."""
    CustomOpDef(*_split(qualname), None)


def impl(qualname: str, types: Any, func: Any = None, *, lib: Any = None) -> Any:
    """Set the function of an op for devices ("default" means all); a decorator without func."""
    if func is None:
        return lambda given: impl(qualname, types, given)
    names = [types] if isinstance(types, str) else list(types)
    for name in names:
        if name == "Autograd":
            _find(qualname)._autograd = func
        else:
            _find(qualname).register_kernel(_DEVICES.get(name, name.lower()), func)
    return func


# Dispatch keys of Library.impl, as device types; None is every device.
_DEVICES = {
    "default": None,
    "CompositeExplicitAutograd": None,
    "CompositeImplicitAutograd": None,
}


class Library:
    """The ops of one namespace: define(schema), then impl(name, function, key)."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("DEF", "IMPL", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Define an op by its schema, e.g. "add(Tensor a, Tensor b) -> Tensor"; returns its name."""
        name = schema.partition("(")[0].strip()
        CustomOpDef(*_split(f"{self.ns}::{name}"), None)
        return name

    def impl(self, op_name: Any, fn: Any, dispatch_key: str = "", **kwargs: Any) -> None:
        """Set the function of an op for a dispatch key such as "CPU"."""
        name = str(getattr(op_name, "__name__", op_name)).rpartition("::")[2]
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        impl(f"{self.ns}::{name.partition('.')[0]}", key, fn)
