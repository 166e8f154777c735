"""grad, vjp, jvp and the Jacobians: values, nesting, graphs, structures."""

import itertools

import pytest

import flambeau
from flambeau.func import (
    functionalize,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
)


def tensor(*values):
    return flambeau.tensor(values, dtype=flambeau.float64)


def scalar(value):
    return flambeau.tensor(value, dtype=flambeau.float64)


def cube_sum(t):
    return (t**3).sum()


def test_grad_nests():
    derivative, functions = flambeau.sin, []
    for _ in range(4):
        derivative = grad(derivative)
        functions.append(derivative)
    x = scalar(0.7)
    expected = (x.cos(), -x.sin(), -x.cos(), x.sin())
    for function, value in zip(functions, expected, strict=True):
        assert flambeau.allclose(function(x), value)
        assert not function(x).requires_grad


def test_inner_grad_treats_outer_variables_as_constants():
    def f(x):
        return x * grad(lambda y: x * y * y)(scalar(3.0))  # x * 6x

    assert grad(f)(scalar(2.0)).item() == 24.0


def test_argnums_structures_and_aux():
    def f(params, x, offset=0):
        return (params["w"] * x).sum() + params["b"] + offset, {"seen": x}

    params = {"w": tensor(1.0, 2.0), "b": scalar(3.0)}
    gradient, (value, aux) = grad_and_value(f, has_aux=True)(params, tensor(5.0, 7.0), offset=1)
    assert gradient["w"].tolist() == [5.0, 7.0]
    assert gradient["b"].item() == 1.0
    assert (value.item(), aux["seen"].tolist()) == (23.0, [5.0, 7.0])
    both = grad(lambda x, y: (x * y).sum(), argnums=(0, 1))(tensor(1.0, 2.0), tensor(3.0, 4.0))
    assert [g.tolist() for g in both] == [[3.0, 4.0], [1.0, 2.0]]
    assert grad(lambda x, y: x.sum(), argnums=-1)(tensor(1.0), tensor(2.0)).tolist() == [0.0]


def test_results_keep_a_graph_only_if_it_leads_further():
    x = tensor(1.0, 2.0)
    assert not any(t.requires_grad for t in grad_and_value(cube_sum)(x))
    leaf = tensor(1.0, 2.0).requires_grad_()
    gradient = grad(cube_sum)(leaf)
    gradient.sum().backward()
    assert leaf.grad.tolist() == [6.0, 12.0]
    weight = tensor(5.0, 6.0).requires_grad_()
    grad(lambda t: (t * weight).sum())(x).sum().backward()
    assert weight.grad.tolist() == [1.0, 1.0]
    with flambeau.no_grad():
        assert grad(cube_sum)(leaf).tolist() == [3.0, 12.0]
        assert not grad(cube_sum)(leaf).requires_grad
    assert x.grad is None


def test_grad_errors():
    with pytest.raises(RuntimeError, match="scalar tensor, got tensor with 1 dims"):
        grad(lambda t: t)(tensor(1.0))
    with pytest.raises(RuntimeError, match="to return a tensor, got <class 'int'>"):
        grad(lambda t: 3)(tensor(1.0))
    with pytest.raises(RuntimeError, match="Got argnum=2, but only 1 positional inputs"):
        grad(cube_sum, argnums=2)(tensor(1.0))
    with pytest.raises(RuntimeError, match="must be unique"):
        grad(cube_sum, argnums=(0, -1))(tensor(1.0))
    with pytest.raises(RuntimeError, match="should be a tuple"):
        grad(cube_sum, has_aux=True)(tensor(1.0))


def test_vjp():
    output, vjp_fn, aux = vjp(
        lambda a, b: ({"p": a * b, "s": a.sum()}, "aux"),
        tensor(1.0, 2.0),
        tensor(3.0, 4.0),
        has_aux=True,
    )
    assert aux == "aux"
    assert not output["p"].requires_grad
    in_a, in_b = vjp_fn({"p": tensor(1.0, 10.0), "s": scalar(100.0)})
    assert (in_a.tolist(), in_b.tolist()) == ([103.0, 140.0], [1.0, 20.0])
    assert vjp_fn({"p": tensor(1.0, 0.0), "s": scalar(0.0)})[0].tolist() == [3.0, 0.0]
    with pytest.raises(RuntimeError, match="pytree structure of cotangents"):
        vjp_fn(tensor(1.0))
    _, single = vjp(flambeau.sin, tensor(0.0))
    (product,) = single(tensor(2.0))  # a tuple for one primal, too
    assert product.tolist() == [2.0]


def test_jvp():
    output, product, aux = jvp(
        lambda a, b: ((a * b, a.sum()), a), (tensor(1.0, 2.0), tensor(3.0, 4.0)),
        (tensor(1.0, 0.0), tensor(0.0, 1.0)), has_aux=True,
    )  # fmt: skip
    assert [o.tolist() for o in output] == [[3.0, 8.0], 3.0]
    assert [p.tolist() for p in product] == [[3.0, 2.0], 1.0]
    assert aux.tolist() == [1.0, 2.0]
    constant = lambda t: flambeau.ones(2)
    assert jvp(constant, (tensor(1.0),), (tensor(1.0),))[1].tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="independent"):
        jvp(constant, (tensor(1.0),), (tensor(1.0),), strict=True)
    with pytest.raises(RuntimeError, match="primals to be a tuple"):
        jvp(flambeau.sin, tensor(1.0), tensor(1.0))
    with pytest.raises(RuntimeError, match="same python structure"):
        jvp(flambeau.sin, (tensor(1.0),), (tensor(1.0), tensor(2.0)))


def test_linearize():
    output, jvp_fn = linearize(lambda a, b: (a * b, b * 2), tensor(1.0, 2.0), tensor(3.0, 4.0))
    assert output[0].tolist() == [3.0, 8.0]
    for directions in ((tensor(1.0, 0.0), tensor(0.0, 0.0)), (tensor(0.0, 0.0), tensor(1.0, 1.0))):
        a, b = directions
        first, second = jvp_fn(a, b)
        assert first.equal(a * tensor(3.0, 4.0) + b * tensor(1.0, 2.0))
        assert second.equal(b * 2)


def test_jacobians_agree():
    def f(x, scale):
        return {"outer": x.unsqueeze(1) * x, "sum": (x * scale).sum()}

    x = tensor(1.0, 2.0, 3.0)
    one, other = jacrev(f)(x, 2.0), jacfwd(f)(x, 2.0)
    assert one["outer"].shape == (3, 3, 3)
    assert one["outer"].equal(other["outer"])
    assert one["sum"].equal(other["sum"])
    pair = jacrev(lambda a, b: a * b, argnums=(0, 1))(x, x + 1)
    again = jacfwd(lambda a, b: a * b, argnums=(0, 1))(x, x + 1)
    assert all(a.equal(b) for a, b in zip(pair, again, strict=True))
    assert jacfwd(lambda t: (t * 2, t), has_aux=True)(x)[1].equal(x)


def test_every_way_to_a_hessian():
    def f(x):
        return (x.exp() * x.roll(1)).sum()

    x = tensor(0.1, 0.2, 0.3)
    expected = flambeau.autograd.functional.hessian(f, x)
    for outer, inner in itertools.product((jacrev, jacfwd), repeat=2):
        assert flambeau.allclose(outer(inner(f))(x), expected), (outer, inner)
    assert flambeau.allclose(hessian(f)(x), expected)
    third = jacfwd(jacfwd(jacfwd(cube_sum)))(x)
    assert third.diagonal().diagonal().tolist() == pytest.approx([6.0, 6.0, 6.0])


def test_jvp_of_grad_and_grad_of_jvp():
    x, v = tensor(1.0, 2.0), tensor(1.0, 1.0)
    assert jvp(grad(cube_sum), (x,), (v,))[1].tolist() == [6.0, 12.0]
    assert grad(lambda t: jvp(cube_sum, (t,), (v,))[1])(x).tolist() == [6.0, 12.0]


def test_functionalize_is_the_identity():
    def f(t):
        return t.clone().add_(1)

    assert functionalize(f)(tensor(1.0)).tolist() == [2.0]
    with pytest.raises(RuntimeError, match="Valid options"):
        functionalize(f, remove="all")
