"""The hook form of weight normalisation. parametrizations.weight_norm is its successor."""

import flambeau
from flambeau.nn.parameter import Parameter

from ._derived import derived

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


def norm_except_dim(v, pow=2, dim=0):
    """The norm over all dims but one, kept; dim -1 (None) takes the norm of everything."""
    if dim == -1:
        return v.norm(pow)
    dims = [d for d in range(v.dim()) if d != dim % v.dim()]
    return v.norm(pow, dims, keepdim=True) if dims else v.abs()


class WeightNorm:
    """weight = g * v / |v|, recomputed before each forward."""

    def __init__(self, name, dim):
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module):
        """The weight that the current g and v stand for."""
        g = getattr(module, self.name + "_g")
        v = getattr(module, self.name + "_v")
        norm = norm_except_dim(v, 2, self.dim)
        # A zero row stays zero instead of becoming nan.
        return v * (g / flambeau.where(norm == 0, flambeau.ones_like(norm), norm))

    @staticmethod
    def apply(module, name, dim):
        """Split the parameter `name` of a module and install the hook."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(
                    f"Cannot register two weight_norm hooks on the same parameter {name}"
                )
        fn = WeightNorm(name, dim)
        weight = getattr(module, name)
        if isinstance(weight, flambeau.nn.UninitializedParameter):
            raise ValueError(
                "The module passed to `WeightNorm` can't have uninitialized parameters. "
                "Make sure to run the dummy forward before applying weight normalization"
            )
        del module._parameters[name]
        module.register_parameter(name + "_g", Parameter(norm_except_dim(weight, 2, fn.dim).data))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, derived(fn.compute_weight(module)))
        module.register_forward_pre_hook(fn)
        return fn

    def remove(self, module):
        """Put the current weight back as a plain parameter."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module, inputs):
        setattr(module, self.name, derived(self.compute_weight(module)))


def weight_norm(module, name="weight", dim=0):
    """Replace a parameter by a magnitude `name_g` and a direction `name_v`; dim None: one magnitude for all.

    References:
        Salimans, Kingma, "Weight Normalization", 2016, arXiv:1602.07868.
    """
    import warnings

    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module, name="weight"):
    """Undo weight_norm, keeping the current weight."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
