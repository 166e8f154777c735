"""Parameters, buffers and their uninitialised forms (filled by lazy modules)."""

import flambeau
from flambeau import _C, Tensor

__all__ = [
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "UninitializedTensorMixin",
    "is_lazy",
]


class Parameter(Tensor):
    """A tensor that a module registers as trainable when it is assigned as an attribute.

    Args:
        data: the values; the parameter shares their memory. None: an empty tensor.
        requires_grad: whether gradients are recorded for it.
    """

    # Results of ops on parameters are plain tensors.
    __torch_function__ = _C._disabled_torch_function_impl

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = flambeau.empty(0)
        return Tensor._make_subclass(cls, data, requires_grad)

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()


_C._set_parameter_class(Parameter)  # ops on parameters give plain tensors


class _BufferMeta(type(Tensor)):
    # A buffer is an ordinary tensor with a mark: ops and state dicts see plain tensors.
    def __instancecheck__(cls, instance):
        if cls is Buffer:
            return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)
        return super().__instancecheck__(instance)


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that a module registers as a buffer when it is assigned as an attribute.

    Args:
        data: the values. None: an empty tensor.
        persistent: whether it is part of the module's state_dict.
    """

    def __new__(cls, data=None, *, persistent=True):
        if data is None:
            data = flambeau.empty(0)
        buffer = data.detach().requires_grad_(data.requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer


class UninitializedTensorMixin:
    """What uninitialised parameters and buffers share: they have a dtype and a device, but no shape."""

    def materialize(self, shape, device=None, dtype=None):
        """Turn into an ordinary parameter or buffer of the given shape, in place; the values are uninitialised."""
        device = self.data.device if device is None else device
        dtype = self.data.dtype if dtype is None else dtype
        self.data = flambeau.empty(shape, device=device, dtype=dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self):
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. "
            "This error usually happens in `load_state_dict` when trying to load "
            "an uninitialized parameter into an initialized one. "
            "Call `forward` to initialize the parameters before accessing their attributes."
        )

    def numel(self):
        raise ValueError(
            "Attempted to use an uninitialized parameter in numel. This error happens when you are using a "
            "`LazyModule` or explicitly manipulating `torch.nn.parameter.UninitializedParameter` objects. When using "
            "LazyModules Call `forward` with a dummy batch to initialize the parameters before calling torch functions"
        )

    def share_memory_(self):
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. "
            "Call `forward` to initialize the parameters before calling "
            "`module.share_memory()`."
        )

    def __repr__(self):
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol):
        return type(self), (self.requires_grad,)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter without a shape yet."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        data = flambeau.empty(0, device=device, dtype=dtype)
        return Tensor._make_subclass(cls, data, requires_grad)

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        return memo[id(self)]


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer without a shape yet."""

    cls_to_become = Tensor
    __torch_function__ = _C._disabled_torch_function_impl

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        data = flambeau.empty(0, device=device, dtype=dtype)
        buffer = Tensor._make_subclass(cls, data, requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer


def is_lazy(param):
    """Whether a parameter or buffer still waits for its shape."""
    return isinstance(param, UninitializedTensorMixin)
