"""Samplers: the order of indices. The random ones give PyTorch's orders for the same seed."""

import itertools

import flambeau

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]


def draw_seed(generator=None):
    """A 63-bit seed from a generator; None is the default one."""
    return int(flambeau.empty((), dtype=flambeau.int64).random_(generator=generator).item())


class Sampler:
    """Base class: subclasses define __iter__ over indices."""

    def __class_getitem__(cls, item):
        return cls  # Sampler[int] in annotations and bases

    def __init__(self, data_source=None):
        if data_source is not None:
            import warnings

            warnings.warn(
                "`data_source` argument is not used and will be removed in 2.2.0.", stacklevel=2
            )

    def __iter__(self):
        raise NotImplementedError


class SequentialSampler(Sampler):
    """0, 1, 2, ..."""

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


def _positive_int(name, value):
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={value}")


class RandomSampler(Sampler):
    """A random permutation, or (replacement) random indices.

    Args:
        num_samples: how many indices (default: one pass); without replacement, further permutations follow.
        generator: of the numbers; None seeds one from the default generator for each pass.
    """

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        _positive_int("num_samples", self.num_samples)

    @property
    def num_samples(self):
        """Number of indices of one pass."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        size = len(self.data_source)
        generator = self.generator
        if generator is None:
            generator = flambeau.Generator()
            generator.manual_seed(draw_seed())
        if self.replacement:
            # In blocks of 32, as PyTorch draws them. No list of blocks: num_samples may stand for "endless".
            for start in range(0, self.num_samples, 32):
                count = min(32, self.num_samples - start)
                yield from flambeau.randint(
                    size, (count,), dtype=flambeau.int64, generator=generator
                ).tolist()
            return
        full, rest = divmod(self.num_samples, size)
        for _ in range(full):
            yield from flambeau.randperm(size, generator=generator).tolist()
        yield from flambeau.randperm(size, generator=generator).tolist()[:rest]

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """A random permutation of given indices."""

    def __init__(self, indices, generator=None):
        self.indices = indices
        self.generator = generator

    def __iter__(self):
        for i in flambeau.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Indices drawn with given weights (probabilities up to a factor)."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        _positive_int("num_samples", num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        weights = flambeau.as_tensor(weights, dtype=flambeau.float64)
        if weights.dim() != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(weights.shape)}"
            )
        self.weights = weights
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        drawn = flambeau.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        return iter(drawn.tolist())

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of batch_size consecutive indices of another sampler; drop_last leaves out a shorter last one."""

    def __init__(self, sampler, batch_size, drop_last):
        _positive_int("batch_size", batch_size)
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self):
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield batch

    def __len__(self):
        if self.drop_last:
            return len(self.sampler) // self.batch_size
        return (len(self.sampler) + self.batch_size - 1) // self.batch_size
