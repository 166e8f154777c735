"""Module: the base of everything that has parameters. State saving is in _state.py, hooks in _hooks.py."""

from collections import OrderedDict

import flambeau
from flambeau import Tensor
from flambeau._C import ModuleBase, adopt_module_class, configure_modules
from flambeau.nn.parameter import Buffer, Parameter
from flambeau.utils.hooks import RemovableHandle

from . import _hooks
from ._hooks import *  # noqa: F403 - programs look for these and some of the next names here
from ._state import (  # noqa: F401
    _EXTRA_STATE_KEY_SUFFIX,
    ModuleState,
    _IncompatibleKeys,
    _WrappedHook,
)

__all__ = ["Module"]

# Made on first use: most modules never have a hook, and building a module is then nine tables cheaper.
_LAZY_TABLES = frozenset(
    {
        "_backward_hooks",
        "_backward_pre_hooks",
        "_forward_hooks",
        "_forward_hooks_always_called",
        "_forward_hooks_with_kwargs",
        "_forward_pre_hooks",
        "_forward_pre_hooks_with_kwargs",
        "_load_state_dict_post_hooks",
        "_load_state_dict_pre_hooks",
        "_state_dict_hooks",
        "_state_dict_pre_hooks",
    }
)


def _typename(value):
    if isinstance(value, Tensor):
        return (
            value.type()
            if type(value) is Tensor
            else f"{type(value).__module__}.{type(value).__qualname__}"
        )
    module = type(value).__module__
    name = type(value).__qualname__
    return name if module in ("builtins", "", None) else f"{module}.{name}"


def _addindent(text, spaces):
    first, *rest = text.split("\n")
    if not rest:
        return text
    return "\n".join([first, *(" " * spaces + line for line in rest)])


class _CallSignature:
    """What inspect.signature says of a module: (*args, **kwargs). Of a class it asks for the constructor's."""

    def __get__(self, module, owner=None):
        if module is None:
            raise AttributeError("__signature__")
        import inspect

        kinds = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
        names = "args", "kwargs"
        return inspect.Signature(list(map(inspect.Parameter, names, kinds)))


class Module(ModuleState, ModuleBase):
    """Base class of all neural network modules.

    Subclasses call super().__init__() first, assign parameters and submodules as attributes (which registers them) and
    define forward(). Calling the module runs forward() and the registered hooks.
    """

    dump_patches = False
    __signature__ = _CallSignature()
    _version = 1
    training: bool
    call_super_init = False
    _compiled_call_impl = None
    _is_full_backward_hook = None

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        adopt_module_class(cls)

    def __init__(self, *args, **kwargs):
        if args or kwargs:
            self._check_init_arguments(args, kwargs)
        state = self.__dict__
        state["training"] = True
        state["_parameters"] = {}
        state["_buffers"] = {}
        state["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def _check_init_arguments(self, args, kwargs):
        if self.call_super_init:
            return
        if kwargs:
            raise TypeError(
                f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
            )
        raise TypeError(
            f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given"
        )

    def forward(self, *input):
        """Compute the result; every subclass defines this."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def _call_impl(self, *args, **kwargs):
        return _hooks.call_with_hooks(self, args, kwargs)

    # Attributes ------------------------------------------------------------------------------------------------------

    def __getattr__(self, name):
        state = self.__dict__
        for table in ("_parameters", "_buffers", "_modules"):
            if table in state and name in state[table]:
                return state[table][name]
        if name in _LAZY_TABLES:
            # OrderedDict: the handles keep weak references to it.
            table = state[name] = OrderedDict()
            return table
        if name == "_non_persistent_buffers_set":
            table = state[name] = set()
            return table
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _check_name(self, kind, name, table):
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {_typename(name)}")
        if "." in name:
            raise KeyError(
                f'{kind} name can\'t contain "."' + (f", got: {name}" if kind == "module" else "")
            )
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if name not in table and self._has_attribute(name):
            raise KeyError(f"attribute '{name}' already exists")

    def _has_attribute(self, name):
        """hasattr(self, name), without the cost of a failing lookup."""
        cls = type(self)
        if cls.__getattr__ is not Module.__getattr__:
            return hasattr(self, name)
        return (
            name in self.__dict__
            or name in self._parameters
            or name in self._buffers
            or name in self._modules
            or hasattr(cls, name)
        )

    def register_parameter(self, name, param):
        """Add a parameter (or None, as a placeholder) under a name."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name("parameter", name, self._parameters)
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(
                    f"cannot assign '{_typename(param)}' object to parameter '{name}' "
                    "(torch.nn.Parameter or None required)"
                )
            if param.grad_fn is not None:
                raise ValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. Model "
                    "parameters must be created explicitly. To express "
                    f"'{name}' as a function of another Tensor, compute the value in "
                    "the forward() method."
                )
            for hook in _hooks.parameter_registration_hooks.values():
                param = _or_previous(hook(self, name, param), param)
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        """Add a tensor that belongs to the module's state but is not trained.

        Args:
            tensor: the buffer, or None as a placeholder.
            persistent: whether it is part of state_dict.
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None:
            if not isinstance(tensor, Tensor):
                raise TypeError(
                    f"cannot assign '{_typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
                )
            for hook in _hooks.buffer_registration_hooks.values():
                tensor = _or_previous(hook(self, name, tensor), tensor)
        self._buffers[name] = tensor
        if not persistent:
            self._non_persistent_buffers_set.add(name)
        elif "_non_persistent_buffers_set" in self.__dict__:
            self._non_persistent_buffers_set.discard(name)

    def add_module(self, name, module):
        """Add a child module (or None, as a placeholder) under a name."""
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{_typename(module)} is not a Module subclass")
        self._check_name("module", name, self._modules)
        for hook in _hooks.module_registration_hooks.values():
            module = _or_previous(hook(self, name, module), module)
        self._modules[name] = module

    def register_module(self, name, module):
        """Alias of add_module."""
        self.add_module(name, module)

    def _forget(self, name, *tables):
        for table in (self.__dict__, *tables):
            table.pop(name, None)

    def _register_attribute(self, name, value):  # noqa: C901 - one branch per kind of attribute
        """__setattr__ for tensors and modules, and for names that are registered."""
        state = self.__dict__
        params, buffers, modules = (
            state.get("_parameters"),
            state.get("_buffers"),
            state.get("_modules"),
        )
        if isinstance(value, Parameter):
            if params is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            if name in state or name in buffers or name in modules:
                self._forget(name, buffers, modules)
                self._non_persistent_buffers_set.discard(name)
            self.register_parameter(name, value)
        elif params is not None and name in params:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            if modules is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            if name in state or name in params or name in buffers:
                self._forget(name, params, buffers)
                self._non_persistent_buffers_set.discard(name)
            for hook in _hooks.module_registration_hooks.values():
                value = _or_previous(hook(self, name, value), value)
            modules[name] = value
        elif modules is not None and name in modules:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_typename(value)}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            modules[name] = value
        elif buffers is not None and (name in buffers or isinstance(value, Buffer)):
            self._assign_buffer(name, value, buffers, params, modules)
        else:
            object.__setattr__(self, name, value)

    def _assign_buffer(self, name, value, buffers, params, modules):
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"cannot assign '{_typename(value)}' as buffer '{name}' (torch.nn.Buffer, "
                "torch.Tensor or None expected)"
            )
        if isinstance(value, Buffer):
            self._forget(name, params, modules)
            self.register_buffer(name, value, value.persistent)
        else:
            for hook in _hooks.buffer_registration_hooks.values():
                value = _or_previous(hook(self, name, value), value)
            buffers[name] = value

    def __dir__(self):
        names = {
            *dir(type(self)),
            *self.__dict__,
            *self._parameters,
            *self._modules,
            *self._buffers,
        }
        return sorted(name for name in names if not name[:1].isdigit())

    def __setstate__(self, state):
        self.__dict__.update(state)

    # Traversal -------------------------------------------------------------------------------------------------------

    def get_submodule(self, target):
        """Return the descendant at a dotted path; AttributeError if there is none."""
        module = self
        if target == "":
            return module
        for name in target.split("."):
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target, module, strict=False):
        """Replace (or, unless strict, add) the descendant at a dotted path."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        path, _, name = target.rpartition(".")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target):
        """Return the parameter at a dotted path; AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        param = getattr(module, name)
        if not isinstance(param, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return param

    def get_buffer(self, target):
        """Return the buffer at a dotted path; AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return getattr(module, name)

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """Iterate over (dotted name, module), this module first."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, path, remove_duplicate)

    def modules(self):
        """Iterate over all modules of the tree, each once."""
        for _, module in self.named_modules():
            yield module

    def named_children(self):
        """Iterate over (name, child module), each child once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self):
        """Iterate over the direct child modules, each once."""
        for _, module in self.named_children():
            yield module

    def _named_members(self, get_members_fn, prefix="", recurse=True, remove_duplicate=True):
        seen = set()
        modules = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        for path, module in modules:
            for name, value in get_members_fn(module):
                if value is None or value in seen:
                    continue
                if remove_duplicate:
                    seen.add(value)
                yield f"{path}.{name}" if path else name, value

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """Iterate over (dotted name, parameter)."""
        yield from self._named_members(
            lambda m: m._parameters.items(), prefix, recurse, remove_duplicate
        )

    def parameters(self, recurse=True):
        """Iterate over the parameters, each once."""
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """Iterate over (dotted name, buffer)."""
        yield from self._named_members(
            lambda m: m._buffers.items(), prefix, recurse, remove_duplicate
        )

    def buffers(self, recurse=True):
        """Iterate over the buffers, each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    # Modes and conversion --------------------------------------------------------------------------------------------

    def train(self, mode=True):
        """Set training mode (or, with False, evaluation mode) for the whole tree; returns self."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        """Set evaluation mode: dropout off, batch norm uses its running statistics."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Switch gradient recording for all parameters; returns self."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Drop (or set to zero) the gradients of all parameters."""
        for param in self.parameters():
            if param.grad is None:
                continue
            if set_to_none:
                param.grad = None
            else:
                if param.grad.grad_fn is not None:
                    param.grad.detach_()
                else:
                    param.grad.requires_grad_(False)
                param.grad.zero_()

    def apply(self, fn):
        """Call fn(module) on every module, children first; returns self."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn, recurse=True):
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, param in self._parameters.items():
            if param is None:
                continue
            with flambeau.no_grad():
                applied = fn(param)
            grad = param.grad
            # On one device the Parameter object is kept, so that optimizers built before still see it.
            if applied.device.type == param.device.type:
                param.data = applied
            else:
                param = self._parameters[name] = Parameter(applied, param.requires_grad)
            if grad is not None:
                with flambeau.no_grad():
                    new_grad = fn(grad)
                param.grad = new_grad.requires_grad_(grad.requires_grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args, **kwargs):
        """Move and convert parameters and buffers in place: to(device), to(dtype), to(tensor), to(memory_format=...).

        Integer parameters and buffers keep their dtype.
        """
        device, dtype, non_blocking, memory_format = parse_to(*args, **kwargs)
        if dtype is not None:
            if not (dtype.is_floating_point or dtype.is_complex):
                raise TypeError(
                    f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
                )
            if dtype.is_complex:
                import warnings

                warnings.warn(
                    "Complex modules are a new feature under active development whose design may change, "
                    "and some modules might not work as expected when using complex tensors as parameters or buffers. ",
                    stacklevel=2,
                )

        def convert(t):
            wanted = dtype if t.is_floating_point() or t.is_complex() else None
            extra = {}
            if memory_format is not None and t.dim() in (4, 5):
                extra["memory_format"] = memory_format
            if wanted is None:
                wanted = t.dtype
            return t.to(device if device is not None else t.device, wanted, non_blocking, **extra)

        return self._apply(convert)

    def to_empty(self, *, device, recurse=True):
        """Move to a device without copying values: the new storage is uninitialised."""
        return self._apply(lambda t: flambeau.empty_like(t, device=device), recurse=recurse)

    def type(self, dst_type):
        """Cast all parameters and buffers to a dtype."""
        return self._apply(lambda t: t.type(dst_type))

    def _cast_floating(self, dtype):
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def float(self):
        """Cast floating point parameters and buffers to float32."""
        return self._cast_floating(flambeau.float32)

    def double(self):
        """Cast floating point parameters and buffers to float64."""
        return self._cast_floating(flambeau.float64)

    def half(self):
        """Cast floating point parameters and buffers to float16."""
        return self._cast_floating(flambeau.float16)

    def bfloat16(self):
        """Cast floating point parameters and buffers to bfloat16."""
        return self._cast_floating(flambeau.bfloat16)

    def cpu(self):
        """Move all parameters and buffers to the CPU."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device=None):
        """Not available: Flambeau computes on CPUs."""
        raise AssertionError("Torch not compiled with CUDA enabled")

    def ipu(self, device=None):
        """Not available: Flambeau computes on CPUs."""
        raise RuntimeError("Module.ipu: expected a CPU device, got ipu. Flambeau computes on CPUs.")

    def xpu(self, device=None):
        """Not available: Flambeau computes on CPUs."""
        raise RuntimeError("Module.xpu: expected a CPU device, got xpu. Flambeau computes on CPUs.")

    def share_memory(self):
        """Move the storage of all parameters and buffers to shared memory where tensors support it."""
        return self._apply(lambda t: t.share_memory_())

    def compile(self, *args, **kwargs):
        """Accepted for compatibility: the module runs eagerly."""

    # Hooks -----------------------------------------------------------------------------------------------------------

    def _add_hook(self, table, hook, flags=(), prepend=False):
        handle = RemovableHandle(table, extra_dict=[flag_table for flag_table, _ in flags] or None)
        table[handle.id] = hook
        for flag_table, wanted in flags:
            if wanted:
                flag_table[handle.id] = True
        if prepend:
            table.move_to_end(handle.id, last=False)
        return handle

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Run hook(module, args) (with_kwargs: hook(module, args, kwargs)) before forward; a result replaces them."""
        flags = [(self._forward_pre_hooks_with_kwargs, with_kwargs)]
        return self._add_hook(self._forward_pre_hooks, hook, flags, prepend)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Run hook(module, args, output) (with_kwargs: with kwargs third) after forward; a result replaces the output.

        always_call: run it even when forward raises.
        """
        flags = [
            (self._forward_hooks_with_kwargs, with_kwargs),
            (self._forward_hooks_always_called, always_call),
        ]
        return self._add_hook(self._forward_hooks, hook, flags, prepend)

    def register_backward_hook(self, hook):
        """Deprecated form of register_full_backward_hook: sees the gradients of the last node of forward only."""
        if self._is_full_backward_hook is True:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a "
                "single Module. Please use only one of them."
            )
        self._is_full_backward_hook = False
        return self._add_hook(self._backward_hooks, hook)

    def register_full_backward_hook(self, hook, prepend=False):
        """Run hook(module, grad_input, grad_output) when gradients are computed; a result replaces grad_input."""
        if self._is_full_backward_hook is False:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a "
                "single Module. Please use only one of them."
            )
        self._is_full_backward_hook = True
        return self._add_hook(self._backward_hooks, hook, prepend=prepend)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """Run hook(module, grad_output) before gradients are computed; a result replaces grad_output."""
        return self._add_hook(self._backward_pre_hooks, hook, prepend=prepend)

    # Text ------------------------------------------------------------------------------------------------------------

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        """The text between the parentheses of repr; override to describe the module's own settings."""
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        extra_lines = extra.split("\n") if extra else []
        child_lines = [
            f"({key}): {_addindent(repr(module), 2)}" for key, module in self._modules.items()
        ]
        if not extra_lines and not child_lines:
            return f"{self._get_name()}()"
        if len(extra_lines) == 1 and not child_lines:
            return f"{self._get_name()}({extra_lines[0]})"
        body = "\n  ".join(extra_lines + child_lines)
        return f"{self._get_name()}(\n  {body}\n)"

    def _replicate_for_data_parallel(self):
        replica = self.__new__(type(self))
        replica.__dict__ = dict(self.__dict__)
        replica._parameters = {}
        replica._buffers = dict(replica._buffers)
        replica._modules = dict(replica._modules)
        return replica


def _or_previous(value, previous):
    return previous if value is None else value


def parse_to(*args, device=None, dtype=None, non_blocking=False, copy=False, memory_format=None):
    """Arguments of Module.to in all their forms: (device, dtype, non_blocking, memory_format)."""
    rest = list(args)
    if rest and isinstance(rest[0], Tensor):
        other = rest.pop(0)
        device, dtype = other.device, other.dtype
    elif rest and isinstance(rest[0], flambeau.dtype):
        dtype = rest.pop(0)
    elif rest:
        device = rest.pop(0)
        if rest and (rest[0] is None or isinstance(rest[0], flambeau.dtype)):
            dtype = rest.pop(0)
    if rest:
        non_blocking = rest.pop(0)
    if rest:
        raise TypeError(f"to: expected a device, a dtype or a tensor, got {args}")
    if device is not None and not isinstance(device, flambeau.device):
        device = flambeau.device(device)
    return device, dtype, non_blocking, memory_format


configure_modules(
    Module,
    Tensor,
    Module._register_attribute,
    _hooks.call_with_hooks,
    [
        _hooks.forward_hooks,
        _hooks.forward_pre_hooks,
        _hooks.backward_hooks,
        _hooks.backward_pre_hooks,
    ],
)
