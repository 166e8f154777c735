"""LazyModuleMixin: parameters get their shapes from the first input."""

from flambeau.nn.parameter import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """Mix into a module whose parameters start uninitialised.

    The class defines initialize_parameters(*args), called before the first forward with its arguments, and may name in
    cls_to_become the class that the module turns into once everything has a shape.
    """

    cls_to_become = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(
            self._infer_parameters, with_kwargs=True
        )

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        # Uninitialised parameters cannot be detached: they are saved as they are.
        for name, param in self._parameters.items():
            if param is not None:
                destination[prefix + name] = (
                    param if is_lazy(param) or keep_vars else param.detach()
                )
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = (
                    buffer if is_lazy(buffer) or keep_vars else buffer.detach()
                )

    def _lazy_load_hook(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        import flambeau

        for name, param in [*self._parameters.items(), *self._buffers.items()]:
            key = prefix + name
            if key in state_dict and param is not None and is_lazy(param):
                given = state_dict[key]
                if not is_lazy(given):
                    with flambeau.no_grad():
                        param.materialize(given.shape)

    def initialize_parameters(self, *args, **kwargs):
        """Give the parameters their shapes from the arguments of forward."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def has_uninitialized_params(self):
        """Whether any parameter or buffer still waits for its shape."""
        return any(is_lazy(p) for p in [*self._parameters.values(), *self._buffers.values()])

    def _infer_parameters(self, module, args, kwargs=None):
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        delattr(module, "_initialize_hook")
        delattr(module, "_load_hook")
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _replicate_for_data_parallel(self):
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DataParallel`. "
            "Run a dummy forward pass to correctly initialize the modules"
        )
