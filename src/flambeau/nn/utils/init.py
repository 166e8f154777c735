"""skip_init: build a module without drawing initial values."""

__all__ = ["skip_init"]


def skip_init(module_cls, *args, **kwargs):
    """Build module_cls(*args, **kwargs) with uninitialised parameters; the class has to accept `device`."""
    import inspect

    from flambeau.nn.modules import Module

    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=device)
