"""Pruning: name_orig (parameter) times name_mask (buffer) is the plain attribute name, set before each forward."""

from abc import ABC, abstractmethod
from collections.abc import Iterable

import flambeau

from ._derived import derived

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]


class BasePruningMethod(ABC):
    """A way to choose what is pruned: subclasses define compute_mask and PRUNING_TYPE."""

    _tensor_name: str

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, derived(self.apply_mask(module)))

    @abstractmethod
    def compute_mask(self, t, default_mask):
        """A mask like default_mask with zeros where `t` is to be pruned on top of it."""

    def apply_mask(self, module):
        """The pruned tensor."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask = getattr(module, self._tensor_name + "_mask")
        original = getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prune a tensor of a module by this method, on top of earlier pruning. Returns the method object."""
        old, key = None, None
        for k, hook in module._forward_pre_hooks.items():
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
                old, key = hook, k
        method = cls(*args, **kwargs)
        method._tensor_name = name
        if old is not None:
            del module._forward_pre_hooks[key]
            container = old if isinstance(old, PruningContainer) else PruningContainer(old)
            container.add_pruning_method(method)
            method = container
        original = getattr(module, name)
        if importance_scores is not None:
            if importance_scores.shape != original.shape:
                raise AssertionError(
                    f"importance_scores should have the same shape as parameter {name} of {module}"
                )
        else:
            importance_scores = original
        if not isinstance(method, PruningContainer):
            # Move the parameter before the mask is made.
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            default_mask = flambeau.ones_like(original)
        else:
            default_mask = getattr(module, name + "_mask").detach().clone()
        try:
            mask = method.compute_mask(importance_scores, default_mask=default_mask)
            module.register_buffer(name + "_mask", mask)
            setattr(module, name, derived(method.apply_mask(module)))
            module.register_forward_pre_hook(method)
        except Exception:
            if not isinstance(method, PruningContainer):
                restored = getattr(module, name + "_orig")
                module.register_parameter(name, restored)
                del module._parameters[name + "_orig"]
            raise
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        """`t` pruned by this method, without a module."""
        if importance_scores is not None:
            if importance_scores.shape != t.shape:
                raise AssertionError("importance_scores should have the same shape as tensor t")
        else:
            importance_scores = t
        default_mask = default_mask if default_mask is not None else flambeau.ones_like(t)
        return t * self.compute_mask(importance_scores, default_mask=default_mask)

    def remove(self, module):
        """Make the pruned tensor a plain parameter again; the pruning stays."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters[name + "_orig"]
        original.data = weight.data
        del module._parameters[name + "_orig"]
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Several methods one after the other, each acting on what the earlier ones left."""

    def __init__(self, *args):
        self._pruning_methods = ()
        if not isinstance(args, Iterable):  # only 1 item
            self._tensor_name = args._tensor_name
            self.add_pruning_method(args)
        elif len(args) == 1:
            self._tensor_name = args[0]._tensor_name
            self.add_pruning_method(args[0])
        else:
            for method in args:
                self.add_pruning_method(method)

    def add_pruning_method(self, method):
        """Add a method for the same tensor."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on "
                f"the parameter named '{self._tensor_name}' to PruningContainer {self}."
                f" Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, idx):
        return self._pruning_methods[idx]

    def compute_mask(self, t, default_mask):
        mask = default_mask.to(dtype=t.dtype)
        method = self._pruning_methods[-1]
        if method.PRUNING_TYPE == "global":
            slices = (slice(None),)
        elif method.PRUNING_TYPE == "unstructured":
            slices = mask == 1
        elif method.PRUNING_TYPE == "structured":
            n = mask.dim()
            dim = method.dim % n
            # Only channels that are not pruned altogether take part.
            keep = mask.sum(dim=[d for d in range(n) if d != dim]) != 0
            slices = [slice(None)] * n
            slices[dim] = keep
            slices = tuple(slices)
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        if method.PRUNING_TYPE == "unstructured":
            partial = method.compute_mask(t[slices], default_mask=mask[slices])
        else:
            partial = method.compute_mask(t[slices], default_mask=mask[slices])
        new_mask = mask.clone()
        new_mask[slices] = partial.to(dtype=new_mask.dtype)
        return new_mask


class Identity(BasePruningMethod):
    """Prunes nothing."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        return default_mask

    @classmethod
    def apply(cls, module, name):
        """Install a mask of ones."""
        return super().apply(module, name)


class _Amount(BasePruningMethod):
    def __init__(self, amount):
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def _count(self, size):
        count = _compute_nparams_toprune(self.amount, size)
        _validate_pruning_amount(count, size)
        return count


class RandomUnstructured(_Amount):
    """Prunes random elements."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        count = self._count(t.nelement())
        mask = default_mask.clone()
        if count != 0:
            chosen = flambeau.topk(flambeau.rand_like(t).view(-1), k=count)
            mask.view(-1)[chosen.indices] = 0
        return mask

    @classmethod
    def apply(cls, module, name, amount):
        """Prune a tensor of a module."""
        return super().apply(module, name, amount=amount)


class L1Unstructured(_Amount):
    """Prunes the elements of smallest absolute value."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        count = self._count(t.nelement())
        mask = default_mask.clone()
        if count != 0:
            chosen = flambeau.topk(flambeau.abs(t).view(-1), k=count, largest=False)
            mask.view(-1)[chosen.indices] = 0
        return mask

    @classmethod
    def apply(cls, module, name, amount, importance_scores=None):
        """Prune a tensor of a module."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


def _mask_without(t, dim, indices):
    """Ones, but zeros at some channels along dim."""
    mask = flambeau.zeros_like(t)
    slices = [slice(None)] * t.dim()
    slices[dim] = indices
    mask[tuple(slices)] = 1
    return mask


class RandomStructured(_Amount):
    """Prunes random channels along a dim."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount, dim=-1):
        super().__init__(amount)
        self.dim = dim

    def compute_mask(self, t, default_mask):
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        size = t.shape[self.dim]
        count = self._count(size)
        if count == 0:
            return default_mask
        threshold = flambeau.kthvalue(prob := flambeau.rand(size), k=count).values
        return _mask_without(t, self.dim, prob > threshold) * default_mask.to(dtype=t.dtype)

    @classmethod
    def apply(cls, module, name, amount, dim=-1):
        """Prune a tensor of a module."""
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_Amount):
    """Prunes the channels along a dim with the smallest n-norm."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount, n, dim=-1):
        super().__init__(amount)
        self.n = n
        self.dim = dim

    def compute_mask(self, t, default_mask):
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        size = t.shape[self.dim]
        count = _compute_nparams_toprune(self.amount, size)
        keep = size - count
        _validate_pruning_amount(count, size)
        if count == 0:
            return default_mask
        chosen = flambeau.topk(_compute_norm(t, self.n, self.dim), k=keep, largest=True)
        return _mask_without(t, self.dim, chosen.indices) * default_mask.to(dtype=t.dtype)

    @classmethod
    def apply(cls, module, name, amount, n, dim, importance_scores=None):
        """Prune a tensor of a module."""
        return super().apply(
            module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores
        )


class CustomFromMask(BasePruningMethod):
    """Prunes by a given mask."""

    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        if default_mask.shape != self.mask.shape:
            raise AssertionError("mask shape must match default_mask shape")
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module, name, mask):
        """Prune a tensor of a module."""
        return super().apply(module, name, mask=mask)


def identity(module, name):
    """Give a tensor a pruning mask of ones. Returns the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    """Prune random elements: a fraction (float in [0, 1]) or a number (int). Returns the module."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    """Prune the elements of smallest absolute value (or score). Returns the module."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    """Prune random channels along a dim. Returns the module."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Prune the channels along a dim with the smallest n-norm. Returns the module."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Prune several tensors as if they were one.

    Args:
        parameters: (module, name) pairs.
        pruning_method: an unstructured BasePruningMethod class.
        importance_scores: dict from (module, name) to scores.
        kwargs: for the method, e.g. amount.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    importance_scores = importance_scores if importance_scores is not None else {}
    if not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    parameters = list(parameters)
    scores = [importance_scores.get((m, n), getattr(m, n)) for m, n in parameters]
    flat_scores = flambeau.nn.utils.parameters_to_vector([s.detach().contiguous() for s in scores])
    masks = [getattr(m, n + "_mask", flambeau.ones_like(getattr(m, n))) for m, n in parameters]
    flat_mask = flambeau.nn.utils.parameters_to_vector(masks)
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for '
            f"the `pruning_method`. Found method {pruning_method} of type {method.PRUNING_TYPE}"
        )
    final = container.compute_mask(flat_scores, flat_mask)
    start = 0
    for module, name in parameters:
        param = getattr(module, name)
        count = param.numel()
        custom_from_mask(module, name, mask=final[start : start + count].view_as(param))
        start += count


def custom_from_mask(module, name, mask):
    """Prune by a mask of the tensor's shape. Returns the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module, name):
    """Make a pruned tensor a plain parameter again; the zeros stay. Returns the module."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(
        f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
    )


def is_pruned(module):
    """Whether any tensor of the module or of its descendants is pruned."""
    return any(
        isinstance(hook, BasePruningMethod)
        for _, submodule in module.named_modules()
        for hook in submodule._forward_pre_hooks.values()
    )


def _is_int(value):
    return isinstance(value, int)


def _validate_pruning_amount_init(amount):
    if not isinstance(amount, (int, float)):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if (_is_int(amount) and amount < 0) or (
        not _is_int(amount) and not 0.0 <= float(amount) <= 1.0
    ):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer"
        )


def _validate_pruning_amount(amount, tensor_size):
    if _is_int(amount) and amount > tensor_size:
        raise ValueError(
            f"amount={amount} should be smaller than the number of parameters to prune={tensor_size}"
        )


def _validate_structured_pruning(t):
    if t.dim() <= 1:
        raise ValueError(
            "Structured pruning can only be applied to "
            f"multidimensional tensors. Found tensor of shape {t.shape} with {t.dim()} dims"
        )


def _validate_pruning_dim(t, dim):
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _compute_nparams_toprune(amount, tensor_size):
    return amount if _is_int(amount) else round(amount * tensor_size)


def _compute_norm(t, n, dim):
    dims = [d for d in range(t.dim()) if d != dim % t.dim()]
    return flambeau.norm(t, p=n, dim=dims)
