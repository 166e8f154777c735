"""Sobol points: PyTorch 2.13's numbers, and that they fill the cube evenly."""

import numpy as np
import pytest
from scipy.stats import qmc

import flambeau
from flambeau.quasirandom import SobolEngine


def test_first_points():
    engine = SobolEngine(3)
    assert engine.draw(5).tolist() == [
        [0.0, 0.0, 0.0],
        [0.5, 0.5, 0.5],
        [0.75, 0.25, 0.25],
        [0.25, 0.75, 0.75],
        [0.375, 0.375, 0.625],
    ]
    assert engine.draw(1, dtype=flambeau.float64).tolist() == [[0.875, 0.875, 0.125]]
    assert engine.num_generated == 6 and repr(engine) == "SobolEngine(dimension=3)"
    assert engine.reset().draw(2)[1].tolist() == [0.5, 0.5, 0.5]


def test_scrambled_points_are_pytorchs():
    engine = SobolEngine(5, scramble=True, seed=12)
    expected = [
        [0.20525571703910828, 0.35845568776130676, 0.6309193968772888, 0.549239993095398],
        [0.9018466472625732, 0.6926008462905884, 0.3664000332355499, 0.27549266815185547],
        [0.5244792103767395, 0.1032804474234581, 0.7520458698272705, 0.9153860807418823],
    ]
    assert engine.draw(3)[:, :4].tolist() == expected
    assert repr(engine) == "SobolEngine(dimension=5, scramble=True, seed=12)"
    flambeau.manual_seed(3)
    points = SobolEngine(2, scramble=True).draw_base2(2)
    assert points[0].tolist() == [0.06846512854099274, 0.22452697157859802]


def test_all_dimensions_equal_scipys():
    got = SobolEngine(21201).draw(64, dtype=flambeau.float64).numpy()
    expected = qmc.Sobol(21201, scramble=False, bits=30).random(64)
    np.testing.assert_array_equal(got, expected)


def test_each_half_quarter_eighth_gets_its_share():
    points = SobolEngine(40, scramble=True, seed=1).draw(256)
    for parts in (2, 4, 8, 256):
        counts = flambeau.stack(
            [(points * parts).long()[:, d].bincount(minlength=parts) for d in range(40)]
        )
        assert (counts == 256 // parts).all()


def test_fast_forward_continues_where_drawing_would():
    for skip in (1, 4, 7):
        drawn, skipped = (SobolEngine(6, scramble=True, seed=2) for _ in range(2))
        drawn.draw(skip)
        assert flambeau.equal(drawn.draw(9), skipped.fast_forward(skip).draw(9))


def test_out_and_errors():
    out = flambeau.empty(0)
    assert SobolEngine(2).draw(2, out=out) is out and out.tolist() == [[0, 0], [0.5, 0.5]]
    for bad in (0, 21202):
        with pytest.raises(ValueError, match="dimensionality"):
            SobolEngine(bad)
    engine = SobolEngine(2)
    engine.draw(3)
    with pytest.raises(ValueError, match="power of 2"):
        engine.draw_base2(1)
