"""Masked reductions and softmaxes; numpy.ma is the reference. What stays masked: tests/test_masked.py."""

import numpy as np
import scipy.special

from flambeau.testing.opspec import Case, OpSpec, Sample, keep

NOT_A_MASK = Case(args=(np.zeros(2), 0), kwargs={"mask": [True]}, raises=TypeError, match="mask")
DTYPES = ("float32", "float64")


def masks(draw, shape):
    """At least two elements stay along every dim."""
    mask = draw.rng.random(shape) < 0.5
    for dim in range(len(shape)):
        mask[(slice(None),) * dim + (slice(2),)] = True
    return keep(mask)


def reduction_samples(dims, **kwargs):
    def samples(draw):
        for dim in dims:
            x = draw.spread((4, 5))
            yield Sample((x, dim), {**kwargs, "mask": masks(draw, (4, 5))})
            yield Sample((x, dim), {**kwargs, "keepdim": True, "mask": masks(draw, (4, 5))})
            yield Sample((x, dim), kwargs)

    return samples


def along_samples(draw):
    for dim in (0, -1):
        yield Sample((draw.array((4, 5)), dim), {"mask": masks(draw, (4, 5))})
        yield Sample((draw.array((4, 5)), dim))


def finite(samples):
    """Infinite results have no derivative to compare: those of masked elements stay out."""
    return lambda draw: [s for s in samples(draw) if not (draw.smooth and s.kwargs)]


def array(x, mask):
    return np.ma.array(x, mask=np.zeros(x.shape, bool) if mask is None else ~mask)


def reduction(function):
    def reference(x, dim=None, keepdim=False, mask=None, **options):
        return np.asarray(function(array(x, mask), axis=dim, keepdims=keepdim, **options))

    return reference


def spec(name, reference, samples=None, error=NOT_A_MASK, **options):
    options = {"dtypes": DTYPES, "k": 16, "floor": 8, "method": False, "inplace": False, **options}
    samples = reduction_samples((0, -1, None, (0, 1))) if samples is None else samples
    return OpSpec(f"masked.{name}", reference, samples, errors=[error], **options)


def logsumexp(x, axis, keepdims):
    return scipy.special.logsumexp(x.filled(-np.inf), axis=axis, keepdims=keepdims)


def norm(x, ord=2.0, dim=None, keepdim=False, mask=None):
    power = np.abs(array(x, mask).filled(0)) ** ord
    return power.sum(axis=dim, keepdims=keepdim) ** (1 / ord)


def norm_samples(draw):
    for sample in reduction_samples((0, -1, None))(draw):
        for order in (2.0, 3.0):
            yield Sample((sample.args[0], order, sample.args[1]), sample.kwargs)


def prod(x, axis, keepdims):
    return x.filled(1).prod(axis=axis, keepdims=keepdims)


def positions(function, fill):
    def reference(x, dim=None, keepdim=False, mask=None):
        return getattr(np, function)(array(x, mask).filled(fill), axis=dim, keepdims=keepdim)

    return reference


def median(x, dim=-1, keepdim=False, mask=None):
    """The lower of the two middle values."""
    ordered = np.sort(array(x, mask).filled(np.inf), axis=dim)
    last = (np.isfinite(ordered).sum(axis=dim, keepdims=True) - 1) // 2
    result = np.take_along_axis(ordered, last, dim)
    return result if keepdim else result.squeeze(dim)


def moment(function):
    def reference(x, dim=None, keepdim=False, mask=None, unbiased=True):
        found = getattr(array(x, mask), function)(axis=dim, ddof=int(unbiased), keepdims=keepdim)
        return np.asarray(found)

    return reference


def softmax(sign, log):
    def reference(x, dim, mask=None):
        with np.errstate(divide="ignore"):
            found = scipy.special.softmax(array(sign * x, mask).filled(-np.inf), dim)
            return np.log(found) if log else found

    return reference


def normalize(x, ord, dim, mask=None):
    values = array(x, mask).filled(0)
    return values / np.maximum((np.abs(values) ** ord).sum(dim, keepdims=True) ** (1 / ord), 1e-12)


def normalize_samples(draw):
    for sample in along_samples(draw):
        yield Sample((sample.args[0], 2.0, sample.args[1]), sample.kwargs)


def logaddexp(x, y, input_mask=None, other_mask=None):
    return np.logaddexp(array(x, input_mask).filled(-np.inf), array(y, other_mask).filled(-np.inf))


def logaddexp_samples(draw):
    x, y = draw.array((4, 5)), draw.array((4, 5))
    yield Sample((x, y))
    mask = keep(np.ones((4, 5), bool))
    mask[1] = False
    yield Sample((x, y), {"input_mask": mask})
    yield Sample((x, y), {"other_mask": mask})


ONE_DIM = reduction_samples((0, -1))
ONE_OR_ALL = reduction_samples((0, -1, None))

# As in PyTorch, positions have the dtype of the input.
POSITION = {"grad": False, "result_dtype": lambda dtype: dtype}

SPECS = [
    spec("sum", reduction(np.ma.sum)),
    spec("mean", reduction(np.ma.mean)),
    spec("prod", reduction(prod), floor=64),
    spec("amax", reduction(np.ma.max)),
    spec("amin", reduction(np.ma.min)),
    spec("argmax", positions("argmax", -np.inf), ONE_OR_ALL, **POSITION),
    spec("argmin", positions("argmin", np.inf), ONE_OR_ALL, **POSITION),
    spec("logsumexp", reduction(logsumexp)),
    spec("norm", norm, norm_samples),
    spec("median", median, ONE_DIM),
    spec("var", moment("var")),
    spec("std", moment("std")),
    spec("var", moment("var"), reduction_samples((0,), unbiased=False), variant="biased"),
    spec("cumsum", lambda x, dim, mask=None: array(x, mask).filled(0).cumsum(dim), along_samples),
    spec("cumprod", lambda x, dim, mask=None: array(x, mask).filled(1).cumprod(dim), along_samples, floor=64),
    spec("softmax", softmax(1, False), along_samples),
    spec("softmin", softmax(-1, False), along_samples),
    spec("log_softmax", softmax(1, True), finite(along_samples)),
    spec("normalize", normalize, normalize_samples,
         error=Case(args=(np.zeros(2), 2.0, 0), kwargs={"mask": [True]}, raises=TypeError, match="mask")),
    OpSpec("masked.logaddexp", logaddexp, finite(logaddexp_samples), dtypes=DTYPES, method=False, inplace=False,
           errors=[Case(args=(np.zeros(2), np.zeros(3)), match="must match|broadcast")]),
]  # fmt: skip
