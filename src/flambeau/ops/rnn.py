"""Recurrent networks: lstm, gru, rnn_tanh, rnn_relu over whole sequences (plain and packed), and their single cells."""

from .. import _C
from .join import cat, stack
from .matmul import linear
from .recompute import recomputed_vjp
from .registry import composite, native

__all__ = [
    "gru",
    "gru_cell",
    "lstm",
    "lstm_cell",
    "rnn_relu",
    "rnn_relu_cell",
    "rnn_tanh",
    "rnn_tanh_cell",
]

_STATE = (
    "int[] batch_sizes, Tensor h0, Tensor? c0, Tensor w_ih, Tensor w_hh, Tensor? b_ih, Tensor? b_hh"
)

rnn_layer = native(
    f"rnn_layer(Tensor input, {_STATE}, str mode, bool reverse, bool keep) "
    "-> (Tensor output, Tensor hn, Tensor cn, Tensor saved)",
    doc="""One layer and direction of a recurrent network over all steps.

    Args:
        input: shape (rows, features); the rows of step t follow those of step t - 1.
        batch_sizes: rows per step, non-increasing.
        h0, c0: initial states (batch, hidden); c0 only for lstm.
        w_ih, w_hh, b_ih, b_hh: weights (gates * hidden, *) in PyTorch's gate order, and biases or None.
        mode: lstm, gru, rnn_tanh or rnn_relu.
        reverse: run from the last step to the first.
        keep: whether to return what the gradient needs; without it, the gradient runs the steps again.
    Returns:
        output (rows, hidden), last states hn and cn (cn is empty unless lstm), and what the gradient needs.
    """,
)
rnn_layer_grad = native(
    "rnn_layer_grad(Tensor input, Tensor? grad_output, Tensor? grad_hn, Tensor? grad_cn, "
    f"{_STATE}, Tensor output, Tensor saved, str mode, bool reverse) "
    "-> (Tensor input, Tensor h0, Tensor c0, Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh)",
    non_differentiable="rnn_layer's rule takes the differentiable path when a graph is asked for",
    doc="Gradients of rnn_layer in all its tensors.",
)


@rnn_layer.vjp
def _(
    grad_output,
    grad_hn,
    grad_cn,
    input,
    batch_sizes,
    h0,
    c0,
    w_ih,
    w_hh,
    b_ih,
    b_hh,
    mode,
    reverse,
    output,
    saved,
):
    if saved.shape[0] != input.shape[0] or _C._records_derivatives():

        def again(x, h, c, wi, wh, bi, bh):
            return _plain_layer(x, batch_sizes, h, c, wi, wh, bi, bh, mode, reverse)

        cotangents = (grad_output, grad_hn, grad_cn if mode == "lstm" else None)
        return recomputed_vjp(again, (input, h0, c0, w_ih, w_hh, b_ih, b_hh), cotangents)
    grad_cn = grad_cn if mode == "lstm" else None
    grads = rnn_layer_grad(
        input,
        grad_output,
        grad_hn,
        grad_cn,
        batch_sizes,
        h0,
        c0,
        w_ih,
        w_hh,
        b_ih,
        b_hh,
        output,
        saved,
        mode,
        reverse,
    )
    return tuple(
        g if x is not None else None
        for g, x in zip(grads, (input, h0, c0, w_ih, w_hh, b_ih, b_hh), strict=True)
    )


@composite()
def lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One step of an LSTM: (h, c) from input (batch, features) and hx = (h, c) of shape (batch, hidden).

    i, f, o = sigmoid, g = tanh of input @ w_ih.T + b_ih + h @ w_hh.T + b_hh; c' = f c + i g; h' = o tanh(c').
    """
    h, c = hx
    i, f, g, o = (linear(input, w_ih, b_ih) + linear(h, w_hh, b_hh)).chunk(4, -1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


@composite()
def gru_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One step of a GRU: h' = (1 - z) n + z h, with n = tanh(x_n + r h_n) and gates r, z = sigmoid."""
    x_r, x_z, x_n = linear(input, w_ih, b_ih).chunk(3, -1)
    h_r, h_z, h_n = linear(hx, w_hh, b_hh).chunk(3, -1)
    r, z = (x_r + h_r).sigmoid(), (x_z + h_z).sigmoid()
    n = (x_n + r * h_n).tanh()
    return n + z * (hx - n)


@composite()
def rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One step of a plain recurrent network: tanh(input @ w_ih.T + b_ih + hx @ w_hh.T + b_hh)."""
    return (linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh)).tanh()


@composite()
def rnn_relu_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One step of a plain recurrent network: relu(input @ w_ih.T + b_ih + hx @ w_hh.T + b_hh)."""
    return (linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh)).relu()


_CELLS = {"gru": gru_cell, "rnn_tanh": rnn_tanh_cell, "rnn_relu": rnn_relu_cell}


def _plain_layer(x, batch_sizes, h, c, w_ih, w_hh, b_ih, b_hh, mode, reverse, w_hr=None):
    """rnn_layer over cells; also the LSTM with projections (w_hr)."""
    pieces = list(x.split(list(batch_sizes)))
    outputs = [None] * len(pieces)
    for t in range(len(pieces) - 1, -1, -1) if reverse else range(len(pieces)):
        rows = batch_sizes[t]
        partial = rows < h.shape[0]
        before = h[:rows] if partial else h
        if mode == "lstm":
            after, cell = lstm_cell(
                pieces[t], (before, c[:rows] if partial else c), w_ih, w_hh, b_ih, b_hh
            )
            if w_hr is not None:
                after = linear(after, w_hr)
            c = cat([cell, c[rows:]]) if partial else cell
        else:
            after = _CELLS[mode](pieces[t], before, w_ih, w_hh, b_ih, b_hh)
        outputs[t] = after
        h = cat([after, h[rows:]]) if partial else after
    return cat(outputs), h, c


def _one_direction(mode, x, batch_sizes, h, c, weights, has_biases, reverse):
    """(output, hn, cn) of one layer and direction. weights: w_ih, w_hh[, b_ih, b_hh][, w_hr]."""
    count = 4 if has_biases else 2
    w_ih, w_hh = weights[:2]
    b_ih, b_hh = weights[2:4] if has_biases else (None, None)
    if len(weights) > count:
        return _plain_layer(
            x, batch_sizes, h, c, w_ih, w_hh, b_ih, b_hh, mode, reverse, weights[count]
        )
    keep = _C.is_grad_enabled()
    return rnn_layer(x, batch_sizes, h, c, w_ih, w_hh, b_ih, b_hh, mode, reverse, keep)[:3]


def _network(
    mode, x, batch_sizes, h0, c0, params, has_biases, num_layers, dropout, train, bidirectional
):
    """All layers over rows; returns (rows, hn (layers * directions, batch, hidden), cn or None)."""
    directions = 2 if bidirectional else 1
    per = len(params) // (num_layers * directions)
    finals, cells = [], []
    for layer in range(num_layers):
        outputs = []
        for direction in range(directions):
            index = layer * directions + direction
            weights = params[index * per : (index + 1) * per]
            out, h, c = _one_direction(
                mode,
                x,
                batch_sizes,
                h0[index],
                None if c0 is None else c0[index],
                weights,
                has_biases,
                direction == 1,
            )
            outputs.append(out)
            finals.append(h)
            cells.append(c)
        x = outputs[0] if directions == 1 else cat(outputs, -1)
        if dropout > 0.0 and train and layer < num_layers - 1:
            from .random import dropout as drop

            x = drop(x, dropout, True)
    return x, stack(finals), stack(cells) if c0 is not None else None


def _check_states(mode, input, hx):
    for name, state in zip(("hidden", "cell"), hx, strict=False):
        if state.dtype != input.dtype:
            raise RuntimeError(
                f"{mode}: expected {name} state of dtype {input.dtype}, the input's, got {state.dtype}."
            )


def _sequence(
    mode, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first
):
    if input.dim() != 3:
        raise RuntimeError(
            f"{mode}: expected input with 3 dimensions, got shape {tuple(input.shape)}."
        )
    _check_states(mode, input, hx)
    x = input.transpose(0, 1) if batch_first else input
    steps, batch, features = x.shape
    if steps == 0:
        raise RuntimeError("rnn, lstm, gru: Expected sequence length to be larger than 0 in RNN")
    rows, hn, cn = _network(
        mode,
        x.reshape(steps * batch, features),
        [batch] * steps,
        hx[0],
        hx[1] if mode == "lstm" else None,
        params,
        has_biases,
        num_layers,
        dropout,
        train,
        bidirectional,
    )
    output = rows.reshape(steps, batch, rows.shape[-1])
    output = output.transpose(0, 1) if batch_first else output
    return (output, hn, cn) if mode == "lstm" else (output, hn)


def _packed(
    mode, data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional
):
    _check_states(mode, data, hx)
    rows, hn, cn = _network(
        mode,
        data,
        batch_sizes.tolist(),
        hx[0],
        hx[1] if mode == "lstm" else None,
        params,
        has_biases,
        num_layers,
        dropout,
        train,
        bidirectional,
    )
    return (rows, hn, cn) if mode == "lstm" else (rows, hn)


@composite()
def lstm(input, second, third, *rest, **named):
    """Long short-term memory over sequences (Hochreiter and Schmidhuber, 1997; with forget gates).

    Called as lstm(input, (h0, c0), params, has_biases, num_layers, dropout, train, bidirectional, batch_first), or with
    packed rows as lstm(data, batch_sizes, (h0, c0), params, has_biases, num_layers, dropout, train, bidirectional).

    Args:
        input: shape (steps, batch, features), or (batch, steps, features) with batch_first.
        data, batch_sizes: a PackedSequence's.
        h0, c0: shape (layers * directions, batch, hidden).
        params: w_ih, w_hh[, b_ih, b_hh][, w_hr] of each layer and direction.
        dropout: probability between layers, in training.
    Returns:
        (output (steps, batch, directions * hidden), hn, cn). Differentiable; supports second derivatives.
    """
    run = _sequence if isinstance(second, (list, tuple)) else _packed
    return run("lstm", input, second, third, *rest, **named)


def _single_state(mode, input, second, third, rest, named):
    if isinstance(third, (list, tuple)):
        return _sequence(mode, input, (second,), third, *rest, **named)
    return _packed(mode, input, second, (third,), *rest, **named)


@composite()
def gru(input, second, third, *rest, **named):
    """Gated recurrent units over sequences (Cho et al., 2014; reset gate after the product, as in cuDNN).

    Called as gru(input, h0, params, has_biases, num_layers, dropout, train, bidirectional, batch_first), or with packed
    rows as gru(data, batch_sizes, h0, params, has_biases, num_layers, dropout, train, bidirectional). See lstm.
    """
    return _single_state("gru", input, second, third, rest, named)


@composite()
def rnn_tanh(input, second, third, *rest, **named):
    """Plain recurrent network with tanh; called like gru."""
    return _single_state("rnn_tanh", input, second, third, rest, named)


@composite()
def rnn_relu(input, second, third, *rest, **named):
    """Plain recurrent network with relu; called like gru."""
    return _single_state("rnn_relu", input, second, third, rest, named)
