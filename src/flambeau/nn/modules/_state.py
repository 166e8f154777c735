"""Saving and loading of module state, mixed into Module."""

from collections import OrderedDict, namedtuple
from collections.abc import Mapping

import flambeau
from flambeau.nn.parameter import Parameter, is_lazy
from flambeau.utils.hooks import RemovableHandle

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """Result of load_state_dict."""

    __slots__ = ()

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class ModuleState:
    """state_dict, load_state_dict, extra state and their hooks."""

    def get_extra_state(self):
        """Return anything picklable to store with the module's state; override together with set_extra_state."""
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be called. "
            "Please report it: get_extra_state is only called on classes that override it."
        )

    def set_extra_state(self, state):
        """Take back what get_extra_state returned, when a state dict is loaded."""
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be called. "
            "Please report it: set_extra_state is only called on classes that override it."
        )

    def register_state_dict_post_hook(self, hook):
        """Run hook(module, state_dict, prefix, local_metadata) after state_dict; it may change the dict in place."""
        hook._from_public_api = True
        return self._register_state_dict_hook(hook)

    def _register_state_dict_hook(self, hook):
        if getattr(hook, "_from_public_api", False) and hook in self._state_dict_hooks.values():
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was registered before"
            )
        handle = RemovableHandle(self._state_dict_hooks)
        self._state_dict_hooks[handle.id] = hook
        return handle

    def register_state_dict_pre_hook(self, hook):
        """Run hook(module, prefix, keep_vars) before state_dict reads the module."""
        handle = RemovableHandle(self._state_dict_pre_hooks)
        self._state_dict_pre_hooks[handle.id] = hook
        return handle

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        handle = RemovableHandle(self._load_state_dict_pre_hooks)
        self._load_state_dict_pre_hooks[handle.id] = _WrappedHook(
            hook, self if with_module else None
        )
        return handle

    def register_load_state_dict_pre_hook(self, hook):
        """Run hook(module, state_dict, prefix, local_metadata, strict, missing, unexpected, errors) before loading."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook):
        """Run hook(module, incompatible_keys) after loading; it may change the key lists in place."""
        handle = RemovableHandle(self._load_state_dict_post_hooks)
        self._load_state_dict_post_hooks[handle.id] = hook
        return handle

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        own = self.__dict__
        for name, param in own["_parameters"].items():
            if param is not None:
                destination[prefix + name] = param if keep_vars else param.detach()
        if own["_buffers"]:
            skipped = self._non_persistent_buffers_set
            for name, buffer in own["_buffers"].items():
                if buffer is not None and name not in skipped:
                    destination[prefix + name] = buffer if keep_vars else buffer.detach()
        if type(self).get_extra_state is not ModuleState.get_extra_state:
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """Return an ordered dict of all parameters and persistent buffers by dotted name.

        Args:
            destination: an ordered dict to add to; None: a fresh one.
            prefix: put before each name.
            keep_vars: keep the parameters themselves; by default detached tensors that share their memory.
        """
        if args:
            import warnings

            warnings.warn(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                FutureWarning,
                stacklevel=2,
            )
            given = dict(zip(("destination", "prefix", "keep_vars"), args, strict=False))
            destination = given.get("destination", destination)
            prefix, keep_vars = given.get("prefix", prefix), given.get("keep_vars", keep_vars)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        return self._collect_state(destination, prefix, keep_vars)

    def _collect_state(self, destination, prefix, keep_vars):
        """state_dict with everything given; children that do not override it come here directly."""
        local_metadata = {"version": self._version}
        metadata = getattr(destination, "_metadata", None)
        if metadata is not None:
            metadata[prefix[:-1]] = local_metadata
        own = self.__dict__
        if "_state_dict_pre_hooks" in own:
            for hook in self._state_dict_pre_hooks.values():
                hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in own["_modules"].items():
            if module is None:
                continue
            path = f"{prefix}{name}."
            if type(module).state_dict is ModuleState.state_dict:
                module._collect_state(destination, path, keep_vars)
            else:
                module.state_dict(destination=destination, prefix=path, keep_vars=keep_vars)
        if "_state_dict_hooks" in own:
            destination = self._run_state_dict_hooks(destination, prefix, local_metadata)
        return destination

    def _run_state_dict_hooks(self, destination, prefix, local_metadata):
        for hook in self._state_dict_hooks.values():
            result = hook(self, destination, prefix, local_metadata)
            if getattr(hook, "_from_public_api", False):
                if result is not None:
                    raise RuntimeError("state_dict post-hook must return None")
            elif result is not None:
                destination = result
        return destination

    def _load_from_state_dict(  # noqa: C901 - each branch is one rule of PyTorch's protocol
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        if self.__dict__.get("_load_state_dict_pre_hooks"):
            for hook in self._load_state_dict_pre_hooks.values():
                hook(
                    state_dict,
                    prefix,
                    local_metadata,
                    strict,
                    missing_keys,
                    unexpected_keys,
                    error_msgs,
                )
        assign = local_metadata.get("assign_to_params_buffers", False)
        known = 0
        local = self._parameters.items()
        if self._buffers:
            skipped = self._non_persistent_buffers_set
            local = [*local, *(item for item in self._buffers.items() if item[0] not in skipped)]
        for name, param in local:
            if param is None:
                continue
            key = prefix + name
            if key in state_dict:
                known += 1
                _load_one(self, name, key, param, state_dict[key], assign, error_msgs)
            elif strict:
                missing_keys.append(key)
        extra_key = prefix + _EXTRA_STATE_KEY_SUFFIX
        if type(self).set_extra_state is not ModuleState.set_extra_state:
            if extra_key in state_dict:
                known += 1
                self.set_extra_state(state_dict[extra_key])
            elif strict:
                missing_keys.append(extra_key)
        elif strict and extra_key in state_dict:
            unexpected_keys.append(extra_key)
        # All keys are this module's own: nothing can be unexpected.
        if strict and known != len(state_dict):
            self._find_unexpected(state_dict, prefix, extra_key, unexpected_keys)

    def _find_unexpected(self, state_dict, prefix, extra_key, unexpected_keys):
        start = len(prefix)
        for key in state_dict:
            if key == extra_key or not key.startswith(prefix):
                continue
            name, dot, _ = key[start:].partition(".")
            # A dotted name must belong to a child; a plain one to this module.
            if dot:
                known = name in self._modules
            else:
                known = name in self._parameters or (
                    name in self._buffers and name not in self._non_persistent_buffers_set
                )
                known = known and (
                    self._parameters.get(name) is not None or self._buffers.get(name) is not None
                )
            if not known:
                unexpected_keys.append(key)

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copy parameters and buffers from a state dict into this module and its descendants.

        Args:
            state_dict: mapping from dotted names to tensors.
            strict: raise when names are missing or unexpected.
            assign: use the given tensors themselves instead of copying their values.

        Returns:
            A named tuple (missing_keys, unexpected_keys).

        Raises:
            RuntimeError: sizes differ, or (strict) names do.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        metadata = getattr(state_dict, "_metadata", None)
        state_dict = OrderedDict(state_dict)
        if metadata is not None:
            state_dict._metadata = metadata
        missing, unexpected, errors = [], [], []
        with flambeau.no_grad():
            _load(self, state_dict, "", metadata, assign, missing, unexpected, errors)
        if strict:
            for kind, keys in (("Unexpected", unexpected), ("Missing", missing)):
                if keys:
                    names = ", ".join(f'"{key}"' for key in keys)
                    errors.insert(0, f"{kind} key(s) in state_dict: {names}. ")
        if errors:
            raise RuntimeError(
                "Error(s) in loading state_dict for {}:\n\t{}".format(
                    type(self).__name__, "\n\t".join(errors)
                )
            )
        return _IncompatibleKeys(missing, unexpected)


class _WrappedHook:
    """A load_state_dict pre-hook that is given the module; keeps it weakly, so that copies do not hold the original."""

    def __init__(self, hook, module):
        import weakref

        self.hook = hook
        self.with_module = module is not None
        self.module = weakref.ref(module) if module is not None else None

    def __call__(self, *args, **kwargs):
        if not self.with_module:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self):
        state = {"hook": self.hook, "with_module": self.with_module}
        if self.with_module:
            state["module"] = self.module()
        return state

    def __setstate__(self, state):
        import weakref

        self.hook = state["hook"]
        self.with_module = state["with_module"]
        self.module = None
        if self.with_module:
            if state["module"] is None:
                raise RuntimeError("You are trying to revive the hook of a dead Module!")
            self.module = weakref.ref(state["module"])


# Where PyTorch has the class: pickled modules name it.
_WrappedHook.__module__ = __name__.replace("_state", "module")


def _load(module, state_dict, prefix, metadata, assign, missing, unexpected, errors):
    local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
    if assign:
        local_metadata["assign_to_params_buffers"] = assign
    module._load_from_state_dict(
        state_dict, prefix, local_metadata, True, missing, unexpected, errors
    )
    for name, child in module._modules.items():
        if child is None:
            continue
        child_prefix = f"{prefix}{name}."
        child_state = {k: v for k, v in state_dict.items() if k.startswith(child_prefix)}
        if child_state or not _is_stateless(child):
            _load(child, child_state, child_prefix, metadata, assign, missing, unexpected, errors)
    if module.__dict__.get("_load_state_dict_post_hooks"):
        keys = _IncompatibleKeys(missing, unexpected)
        for hook in module._load_state_dict_post_hooks.values():
            if hook(module, keys) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not "
                    "expected to return new values, "
                    "if incompatible_keys need to be modified, it should be done inplace."
                )


def _is_stateless(module):
    """Nothing to load and nobody to tell about it."""
    own = module.__dict__
    return not (
        own["_parameters"]
        or own["_buffers"]
        or own["_modules"]
        or own.get("_load_state_dict_pre_hooks")
        or own.get("_load_state_dict_post_hooks")
        or type(module)._load_from_state_dict is not ModuleState._load_from_state_dict
        or type(module).set_extra_state is not ModuleState.set_extra_state
    )


_PLAIN = (Parameter, flambeau.Tensor)


def _load_one(module, name, key, param, given, assign, errors):
    # The usual case; the others are told apart below.
    if (
        not assign
        and type(given) in _PLAIN
        and type(param) in _PLAIN
        and given.shape == param.shape
    ):
        if not param.is_meta:
            try:
                param.copy_(given)
                return
            except Exception:
                pass  # again below, for the message
    if not isinstance(given, flambeau.Tensor):
        errors.append(
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint '
            f"but received {type(given)}"
        )
        return
    lazy = is_lazy(param)
    # Checkpoints of very old versions hold one-element tensors where scalars are now.
    if not lazy and param.dim() == 0 and given.dim() == 1:
        given = given[0]
    if not lazy and given.shape != param.shape:
        errors.append(
            f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, "
            f"the shape in current model is {param.shape}."
        )
        return
    try:
        if assign:
            if isinstance(param, Parameter):
                if not isinstance(given, Parameter):
                    given = Parameter(given, requires_grad=param.requires_grad)
                else:
                    given.requires_grad_(param.requires_grad)
            setattr(module, name, given)
        else:
            if param.is_meta and not given.is_meta:
                import warnings

                warnings.warn(
                    f"for {key}: copying from a non-meta parameter in the checkpoint to a meta "
                    "parameter in the current model, which is a no-op. (Did you mean to "
                    "pass `assign=True` to assign items in the state dictionary to their "
                    "corresponding key in the module instead of copying them in place?)",
                    stacklevel=2,
                )
            param.copy_(given)
    except Exception as error:
        action = "swapping" if assign else "copying"
        errors.append(
            f'While {action} the parameter named "{key}", whose dimensions in the model are {param.size()} and '
            f"whose dimensions in the checkpoint are {given.size()}, an exception occurred : {error.args}."
        )
