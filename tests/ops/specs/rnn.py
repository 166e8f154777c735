"""Recurrent cells and a whole layer, against the equations step by step."""

import numpy as np
import scipy.special

from flambeau.testing.opspec import Case, OpSpec, Sample

sigmoid = scipy.special.expit
SUM = 64  # pre-activations are sums of up to 8 products of 9


def gates(x, h, w_ih, w_hh, b_ih=None, b_hh=None):
    left = x @ w_ih.T + (0 if b_ih is None else b_ih)
    return left, h @ w_hh.T + (0 if b_hh is None else b_hh)


def gru_cell(x, h, *weights):
    (xr, xz, xn), (hr, hz, hn) = (np.split(part, 3, -1) for part in gates(x, h, *weights))
    n = np.tanh(xn + sigmoid(xr + hr) * hn)
    z = sigmoid(xz + hz)
    return (1 - z) * n + z * h


def rnn_tanh_cell(x, h, *weights):
    return np.tanh(sum(gates(x, h, *weights)))


def rnn_relu_cell(x, h, *weights):
    return np.maximum(sum(gates(x, h, *weights)), 0)


def cells(count):
    def samples(draw):
        shapes = ((count * 3, 4), (count * 3, 3), (count * 3,), (count * 3,))
        weights = [draw.array(shape) for shape in shapes]
        yield Sample((draw.array((2, 4)), draw.array((2, 3)), *weights))
        yield Sample((draw.array((2, 4)), draw.array((2, 3)), *weights[:2]))

    return samples


WRONG = [
    Case(
        args=(np.zeros((2, 4)), np.zeros((2, 3)), np.zeros((9, 5)), np.zeros((9, 3))),
        match="shapes",
    )
]

SPECS = [
    OpSpec("gru_cell", gru_cell, cells(3), floor=SUM, errors=WRONG),
    OpSpec("rnn_tanh_cell", rnn_tanh_cell, cells(1), floor=SUM, errors=WRONG),
    OpSpec("rnn_relu_cell", rnn_relu_cell, cells(1), floor=SUM, errors=WRONG),
]


def lstm_cell(x, hx, *weights):
    h, c = hx
    left, right = gates(x, h, *weights)
    i, f, g, o = np.split(left + right, 4, -1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def lstm_cell_samples(draw):
    for sample in cells(4)(draw):
        x, h, *weights = sample.args
        yield Sample((x, [h, draw.array((2, 3))], *weights))


CELLS = {"gru": (gru_cell, 3), "rnn_tanh": (rnn_tanh_cell, 1), "rnn_relu": (rnn_relu_cell, 1)}
FEATURES, HIDDEN, STEPS, BATCH = 4, 3, 5, 2


def run(mode, x, h, c, weights, reverse):
    """One direction of one layer over (steps, batch, features)."""
    outputs = [None] * len(x)
    for t in reversed(range(len(x))) if reverse else range(len(x)):
        if mode == "lstm":
            h, c = lstm_cell(x[t], (h, c), *weights)
        else:
            h = CELLS[mode][0](x[t], h, *weights)
        outputs[t] = h
    return np.stack(outputs), h, c


def network(mode):
    def reference(
        x, states, params, has_biases, num_layers, dropout, train, bidirectional, batch_first
    ):
        h0, c0 = states if mode == "lstm" else (states, states)
        x = np.swapaxes(x, 0, 1) if batch_first else x
        directions, per = 1 + bidirectional, 4 if has_biases else 2
        last_h, last_c = [], []
        for layer in range(num_layers):
            outputs = []
            for at in range(layer * directions, (layer + 1) * directions):
                weights = params[at * per : (at + 1) * per]
                out, h, c = run(mode, x, h0[at], c0[at], weights, at % directions == 1)
                outputs.append(out)
                last_h.append(h)
                last_c.append(c)
            x = np.concatenate(outputs, -1)
        x = np.swapaxes(x, 0, 1) if batch_first else x
        finals = (np.stack(last_h), np.stack(last_c))
        return (x, *finals) if mode == "lstm" else (x, finals[0])

    return reference


def network_samples(mode):
    gates_of = 4 if mode == "lstm" else CELLS[mode][1]

    def one(draw, biases, layers, both, batch_first):
        directions = 1 + both
        params = []
        for layer in range(layers):
            inputs = FEATURES if layer == 0 else HIDDEN * directions
            for _ in range(directions):
                shapes = [(gates_of * HIDDEN, inputs), (gates_of * HIDDEN, HIDDEN)]
                shapes += [(gates_of * HIDDEN,)] * 2 if biases else []
                params += [draw.array(shape, -1, 1) for shape in shapes]
        x = draw.array((BATCH, STEPS, FEATURES) if batch_first else (STEPS, BATCH, FEATURES))
        state = lambda: draw.array((layers * directions, BATCH, HIDDEN), -1, 1)
        states = [state(), state()] if mode == "lstm" else state()
        return Sample((x, states, params, biases, layers, 0.0, False, bool(both), batch_first))

    def samples(draw):
        yield one(draw, True, 1, 0, False)
        yield one(draw, False, 2, 1, True)

    return samples


def network_spec(mode):
    x, state = np.zeros((4, 4)), np.zeros((1, 4, 3))
    states = [state, state] if mode == "lstm" else state
    wrong = Case(args=(x, states, [], False, 1, 0.0, False, False, False), match="3 dimensions")
    return OpSpec(
        mode,
        network(mode),
        network_samples(mode),
        floor=SUM,
        k=16,  # five steps one after another
        meta=False,
        errors=[wrong],
    )


SPECS += [
    OpSpec(
        "lstm_cell",
        lstm_cell,
        lstm_cell_samples,
        floor=SUM,
        errors=[
            Case(
                args=(
                    np.zeros((2, 4)),
                    [np.zeros((2, 3))] * 2,
                    np.zeros((12, 5)),
                    np.zeros((12, 3)),
                ),
                match="shapes",
            )
        ],
    ),
    *map(network_spec, ("lstm", "gru", "rnn_tanh", "rnn_relu")),
]
