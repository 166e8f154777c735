"""Modules as functions of their parameters."""

from ..nn.utils.stateless import _functional_call

__all__ = ["functional_call", "replace_all_batch_norm_modules_", "stack_module_state"]


def functional_call(
    module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False
):
    """Call a module with other parameters and buffers than its own; it is unchanged afterwards.

    Args:
        module: the module.
        parameter_and_buffer_dicts: a dict of dotted names and tensors, or several whose names differ. Names that are
            missing keep the module's tensors.
        args: positional arguments; anything but a tuple is one argument.
        kwargs: keyword arguments.
        tie_weights: a value given for one name of a shared parameter counts for all its names.
        strict: every parameter and buffer has to be given, and nothing else.
    Returns:
        What the module returns.
    Raises:
        ValueError: one name in several dicts, or values that differ for one shared parameter.
    Example:
        >>> import flambeau
        >>> layer = flambeau.nn.Linear(2, 1, bias=False)
        >>> flambeau.func.functional_call(layer, {"weight": flambeau.ones(1, 2)}, flambeau.ones(2)).tolist()
        [2.0]
    """
    return _functional_call(
        module, parameter_and_buffer_dicts, args, kwargs, tie_weights=tie_weights, strict=strict
    )


def stack_module_state(models):
    """Stack the parameters and the buffers of models of one architecture, for vmap over an ensemble.

    Returns:
        (params, buffers): dicts of tensors with the models in dimension 0. The parameters are leaves that require grad
        as the models' do.
    Raises:
        RuntimeError: no models, or they differ in class, mode, or in which parameters require grad.
    """
    from .. import stack

    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not all(model.training == models[0].training for model in models):
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    if not all(type(model) is type(models[0]) for model in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")

    def stacked(tables):
        result = {}
        for name in tables[0]:
            values = [table[name] for table in tables]
            needed = values[0].requires_grad
            if any(value.requires_grad != needed for value in values):
                raise RuntimeError(
                    f"Expected {name} from each model to have the same .requires_grad"
                )
            result[name] = stack([value.detach() for value in values]).requires_grad_(needed)
        return result

    return (
        stacked([dict(model.named_parameters()) for model in models]),
        stacked([dict(model.named_buffers()) for model in models]),
    )


def replace_all_batch_norm_modules_(root):
    """Make the batch norms of a module use batch statistics only, in place; returns the module."""
    from ..nn.modules.batchnorm import _BatchNorm

    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = None
            module.running_var = None
            module.num_batches_tracked = None
            module.track_running_stats = False
    return root
