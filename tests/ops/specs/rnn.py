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
