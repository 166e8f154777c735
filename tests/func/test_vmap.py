"""vmap: structures, dimensions, randomness, derivatives, errors."""

import pytest

import flambeau
from flambeau import vmap


def arange(*shape):
    return flambeau.arange(flambeau.Size(shape).numel(), dtype=flambeau.float64).view(shape)


def test_maps_over_any_dimension():
    x, y = arange(2, 3), arange(3, 2)
    expected = (x * y.T).sum(1)
    assert vmap(flambeau.dot, in_dims=(0, 1))(x, y).equal(expected)
    assert vmap(flambeau.dot, in_dims=(-2, -1))(x, y).equal(expected)
    assert vmap(flambeau.mv, in_dims=(None, 0))(x, arange(4, 3)).shape == (4, 2)


def test_structures_of_inputs_and_outputs():
    def f(pair, options, scale=1):
        a, b = pair
        return {"sum": (a + b) * scale, "rest": (options["c"], [a])}

    a, b, c = arange(2, 3), arange(3, 2), arange(3)
    found = vmap(f, in_dims=((0, 1), {"c": None}), out_dims={"sum": 1, "rest": (None, [0])})(
        (a, b), {"c": c}, scale=2
    )
    assert found["sum"].equal(((a + b.T) * 2).T)
    assert found["rest"][0] is c
    assert found["rest"][1][0].equal(a)


def test_out_dims():
    x = arange(2, 3, 4)
    assert vmap(lambda t: t, out_dims=-1)(x).shape == (3, 4, 2)
    assert [t.shape for t in vmap(lambda t: (t, t), out_dims=(1, 2))(x)] == [(3, 2, 4), (3, 4, 2)]
    assert vmap(lambda t: t, out_dims=(1,))(x).shape == (3, 2, 4)


def test_nested():
    x, y = arange(2, 3), arange(4, 3)
    pairs = vmap(vmap(flambeau.dot, in_dims=(None, 0)), in_dims=(0, None))
    assert pairs(x, y).equal(x @ y.T)


def test_empty_batch():
    assert vmap(lambda t: t.sum(0), out_dims=1)(flambeau.empty(0, 2, 3)).shape == (3, 0)


def test_gradients_pass_through():
    x = arange(2, 3).requires_grad_()
    vmap(lambda t: (t * t).sum())(x).sum().backward()
    assert x.grad.equal(2 * x.detach())
    per_sample = vmap(flambeau.func.grad(lambda w, t: (w * t).pow(2).sum()), in_dims=(None, 0))
    w = arange(3)
    assert per_sample(w, x.detach()).equal(2 * w * x.detach() ** 2)


def test_randomness():
    x = flambeau.zeros(4)
    draw = lambda t: t + flambeau.rand(())
    state = flambeau.get_rng_state()
    with pytest.raises(RuntimeError, match="called random operation"):
        vmap(draw)(x)
    assert flambeau.get_rng_state().equal(state)
    same = vmap(draw, randomness="same")(x)
    assert (same == same[0]).all()
    assert len(set(vmap(draw, randomness="different")(x).tolist())) == 4
    with pytest.raises(RuntimeError, match="Got sometimes"):
        vmap(draw, randomness="sometimes")


@pytest.mark.parametrize(
    ("in_dims", "args", "match"),
    [
        (
            5,
            (arange(3),),
            "in_dim=5 for some input, but that input is a Tensor of dimensionality 1",
        ),
        (0, (flambeau.tensor(1.0),), "dimensionality 0"),
        ((0, 0), (arange(3),), "not compatible with the structure of `inputs`"),
        (None, (arange(3),), "expected `in_dims` to be int or a"),
        ([0], (arange(3),), "expected `in_dims` to be int or a"),
        ((None,), (arange(3),), "at least one Tensor to vmap over"),
        (("x",), (arange(3),), "must be either an integer dimension or None"),
        (0, (3,), "We cannot vmap over non-Tensor arguments"),
        (0, (), "got no inputs"),
        (0, (arange(3), arange(4)), r"got sizes \[3, 4\]"),
    ],
)
def test_input_errors(in_dims, args, match):
    with pytest.raises(ValueError, match=match):
        vmap(lambda *values: values[0], in_dims=in_dims)(*args)


def test_output_errors():
    x = arange(3)
    with pytest.raises(ValueError, match="must only return Tensors, got type <class 'int'>"):
        vmap(lambda t: 3)(x)
    with pytest.raises(ValueError, match="not compatible with the structure of `outputs`"):
        vmap(lambda t: (t, t), out_dims=(0, 0, 0))(x)
    with pytest.raises(ValueError, match="can not return a BatchedTensor"):
        vmap(lambda t: t, out_dims=None)(x)
    with pytest.raises(ValueError, match="`out_dims` must be an int"):
        vmap(lambda t: t, out_dims="x")(x)
    with pytest.raises(IndexError, match="Dimension out of range"):
        vmap(lambda t: t, out_dims=3)(x)
    with pytest.raises(ValueError, match="chunk_size should be"):
        vmap(lambda t: t, chunk_size=0)
    assert vmap(lambda t: (t, 3), out_dims=(0, None))(x)[1] == 3
