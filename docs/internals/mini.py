"""The core of Flambeau in one small file, on top of NumPy: an op with its rule, a tape, an engine, a module, a step.

Read it before the real thing: every class here has a namesake there that does the same job for all dtypes, views,
hooks and second derivatives. `python docs/internals/mini.py` trains a network on XOR.
"""

import itertools

import numpy as np


class Node:
    """One recorded call: which rule computes the cotangents, what it reads, and whom it feeds."""

    count = itertools.count()

    def __init__(self, op, inputs, result):
        self.op, self.inputs, self.result = op, inputs, result
        self.sequence = next(Node.count)  # later calls have higher numbers


class Tensor:
    """An array, the node that made it, and, for a leaf, its gradient."""

    def __init__(self, data, requires_grad=False):
        self.data = np.asarray(data, dtype=float)
        self.requires_grad = requires_grad
        self.node = None
        self.grad = None

    def backward(self):
        """Run the tape from here, latest call first.

        The order matters: a result may be used several times, and its cotangent must be complete, the sum over all
        uses, before the rule of the call that made it runs. Every use comes after the making, so going through the
        calls from the last to the first is enough.
        """
        cotangents = {self: np.ones_like(self.data)}
        pending = {self.node: self} if self.node else {}
        while pending:
            node = max(pending, key=lambda n: n.sequence)
            result = pending.pop(node)
            grads = node.op.rule(
                cotangents.pop(result), result.data, *(t.data for t in node.inputs)
            )
            for tensor, grad in zip(node.inputs, grads, strict=True):
                if not tensor.requires_grad:
                    continue
                grad = reduce_to(grad, tensor.data.shape)
                cotangents[tensor] = cotangents[tensor] + grad if tensor in cotangents else grad
                if tensor.node:
                    pending[tensor.node] = tensor
        for tensor, grad in cotangents.items():  # what is left belongs to leaves
            tensor.grad = grad if tensor.grad is None else tensor.grad + grad

    def __add__(self, other):
        return add(self, other)

    def __mul__(self, other):
        return mul(self, other)

    def __sub__(self, other):
        return add(self, mul(other, -1.0))

    def __matmul__(self, other):
        return matmul(self, other)


def reduce_to(grad, shape):
    """Sum a cotangent over the dimensions along which its input was broadcast."""
    grad = grad.sum(axis=tuple(range(grad.ndim - len(shape))))
    repeated = tuple(i for i, size in enumerate(shape) if size == 1 and grad.shape[i] != 1)
    return grad.sum(axis=repeated, keepdims=True)


class Op:
    """A kernel and its gradient rule; calling it records a node when an input asks for a gradient."""

    def __init__(self, kernel):
        self.kernel, self.rule = kernel, None

    def vjp(self, rule):
        """Register the rule: (cotangent, result, *inputs) -> one cotangent per input."""
        self.rule = rule
        return rule

    def __call__(self, *inputs):
        inputs = [x if isinstance(x, Tensor) else Tensor(x) for x in inputs]
        result = Tensor(self.kernel(*(t.data for t in inputs)))
        result.requires_grad = any(t.requires_grad for t in inputs)
        if result.requires_grad:
            result.node = Node(self, inputs, result)
        return result


add = Op(np.add)
mul = Op(np.multiply)
matmul = Op(np.matmul)
tanh = Op(np.tanh)
mean = Op(np.mean)


@add.vjp
def add_vjp(grad, result, input, other):
    return grad, grad


@mul.vjp
def mul_vjp(grad, result, input, other):
    return grad * other, grad * input


@matmul.vjp
def matmul_vjp(grad, result, input, other):
    return grad @ other.T, input.T @ grad


@tanh.vjp
def tanh_vjp(grad, result, input):
    return (grad * (1 - result**2),)


@mean.vjp
def mean_vjp(grad, result, input):
    return (np.full(input.shape, grad / input.size),)


class Linear:
    """input @ weight + bias."""

    def __init__(self, inputs, outputs, rng):
        self.weight = Tensor(rng.normal(0, inputs**-0.5, (inputs, outputs)), requires_grad=True)
        self.bias = Tensor(np.zeros(outputs), requires_grad=True)

    def __call__(self, x):
        return x @ self.weight + self.bias


def train(steps=400, rate=0.5, seed=0):
    """Fit XOR by gradient descent; returns the loss of each step."""
    rng = np.random.default_rng(seed)
    first, second = Linear(2, 8, rng), Linear(8, 1, rng)
    x = Tensor([[0, 0], [0, 1], [1, 0], [1, 1]])
    target = Tensor([[0], [1], [1], [0]])
    losses = []
    for _ in range(steps):
        error = second(tanh(first(x))) - target
        loss = mean(error * error)
        loss.backward()
        for parameter in (first.weight, first.bias, second.weight, second.bias):
            parameter.data -= rate * parameter.grad
            parameter.grad = None
        losses.append(float(loss.data))
    return losses


if __name__ == "__main__":
    print(f"loss {train()[-1]:.6f}")
