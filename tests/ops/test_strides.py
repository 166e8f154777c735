"""Strides of results against PyTorch's, and random masks, drawn in memory order: recorded by data/make_strides.py."""

import json
import pathlib
import sys

import pytest

import flambeau
import flambeau.nn.functional as F

DATA = pathlib.Path(__file__).parents[1] / "data"
sys.path.insert(0, str(DATA))
import strides_cases  # noqa: E402 - found through the path set above

RECORDED = json.loads((DATA / "strides.json").read_text())
LAYOUTS = RECORDED["layouts"]


@pytest.mark.parametrize(("case", "rank"), strides_cases.cases())
def test_strides_equal_pytorch(case, rank):
    got = {
        layout: strides_cases.geometry(strides_cases.evaluate(flambeau, case, rank, layout))
        for layout in LAYOUTS
    }
    assert got == dict(zip(LAYOUTS, RECORDED["strides"][f"{rank} {case}"], strict=True))


@pytest.mark.parametrize("case", strides_cases.expressions(strides_cases.MASKS))
def test_masks_equal_pytorch(case):
    layouts = ("plain", "last", "channels")
    got = [strides_cases.drawn(flambeau, case, layout) for layout in layouts]
    assert got == RECORDED["masks"][case]


@pytest.mark.parametrize("layout", ["plain", "last", "channels"])
@pytest.mark.parametrize("op", [F.pixel_shuffle, F.pixel_unshuffle, F.channel_shuffle])
def test_shuffles_by_one_are_copies(op, layout):
    x = strides_cases.tensor(flambeau, 4, layout)
    result = op(x, 1)
    assert flambeau.equal(result, x)
    assert result.data_ptr() != x.data_ptr()


@pytest.mark.parametrize("layout", ["last", "channels", "turned"])
@pytest.mark.parametrize(
    "op",
    [
        lambda x: F.pixel_shuffle(x, 2),
        lambda x: F.pixel_unshuffle(x, 2),
        lambda x: F.channel_shuffle(x, 2),
        lambda x: F.pad(x, (1, 2, 2, 1), mode="reflect"),
        lambda x: F.pad(x, (1, 2, 3, 1), mode="replicate"),
        lambda x: F.pad(x, (-1, 2, 3, -1)),
        lambda x: flambeau.stack([x, x], 1),
        lambda x: flambeau.roll(x, (1, 3), (1, 2)),
        lambda x: F.rms_norm(x, (8,)),
        lambda x: F.max_pool2d(x, 2),
        lambda x: F.avg_pool2d(x, 3),
        lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
        lambda x: F.interpolate(x, (7, 5), mode="bicubic"),
        lambda x: F.interpolate(x, (7, 5)),
        lambda x: F.conv2d(x, flambeau.arange(108.0).reshape(3, 4, 3, 3) / 100),
        lambda x: F.conv2d(x, flambeau.arange(36.0).reshape(4, 1, 3, 3) / 100, groups=4),
        lambda x: F.batch_norm(x, None, None, training=True),
        lambda x: F.scaled_dot_product_attention(x, x, x),
        lambda x: x[flambeau.tensor([1, 0, 1])],
        lambda x: x[:, flambeau.tensor([3, 0])],
        lambda x: x[..., flambeau.tensor([3, 0])],
    ],
)
def test_values_and_gradients_do_not_depend_on_layout(op, layout):
    results = []
    values = strides_cases.tensor(flambeau, 4, layout)
    for source in (values, values.contiguous()):
        x = source.detach().requires_grad_()
        out = op(x)
        weight = flambeau.arange(float(out.numel())).reshape(out.shape).remainder(5.0)
        results.append((out, *flambeau.autograd.grad(out, x, weight)))
    for a, b in zip(*results, strict=True):
        flambeau.testing.assert_close(a, b, check_stride=False)
