"""Sequences of different lengths: packed for recurrent layers, padded for everything else."""

import itertools
from collections import namedtuple

import flambeau
from flambeau import Tensor

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]

_Fields = namedtuple(
    "PackedSequence", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"]
)


def invert_permutation(permutation):
    """The permutation that undoes one; None stays None."""
    if permutation is None:
        return None
    inverse = flambeau.empty_like(permutation)
    inverse.scatter_(
        0, permutation, flambeau.arange(0, permutation.numel(), device=permutation.device)
    )
    return inverse


class PackedSequence(_Fields):
    """Sequences of a batch, time step by time step, without padding.

    data holds the elements of all sequences at step 0, then at step 1, ...; batch_sizes how many there are at each
    step. The sequences are sorted by decreasing length: sorted_indices says how, unsorted_indices undoes it (None: no
    sorting).
    """

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is not None:
            if batch_sizes.device.type != "cpu":
                raise ValueError(
                    "batch_sizes should always be on CPU. "
                    "Instances of PackedSequence should never be created manually. "
                    "They should be instantiated by functions like pack_sequence "
                    "and pack_padded_sequences in nn.utils.rnn."
                )
        elif isinstance(data, (tuple, list)) and len(data) == 2:
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        """Convert the data; indices follow to another device."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        kwargs = {k: v for k, v in kwargs.items() if k not in ("device", "dtype")}

        def moved(indices):
            return None if indices is None else indices.to(data.device, **kwargs)

        return type(self)(
            data, self.batch_sizes, moved(self.sorted_indices), moved(self.unsorted_indices)
        )

    def pin_memory(self):
        """Accepted for compatibility."""
        return self

    def cpu(self, *args, **kwargs):
        """Move to the CPU."""
        return self.to("cpu", *args, **kwargs)

    def cuda(self, *args, **kwargs):
        """Not available: Flambeau computes on CPUs."""
        raise AssertionError("Torch not compiled with CUDA enabled")

    def double(self):
        """Convert the data to float64."""
        return self.to(dtype=flambeau.float64)

    def float(self):
        """Convert the data to float32."""
        return self.to(dtype=flambeau.float32)

    def half(self):
        """Convert the data to float16."""
        return self.to(dtype=flambeau.float16)

    def long(self):
        """Convert the data to int64."""
        return self.to(dtype=flambeau.int64)

    def int(self):
        """Convert the data to int32."""
        return self.to(dtype=flambeau.int32)

    @property
    def is_cuda(self):
        """Always False."""
        return False

    def is_pinned(self):
        """Always False."""
        return False


def _packed(input, lengths, batch_first):
    """(data, batch_sizes) of padded sequences sorted by decreasing length."""
    if batch_first:
        input = input.transpose(0, 1)
    lengths = lengths.tolist()
    batch = input.size(1)
    if len(lengths) != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(lengths)} (batch_size={batch})"
        )
    if not lengths or lengths[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if any(a < b for a, b in itertools.pairwise(lengths)):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if "
            "you do not need ONNX exportability."
        )
    if lengths[0] > input.size(0):
        raise RuntimeError(
            f"pack_padded_sequence: expected lengths up to {input.size(0)}, the padded size, got {lengths[0]}."
        )
    sizes, steps, start = [], [], 0
    # Runs of steps with equally many live sequences are cut out as one block.
    alive = batch
    for end in sorted(set(lengths)):
        while alive > 0 and lengths[alive - 1] < end:
            alive -= 1
        steps.append(input[start:end, :alive].reshape(-1, *input.shape[2:]))
        sizes += [alive] * (end - start)
        start = end
    return flambeau.cat(steps), flambeau.tensor(sizes, dtype=flambeau.int64)


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Pack padded sequences (T, N, *), with batch_first (N, T, *).

    Args:
        lengths: the length of each sequence, a list or a CPU tensor.
        enforce_sorted: the sequences are sorted by decreasing length already; False sorts them.
    """
    if not isinstance(lengths, Tensor):
        lengths = flambeau.as_tensor(lengths, dtype=flambeau.int64, device="cpu")
    sorted_indices = None
    if not enforce_sorted:
        lengths, sorted_indices = flambeau.sort(lengths, descending=True)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    data, batch_sizes = _packed(input, lengths, batch_first)
    return PackedSequence(data, batch_sizes, sorted_indices, None)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """Undo pack_padded_sequence: (padded (T, N, *), lengths (N,)).

    Args:
        padding_value: what fills the padding.
        total_length: pad to this length instead of the longest.
    """
    data, batch_sizes, _, unsorted_indices = sequence
    sizes = batch_sizes.tolist()
    longest = len(sizes)
    if total_length is not None:
        if total_length < longest:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, "
                f"but got total_length={total_length} and max sequence length being {longest}"
            )
        longest = total_length
    batch = sizes[0]
    output = data.new_full((longest, batch, *data.shape[1:]), padding_value)
    lengths = [0] * batch
    start = step = 0
    while step < len(sizes):
        end = step
        while end < len(sizes) and sizes[end] == sizes[step]:
            end += 1
        alive, count = sizes[step], (end - step) * sizes[step]
        output[step:end, :alive] = data[start : start + count].view(
            end - step, alive, *data.shape[1:]
        )
        for i in range(alive):
            lengths[i] = end
        start, step = start + count, end
    lengths = flambeau.tensor(lengths, dtype=flambeau.int64)
    if batch_first:
        output = output.transpose(0, 1)
    if unsorted_indices is not None:
        output = output.index_select(0 if batch_first else 1, unsorted_indices)
        lengths = lengths[unsorted_indices]
    return output, lengths


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Stack sequences (L_i, *) of different lengths to (T, N, *), with batch_first (N, T, *)."""
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind(0)
    if not hasattr(sequences, "__iter__"):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}"
        )
    sequences = list(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    longest = max(s.size(0) for s in sequences)
    trailing = sequences[0].shape[1:]
    output = sequences[0].new_full((len(sequences), longest, *trailing), padding_value)
    for i, s in enumerate(sequences):
        if padding_side == "right":
            output[i, : s.size(0)] = s
        else:
            output[i, longest - s.size(0) :] = s
    return output if batch_first else output.transpose(0, 1).contiguous()


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The list of sequences that pad_sequence was given."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [s[: int(length)] for s, length in zip(padded_sequences, lengths, strict=False)]


def pack_sequence(sequences, enforce_sorted=True):
    """Pack sequences (L_i, *) of different lengths."""
    lengths = flambeau.as_tensor([s.size(0) for s in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """The list of sequences that pack_sequence was given."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
