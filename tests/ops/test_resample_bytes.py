"""Images of bytes are resampled in integers; values recorded from PyTorch 2.13."""

import flambeau
from flambeau.nn.functional import interpolate


def ramp(*sizes):
    count = sizes[0] * sizes[1]
    return (flambeau.arange(count) * 40 % 256).to(flambeau.uint8).reshape(1, 1, *sizes)


def test_recorded_values():
    line = ramp(1, 6)
    assert interpolate(line, (1, 8), mode="bicubic").flatten().tolist() == [
        0, 21, 56, 87, 113, 144, 179, 203,
    ]  # fmt: skip
    assert interpolate(line, scale_factor=(1, 1.37), mode="bicubic").flatten().tolist() == [
        0, 20, 55, 83, 109, 140, 173, 199,
    ]  # fmt: skip
    got = interpolate(line, scale_factor=(1, 1.37), mode="bilinear", antialias=True)
    assert got.flatten().tolist() == [0, 24, 53, 82, 111, 141, 170, 199]


def test_an_axis_that_keeps_its_size_is_left_alone():
    for dtype in (flambeau.uint8, flambeau.float32):
        pair = ramp(1, 2).to(dtype)
        for mode in ("bilinear", "bicubic"):
            for antialias in (False, True):
                got = interpolate(pair, scale_factor=(1, 1.37), mode=mode, antialias=antialias)
                if dtype == flambeau.uint8 or antialias or mode == "bilinear":
                    assert flambeau.equal(got, pair)


def test_constant_images_stay_constant():
    image = flambeau.full((1, 3, 17, 23), 201, dtype=flambeau.uint8)
    for mode in ("bilinear", "bicubic"):
        for size in ((5, 60), (40, 7)):
            for antialias in (False, True):
                got = interpolate(image, size, mode=mode, antialias=antialias)
                assert (got.int() - 201).abs().max() <= 1
    strided = image.contiguous(memory_format=flambeau.channels_last)
    got = interpolate(strided, (9, 9), mode="bilinear")
    assert got.is_contiguous(memory_format=flambeau.channels_last)
