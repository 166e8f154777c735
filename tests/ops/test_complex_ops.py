"""Complex numbers: the gradient convention, every differentiable op, promotion, what does not exist, training."""

import math

import numpy as np
import pytest

import flambeau
from flambeau import nn
from flambeau.testing.opcheck import bind, check_gradient, function_of, numbered
from flambeau.testing.opspec import Draw

I = 1j


def wanted(spec):
    return spec.grad and bool(set(spec.dtypes) & {"float64", "complex128"})


def accepts_complex(spec):
    for _, sample in numbered(spec, Draw("complex128", smooth=True)):
        args, kwargs = bind(sample, "complex128")
        try:
            function_of(spec)(*args, **kwargs)
        except (RuntimeError, TypeError, ValueError):
            return False
    return True


def test_every_op_that_takes_complex_input_differentiates_it(spec):
    if not accepts_complex(spec):
        pytest.skip("no complex numbers")
    check_gradient(spec, "complex128", order=1)
    if spec.grad_grad:
        check_gradient(spec, "complex128", order=2)


def gradient(function, value, dtype=flambeau.complex128):
    z = flambeau.tensor(value, dtype=dtype, requires_grad=True)
    function(z).backward()
    return z.grad


@pytest.mark.parametrize(
    ("function", "point", "expected"),
    [
        (lambda z: (z * z.conj()).real, 3 + 4j, 6 + 8j),
        (lambda z: z.abs() ** 2, 3 + 4j, 6 + 8j),
        (lambda z: z.abs(), 3 + 4j, 0.6 + 0.8j),
        (lambda z: z.abs(), 0j, 0),
        (lambda z: z.real, 3 + 4j, 1),
        (lambda z: z.imag, 3 + 4j, 1j),
        (lambda z: z.angle(), 3 + 4j, -0.16 + 0.12j),
        (lambda z: z.angle(), 0j, 0),
        (lambda z: (z**2).real, 1 + 2j, 2 - 4j),
        (lambda z: z.exp().real, 1j, 0.5403023058681398 - 0.8414709848078965j),
    ],
)
def test_convention(function, point, expected):
    assert gradient(function, point).item() == pytest.approx(expected, abs=1e-15)


def test_gradient_of_a_spectrum():
    z = flambeau.tensor([1.0, 2, 3, 4], dtype=flambeau.complex128, requires_grad=True)
    (flambeau.fft.fft(z).abs() ** 2).sum().backward()
    np.testing.assert_allclose(z.grad.numpy(), [8, 16, 24, 32], atol=1e-12)


def test_real_leaf_gets_a_real_gradient():
    x = flambeau.tensor(2.0, requires_grad=True)
    (x * flambeau.tensor(1 + 2j)).abs().backward()
    assert x.grad.dtype == flambeau.float32
    assert x.grad.item() == pytest.approx(math.sqrt(5))


def test_dtype_of_given_gradients():
    z = flambeau.tensor([1 + 1j], requires_grad=True)
    with pytest.raises(RuntimeError):
        (z * z).sum().backward()
    with pytest.raises(RuntimeError):
        (z * z).backward(flambeau.ones(1))
    x = flambeau.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError):
        (x * x).backward(flambeau.ones(1, dtype=flambeau.complex64))
    with pytest.raises(RuntimeError):
        flambeau.ones(2, dtype=flambeau.int64, requires_grad=True)


def test_tiny_numbers():
    tiny = gradient(lambda z: z.abs(), 1e-30 + 1e-30j, flambeau.complex64).item()
    assert tiny == pytest.approx(math.sqrt(0.5) * (1 + 1j), rel=1e-6)
    assert math.isfinite(abs(gradient(lambda z: z.angle(), 1e-13 + 1e-13j).item()))
    assert math.isfinite(
        abs(gradient(lambda z: z.angle(), 1e-13 + 1e-13j, flambeau.complex64).item())
    )


def step(optimizer, **options):
    z = flambeau.tensor(1 + 1j, requires_grad=True)
    made = optimizer([z], lr=0.1, **options)
    (z.abs() ** 2).backward()
    made.step()
    return z.item()


def test_optimizer_steps():
    assert step(flambeau.optim.Adam) == pytest.approx(0.9 + 0.9j, rel=1e-6)
    assert step(flambeau.optim.SGD) == pytest.approx(0.8 + 0.8j, rel=1e-6)


def test_clipping_treats_both_parts():
    z = flambeau.tensor([3 + 4j], requires_grad=True)
    z.grad = flambeau.tensor([3 - 4j])
    nn.utils.clip_grad_value_([z], 1.0)
    assert z.grad.item() == 1 - 1j
    z.grad = flambeau.tensor([3 + 4j])
    assert nn.utils.clip_grad_norm_([z], 1.0).item() == pytest.approx(5)
    assert abs(z.grad.item()) == pytest.approx(1, rel=1e-5)


@pytest.mark.parametrize(
    "call",
    [
        lambda z: z < z,
        lambda z: z >= 1,
        lambda z: z.max(),
        lambda z: z.min(0),
        lambda z: z.sort(),
        lambda z: z.argmax(),
        lambda z: z.topk(1),
        lambda z: z.clamp(0, 1),
        lambda z: z.floor(),
        lambda z: z.round(),
        lambda z: z.relu(),
        lambda z: flambeau.maximum(z, z),
        lambda z: z.median(),
    ],
)
def test_there_is_no_order(call):
    with pytest.raises(RuntimeError):
        call(flambeau.tensor([1 + 1j, 2j]))


def test_sign_names_sgn():
    z = flambeau.tensor([3 + 4j])
    with pytest.raises(RuntimeError, match="sgn"):
        z.sign()
    assert z.sgn().item() == pytest.approx(0.6 + 0.8j)
    assert (z == z).all() and flambeau.isclose(z, z).all()


def test_lazy_views():
    z = flambeau.tensor([[1 + 2j, 3 - 1j]])
    for view in (z.conj(), z.mH):
        assert view.is_conj() and not view.resolve_conj().is_conj()
        with pytest.raises(RuntimeError):
            view.numpy()
        with pytest.raises(RuntimeError):
            flambeau.view_as_real(view)
        assert view.resolve_conj().numpy().ravel().tolist() == [1 - 2j, 3 + 1j]
        assert view.flatten().tolist() == [1 - 2j, 3 + 1j]
    part = z.conj().imag
    assert part.is_neg() and part.tolist() == [[-2, 1]]
    with pytest.raises(RuntimeError):
        part.numpy()
    assert z.conj()[0, 0].item() == 1 - 2j
    z.conj()[0, 0] = 5 + 5j
    assert z[0, 0].item() == 5 - 5j
    z.imag.zero_()
    assert z.tolist() == [[5, 3]]
    real = flambeau.ones(2)
    assert real.real is real
    with pytest.raises(RuntimeError):
        real.imag
    assert z.H.shape == (2, 1)


def test_views_as_pairs():
    z = flambeau.tensor([1 + 2j])
    pair = flambeau.view_as_real(z)
    assert pair.shape == (1, 2) and pair.data_ptr() == z.data_ptr()
    assert flambeau.view_as_complex(pair).tolist() == [1 + 2j]
    with pytest.raises(RuntimeError):
        flambeau.view_as_complex(flambeau.ones(3))
    with pytest.raises(RuntimeError):
        flambeau.view_as_complex(flambeau.ones(2, 2).t())


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (("float32", 1), ("complex64", 1), "complex64"),
        (("float64", 1), ("complex64", 1), "complex128"),
        (("complex64", 1), ("float64", 0), "complex64"),
        (("float32", 1), ("complex128", 0), "complex64"),
        (("int64", 1), 1j, "complex64"),
        (("bool", 1), 1j, "complex64"),
        (("bfloat16", 1), 1j, "complex64"),
        (("float32", 1), 1j, "complex64"),
        (("float64", 1), 1j, "complex128"),
        (("complex64", 1), 1.5, "complex64"),
        (("int64", 1), ("complex64", 0), "complex64"),
        (("complex64", 1), ("complex128", 1), "complex128"),
    ],
)
def test_promotion(left, right, expected):
    def build(what):
        if not isinstance(what, tuple):
            return what
        dtype, dim = what
        return flambeau.ones([2] * dim, dtype=getattr(flambeau, dtype))

    a, b = build(left), build(right)
    assert (a + b).dtype == getattr(flambeau, expected)
    assert (b * a).dtype == getattr(flambeau, expected)


def test_complex_to_real_is_noticed():
    z, x = flambeau.tensor([1 + 2j]), flambeau.zeros(1)
    assert flambeau.tensor(1j).dtype == flambeau.complex64
    with pytest.warns(UserWarning, match="imaginary"):
        assert z.to(flambeau.float32).item() == 1
    with pytest.warns(UserWarning, match="imaginary"):
        x.copy_(z)
    with pytest.warns(UserWarning, match="imaginary"):
        x[:] = z
    with pytest.raises(RuntimeError):
        x.add_(z)
    with pytest.raises(RuntimeError):
        flambeau.add(z, z, out=x)


def test_branch_cuts_moments_and_products():
    negative = flambeau.tensor([complex(-1, 0.0), complex(-1, -0.0)])
    assert negative.sqrt().tolist() == [1j, -1j]
    flambeau.manual_seed(0)
    z = flambeau.randn(100_000, dtype=flambeau.complex64)
    assert (z.abs() ** 2).mean().item() == pytest.approx(1, abs=0.02)
    assert not z.var().is_complex() and not z.std().is_complex()
    a, b = flambeau.tensor([1j, 2.0]), flambeau.tensor([1j, 1.0])
    assert flambeau.dot(a, b).item() == 1 and flambeau.vdot(a, b).item() == 3


def test_regression_with_complex_parameters():
    flambeau.manual_seed(0)
    x = flambeau.randn(64, 3, dtype=flambeau.complex128)
    y = x @ flambeau.tensor([[1 + 1j], [-2j], [0.5]], dtype=flambeau.complex128)
    y = y + 0.1 * flambeau.randn(64, 1, dtype=flambeau.complex128)
    weight = flambeau.zeros(3, 1, dtype=flambeau.complex128, requires_grad=True)
    optimizer = flambeau.optim.SGD([weight], lr=0.3)
    for _ in range(300):
        optimizer.zero_grad()
        ((x @ weight - y).abs() ** 2).mean().backward()
        optimizer.step()
    optimum = flambeau.linalg.lstsq(x, y).solution
    flambeau.testing.assert_close(weight.detach(), optimum, rtol=1e-9, atol=1e-9)


def test_module_to_complex_warns_once_and_takes_buffers_along():
    layer = nn.BatchNorm1d(2)
    with pytest.warns(UserWarning, match="[Cc]omplex") as caught:
        layer.to(flambeau.complex64)
    assert len(caught) == 1
    assert layer.running_mean.dtype == flambeau.complex64
