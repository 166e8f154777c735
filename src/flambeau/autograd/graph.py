"""Looking into the recorded graph: nodes, edges, saved-tensor hooks, hooks over several tensors."""

import abc
import contextlib
import threading
from collections import namedtuple

from .. import _C
from .function import BackwardCFunction

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


class Node(abc.ABC):  # noqa: B024 - only for isinstance()
    """What `tensor.grad_fn` is: has name(), next_functions, metadata, register_hook and register_prehook."""

    @classmethod
    def __subclasshook__(cls, candidate):
        if cls is Node:
            return issubclass(candidate, _C._Node | BackwardCFunction)
        return NotImplemented


class GradientEdge(
    namedtuple("GradientEdge", ("node", "output_nr", "ownership_token"), defaults=(None,))
):
    """Where the gradient of a tensor goes: a node and the number of its output. Stands for the tensor in grad()."""

    __slots__ = ()


def get_gradient_edge(tensor):
    """Return the GradientEdge of a tensor that requires grad; it keeps the graph, not the tensor's values.

    Example:
        >>> import flambeau
        >>> x = flambeau.ones(1, requires_grad=True)
        >>> flambeau.autograd.graph.get_gradient_edge(x).node.name()
        'torch::autograd::AccumulateGrad'
    """
    node, output_nr = _C._gradient_edge(tensor)
    # A custom Function's context does not keep its node: the tensor does.
    return GradientEdge(node, output_nr, tensor if isinstance(node, BackwardCFunction) else None)


def increment_version(tensor):
    """Note that a tensor (or several) was changed behind autograd's back, so that stale saved values are an error."""
    for one in (tensor,) if isinstance(tensor, _C.TensorBase) else tensor:
        _C._increment_version(one)


class saved_tensors_hooks:
    """Replace what is kept for backward: pack_hook(tensor) when saving, unpack_hook(packed) when backward needs it.

    Args:
        pack_hook: called with each tensor that an operation saves; returns anything.
        unpack_hook: called with what pack_hook returned; returns a tensor of the same values.
    Example:
        >>> import flambeau
        >>> x = flambeau.ones(2, requires_grad=True)
        >>> with flambeau.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t * 2):
        ...     y = (x * x).sum()
        >>> y.backward()
        >>> x.grad
        tensor([4., 4.])
    """

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self):
        _C._push_saved_tensors_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *error):
        _C._pop_saved_tensors_hooks()


class save_on_cpu(saved_tensors_hooks):
    """Keep saved tensors as copies in CPU memory.

    Args:
        pin_memory, device_type: accepted; there is only the CPU.
    """

    def __init__(self, pin_memory=False, device_type="cuda"):
        def pack(tensor):
            return tensor.device, tensor.detach().clone()

        def unpack(packed):
            device, tensor = packed
            return tensor.to(device)

        super().__init__(pack, unpack)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message):
    """Make saved_tensors_hooks inside the block an error with this message."""
    previous = _C._disable_saved_tensors_hooks(error_message)
    try:
        yield
    finally:
        _C._disable_saved_tensors_hooks(previous)


class _MutationContext:
    """Counterpart of allow_mutation_on_saved_tensors: forgets the copies."""

    def __init__(self):
        self.packed = []

    def clear(self):
        """Forget all copies."""
        self.packed.clear()


@contextlib.contextmanager
def allow_mutation_on_saved_tensors():
    """Keep a copy of everything saved inside the block, so that changing the originals in place is harmless."""
    context = _MutationContext()

    def pack(tensor):
        copy = tensor.detach().clone()
        context.packed.append(copy)
        return copy

    with saved_tensors_hooks(pack, lambda copy: copy):
        try:
            yield context
        finally:
            context.clear()


class _MultiHandle:
    """Removes several hooks."""

    def __init__(self, handles):
        self.handles = handles

    def remove(self):
        """Unregister all of them."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.remove()


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Call `fn` once per backward, when the gradients of all `tensors` (or the first of any) are known.

    Args:
        tensors: tensors that require grad.
        fn: mode "all": gets a list with one gradient (or None) per tensor, when every tensor that this backward
            reaches has its gradient; mode "any": gets the first gradient.
        mode: "all" or "any".
    Returns:
        A handle with remove().
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    state = _MultiState(tensors, fn)
    hook = state.any_hook if mode == "any" else None
    return _MultiHandle(
        [
            tensor.register_hook(hook or state.hook_for(index))
            for index, tensor in enumerate(tensors)
        ]
    )


class _MultiState:
    """Gradients seen so far, per running backward."""

    def __init__(self, tensors, fn):
        self.fn = fn
        self.edges = [_C._gradient_edge(tensor)[0] for tensor in tensors]
        self.lock = threading.Lock()
        self.runs = {}

    def _run(self):
        run = _C._current_backward_id()
        if run not in self.runs:
            expected = sum(_C._will_engine_execute(node) for node in self.edges)
            self.runs[run] = [[None] * len(self.edges), expected]
            _C._queue_backward_callback(lambda: self.runs.pop(run, None))
        return self.runs[run]

    def hook_for(self, index):
        def hook(grad):
            with self.lock:
                run = self._run()
                run[0][index] = grad
                run[1] -= 1
                finished = run[1] == 0
            if finished:
                self.fn(run[0])

        return hook

    def any_hook(self, grad):
        with self.lock:
            run = self._run()
            first, run[1] = run[1] is not None, None
        if first:
            self.fn(grad)
