"""The Tensor class. Methods that are ops are set on its native base by flambeau/ops; here is the rest."""

import importlib

from . import _C

__all__ = ["Tensor"]


class Tensor(_C.TensorBase):
    """A multi-dimensional array of one dtype, with automatic differentiation.

    `Tensor(2, 3)` makes an uninitialised tensor of the default dtype, `Tensor([1, 2])` one of the given values; prefer
    flambeau.empty and flambeau.tensor.
    """

    def __new__(cls, *args, device=None):
        if not args:
            return _C.TensorBase.__new__(cls)
        from . import ops

        first = args[0]
        if len(args) == 1 and isinstance(first, _C.TensorBase):
            return _C.TensorBase.__new__(cls, first.detach())
        if len(args) == 1 and not isinstance(first, int | _C.Size):
            made = ops.tensor(first, dtype=_C.get_default_dtype(), device=device)
        else:
            made = ops.empty(*args, device=device)
        return made if cls is Tensor else _C._make_subclass(cls, made)

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        _C._adopt_tensor_subclass(cls)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        """Run `func` on subclass instances and give tensors of the result the subclass."""
        if not all(issubclass(cls, t) for t in types):
            return NotImplemented
        from .overrides import disabled_torch_function

        with disabled_torch_function():
            result = func(*args, **(kwargs or {}))
        return _as_class(result, cls)

    @staticmethod
    def _make_subclass(cls, data, require_grad=False):
        """An alias of `data` of class `cls`, without history."""
        return _C._make_subclass(cls, data, require_grad)

    def as_subclass(self, cls):
        """A view of this tensor as an instance of `cls`, a subclass of Tensor; it stays part of the graph."""
        return _C._as_subclass(self, cls)

    def __iter__(self):
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __reversed__(self):
        return self if self.ndim == 0 else self.flip(0)

    def __contains__(self, element):
        if isinstance(element, Tensor | int | float | complex | bool):
            return bool((element == self).any().item())
        raise RuntimeError(
            f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
        )

    def __repr__(self, *, tensor_contents=None):
        from . import printing

        return printing.tensor_repr(self, contents=tensor_contents)

    def __format__(self, spec):
        if self.ndim == 0 and self.device.type != "meta" and type(self) is Tensor:
            return self.item().__format__(spec)
        return object.__format__(self, spec)

    def __array__(self, dtype=None, copy=None):
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __array_wrap__(self, array, context=None, return_scalar=False):
        if array.dtype == bool:
            array = array.astype("uint8")
        return _C.from_numpy(array)

    # Memory, copies and exchange: flambeau/_utils.py and flambeau/utils/dlpack.py.

    def untyped_storage(self):
        """The bytes that this tensor shares with its views."""
        from ._utils import untyped_storage

        return untyped_storage(self)

    def storage(self):
        """The storage, seen as elements of this tensor's dtype."""
        from ._utils import typed_storage

        return typed_storage(self)

    def __reduce_ex__(self, protocol):
        from ._utils import reduce_tensor

        return reduce_tensor(self, protocol)

    def __setstate__(self, state):
        self.__dict__.update(state or {})

    def __deepcopy__(self, memo):
        from ._utils import deepcopy_tensor

        return deepcopy_tensor(self, memo)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        from .utils.dlpack import export

        return export(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self):
        from .utils.dlpack import device_of

        return device_of(self)

    def is_shared(self):
        """Whether the memory is shared with other processes."""
        return self.untyped_storage().is_shared()

    def share_memory_(self):
        """Move the storage to memory that processes share; tensors on the same storage move along. Returns self."""
        self.untyped_storage().share_memory_()
        return self

    __array_priority__ = 1000

    @property
    def names(self):
        """Names of the dimensions: always None, dimensions have no names."""
        return (None,) * self.ndim

    @property
    def layout(self):
        """How values are stored: flambeau.strided, or one of the sparse layouts."""
        extension = _C._extension(self)
        return _C.strided if extension is None else extension.layout


def _lazy_method(module, name):
    def method(self, *args, **kwargs):
        function = getattr(importlib.import_module(module), function_name)
        return function(self, *args, **kwargs)

    function_name = "scheme_of" if name == "qscheme" else name
    method.__name__ = name
    method.__qualname__ = f"Tensor.{name}"
    method.__doc__ = f"{module}.{function_name} of this tensor."
    return method


# Methods whose modules are imported at the first call: of tensors without strided memory, and legacy ones.
_LAZY_METHODS = {
    "flambeau.quantized.forms": """int_repr q_scale q_zero_point q_per_channel_scales q_per_channel_zero_points
        q_per_channel_axis qscheme""",
    "flambeau.quantized.create": "dequantize",
    "flambeau.legacy": """__long__ cuda pin_memory record_stream reinforce resize resize_as storage_type
        to_padded_tensor""",
}
for _module, _names in _LAZY_METHODS.items():
    for _name in _names.split():
        setattr(Tensor, _name, _lazy_method(_module, _name))


def _as_class(result, cls):
    if isinstance(result, Tensor) and not isinstance(result, cls):
        return result.as_subclass(cls)
    if isinstance(result, tuple | list):
        converted = [_as_class(item, cls) for item in result]
        rebuilds = type(result) in (tuple, list) or hasattr(result, "n_sequence_fields")
        return type(result)(converted) if rebuilds else result
    return result


_C._set_tensor_class(Tensor)
