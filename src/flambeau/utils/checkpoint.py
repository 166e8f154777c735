"""Activation checkpointing: compute parts of the forward again in backward instead of keeping their intermediates."""

import contextlib
import threading
import warnings
import weakref

from .. import _C
from ..autograd import Function, enable_grad, no_grad
from ..autograd import backward as autograd_backward
from ..autograd.graph import saved_tensors_hooks
from ..random import get_rng_state, set_rng_state

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]


class CheckpointError(RuntimeError):
    """The second forward did not save the same tensors as the first."""


_state = threading.local()


def noop_context_fn():
    """The default of checkpoint's context_fn: two contexts that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def detach_variable(inputs):
    """Detached copies of the tensors in a tuple that keep requires_grad; other values as they are."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            f"Only tuple of tensors is supported. Got Unsupported input type:  {type(inputs).__name__}"
        )
    return tuple(
        value.detach().requires_grad_(value.requires_grad)
        if isinstance(value, _C.TensorBase)
        else value
        for value in inputs
    )


def check_backward_validity(inputs):
    """Warn when nothing among the inputs requires grad: then reentrant checkpointing gives no gradients."""
    if not any(isinstance(value, _C.TensorBase) and value.requires_grad for value in inputs):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=3
        )


def get_device_states(*args):
    """States of other devices' generators: there are none."""
    return [], []


def set_device_states(devices, states, *, device_type=None):
    """Counterpart of get_device_states."""


@contextlib.contextmanager
def set_checkpoint_early_stop(enable):
    """Override early_stop of all checkpoints used inside the block."""
    previous = getattr(_state, "early_stop", None)
    _state.early_stop = enable
    try:
        yield
    finally:
        _state.early_stop = previous


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled):
    """Override debug of all checkpoints used inside the block."""
    previous = getattr(_state, "debug", None)
    _state.debug = enabled
    try:
        yield
    finally:
        _state.debug = previous


class _Rng:
    """The generator's state at the first forward, put back for the second."""

    def __init__(self, preserve):
        self.state = get_rng_state() if preserve else None

    @contextlib.contextmanager
    def restored(self):
        if self.state is None:
            yield
            return
        current = get_rng_state()
        set_rng_state(self.state)
        try:
            yield
        finally:
            set_rng_state(current)


class _Autocast:
    """The autocast mode of the first forward, put back for the second."""

    def __init__(self):
        self.mode = (_C._autocast_enabled(), _C._autocast_dtype(), _C._autocast_cache_enabled())

    @contextlib.contextmanager
    def restored(self):
        from ..amp import autocast

        enabled, dtype, cache_enabled = self.mode
        with autocast("cpu", dtype, enabled, cache_enabled):
            yield


class CheckpointFunction(Function):
    """Reentrant checkpointing: forward without grad mode, a nested backward over a second forward."""

    @staticmethod
    def forward(ctx, run_function, preserve_rng_state, *args):
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.rng = _Rng(preserve_rng_state)
        ctx.autocast = _Autocast()
        ctx.tensor_places = [i for i, value in enumerate(args) if isinstance(value, _C.TensorBase)]
        ctx.inputs = [None if isinstance(value, _C.TensorBase) else value for value in args]
        ctx.save_for_backward(*[args[i] for i in ctx.tensor_places])
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx, *grads):
        if _C._current_backward_is_selective():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument."
            )
        inputs = list(ctx.inputs)
        for place, tensor in zip(ctx.tensor_places, ctx.saved_tensors, strict=True):
            inputs[place] = tensor
        detached = detach_variable(tuple(inputs))
        with ctx.rng.restored(), enable_grad(), ctx.autocast.restored():
            outputs = ctx.run_function(*detached)
        if isinstance(outputs, _C.TensorBase):
            outputs = (outputs,)
        pairs = [
            (output, grad)
            for output, grad in zip(outputs, grads, strict=True)
            if isinstance(output, _C.TensorBase) and output.requires_grad
        ]
        if not pairs:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        autograd_backward([output for output, _ in pairs], [grad for _, grad in pairs])
        found = tuple(
            value.grad if isinstance(value, _C.TensorBase) else None for value in detached
        )
        return (None, None, *found)


def checkpoint(
    function,
    *args,
    use_reentrant=None,
    context_fn=noop_context_fn,
    determinism_check="default",
    debug=False,
    early_stop=True,
    preserve_rng_state=True,
    **kwargs,
):
    """Call function(*args, **kwargs) without keeping its intermediates; backward runs it again.

    Args:
        function: what to run; it has to do the same both times.
        use_reentrant: True runs forward without grad mode and backward inside backward (then some input must require
            grad); False, better, drops what operations save and computes it again on demand.
        context_fn: gives two context managers, for the first and the second forward (use_reentrant=False).
        determinism_check: "default" compares shapes, dtypes and devices of what is saved; "none" does not.
        debug: name the saved tensors in the error about a mismatch.
        early_stop: stop the second forward once everything needed is there.
        preserve_rng_state: give the second forward the random numbers of the first.
    Returns:
        The result of function.
    Raises:
        CheckpointError: the second forward saved other tensors than the first.
    Example:
        >>> import flambeau
        >>> from flambeau.utils.checkpoint import checkpoint
        >>> x = flambeau.ones(2, requires_grad=True)
        >>> checkpoint(lambda t: t.exp().log(), x, use_reentrant=False).sum().backward()
        >>> x.grad
        tensor([1., 1.])
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, "
            "calling checkpoint without use_reentrant will raise an exception. "
            "use_reentrant=False is recommended, but if "
            "you need to preserve the current default behavior, you can pass use_reentrant=True. "
            "Refer to docs for more "
            "details on the differences between the two variants.",
            stacklevel=2,
        )
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug:
            raise ValueError(
                "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
            )
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"determinism_check should be one of ['default', 'none'] but got {determinism_check}"
        )
    override = getattr(_state, "early_stop", None)
    debug_override = getattr(_state, "debug", None)
    frame = _Frame(
        lambda: function(*args, **kwargs),
        _Rng(preserve_rng_state),
        context_fn,
        early_stop if override is None else override,
        determinism_check == "default",
        debug if debug_override is None else debug_override,
    )
    return frame.first()


class _Stop(BaseException):
    """Ends a second forward early. Not an Exception: user code must not catch it."""


class _Slot:
    """What the graph keeps in place of a saved tensor."""

    __slots__ = ("__weakref__", "index")

    def __init__(self, index):
        self.index = index


class _Frame:
    """One non-reentrant checkpoint: slots of the first forward, tensors of the second."""

    def __init__(self, run, rng, context_fn, early_stop, check, debug):
        self.run = run
        self.rng = rng
        self.autocast = _Autocast()
        self.forward_context, self.recompute_context = context_fn()
        self.early_stop = early_stop
        self.check = check
        self.debug = debug
        self.slots = []  # weak: slots that died are never asked for
        self.geometry = []  # of each saved tensor
        self.recomputed = {}

    def first(self):
        def pack(tensor):
            slot = _Slot(len(self.slots))
            self.slots.append(weakref.ref(slot))
            self.geometry.append(_geometry(tensor))
            return slot

        def unpack(slot):
            return self.fetch(slot)

        with self.forward_context, saved_tensors_hooks(pack, unpack):
            return self.run()

    def fetch(self, slot):
        # One recomputation per backward: a retained graph computes again next time.
        run = _C._current_backward_id()
        store = self.recomputed.setdefault(run, {})
        if slot.index not in store:
            store.update(self.recompute())
            if run:
                _C._queue_backward_callback(lambda: self.recomputed.pop(run, None))
        if slot.index not in store:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already "
                "unpacked once. If you are "
                "calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise "
                "please open an issue with "
                "details on your use case."
            )
        tensor = store[slot.index]
        if not run:
            self.recomputed.pop(run)
        return tensor

    def recompute(self):
        tensors = []
        last = max((i for i, slot in enumerate(self.slots) if slot() is not None), default=-1)

        def pack(tensor):
            tensors.append(tensor.detach() if tensor.requires_grad else tensor)
            if self.early_stop and len(tensors) > last:
                raise _Stop
            return tensor

        def unpack(tensor):
            return tensor

        with (
            self.rng.restored(),
            enable_grad(),
            self.autocast.restored(),
            self.recompute_context,
            saved_tensors_hooks(pack, unpack),
        ):
            with contextlib.suppress(_Stop):
                self.run()
        self.compare(tensors)
        return dict(enumerate(tensors))

    def compare(self, tensors):
        wrong_count = len(tensors) > len(self.slots) or (
            not self.early_stop and len(tensors) != len(self.slots)
        )
        if wrong_count or len(tensors) <= max(
            (i for i, s in enumerate(self.slots) if s() is not None), default=-1
        ):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.slots)}\nNumber of "
                "tensors saved during "
                f"recomputation: {len(tensors)}."
            )
        if not self.check:
            return
        differing = [
            f"tensor at position {i}:\nsaved metadata: {self.geometry[i]}\nrecomputed metadata: {_geometry(tensor)}"
            for i, tensor in enumerate(tensors)
            if _geometry(tensor) != self.geometry[i]
        ]
        if differing:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different "
                "metadata than during the "
                "forward pass.\n" + "\n".join(differing)
            )


def _geometry(tensor):
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """Run a list of modules in `segments` parts, each but the last checkpointed.

    Args:
        functions: an nn.Sequential or a list of callables.
        segments: number of parts.
        input: the input of the first module.
        use_reentrant: as in checkpoint.
        preserve_rng_state: as in checkpoint.
    Returns:
        The output of the last module.
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. In "
            "version 2.4 we will raise an exception if use_reentrant is not passed. "
            "use_reentrant=False is recommended, but "
            "if you need to preserve the current default behavior, you can pass "
            "use_reentrant=True. Refer to docs for more "
            "details on the differences between the two variants.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    layers = list(functions.children()) if hasattr(functions, "children") else list(functions)

    def run_part(part):
        def run(value):
            for layer in part:
                value = layer(value)
            return value

        return run

    size = len(layers) // segments
    end = -1
    for start in range(0, size * (segments - 1), size):
        end = start + size - 1
        part = run_part(layers[start : end + 1])
        input = checkpoint(part, input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return run_part(layers[end + 1 :])(input)
