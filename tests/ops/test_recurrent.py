"""Whole recurrent networks against their cells: directions, packed sequences, gradients of the fused kernels."""

import numpy as np
import pytest

import flambeau

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
CELLS = {
    "gru": flambeau.gru_cell,
    "rnn_tanh": flambeau.rnn_tanh_cell,
    "rnn_relu": flambeau.rnn_relu_cell,
}
STEPS, BATCH, INPUTS, HIDDEN = 4, 3, 5, 6


def tensors(seed, *shapes):
    rng = np.random.default_rng(seed)
    return [
        flambeau.from_numpy(rng.standard_normal(shape) * 0.5).requires_grad_() for shape in shapes
    ]


def arguments(mode, seed=0):
    rows = GATES[mode] * HIDDEN
    x, h, c, *weights = tensors(
        seed,
        (STEPS, BATCH, INPUTS),
        (1, BATCH, HIDDEN),
        (1, BATCH, HIDDEN),
        (rows, INPUTS),
        (rows, HIDDEN),
        (rows,),
        (rows,),
    )
    return x, h, c, weights


def by_cells(mode, x, h, c, weights):
    h, c, outputs = h[0], c[0], []
    for step in x:
        if mode == "lstm":
            h, c = flambeau.lstm_cell(step, (h, c), *weights)
        else:
            h = CELLS[mode](step, h, *weights)
        outputs.append(h)
    return flambeau.stack(outputs), h


def fused(mode, x, h, c, weights):
    state = (h, c) if mode == "lstm" else h
    return getattr(flambeau, mode)(x, state, weights, True, 1, 0.0, True, False, False)[:2]


def close(a, b):
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("mode", GATES)
def test_layer_equals_its_cells(mode):
    x, h, c, weights = arguments(mode)
    output, last = fused(mode, x, h, c, weights)
    expected, final = by_cells(mode, x, h, c, weights)
    close(output, expected)
    close(last[0], final)


@pytest.mark.parametrize("mode", GATES)
@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_equal_those_of_the_cells(mode, create_graph):
    x, h, c, weights = arguments(mode, 1)
    inputs = [x, h, *weights] + ([c] if mode == "lstm" else [])
    grads = [
        flambeau.autograd.grad(
            (run(mode, x, h, c, weights)[0] ** 2).sum(), inputs, create_graph=create_graph
        )
        for run in (fused, by_cells)
    ]
    for ours, expected in zip(*grads, strict=True):
        close(ours, expected)


@pytest.mark.parametrize("mode", GATES)
def test_packed_rows_equal_each_sequence_alone(mode):
    x, h, c, weights = arguments(mode, 2)
    lengths = [4, 2, 1]
    sizes = flambeau.tensor([3, 2, 1, 1])
    rows = flambeau.cat([x[t, :n] for t, n in enumerate(sizes.tolist())])
    state = (h, c) if mode == "lstm" else h
    output, last = getattr(flambeau, mode)(rows, sizes, state, weights, True, 1, 0.0, True, False)[
        :2
    ]
    starts = [0, 3, 5, 6]
    for i, length in enumerate(lengths):
        alone = fused(mode, x[:length, i : i + 1], h[:, i : i + 1], c[:, i : i + 1], weights)
        close(flambeau.stack([output[starts[t] + i] for t in range(length)]), alone[0][:, 0])
        close(last[:, i], alone[1][:, 0])
