"""Recurrent layers and cells. The recurrences themselves are ops (flambeau.ops.rnn)."""

import math
import numbers

import flambeau
from flambeau.nn import init
from flambeau.nn.parameter import Parameter

from .module import Module

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]


def apply_permutation(tensor, permutation, dim=1):
    """Deprecated: tensor.index_select(dim, permutation)."""
    return tensor.index_select(dim, permutation)


class RNNBase(Module):
    """Arguments, parameters and checks of RNN, LSTM and GRU.

    Layer k, direction d has weight_ih_l{k}{d} (gates * hidden, input), weight_hh (gates * hidden, hidden or proj),
    bias_ih, bias_hh and, with proj_size, weight_hr; all start as U(-1/sqrt(hidden), 1/sqrt(hidden)).
    """

    __constants__ = [
        "mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional",
        "proj_size",
    ]  # fmt: skip
    _gates = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}

    def __init__(
        self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
        bidirectional=False, proj_size=0, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        for flag, value in (("bias", bias), ("batch_first", batch_first)):
            if not isinstance(value, bool):
                raise TypeError(f"{flag} should be of type bool, got: {type(value).__name__}")
        self._check_arguments(input_size, hidden_size, num_layers, dropout, proj_size)
        if mode not in self._gates:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._flat_weights_names = []
        self._all_weights = []
        self._make_weights({"device": device, "dtype": dtype})
        self.reset_parameters()

    @staticmethod
    def _check_arguments(input_size, hidden_size, num_layers, dropout, proj_size):
        if (
            not isinstance(dropout, numbers.Number)
            or not 0 <= dropout <= 1
            or isinstance(dropout, bool)
        ):
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if dropout > 0 and num_layers == 1:
            import warnings

            warnings.warn(
                "dropout option adds dropout after all but last "
                "recurrent layer, so non-zero dropout expects "
                f"num_layers greater than 1, but got dropout={dropout} and "
                f"num_layers={num_layers}",
                stacklevel=3,
            )
        if not isinstance(hidden_size, int):
            raise TypeError(f"hidden_size should be of type int, got: {type(hidden_size).__name__}")
        if input_size <= 0:
            raise ValueError("input_size must be greater than zero")
        if hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if proj_size < 0:
            raise ValueError(
                "proj_size should be a positive integer or zero to disable projections"
            )
        if proj_size >= hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")

    def _make_weights(self, factory):
        rows = self._gates[self.mode] * self.hidden_size
        directions = 2 if self.bidirectional else 1
        hidden = self.proj_size or self.hidden_size
        for layer in range(self.num_layers):
            for direction in range(directions):
                columns = self.input_size if layer == 0 else hidden * directions
                shapes = {"weight_ih": (rows, columns), "weight_hh": (rows, hidden)}
                if self.bias:
                    shapes.update(bias_ih=(rows,), bias_hh=(rows,))
                if self.proj_size > 0:
                    shapes["weight_hr"] = (self.proj_size, self.hidden_size)
                suffix = "_reverse" if direction == 1 else ""
                names = [f"{kind}_l{layer}{suffix}" for kind in shapes]
                for name, shape in zip(names, shapes.values(), strict=False):
                    setattr(self, name, Parameter(flambeau.empty(shape, **factory)))
                self._flat_weights_names.extend(names)
                self._all_weights.append(names)

    @property
    def _flat_weights(self):
        return [getattr(self, name, None) for name in self._flat_weights_names]

    @property
    def all_weights(self):
        """The parameters, one list per layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self):
        """Accepted for compatibility: there is no packed weight buffer."""

    def reset_parameters(self):
        """Draw fresh initial values."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def __getstate__(self):
        # PyTorch's state holds the list itself; here it is derived from the parameters.
        return {**self.__dict__, "_flat_weights": self._flat_weights}

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.pop("_flat_weights", None)
        self.__dict__.setdefault("proj_size", 0)

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size != 0:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if self.batch_first is not False:
            text += f", batch_first={self.batch_first}"
        if self.dropout != 0:
            text += f", dropout={self.dropout}"
        if self.bidirectional is not False:
            text += f", bidirectional={self.bidirectional}"
        return text

    def check_input(self, input, batch_sizes):
        """Raise unless the input has the expected dtype, number of dims and size."""
        weight = self._flat_weights[0]
        if input.dtype != weight.dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
                f"Convert input: input.to({weight.dtype}), or convert model: model.to({input.dtype})"
            )
        expected = 2 if batch_sizes is not None else 3
        if input.dim() != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.dim()}")
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )

    def get_expected_hidden_size(self, input, batch_sizes):
        """Shape of the initial hidden state for an input."""
        if batch_sizes is not None:
            batch = int(batch_sizes[0])
        else:
            batch = input.size(0) if self.batch_first else input.size(1)
        layers = self.num_layers * (2 if self.bidirectional else 1)
        return layers, batch, self.proj_size or self.hidden_size

    def check_hidden_size(self, hx, expected, msg="Expected hidden size {}, got {}"):
        """Raise unless a hidden state has the expected shape."""
        if tuple(hx.size()) != tuple(expected):
            raise RuntimeError(msg.format(expected, list(hx.size())))

    def check_forward_args(self, input, hidden, batch_sizes):
        """Raise unless input and hidden state fit this module."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx, permutation):
        """Reorder the batch of a hidden state."""
        return hx if permutation is None else apply_permutation(hx, permutation)

    def _zeros(self, size, input):
        return flambeau.zeros(size, dtype=input.dtype, device=input.device)

    def _prepare_dense(self, input, hx):
        """Check dims, add the batch dim to unbatched input. Returns (input, hx, is_batched)."""
        kind = type(self).__name__
        if input.dim() not in (2, 3):
            raise ValueError(f"{kind}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        batched = input.dim() == 3
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
        if hx is not None:
            if hx.dim() != (3 if batched else 2):
                form = "batched 3-D" if batched else "unbatched 2-D"
                raise RuntimeError(
                    f"For {form} input, hx should also be {3 if batched else 2}-D but got {hx.dim()}-D tensor"
                )
            if not batched:
                hx = hx.unsqueeze(1)
        return input, hx, batched

    def _unpack(self, input):
        """(data, batch_sizes, sorted_indices, unsorted_indices); batch_sizes is None for a plain tensor."""
        from flambeau.nn.utils.rnn import PackedSequence

        if isinstance(input, PackedSequence):
            return tuple(input)
        return input, None, None, None

    def _run(self, op, input, batch_sizes, hx):
        weights = self._flat_weights
        settings = (self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        if batch_sizes is None:
            return op(input, hx, weights, *settings, self.batch_first)
        return op(input, batch_sizes, hx, weights, *settings)

    def forward(self, input, hx=None):
        from flambeau.nn.utils.rnn import PackedSequence

        data, batch_sizes, sorted_indices, unsorted_indices = self._unpack(input)
        batched = True
        if batch_sizes is None:
            data, hx, batched = self._prepare_dense(data, hx)
        if hx is None:
            hx = self._zeros(self.get_expected_hidden_size(data, batch_sizes), data)
        else:
            hx = self.permute_hidden(hx, sorted_indices)
        self.check_forward_args(data, hx, batch_sizes)
        op = {"GRU": flambeau.gru, "RNN_TANH": flambeau.rnn_tanh, "RNN_RELU": flambeau.rnn_relu}[
            self.mode
        ]
        output, hidden = self._run(op, data, batch_sizes, hx)
        if batch_sizes is not None:
            output = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
            return output, self.permute_hidden(hidden, unsorted_indices)
        if not batched:
            output = output.squeeze(0 if self.batch_first else 1)
            hidden = hidden.squeeze(1)
        return output, hidden


class RNN(RNNBase):
    """Elman network: h' = nonlinearity(W_ih x + b_ih + W_hh h + b_hh)."""

    def __init__(
        self, input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True, batch_first=False, dropout=0.0,
        bidirectional=False, device=None, dtype=None, **kwargs,
    ):  # fmt: skip
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if kwargs:
            raise TypeError(
                f"RNNBase.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
            )
        modes = {"tanh": "RNN_TANH", "relu": "RNN_RELU"}
        if nonlinearity not in modes:
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        self.nonlinearity = nonlinearity
        super().__init__(
            modes[nonlinearity], input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
            device=device, dtype=dtype,
        )  # fmt: skip


class GRU(RNNBase):
    """Gated recurrent unit: r, z = sigmoid(...), n = tanh(W x + b + r * (U h + c)), h' = (1 - z) * n + z * h."""

    def __init__(
        self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False,
        device=None, dtype=None, **kwargs,
    ):  # fmt: skip
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if kwargs:
            raise TypeError(
                f"RNNBase.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
            )
        super().__init__(
            "GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
            device=device, dtype=dtype,
        )  # fmt: skip


class LSTM(RNNBase):
    """Long short-term memory: i, f, o = sigmoid(...), g = tanh(...), c' = f * c + i * g, h' = o * tanh(c')."""

    def __init__(
        self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False,
        proj_size=0, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__(
            "LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size,
            device, dtype,
        )  # fmt: skip

    def get_expected_cell_size(self, input, batch_sizes):
        """Shape of the initial cell state for an input."""
        layers, batch, _ = self.get_expected_hidden_size(input, batch_sizes)
        return layers, batch, self.hidden_size

    def check_forward_args(self, input, hidden, batch_sizes):
        self.check_input(input, batch_sizes)
        self.check_hidden_size(
            hidden[0],
            self.get_expected_hidden_size(input, batch_sizes),
            "Expected hidden[0] size {}, got {}",
        )
        self.check_hidden_size(
            hidden[1],
            self.get_expected_cell_size(input, batch_sizes),
            "Expected hidden[1] size {}, got {}",
        )

    def permute_hidden(self, hx, permutation):
        if permutation is None:
            return hx
        return apply_permutation(hx[0], permutation), apply_permutation(hx[1], permutation)

    def _prepare_dense(self, input, hx):
        if hx is None:
            return super()._prepare_dense(input, None)
        hidden, cell = hx
        if input.dim() in (2, 3) and (hidden.dim() != input.dim() or cell.dim() != input.dim()):
            form = "batched 3-D" if input.dim() == 3 else "unbatched 2-D"
            raise RuntimeError(
                f"For {form} input, hx and cx should also be {input.dim()}-D but got "
                f"({hidden.dim()}-D, {cell.dim()}-D) tensors"
            )
        input, hidden, batched = super()._prepare_dense(input, hidden)
        return input, (hidden, cell if batched else cell.unsqueeze(1)), batched

    def forward(self, input, hx=None):
        from flambeau.nn.utils.rnn import PackedSequence

        data, batch_sizes, sorted_indices, unsorted_indices = self._unpack(input)
        batched = True
        if batch_sizes is None:
            data, hx, batched = self._prepare_dense(data, hx)
        if hx is None:
            hx = (
                self._zeros(self.get_expected_hidden_size(data, batch_sizes), data),
                self._zeros(self.get_expected_cell_size(data, batch_sizes), data),
            )
        else:
            hx = self.permute_hidden(hx, sorted_indices)
        self.check_forward_args(data, hx, batch_sizes)
        output, *hidden = self._run(flambeau.lstm, data, batch_sizes, hx)
        hidden = tuple(hidden)
        if batch_sizes is not None:
            output = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
            return output, self.permute_hidden(hidden, unsorted_indices)
        if not batched:
            output = output.squeeze(0 if self.batch_first else 1)
            hidden = tuple(h.squeeze(1) for h in hidden)
        return output, hidden


class RNNCellBase(Module):
    """Parameters and checks of the single-step cells."""

    __constants__ = ["input_size", "hidden_size", "bias"]

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        factory = {"device": device, "dtype": dtype}
        self.weight_ih = Parameter(flambeau.empty((rows, input_size), **factory))
        self.weight_hh = Parameter(flambeau.empty((rows, hidden_size), **factory))
        if bias:
            self.bias_ih = Parameter(flambeau.empty(rows, **factory))
            self.bias_hh = Parameter(flambeau.empty(rows, **factory))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draw fresh initial values from U(-1/sqrt(hidden), 1/sqrt(hidden))."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text

    def _check(self, input, *hidden):
        kind = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{kind}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        for i, h in enumerate(hidden):
            if h.dim() not in (1, 2):
                where = f"hx[{i}]" if len(hidden) > 1 else "hidden"
                raise ValueError(f"{kind}: Expected {where} to be 1D or 2D, got {h.dim()}D instead")
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {input.size(-1)} expected {self.input_size}"
            )
        for i, h in enumerate(hidden):
            if input.dim() == 2 and h.dim() == 2 and input.size(0) != h.size(0):
                raise RuntimeError(
                    f"Input batch size {input.size(0)} doesn't match hidden{i} batch size {h.size(0)}"
                )
            if h.size(-1) != self.hidden_size:
                raise RuntimeError(
                    f"hidden{i} has inconsistent hidden_size: got {h.size(-1)}, expected {self.hidden_size}"
                )

    def _parameters_of_step(self):
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def _step(self, op, input, hx):
        """One step of a cell whose state is one tensor."""
        self._check(input, *(() if hx is None else (hx,)))
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            hx = flambeau.zeros(
                input.size(0), self.hidden_size, dtype=input.dtype, device=input.device
            )
        elif not batched:
            hx = hx.unsqueeze(0)
        result = op(input, hx, *self._parameters_of_step())
        return result if batched else result.squeeze(0)


class RNNCell(RNNCellBase):
    """One step of RNN."""

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]

    def __init__(
        self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None
    ):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        ops = {"tanh": flambeau.rnn_tanh_cell, "relu": flambeau.rnn_relu_cell}
        if self.nonlinearity not in ops:
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(ops[self.nonlinearity], input, hx)


class GRUCell(RNNCellBase):
    """One step of GRU."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input, hx=None):
        return self._step(flambeau.gru_cell, input, hx)


class LSTMCell(RNNCellBase):
    """One step of LSTM; the state is (h, c)."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input, hx=None):
        self._check(input, *(() if hx is None else hx))
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            zeros = flambeau.zeros(
                input.size(0), self.hidden_size, dtype=input.dtype, device=input.device
            )
            hx = (zeros, zeros)
        elif not batched:
            hx = (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        hidden, cell = flambeau.lstm_cell(input, hx, *self._parameters_of_step())
        return (hidden, cell) if batched else (hidden.squeeze(0), cell.squeeze(0))
