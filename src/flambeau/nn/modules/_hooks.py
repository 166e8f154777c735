"""Hooks that run for every module, and the call path taken when any hook is there."""

from collections import OrderedDict

from flambeau.utils.hooks import RemovableHandle

__all__ = [
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

forward_hooks = OrderedDict()
forward_hooks_with_kwargs = OrderedDict()
forward_hooks_always_called = OrderedDict()
forward_pre_hooks = OrderedDict()
backward_hooks = OrderedDict()
backward_pre_hooks = OrderedDict()
buffer_registration_hooks = OrderedDict()
module_registration_hooks = OrderedDict()
parameter_registration_hooks = OrderedDict()
# None until the first backward hook: then whether the global ones are the full kind.
backward_hooks_full = None


def _register(table, hook, extra=()):
    handle = RemovableHandle(table, extra_dict=extra or None)
    table[handle.id] = hook
    return handle


def register_module_forward_pre_hook(hook):
    """Run hook(module, args) before the forward of every module; a result replaces the arguments."""
    return _register(forward_pre_hooks, hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """Run hook(module, args, output) after the forward of every module; a result replaces the output."""
    handle = _register(
        forward_hooks, hook, (forward_hooks_with_kwargs, forward_hooks_always_called)
    )
    if with_kwargs:
        forward_hooks_with_kwargs[handle.id] = True
    if always_call:
        forward_hooks_always_called[handle.id] = True
    return handle


def register_module_backward_hook(hook):
    """Deprecated form of register_module_full_backward_hook."""
    global backward_hooks_full
    if backward_hooks_full is True:
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a "
            "global Module hook. Please use only one of them."
        )
    backward_hooks_full = False
    return _register(backward_hooks, hook)


def register_module_full_backward_pre_hook(hook):
    """Run hook(module, grad_output) before the gradients of every module are computed."""
    return _register(backward_pre_hooks, hook)


def register_module_full_backward_hook(hook):
    """Run hook(module, grad_input, grad_output) when the gradients of every module are computed."""
    global backward_hooks_full
    if backward_hooks_full is False:
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a "
            "global Module hook. Please use only one of them."
        )
    backward_hooks_full = True
    return _register(backward_hooks, hook)


def register_module_buffer_registration_hook(hook):
    """Run hook(module, name, buffer) whenever a buffer is registered; a result replaces it."""
    return _register(buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook):
    """Run hook(module, name, submodule) whenever a submodule is registered; a result replaces it."""
    return _register(module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook):
    """Run hook(module, name, parameter) whenever a parameter is registered; a result replaces it."""
    return _register(parameter_registration_hooks, hook)


def _backward_hooks_of(module):
    full, plain = [], []
    (full if backward_hooks_full else plain).extend(backward_hooks.values())
    (full if module._is_full_backward_hook else plain).extend(module._backward_hooks.values())
    return full, plain, [*backward_pre_hooks.values(), *module._backward_pre_hooks.values()]


def _run_pre_hooks(module, args, kwargs):
    hooks = [(key, hook, False) for key, hook in forward_pre_hooks.items()]
    with_kwargs = module._forward_pre_hooks_with_kwargs
    hooks += [(key, hook, key in with_kwargs) for key, hook in module._forward_pre_hooks.items()]
    for _, hook, takes_kwargs in hooks:
        if takes_kwargs:
            result = hook(module, args, kwargs)
            if result is not None:
                if not (isinstance(result, tuple) and len(result) == 2):
                    raise RuntimeError(
                        f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {result}."
                    )
                args, kwargs = result
        else:
            result = hook(module, args)
            if result is not None:
                args = result if isinstance(result, tuple) else (result,)
    return args, kwargs


def _forward_hook_list(module):
    hooks = [
        (
            ("global", key),
            hook,
            key in forward_hooks_with_kwargs,
            key in forward_hooks_always_called,
        )
        for key, hook in forward_hooks.items()
    ]
    with_kwargs, always = module._forward_hooks_with_kwargs, module._forward_hooks_always_called
    hooks += [
        (("own", key), hook, key in with_kwargs, key in always)
        for key, hook in module._forward_hooks.items()
    ]
    return hooks


def _call_forward_hook(module, hook, takes_kwargs, args, kwargs, result):
    return hook(module, args, kwargs, result) if takes_kwargs else hook(module, args, result)


def _attach_plain_backward_hooks(module, hooks, result):
    """The old kind of backward hook: it sees the gradients of the node that made the first result tensor."""
    from flambeau import Tensor

    value = result
    while not isinstance(value, Tensor):
        value = (
            next(v for v in value.values() if isinstance(v, Tensor))
            if isinstance(value, dict)
            else value[0]
        )
    node = value.grad_fn
    if node is not None:
        for hook in hooks:
            node.register_hook(lambda grad_in, grad_out, hook=hook: hook(module, grad_in, grad_out))


def call_with_hooks(module, args, kwargs):
    """module(*args, **kwargs) with all hooks; the native call path comes here only if there are some."""
    done = set()
    result = None
    try:
        full, plain, pre = _backward_hooks_of(module)
        args, kwargs = _run_pre_hooks(module, args, kwargs)
        boundary = None
        if full or pre:
            from flambeau.utils.hooks import BackwardHook

            boundary = BackwardHook(module, full, pre)
            args = boundary.setup_input_hook(args)
        result = module.forward(*args, **kwargs)
        for key, hook, takes_kwargs, always in _forward_hook_list(module):
            if always:
                done.add(key)
            replaced = _call_forward_hook(module, hook, takes_kwargs, args, kwargs, result)
            if replaced is not None:
                result = replaced
        if boundary is not None:
            result = boundary.setup_output_hook(result)
        if plain:
            _attach_plain_backward_hooks(module, plain, result)
        return result
    except Exception:
        _run_always_called(module, done, args, kwargs, result)
        raise


def _run_always_called(module, done, args, kwargs, result):
    """After a failure: the always_call hooks that have not run; their own failures become warnings."""
    for key, hook, takes_kwargs, always in _forward_hook_list(module):
        if not always or key in done:
            continue
        try:
            replaced = _call_forward_hook(module, hook, takes_kwargs, args, kwargs, result)
            if replaced is not None:
                result = replaced
        except Exception as error:
            import warnings

            kind = "global module" if key[0] == "global" else "module"
            warnings.warn(
                f"{kind} forward hook with ``always_call=True`` raised an exception "
                f"that was silenced as another error was raised in forward: {error!s}",
                stacklevel=2,
            )
