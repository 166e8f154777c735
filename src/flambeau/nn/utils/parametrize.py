"""Parametrizations: a parameter or buffer of a module is computed from an unconstrained one at each read."""

import copy
from contextlib import contextmanager

import flambeau
from flambeau import Tensor
from flambeau.nn.modules.container import ModuleDict, ModuleList
from flambeau.nn.parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_cache_enabled = 0
_cache = {}


@contextmanager
def cached():
    """Within this context every parametrized tensor is computed once; the cache empties at the outermost end."""
    global _cache_enabled
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache.clear()


def _register_parameter_or_buffer(module, name, value):
    if isinstance(value, Parameter):
        module.register_parameter(name, value)
    else:
        module.register_buffer(name, value)


def _maybe_set(destination, source):
    """Give `destination` the values of `source`, keeping the object (optimizers hold it)."""
    with flambeau.no_grad():
        if destination.shape == source.shape and destination.dtype == source.dtype:
            destination.copy_(source)
        else:
            destination.data = source.detach().clone()


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, in order, and its unconstrained original(s).

    One tensor is `original`; if right_inverse returns a sequence, they are `original0`, `original1`, ...
    """

    def __init__(self, modules, original, unsafe=False):
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        original_shape, original_dtype = original.shape, original.dtype
        with flambeau.no_grad():
            new = original
            for module in reversed(self):
                if hasattr(module, "right_inverse"):
                    try:
                        new = module.right_inverse(new)
                    except NotImplementedError:
                        pass
        if not isinstance(new, Tensor) and not isinstance(new, (list, tuple)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, "
                f"tuple...). Got {type(new).__name__}"
            )
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        self._store(original, new)
        if not self.unsafe:
            self._check(original_shape, original_dtype)

    def _store(self, original, new):
        """Register what the right inverses gave as the unconstrained original(s)."""
        if self.is_tensor:
            if original.dtype != new.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}"
                )
            # Keep the object itself: an optimizer may hold it already.
            if new is not original:
                _maybe_set(original, new)
            _register_parameter_or_buffer(self, "original", original)
        else:
            for i, value in enumerate(new):
                if not isinstance(value, Tensor):
                    raise ValueError(
                        "'right_inverse' must return a Tensor or a Sequence of tensors "
                        f"(list, tuple...). Got element {i} of the sequence with type {type(value).__name__}."
                    )
                if isinstance(original, Parameter):
                    value = Parameter(value, original.requires_grad)
                value.requires_grad_(original.requires_grad)
                _register_parameter_or_buffer(self, f"original{i}", value)

    def _check(self, shape, dtype):
        result = self()
        if not isinstance(result, Tensor):
            raise ValueError(
                f"A parametrization must return a tensor. Got {type(result).__name__}."
            )
        if result.dtype != dtype:
            raise ValueError(
                "Registering a parametrization may not change the dtype of the tensor, unless "
                "`unsafe` flag is enabled.\n"
                f"unparametrized dtype: {dtype}\nparametrized dtype: {result.dtype}"
            )
        if result.shape != shape:
            raise ValueError(
                "Registering a parametrization may not change the shape of the tensor, unless "
                "`unsafe` flag is enabled.\n"
                f"unparametrized shape: {shape}\nparametrized shape: {result.shape}"
            )

    def _originals(self):
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value):
        """Assign: run the right inverses backwards and store the result in the originals."""
        with flambeau.no_grad():
            for module in reversed(self):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                value = module.right_inverse(value)
            if self.is_tensor:
                self._assign(self.original, value)
                return
            if not isinstance(value, (list, tuple)):
                raise ValueError(
                    f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}."
                )
            if len(value) != self.ntensors:
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors of length "
                    f"{self.ntensors}. Got a sequence of length {len(value)}."
                )
            for original, part in zip(self._originals(), value, strict=False):
                self._assign(original, part)

    @staticmethod
    def _assign(original, value):
        if not isinstance(value, Tensor):
            raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
        if original.dtype != value.dtype:
            raise ValueError(
                f"The tensor returned by `right_inverse` has dtype {value.dtype} while "
                f"`original` has dtype {original.dtype}"
            )
        _maybe_set(original, value)

    def forward(self):
        """The parametrized value."""
        x = self[0](*self._originals())
        for i in range(1, len(self)):
            x = self[i](x)
        return x


def _rebuild_parametrized(base, state):
    """For pickle and copy: an instance of `base` with the class that its parametrizations imply."""
    module = base.__new__(base)
    module.__setstate__(state)
    names = list(module.parametrizations)
    _inject_new_class(module)
    for name in names:
        _inject_property(module, name)
    return module


def _inject_new_class(module):
    """Give the instance a class of its own, which can carry properties."""
    cls = type(module)

    def __deepcopy__(self, memo):
        copied = memo.get(id(self))
        if copied is None:
            copied = self.__new__(type(self))
            memo[id(self)] = copied
            copied.__dict__ = copy.deepcopy(self.__dict__, memo)
            copied.__class__ = type(self)
        return copied

    def __reduce_ex__(self, protocol):
        return _rebuild_parametrized, (cls, self.__dict__)

    body = {"__module__": cls.__module__, "__reduce_ex__": __reduce_ex__}
    if not hasattr(cls, "__deepcopy__"):
        body["__deepcopy__"] = __deepcopy__
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), body)


def _inject_property(module, name):
    """Install the property that computes the tensor on each read."""
    if hasattr(type(module), name) and isinstance(getattr(type(module), name), property):
        raise AssertionError(f"{type(module).__name__}.{name} is a property already")

    def get_parametrized(self):
        if not _cache_enabled:
            return self.parametrizations[name]()
        key = (id(self), name)
        value = _cache.get(key)
        if value is None:
            value = _cache[key] = self.parametrizations[name]()
        return value

    def set_original(self, value):
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get_parametrized, set_original))


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """Compute module.<tensor_name> by parametrization(original) from now on. Returns the module.

    Args:
        tensor_name: a parameter or buffer of the module.
        parametrization: a module; with a right_inverse method, it initialises the original, and the tensor can be
            assigned.
        unsafe: allow a change of shape or dtype, and skip the checks.

    Raises:
        ValueError: there is no such tensor, or (unless unsafe) its shape or dtype would change.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        _append(module, tensor_name, parametrization, unsafe)
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        # Construct first: a failing check leaves the module as it is.
        parametrizations = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_new_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        module.parametrizations[tensor_name] = parametrizations
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    return module


def _append(module, tensor_name, parametrization, unsafe):
    if not unsafe:
        value = getattr(module, tensor_name)
        result = parametrization(value)
        if not isinstance(result, Tensor):
            raise ValueError(
                f"A parametrization must return a tensor. Got {type(result).__name__}."
            )
        if result.dtype != value.dtype:
            raise ValueError(
                "Registering a parametrization may not change the dtype of the tensor, unless "
                "the `unsafe` flag is enabled.\n"
                f"module.{tensor_name}.dtype: "
                f"{value.dtype}\nparametrization(module.{tensor_name}).dtype: {result.dtype}"
            )
        if result.shape != value.shape:
            raise ValueError(
                "Registering a parametrization may not change the shape of the tensor, unless "
                "the `unsafe` flag is enabled.\n"
                f"module.{tensor_name}.shape: "
                f"{value.shape}\nparametrization(module.{tensor_name}).shape: {result.shape}"
            )
        if hasattr(parametrization, "right_inverse"):
            try:
                inverse = parametrization.right_inverse(result)
            except NotImplementedError:
                inverse = None
            if inverse is not None:
                if not isinstance(inverse, Tensor):
                    raise ValueError(
                        "parametrization.right_inverse must return a tensor. "
                        f"Got: {type(inverse).__name__}"
                    )
                if inverse.shape != result.shape or inverse.dtype != result.dtype:
                    raise ValueError(
                        "The tensor returned by parametrization.right_inverse must have the same shape and dtype as "
                        f"module.{tensor_name}, unless the `unsafe` flag is enabled."
                    )
    parametrizations = module.parametrizations[tensor_name]
    parametrizations.append(parametrization)
    parametrizations.unsafe |= unsafe


def is_parametrized(module, tensor_name=None):
    """Whether the module (or one tensor of it) has parametrizations."""
    parametrizations = getattr(module, "parametrizations", None)
    if parametrizations is None or not isinstance(parametrizations, ModuleDict):
        return False
    if tensor_name is None:
        return len(parametrizations) > 0
    return tensor_name in parametrizations


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Remove all parametrizations of a tensor. Returns the module.

    Args:
        leave_parametrized: keep the current value (in the original's Parameter object); False restores the original.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations = module.parametrizations[tensor_name]
    if parametrizations.is_tensor:
        original = parametrizations.original
        if leave_parametrized:
            with flambeau.no_grad():
                value = getattr(module, tensor_name)
                # The same object: optimizers keep working.
                if original is not value:
                    _maybe_set(original, value)
    else:
        if not leave_parametrized:
            raise ValueError(
                "Cannot leave unparametrized (`leave_parametrized=False`) a tensor "
                "that is parametrized in terms of a sequence of tensors."
            )
        value = getattr(module, tensor_name)
        needs_grad = any(t.requires_grad for t in parametrizations._originals())
        value = value.detach().clone()
        is_parameter = any(isinstance(t, Parameter) for t in parametrizations._originals())
        original = Parameter(value, needs_grad) if is_parameter else value
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register_parameter_or_buffer(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module):
    """The class of a module, without the subclass that parametrizations add."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Copy parametrizations and the tensors they act on from one module to another. Returns to_module."""
    if not is_parametrized(from_module):
        return to_module
    if not isinstance(from_module.parametrizations, ModuleDict):
        raise AssertionError("from_module.parametrizations must be a ModuleDict")
    names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        for parametrization in from_module.parametrizations[name]:
            register_parametrization(to_module, name, parametrization)
        source, target = from_module.parametrizations[name], to_module.parametrizations[name]
        if hasattr(source, "original"):
            target.original = source.original
        else:
            for i in range(source.ntensors):
                setattr(target, f"original{i}", getattr(source, f"original{i}"))
    return to_module
