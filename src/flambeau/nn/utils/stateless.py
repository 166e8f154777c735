"""functional_call: run a module with other parameters and buffers."""

import contextlib
import warnings

__all__ = ["functional_call"]


def _tied_names(module):
    """For each parameter or buffer that is registered more than once: all its names."""
    names = {}
    for name, value in [
        *module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False),
    ]:  # fmt: skip
        names.setdefault(id(value), []).append(name)
    tied = {}
    for group in names.values():
        for name in group:
            tied[name] = group
    return tied


def _untie(module, given):
    """`given` extended to all names of tied values; two different values for one are an error."""
    tied = _tied_names(module)
    extended = dict(given)
    for name, value in given.items():
        for other in tied.get(name, (name,)):
            if other in given and given[other] is not value:
                raise ValueError(
                    f"functional_call got multiple values for keys {sorted(tied[name])}, which are tied. "
                    "Consider using tie_weights=False"
                )
            extended[other] = value
    return extended


def _check_strict(module, given):
    known = {name for name, _ in module.named_parameters(remove_duplicate=False)}
    known |= {name for name, _ in module.named_buffers(remove_duplicate=False)}
    unexpected, missing = sorted(set(given) - known), sorted(known - set(given))
    if unexpected or missing:
        lines = [f"Error(s) in functional_call for {type(module).__name__}:"]
        if unexpected:
            lines.append("Unexpected key(s): " + ", ".join(unexpected) + ".")
        if missing:
            lines.append("Missing key(s): " + ", ".join(missing) + ".")
        raise RuntimeError("\n\t".join(lines))


def _table(module, name):
    """The dict that holds the parameter or buffer of a dotted name, and the last part of the name."""
    path, _, last = name.rpartition(".")
    owner = module.get_submodule(path)
    for table in (owner._parameters, owner._buffers):
        if last in table:
            return table, last
    raise AttributeError(f"{type(owner).__name__} has no attribute `{last}`")


@contextlib.contextmanager
def _swapped(module, given, tie_weights, strict):
    if strict:
        _check_strict(module, given)
    if tie_weights:
        given = _untie(module, given)
    places = [(*_table(module, name), value) for name, value in given.items()]
    originals = []
    try:
        for table, name, value in places:
            originals.append((table, name, table[name]))
            table[name] = value
        yield
    finally:
        for table, name, value in reversed(originals):
            table[name] = value


def _functional_call(
    module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False
):
    """Run module(*args, **kwargs) with the given tensors in place of its parameters and buffers.

    Args:
        parameter_and_buffer_dicts: dict from dotted names to tensors, or a tuple of such dicts.
        args: a tuple of arguments, or the only argument.
        tie_weights: a value given for one name of a tied parameter counts for all its names.
        strict: every parameter and buffer has to be given, and nothing else.
    """
    given = parameter_and_buffer_dicts
    if not isinstance(given, dict):
        if not isinstance(given, (tuple, list)) or not all(isinstance(d, dict) for d in given):
            raise ValueError(
                "Expected all elements of parameter_and_buffer_dicts to be dictionaries"
                if isinstance(given, (tuple, list))
                else "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, "
                f"but got {type(given)}"
            )
        merged = {}
        for part in given:
            repeated = [key for key in part if key in merged]
            if repeated:
                raise ValueError(
                    f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous"
                )
            merged.update(part)
        given = merged
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    with _swapped(module, given, tie_weights, strict):
        return module(*args, **(kwargs or {}))


def functional_call(
    module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False
):
    """Deprecated form of flambeau.func.functional_call."""
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future "
        "version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return _functional_call(
        module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict
    )
