"""The __torch_function__ protocol: classes that define it take over the ops they are passed to, and modes take over
every op in a block.
"""

import contextlib
import functools
import threading
import types as python_types

from . import _C

__all__ = [
    "BaseTorchFunctionMode",
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "TorchFunctionMode",
    "disabled_torch_function",
    "enable_reentrant_dispatch",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "redispatch_function",
    "resolve_name",
    "wrap_torch_function",
]


@contextlib.contextmanager
def disabled_torch_function():
    """Within this context ops run as usual on tensors of every class."""
    _C._disable_torch_function(True)
    try:
        yield
    finally:
        _C._disable_torch_function(False)


DisableTorchFunction = DisableTorchFunctionSubclass = disabled_torch_function


# ---- modes ---------------------------------------------------------------------------------------

_local = threading.local()


def _modes():
    if not hasattr(_local, "modes"):
        _local.modes = []
    return _local.modes


def _call_mode(function, types, args, kwargs):
    """Give a call to the innermost mode; what it calls in turn goes to the next one out."""
    modes = _modes()
    mode = modes.pop()
    _C._count_torch_function_modes(-1)
    try:
        result = mode.__torch_function__(function, types, args, kwargs)
    finally:
        modes.append(mode)
        _C._count_torch_function_modes(1)
    if result is NotImplemented:
        raise TypeError(
            f"no implementation found for {resolve_name(function) or function!r} on types that implement "
            f"__torch_function__: the mode {type(mode).__name__} returned NotImplemented"
        )
    return result


_C._set_torch_function_mode_hook(_call_mode)


class TorchFunctionMode:
    """A context whose __torch_function__(func, types, args, kwargs) gets every call of an op.

    Inside of it the mode is off, so it can call func. Functions written in Python are seen through: what arrives are
    the native ops that they call.

    Example:
        >>> class Log(TorchFunctionMode):
        ...     def __torch_function__(self, func, types, args=(), kwargs=None):
        ...         print(resolve_name(func))
        ...         return func(*args, **(kwargs or {}))
        >>> with Log():
        ...     x = flambeau.neg(flambeau.tensor(1.0))
        torch.tensor
        torch.neg
    """

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        _modes().append(self)
        _C._count_torch_function_modes(1)
        return self

    def __exit__(self, *error):
        _modes().pop()
        _C._count_torch_function_modes(-1)

    @classmethod
    def push(cls, *args, **kwargs):
        """An instance to enter; deprecated, make one."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that runs every op as usual."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _get_current_function_mode_stack():
    return list(_modes())


# ---- the protocol for functions written in Python ------------------------------------------------


def _takes_over(value):
    kind = type(value)
    if kind is _tensor_class() or getattr(kind, "__torch_function__", None) is None:
        return False
    return kind.__torch_function__ is not _C._disabled_torch_function_impl


def _tensor_class():
    from .tensor import Tensor

    return Tensor


def has_torch_function(relevant_args):
    """Whether one of the arguments has a __torch_function__ of its own, or a mode is active."""
    if not _C_enabled():
        return False
    return bool(_modes()) or any(_takes_over(arg) for arg in relevant_args)


def _C_enabled():
    return _C._torch_function_enabled()


def has_torch_function_unary(arg):
    """has_torch_function of one argument."""
    return has_torch_function((arg,))


def has_torch_function_variadic(*args):
    """has_torch_function of several arguments."""
    return has_torch_function(args)


def _overloaded(relevant_args):
    """One argument per class that takes over; subclasses before their bases, else by position."""
    found = []
    for arg in relevant_args:
        if not _takes_over(arg) or any(type(arg) is type(other) for other in found):
            continue
        at = next((i for i, o in enumerate(found) if issubclass(type(arg), type(o))), len(found))
        found.insert(at, arg)
    return found


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """Let a mode or the arguments' classes run a function.

    Args:
        public_api: the function that was called, passed on.
        relevant_args: arguments whose classes may take over.
    Raises:
        TypeError: all of them returned NotImplemented.
    """
    overloaded = _overloaded(relevant_args)
    types = tuple(map(type, overloaded))
    if _modes() and _C_enabled():
        return _call_mode(public_api, types, args, kwargs)
    for arg in overloaded:
        result = type(arg).__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    name = f"{public_api.__module__}.{public_api.__name__}"
    raise TypeError(
        f"no implementation found for '{name}' on types that implement __torch_function__: {list(types)}"
    )


def wrap_torch_function(dispatcher):
    """Decorator: the function follows the protocol; dispatcher(*args) gives the relevant arguments."""

    def decorate(function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return decorate


@contextlib.contextmanager
def enable_reentrant_dispatch():
    """Accepted for compatibility: a function may always call itself."""
    yield


def redispatch_function(func, types, args, kwargs):
    """Run a function from within a __torch_function__."""
    return func(*args, **(kwargs or {}))


# ---- what can be overridden ----------------------------------------------------------------------


def is_tensor_like(inp):
    """Whether an object is a tensor, or has a __torch_function__."""
    return isinstance(inp, _C.TensorBase) or hasattr(inp, "__torch_function__")


def _is_op(value):
    return isinstance(value, (_C.Op, _C.Overload))


@functools.cache
def _tables():
    """Functions by namespace, and name by function."""
    import flambeau

    functional, tensor = flambeau.nn.functional, _tensor_class()
    places = [
        (flambeau, "torch", vars(flambeau.ops)),
        (functional, "torch.nn.functional", vars(functional)),
        (flambeau.linalg, "torch.linalg", vars(flambeau.linalg)),
        (flambeau.fft, "torch.fft", vars(flambeau.fft)),
        (flambeau.special, "torch.special", vars(flambeau.special)),
        (tensor, "torch.Tensor", {n: getattr(tensor, n) for n in dir(tensor)}),
    ]
    found, names = {}, {}
    for where, prefix, members in places:
        listed = found.setdefault(where, [])
        for name, value in members.items():
            own = getattr(value, "__module__", "") or ""
            if not _is_op(value) and not (
                where is not tensor
                and isinstance(value, python_types.FunctionType)
                and own.startswith("flambeau")
            ):
                if where is not tensor or name in _NOT_OVERRIDABLE or not callable(value):
                    continue
                if isinstance(value, (type, classmethod)) or hasattr(object, name):
                    continue
            if name.startswith("_") and not name.startswith("__"):
                continue
            listed.append(value)
            with contextlib.suppress(TypeError):
                names.setdefault(value, f"{prefix}.{name}")
    return found, names


_NOT_OVERRIDABLE = frozenset(
    "__torch_function__ __dlpack__ __dlpack_device__ __init_subclass__ __setstate__".split()
)


def get_overridable_functions():
    """Functions that __torch_function__ and modes can take over, by namespace."""
    return {where: list(functions) for where, functions in _tables()[0].items()}


def get_ignored_functions():
    """Functions that never ask __torch_function__: they make tensors from nothing, or are about the library."""
    import flambeau

    names = """typename is_tensor is_storage set_default_tensor_type set_rng_state get_rng_state manual_seed
        initial_seed seed save load set_printoptions fork set_default_dtype get_default_dtype get_num_threads
        set_num_threads arange as_tensor empty empty_strided eye from_numpy full linspace logspace ones rand randint
        randn randperm range sparse_coo_tensor tensor tril_indices triu_indices vander zeros compile
        is_grad_enabled set_grad_enabled no_grad enable_grad inference_mode finfo iinfo""".split()
    return {getattr(flambeau, name) for name in names if hasattr(flambeau, name)}


def get_testing_overrides():
    """For each overridable function, one with which tests can replace it: it takes anything and returns -1."""

    def replacement(*args, **kwargs):
        return -1

    return {f: replacement for listed in get_overridable_functions().values() for f in listed}


def get_default_nowrap_functions():
    """Functions whose results stay plain in subclasses of Tensor."""
    return set()


def resolve_name(f):
    """The public name of a function, as "torch.add"; None if it has none."""
    try:
        return _tables()[1].get(f)
    except TypeError:
        return None


def is_tensor_method_or_property(func):
    """Whether a function is a method of Tensor, or the getter of a property."""
    tensor = _tensor_class()
    name = getattr(func, "__name__", "")
    return name == "__get__" or (name != "" and getattr(tensor, name, None) is func)
