"""segment_reduce: NumPy over slices is the reference."""

import itertools

import numpy as np

from flambeau.testing.opspec import Case, OpSpec, Sample, keep

FUNCTIONS = {
    "sum": (np.sum, 0.0),
    "mean": (np.mean, np.nan),
    "prod": (np.prod, 1.0),
    "max": (np.max, -np.inf),
    "min": (np.min, np.inf),
}


def reference(data, reduce, *, lengths=None, offsets=None, axis=0, unsafe=False, initial=None):
    function, empty = FUNCTIONS[reduce]
    bounds = offsets if offsets is not None else np.concatenate([[0], np.cumsum(lengths)])
    rows = []
    for start, stop in itertools.pairwise(bounds):
        part = data[start:stop]
        if initial is not None and reduce != "mean":
            part = np.concatenate([part, np.full_like(data[:1], initial)])
        rows.append(function(part, axis=0) if len(part) else np.full_like(data[0], empty))
    return np.array(rows)


def samples(draw):
    for reduce in FUNCTIONS:
        yield Sample((draw.spread((6, 2)), reduce), {"lengths": keep(np.array([2, 1, 3]))})
        yield Sample((draw.spread((6,)), reduce), {"offsets": keep(np.array([0, 4, 6]))})
        if not draw.smooth:
            yield Sample((draw.spread((3,)), reduce), {"lengths": keep(np.array([2, 0, 1]))})
    for reduce in ("sum", "max", "min", "prod"):
        keywords = {"lengths": keep(np.array([4, 2])), "initial": 0.123}
        yield Sample((draw.spread((6,)), reduce), keywords)


SPECS = [
    OpSpec(
        "segment_reduce",
        reference,
        samples,
        meta=False,  # the checks read the lengths
        errors=[
            Case(args=(np.zeros(3), "sum"), match="Either lengths or offsets"),
            Case(args=(np.zeros(3), "none"), kwargs={"lengths": np.array([3])}, match="reduce"),
            Case(args=(np.zeros(3), "sum"), kwargs={"lengths": np.array([2])}, match="sum to"),
            Case(
                args=(np.zeros(3), "sum"), kwargs={"lengths": np.array([-1, 4])}, match="negative"
            ),
        ],
    )
]
