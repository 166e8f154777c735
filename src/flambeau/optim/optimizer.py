"""Optimizer: parameter groups, state, hooks, and what concrete optimizers share."""

import functools
import math
from collections import OrderedDict, defaultdict
from collections.abc import Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

import flambeau
from flambeau.utils.hooks import RemovableHandle

__all__ = [
    "Optimizer",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
    "required",
]


class _Required:
    def __repr__(self):
        return "<required parameter>"


# The default of arguments that every group has to give.
required = _Required()

_global_pre_hooks = OrderedDict()
_global_post_hooks = OrderedDict()


def register_optimizer_step_pre_hook(hook):
    """Run hook(optimizer, args, kwargs) before each step of every optimizer; a result replaces (args, kwargs)."""
    return _add_hook(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook):
    """Run hook(optimizer, args, kwargs) after each step of every optimizer."""
    return _add_hook(_global_post_hooks, hook)


def _add_hook(table, hook, prepend=False):
    handle = RemovableHandle(table)
    table[handle.id] = hook
    if prepend:
        table.move_to_end(handle.id, last=False)
    return handle


def _with_hooks(step):
    """A step method that runs the hooks around `step`; one truth test more when there are none."""

    @functools.wraps(step)
    def hooked_step(self, *args, **kwargs):
        if not (_global_pre_hooks or _global_post_hooks or self._step_hooked):
            return step(self, *args, **kwargs)
        for hook in chain(_global_pre_hooks.values(), self._optimizer_step_pre_hooks.values()):
            result = hook(self, args, kwargs)
            if result is not None:
                if not (isinstance(result, tuple) and len(result) == 2):
                    raise RuntimeError(
                        f"{step} must return None or a tuple of (new_args, new_kwargs), but got {result}."
                    )
                args, kwargs = result
        result = step(self, *args, **kwargs)
        for hook in chain(self._optimizer_step_post_hooks.values(), _global_post_hooks.values()):
            hook(self, args, kwargs)
        return result

    hooked_step.hooked = True
    return hooked_step


# Tables of hooks, made when the first hook of their kind is registered.
_HOOK_TABLES = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


def _typename(value):
    if isinstance(value, flambeau.Tensor):
        return value.type()
    return type(value).__name__


class Optimizer:
    """Base class of all optimizers.

    Args:
        params: an iterable of tensors, of (name, tensor) pairs, or of dicts that define groups: "params" and settings.
        defaults: settings of groups that do not give them.
    """

    _step_hooked = False

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        step = cls.__dict__.get("step")
        if step is not None and not getattr(step, "hooked", False):
            cls.step = _with_hooks(step)

    def __init__(self, params, defaults):
        self.defaults = defaults
        for name in _HOOK_TABLES:
            setattr(self, name, OrderedDict())
        if isinstance(params, flambeau.Tensor):
            raise TypeError(
                "params argument given to the optimizer should be "
                f"an iterable of Tensors or dicts, but got {_typename(params)}"
            )
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(dict(group) if isinstance(group, dict) else group)

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)
        for name in _HOOK_TABLES:
            self.__dict__.setdefault(name, OrderedDict())
        self.defaults.setdefault("differentiable", False)

    def __repr__(self):
        groups = []
        for i, group in enumerate(self.param_groups):
            lines = [f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params"]
            groups.append(f"\nParameter Group {i}\n" + "".join(lines))
        return f"{type(self).__name__} ({''.join(groups)})"

    # Hooks -----------------------------------------------------------------------------------------------------------

    def register_step_pre_hook(self, hook):
        """Run hook(optimizer, args, kwargs) before each step; a result replaces (args, kwargs)."""
        self._step_hooked = True
        return _add_hook(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        """Run hook(optimizer, args, kwargs) after each step."""
        self._step_hooked = True
        return _add_hook(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """Run hook(optimizer) before state_dict."""
        return _add_hook(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """Run hook(optimizer, state_dict) after state_dict; a result replaces it."""
        return _add_hook(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """Run hook(optimizer, state_dict) before loading; a result replaces the state dict."""
        return _add_hook(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """Run hook(optimizer) after loading."""
        return _add_hook(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    # State -----------------------------------------------------------------------------------------------------------

    def state_dict(self):
        """State by parameter number, and groups with parameter numbers in place of parameters."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers = {}
        groups = []
        for group in self.param_groups:
            packed = {key: value for key, value in group.items() if key != "params"}
            for param in group["params"]:
                numbers.setdefault(id(param), len(numbers))
            packed["params"] = [numbers[id(param)] for param in group["params"]]
            groups.append(packed)
        state = {
            (numbers[id(key)] if isinstance(key, flambeau.Tensor) else key): value
            for key, value in self.state.items()
        }
        result = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            replaced = hook(self, result)
            if replaced is not None:
                result = replaced
        return result

    def load_state_dict(self, state_dict):
        """Take over state and settings from what state_dict returned.

        Raises:
            ValueError: the number of groups, or of parameters in one of them, differs.
        """
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            replaced = hook(self, state_dict)
            if replaced is not None:
                state_dict = replaced
        groups = self.param_groups
        # The groups are modified below; the tensors in the state are not.
        saved_groups = deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        for own, saved in zip(groups, saved_groups, strict=False):
            if len(own["params"]) != len(saved["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
                )
        by_number = dict(
            zip(
                chain.from_iterable(g["params"] for g in saved_groups),
                chain.from_iterable(g["params"] for g in groups),
                strict=False,
            )
        )
        state = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in by_number:
                param = by_number[key]
                state[param] = _cast(param, value)
            else:
                state[key] = value
        updated = []
        for own, saved in zip(groups, saved_groups, strict=False):
            saved["params"] = own["params"]
            if "param_names" in own and "param_names" not in saved:
                saved["param_names"] = own["param_names"]
            updated.append(saved)
        self.__setstate__({"state": state, "param_groups": updated})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def zero_grad(self, set_to_none=True):
        """Drop (or set to zero) the gradients of all parameters."""
        for group in self.param_groups:
            for param in group["params"]:
                if set_to_none:
                    param.grad = None
                elif param.grad is not None:
                    if param.grad.grad_fn is not None:
                        param.grad.detach_()
                    else:
                        param.grad.requires_grad_(False)
                    param.grad.zero_()

    def step(self, closure=None):
        """Update the parameters; closure, if given, recomputes the loss, and its result is returned."""
        raise NotImplementedError

    def add_param_group(self, param_group):
        """Add a dict with "params" and settings as a further group."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, flambeau.Tensor):
            params = [params]
        elif isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but "
                "the ordering of tensors in sets will change between runs. Please use a list instead."
            )
        params = list(params)
        named = [isinstance(param, tuple) for param in params]
        if any(named):
            if not all(named):
                raise ValueError(
                    "all optimizer params should be with/without names. Some param names are missing"
                )
            param_group["param_names"] = [name for name, _ in params]
            params = [param for _, param in params]
        param_group["params"] = params
        self._check_params(params)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter {name}"
                )
            param_group.setdefault(name, default)
        if len(params) != len({id(p) for p in params}):
            import warnings

            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; "
                "in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        known = {id(p) for group in self.param_groups for p in group["params"]}
        if any(id(p) in known for p in params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def _check_params(self, params):
        for param in params:
            if not isinstance(param, flambeau.Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {_typename(param)}"
                )
            if not self.defaults.get("differentiable", None) and not (
                param.is_leaf or param.retains_grad
            ):
                raise ValueError("can't optimize a non-leaf Tensor")

    # For concrete optimizers -----------------------------------------------------------------------------------------

    def _loss(self, closure):
        if closure is None:
            return None
        with flambeau.enable_grad():
            return closure()


def _cast(param, value, key=None):
    """State as it was saved, in the dtype and on the device of its parameter; step counts keep theirs."""
    if isinstance(value, flambeau.Tensor):
        if key == "step":
            return value
        if param.is_floating_point():
            return value.to(dtype=param.dtype, device=param.device)
        return value.to(device=param.device)
    if isinstance(value, dict):
        return {k: _cast(param, v, k) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(param, v) for v in value)
    return value


def check_settings(**settings):
    """Check the settings that several optimizers have; raises ValueError in PyTorch's words."""
    lr = settings.get("lr")
    if lr is not None:
        if isinstance(lr, flambeau.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 <= lr:
            raise ValueError(f"Invalid learning rate: {lr}")
    if settings.get("fused"):
        if settings.get("differentiable"):
            raise RuntimeError("`fused` does not support `differentiable`")
        if settings.get("foreach"):
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    for name, text in (
        ("eps", "epsilon"),
        ("momentum", "momentum"),
        ("weight_decay", "weight_decay"),
    ):
        value = settings.get(name)
        if value is not None and not 0.0 <= value:
            raise ValueError(f"Invalid {text} value: {value}")
    betas = settings.get("betas")
    if betas is not None:
        for i, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def own(value, group):
    """A copy for ops that keep their arguments for backward, when the state changes in the next step."""
    return value.clone() if group["differentiable"] else value


def new_step():
    """The count of steps in the state of one parameter."""
    return flambeau.tensor(0.0, dtype=_get_scalar_dtype())


class ElementwiseOptimizer(Optimizer):
    """Optimizers that treat every element alike, each parameter with state of its own.

    Subclasses define _init_state; _fused, one native call for all parameters of a group (or None); and _update, the
    same step for one parameter out of ops with gradients, which differentiable=True runs. For _update, complex
    parameters, gradients and state are pairs of reals.
    """

    # State entries that have the parameter's shape.
    _like_param = ()
    _fused = None
    # Whether _update knows sparse gradients.
    _takes_sparse = False

    def step(self, closure=None):
        loss = self._loss(closure)
        for group in self.param_groups:
            params, grads, states = [], [], []
            for param in group["params"]:
                grad = param.grad
                if grad is None:
                    continue
                state = self.state[param]
                if grad.is_sparse and not self._takes_sparse:
                    raise RuntimeError(f"{type(self).__name__} does not support sparse gradients")
                if not state:
                    self._init_state(param, state, group)
                if grad.is_sparse:
                    with flambeau.no_grad():
                        self._update_one(param, grad, state, group)
                    continue
                params.append(param)
                grads.append(grad)
                states.append(state)
            if not params:
                continue
            differentiable = bool(group.get("differentiable"))
            if self._fused is not None and not differentiable:
                self._fused(group, params, grads, states)
                continue
            with flambeau.set_grad_enabled(bool(differentiable)):
                for param, grad, state in zip(params, grads, states, strict=True):
                    self._update_one(param, grad, state, group)
        return loss

    def _update_one(self, param, grad, state, group):
        if group.get("maximize"):
            grad = -grad
        if not param.is_complex():
            self._update(param, grad, state, group)
            return
        view = flambeau.view_as_real
        real_state = dict(state)
        for name in self._like_param:
            if state.get(name) is not None:
                real_state[name] = view(state[name])
        self._update(view(param), view(grad), real_state, group)
        for name, value in real_state.items():
            if name not in self._like_param:
                state[name] = value

    def _init_state(self, param, state, group):
        raise NotImplementedError

    def _update(self, param, grad, state, group):
        raise NotImplementedError


def entries(states, name):
    """One entry of every state."""
    return [state[name] for state in states]


def set_defaults(optimizer, **defaults):
    """Settings that states of older versions lack; step counts that are numbers become tensors."""
    for group in optimizer.param_groups:
        for name, value in defaults.items():
            group.setdefault(name, value)
    for entry in optimizer.state.values():
        if "step" in entry and not isinstance(entry["step"], flambeau.Tensor):
            entry["step"] = flambeau.tensor(float(entry["step"]), dtype=flambeau.float32)


# For optimizers written elsewhere, which look for these names here. -------------------------------------------------

ParamsT = Iterable[Any]
_RequiredParameter = _Required


def _use_grad_for_differentiable(step):
    """Run a step with recording as the optimizer's `differentiable` says."""

    @functools.wraps(step)
    def wrapped(*args, **kwargs):
        optimizer = args[0]
        with flambeau.set_grad_enabled(bool(optimizer.defaults.get("differentiable"))):
            return step(*args, **kwargs)

    return wrapped


def _get_value(x):
    """The number in a tensor, or the number itself."""
    return x.item() if isinstance(x, flambeau.Tensor) else x


def _to_scalar(x):
    """A one-element tensor without dims; numbers as they are."""
    return x.squeeze() if isinstance(x, flambeau.Tensor) and x.dim() != 0 else x


def _stack_if_compiling(x):
    return x


def _dispatch_sqrt(x):
    return x.sqrt() if isinstance(x, flambeau.Tensor) else math.sqrt(x)


def _get_scalar_dtype(is_fused=None):
    """The dtype of step counts."""
    double = flambeau.get_default_dtype() == flambeau.float64 and not is_fused
    return flambeau.float64 if double else flambeau.float32


def _view_as_real(params, *state_and_grads):
    """Replace complex parameters in a list, and their entries in the other lists, by views as pairs of reals."""
    for i, param in enumerate(params):
        if param.is_complex():
            params[i] = flambeau.view_as_real(param)
            for values in state_and_grads:
                values[i] = flambeau.view_as_real(values[i])


def _default_to_fused_or_foreach(params, differentiable, use_fused=False):
    """(fused, foreach) for an optimizer that was told neither: on the CPU, one parameter at a time."""
    return False, False


def _disable_dynamo_if_unsupported(single_tensor_fn=None):
    return lambda function: function
