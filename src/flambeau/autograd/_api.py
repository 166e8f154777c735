"""backward() and grad(): argument checks in front of the engine."""

import warnings

from .. import _C

TensorBase = _C.TensorBase

_warned_create_graph = False


def _as_tuple(value):
    if value is None:
        return ()
    if isinstance(value, TensorBase) or _is_edge(value):
        return (value,)
    return tuple(value)


def _is_edge(value):
    return isinstance(value, tuple) and hasattr(value, "output_nr")


def _calculate_shape(output, grad, is_grads_batched=False):
    shape = grad.shape[1:] if is_grads_batched else grad.shape
    return output.shape, shape


def _check_grad(index, output, grad, batched):
    if not isinstance(grad, TensorBase):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(grad).__name__}")
    if _is_edge(output):
        return
    out_shape, grad_shape = _calculate_shape(output, grad, batched)
    if tuple(out_shape) != tuple(grad_shape):
        kind = (
            "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the "
            "batch dimension. "
        )
        raise RuntimeError(
            f"{kind if batched else ''}Mismatch in shape: grad_output[{index}] has a shape of {grad_shape} and "
            f"output[{index}] has a shape of {out_shape}."
        )
    if output.is_complex() != grad.is_complex():
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{index}] has a dtype of {grad.dtype} and output[{index}] has a dtype of {output.dtype}."
        )


def _check_implicit(output):
    if _is_edge(output):
        raise RuntimeError(
            "a gradient edge needs an explicit gradient: its output's shape is not known"
        )
    if output.numel() != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if not output.dtype.is_floating_point:
        raise RuntimeError(
            f"grad can be implicitly created only for real scalar outputs but got {output.dtype}"
        )


def _checked_grads(outputs, grads, is_grads_batched=False):
    """One gradient per output; None stands for the 1 of a real scalar, which the engine makes."""
    if grads is None:
        grads = (None,) * len(outputs)
    grads = (grads,) if isinstance(grads, TensorBase) else tuple(grads)
    if len(grads) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(grads)} gradients")
    for index, (output, grad) in enumerate(zip(outputs, grads, strict=True)):
        if grad is not None:
            _check_grad(index, output, grad, is_grads_batched)
        elif _is_edge(output) or output.requires_grad:
            _check_implicit(output)
    return grads


def backward(
    tensors,
    grad_tensors=None,
    retain_graph=None,
    create_graph=False,
    grad_variables=None,
    inputs=None,
):
    """Add the gradients of `tensors` to `.grad` of the leaves they were computed from.

    Args:
        tensors: one or several tensors; ones that are not scalars need a gradient.
        grad_tensors: the gradient of the objective in each tensor, of its shape; None means 1 for scalars.
        retain_graph: keep what the operations saved, for another backward. Default: create_graph.
        create_graph: record the backward itself, for second derivatives.
        grad_variables: old name of grad_tensors.
        inputs: accumulate into these only (also into non-leaves) instead of all leaves.
    Raises:
        RuntimeError: a tensor has no history, a gradient is missing or misshaped, the graph was used already.
    Example:
        >>> import flambeau
        >>> x = flambeau.tensor([2.0], requires_grad=True)
        >>> flambeau.autograd.backward(x * x)
        >>> x.grad
        tensor([4.])
    """
    if grad_variables is not None:
        warnings.warn(
            "`grad_variables` is deprecated. Use `grad_tensors` instead.",
            FutureWarning,
            stacklevel=2,
        )
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`."
            )
        grad_tensors = grad_variables
    outputs = _as_tuple(tensors)
    if isinstance(inputs, dict):
        inputs = tuple(inputs.values())
    wanted = _as_tuple(inputs)
    if inputs is not None and not wanted:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    if create_graph:
        _warn_create_graph()
    grads = _checked_grads(outputs, grad_tensors)
    retain = create_graph if retain_graph is None else retain_graph
    _C._run_backward(outputs, grads, retain, create_graph, wanted, True, True)


def _tensor_backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def _warn_create_graph():
    global _warned_create_graph
    if _warned_create_graph:
        return
    _warned_create_graph = True
    warnings.warn(
        "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
        "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
        "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break "
        "the cycle and avoid the leak.",
        stacklevel=3,
    )


def grad(
    outputs,
    inputs,
    grad_outputs=None,
    retain_graph=None,
    create_graph=False,
    only_inputs=True,
    allow_unused=None,
    is_grads_batched=False,
    materialize_grads=False,
):
    """Return the sum of gradients of `outputs` in each of `inputs`, without touching `.grad`.

    Args:
        outputs: one or several tensors.
        inputs: tensors, or a dict of them, to differentiate in.
        grad_outputs: the gradient of the objective in each output; None means 1 for scalars.
        retain_graph: keep what the operations saved, for another backward. Default: create_graph.
        create_graph: record the backward itself, for second derivatives.
        only_inputs: accepted; always True.
        allow_unused: give None for inputs that the outputs do not depend on instead of an error. Default:
            materialize_grads.
        is_grads_batched: the first dimension of each grad_output is a batch; so is that of each result.
        materialize_grads: give zeros for inputs that the outputs do not depend on.
    Returns:
        A tuple like `inputs` (a dict for a dict).
    Raises:
        RuntimeError: an output has no history, an input was not used, a gradient is missing or misshaped.
    Example:
        >>> import flambeau
        >>> x = flambeau.tensor(3.0, requires_grad=True)
        >>> flambeau.autograd.grad(x**2, x)
        (tensor(6.),)
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To "
            "accumulate gradient for other "
            "parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    keys = list(inputs) if isinstance(inputs, dict) else None
    wanted = _as_tuple(list(inputs.values()) if keys is not None else inputs)
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    outputs = _as_tuple(outputs)
    grads = _checked_grads(outputs, grad_outputs, is_grads_batched)
    retain = create_graph if retain_graph is None else retain_graph
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    if is_grads_batched:
        results = _batched(outputs, grads, retain, create_graph, wanted, allow_unused)
    else:
        results = _C._run_backward(
            outputs, grads, retain, create_graph, wanted, allow_unused, False
        )
    if materialize_grads:
        if any(g is None and _is_edge(i) for g, i in zip(results, wanted, strict=True)):
            raise RuntimeError(
                "materialize_grads cannot be used when the given input is a GradientEdge"
            )
        results = tuple(
            found if found is not None else _zeros_like(source, create_graph)
            for found, source in zip(results, wanted, strict=True)
        )
    return results if keys is None else dict(zip(keys, results, strict=True))


def _zeros_like(source, requires_grad):
    zeros = source.detach().new_zeros(source.shape)
    return zeros.requires_grad_() if requires_grad else zeros


def _batched(outputs, grads, retain, create_graph, wanted, allow_unused):
    """One run per entry of the batch; the graph is kept until the last."""
    from .. import stack

    sizes = {grad.shape[0] for grad in grads if grad is not None}
    if len(sizes) != 1:
        raise RuntimeError(
            f"is_grads_batched: expected grad_outputs of one batch size, got {sorted(sizes)}"
        )
    (size,) = sizes
    rows = []
    for i in range(size):
        row = tuple(None if grad is None else grad[i] for grad in grads)
        keep = retain or i + 1 < size
        rows.append(_C._run_backward(outputs, row, keep, create_graph, wanted, allow_unused, False))
    return tuple(None if column[0] is None else stack(column) for column in zip(*rows, strict=True))


class _VariableMeta(type):
    def __instancecheck__(cls, other):
        return isinstance(other, TensorBase)


class _Engine:
    """What programs reach for as Variable._execution_engine."""

    queue_callback = staticmethod(_C._queue_backward_callback)


class Variable(metaclass=_VariableMeta):
    """Old name of Tensor: isinstance() accepts tensors, and Variable(t, requires_grad) gives an alias of `t`."""

    _execution_engine = _Engine

    def __new__(cls, data, requires_grad=False, volatile=None):
        result = data.detach()
        return result.requires_grad_(requires_grad)
