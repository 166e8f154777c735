"""Handles that remove registered hooks, and the boundary nodes that full backward hooks of modules are built on."""

import weakref

__all__ = ["BackwardHook", "RemovableHandle"]


class RemovableHandle:
    """Removes one hook from the table it was registered in. Also a context manager that removes it on exit."""

    next_id = 0

    def __init__(self, hooks_dict, *, extra_dict=None):
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        extra = () if extra_dict is None else extra_dict
        if isinstance(extra, dict):
            extra = (extra,)
        self.extra_dict_ref = tuple(weakref.ref(table) for table in extra)

    def remove(self):
        """Remove the hook; harmless when it is gone already."""
        for reference in (self.hooks_dict_ref, *self.extra_dict_ref):
            table = reference()
            if table is not None:
                table.pop(self.id, None)

    def __getstate__(self):
        return self.hooks_dict_ref(), self.id

    def __setstate__(self, state):
        from collections import OrderedDict

        table = OrderedDict() if state[0] is None else state[0]
        self.hooks_dict_ref = weakref.ref(table)
        self.id = state[1]
        self.extra_dict_ref = ()
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.remove()


_boundary_class = None


def _boundary():
    """An identity autograd function that hands its gradients to a callback; made on first use."""
    global _boundary_class
    if _boundary_class is None:
        from flambeau.autograd import Function

        class BackwardHookFunction(Function):
            @staticmethod
            def forward(ctx, callback, *tensors):
                ctx.callback = callback
                ctx.mark_non_differentiable(*[t for t in tensors if not t.requires_grad])
                return tuple(t.view_as(t) for t in tensors)

            @staticmethod
            def backward(ctx, *grads):
                return (None, *ctx.callback(grads))

        _boundary_class = BackwardHookFunction
    return _boundary_class


def _collect(value, found):
    """Append the tensors in nested tuples, lists and dicts."""
    from flambeau import Tensor

    if isinstance(value, Tensor):
        found.append(value)
    elif isinstance(value, (tuple, list)):
        for item in value:
            _collect(item, found)
    elif isinstance(value, dict):
        for item in value.values():
            _collect(item, found)


class BackwardHook:
    """Runs the full backward (pre-)hooks of one module call.

    Identity nodes are put around the inputs and the outputs: the gradients that reach the output node are grad_output,
    those that leave the input node are grad_input.
    """

    def __init__(self, module, hooks, pre_hooks):
        self.module = module
        self.hooks = hooks
        self.pre_hooks = pre_hooks
        self.grad_outputs = None
        self.input_count = None  # tensors among the inputs; None: no input needs a gradient
        self.input_slots = ()

    def _wrap(self, values, callback):
        """Route the top-level tensors of a tuple through an identity node."""
        from flambeau import Tensor, is_grad_enabled

        slots = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
        tensors = [values[i] for i in slots]
        if not (is_grad_enabled() and any(t.requires_grad for t in tensors)):
            return values, None
        wrapped = _boundary().apply(callback, *tensors)
        values = list(values)
        for i, tensor in zip(slots, wrapped, strict=False):
            values[i] = tensor
        return tuple(values), slots

    def setup_input_hook(self, args):
        """Wrap the positional arguments of the call."""
        self.input_total = len(args)
        args, slots = self._wrap(args, self._on_grad_input)
        if slots is not None:
            self.input_slots = slots
            self.input_count = len(args)
        return args

    def setup_output_hook(self, result):
        """Wrap the result: a tensor, or a tuple or list of them."""
        is_tuple = isinstance(result, (tuple, list))
        values = tuple(result) if is_tuple else (result,)
        self.output_total = len(values)
        self.output_slots = None
        wrapped, self.output_slots = self._wrap(values, self._on_grad_output)
        if self.output_slots is None:
            return result
        return (
            type(result)(wrapped) if type(result) is list else wrapped if is_tuple else wrapped[0]
        )

    def _spread(self, grads, slots, total):
        full = [None] * total
        for i, grad in zip(slots, grads, strict=False):
            full[i] = grad
        return tuple(full)

    def _on_grad_output(self, grads):
        slots = self.output_slots
        full = self._spread(grads, slots, self.output_total)
        for hook in self.pre_hooks:
            result = hook(self.module, full)
            if result is None:
                continue
            full = result if isinstance(result, tuple) else (result,)
            if len(full) != self.output_total:
                raise RuntimeError(
                    "Backward pre hook returned an invalid number of grad_output, "
                    f"got {len(full)}, but expected {self.output_total}"
                )
        self.grad_outputs = full
        if self.input_count is None:
            self._run_hooks((None,) * self.input_total)
            self.grad_outputs = None
        return tuple(full[i] for i in slots)

    def _run_hooks(self, grad_input):
        for hook in self.hooks:
            result = hook(self.module, grad_input, self.grad_outputs)
            if result is None:
                continue
            result = result if isinstance(result, tuple) else (result,)
            if self.input_count is None:
                raise RuntimeError(
                    "Backward hook returned a grad_input, but no input of the module requires a gradient: "
                    "return None from the hook."
                )
            if len(result) != len(grad_input):
                raise RuntimeError(
                    "Backward hook returned an invalid number of grad_input, "
                    f"got {len(result)}, but expected {len(grad_input)}"
                )
            grad_input = result
        return grad_input

    def _on_grad_input(self, grads):
        if self.grad_outputs is None:
            return grads  # the module's output took no part in this backward
        grad_input = self._run_hooks(self._spread(grads, self.input_slots, self.input_total))
        self.grad_outputs = None
        return tuple(grad_input[i] for i in self.input_slots)
