"""Embeddings and one-hot vectors."""

import numpy as np

import flambeau
from flambeau.testing.opspec import Case, Draw, OpSpec, Sample, keep

TABLE = np.zeros((5, 2))


def embedding(input, weight, padding_idx=None):
    return weight[input]


def embedding_bag(input, weight, offsets=None, mode="mean"):
    bags = (
        [input[i] for i in range(len(input))] if offsets is None else np.split(input, offsets[1:])
    )
    reduce = {"sum": np.sum, "mean": np.mean, "max": np.max}[mode]
    zeros = np.zeros(weight.shape[1])
    return np.stack([reduce(weight[bag], axis=0) if len(bag) else zeros for bag in bags])


def one_hot(input, num_classes=-1):
    count = input.max() + 1 if num_classes == -1 else num_classes
    return (input[..., None] == np.arange(count)).astype(np.int64)


def table_samples(*calls):
    def generate(draw: Draw):
        for shape, size, extra in calls:
            yield Sample((draw.index(shape, size), draw.array((size, 3))), extra)

    return generate


def bag_samples(draw: Draw):
    for mode in ("sum", "mean", "max"):
        yield Sample((draw.index((3, 4), 5), draw.spread((5, 2))), {"mode": mode})
        offsets = np.array([0, 2, 2, 5]).view(type(draw.index((1,), 2)))
        yield Sample((draw.index((6,), 5), draw.spread((5, 2)), offsets), {"mode": mode})


SPECS = [
    OpSpec(
        "nn.functional.embedding", reference=embedding,
        samples=table_samples(((4,), 5, {}), ((2, 3), 4, {}), ((), 4, {}), ((0,), 4, {})),
        errors=[
            Case(args=(np.array([5]), TABLE), raises=IndexError, match="out of range"),
            Case(args=(np.array([-1]), TABLE), raises=IndexError, match="out of range"),
            Case(args=(np.array([2**62]), TABLE), raises=IndexError, match="out of range"),
            Case(args=(np.array([1.0]), TABLE), match="indices"),
            Case(args=(np.array([1]), np.zeros(3)), match="2-D"),
        ],
    ),
    OpSpec(
        "nn.functional.embedding_bag", reference=embedding_bag, samples=bag_samples, meta=False,
        errors=[
            Case(args=(np.array([1]), TABLE, np.array([1])), match="offsets"),
            Case(args=(np.array([9]), TABLE, np.array([0])), match="valid range"),
            Case(args=(np.array([1]), TABLE), raises=ValueError, match="offsets"),
        ],
    ),
    OpSpec(
        "nn.functional.one_hot", reference=one_hot, dtypes=("int64",), grad=False, meta=False,
        samples=lambda draw: [Sample((draw.index((2, 3), 4),)), Sample((draw.index((3,), 4), 6))],
        errors=[Case(args=(np.array([3]), 2), match="smaller"), Case(args=(np.array([-1]),), match="non-negative")],
    ),
]  # fmt: skip


MODES = ("sum", "mean", "max")


def low_level_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0):
    """Bags, the bag of each index, sizes of the bags (0 in mode 0), and what stands for the indices of maxima."""
    ends = np.append(offsets[1:], indices.size)
    numbers = np.repeat(np.arange(offsets.size), ends - offsets)
    sizes = np.zeros(offsets.size, np.int64) if mode == 0 else ends - offsets
    maxima = sizes
    if mode == 2:
        maxima = np.zeros((offsets.size, weight.shape[1]), np.int64)
        for bag, (first, last) in enumerate(zip(offsets, ends, strict=True)):
            if last > first:
                maxima[bag] = indices[first:last][weight[indices[first:last]].argmax(0)]
    return embedding_bag(indices, weight, offsets, MODES[mode]), numbers, sizes, maxima


def low_level_bag_samples(draw: Draw):
    for mode in range(3):
        offsets = keep(np.array([0, 2, 2, 5]))
        yield Sample((draw.spread((5, 2)), draw.index((6,), 5), offsets, False, mode))


def embedding_renorm(weight, indices, max_norm, norm_type):
    result = weight.copy()
    for row in np.unique(indices):
        norm = (np.abs(weight[row]) ** norm_type).sum() ** (1 / norm_type)
        if norm > max_norm:
            result[row] = weight[row] * (max_norm / (norm + 1e-7))
    return result


SPECS += [
    OpSpec(
        "embedding_bag", reference=low_level_bag, samples=low_level_bag_samples, meta=False, method=False,
        errors=[Case(args=(TABLE, np.array([9]), np.array([0])), match="valid range")],
    ),
    OpSpec(
        "embedding_renorm_", reference=embedding_renorm, grad=False, method=False, inplace=False,
        samples=lambda draw: [Sample((draw.array((5, 3)), draw.index((4,), 5), 1.5, p)) for p in (2.0, 1.0)],
        function=lambda weight, *rest: flambeau.embedding_renorm_(weight.clone(), *rest),
        errors=[Case(args=(TABLE, np.array([9]), 1.0, 2.0), raises=(IndexError, RuntimeError), match="out of range")],
    ),
]  # fmt: skip
