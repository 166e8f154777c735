"""gradcheck and gradgradcheck find wrong gradients and accept right ones."""

import pytest

import flambeau
from flambeau import autograd
from flambeau.autograd import gradcheck, gradgradcheck
from flambeau.autograd.gradcheck import GradcheckError


def leaf(*values, dtype=None):
    return flambeau.tensor(values, dtype=dtype or flambeau.float64, requires_grad=True)


class Wrong(autograd.Function):
    @staticmethod
    def forward(ctx, value):
        return value * 2.0

    @staticmethod
    def backward(ctx, grad):
        return grad * 3.0


def test_right_gradients_pass():
    x, y = leaf(0.5, 1.5), leaf(-1.0, 2.0)
    for fast in (False, True):
        assert gradcheck(lambda a, b: (a * b, a.exp()), (x, y), fast_mode=fast)
        assert gradgradcheck(lambda a, b: (a * b).sin(), (x, y), fast_mode=fast)


@pytest.mark.parametrize("fast", [False, True])
def test_wrong_gradients_are_found(fast):
    x = leaf(0.5, 1.5)
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0"):
        gradcheck(Wrong.apply, (x,), fast_mode=fast)
    assert gradcheck(Wrong.apply, (x,), raise_exception=False, fast_mode=fast) is False


def test_complex_functions():
    z = leaf(1.0 + 2.0j, -0.5 + 0.3j, dtype=flambeau.complex128)
    for fast in (False, True):
        assert gradcheck(lambda t: t * t.conj(), (z,), fast_mode=fast)
        assert gradcheck(lambda t: t.exp(), (z,), fast_mode=fast)
        assert gradcheck(lambda t: t.abs(), (z,), fast_mode=fast)
    assert gradgradcheck(lambda t: t * t * t.conj(), (z,))


def test_missing_conjugate_is_found():
    class Square(autograd.Function):
        @staticmethod
        def forward(ctx, value):
            ctx.save_for_backward(value)
            return value * value

        @staticmethod
        def backward(ctx, grad):
            (value,) = ctx.saved_tensors
            return grad * 2.0 * value

    with pytest.raises(GradcheckError):
        gradcheck(Square.apply, (leaf(1.0 + 2.0j, dtype=flambeau.complex128),))


def test_gradient_that_ignores_its_cotangent_is_found():
    class Constant(autograd.Function):
        @staticmethod
        def forward(ctx, value):
            return value * 1.0

        @staticmethod
        def backward(ctx, grad):
            return flambeau.ones_like(grad)

    with pytest.raises(GradcheckError, match="backward not multiplied by grad_output"):
        gradcheck(Constant.apply, (leaf(1.0),))


def test_inputs_are_checked():
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(lambda t: t, (flambeau.ones(2),))
    with pytest.warns(UserWarning, match="not a double precision"), pytest.raises(GradcheckError):
        gradcheck(lambda t: t * 2.0, (leaf(1.0, dtype=flambeau.float32),))


def test_function_without_gradient():
    with pytest.raises(GradcheckError, match="expected to be zero"):
        gradcheck(lambda t: t.detach() * 2.0, (leaf(1.0),))
    assert gradcheck(lambda t: t.round(), (leaf(1.2),))


def test_inputs_keep_their_values():
    x = leaf(0.1, 0.2, 0.3)
    before = x.tolist()
    gradcheck(lambda t: t.sin(), (x,))
    assert x.tolist() == before


def test_non_contiguous_inputs():
    x = flambeau.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=flambeau.float64).t().requires_grad_()
    assert gradcheck(lambda t: t.sin(), (x,))


class WrongTangent(flambeau.autograd.Function):
    """A square whose jvp forgets the factor 2."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * grad * x

    @staticmethod
    def jvp(ctx, tangent):
        (x,) = ctx.saved_tensors
        return tangent * x


@pytest.mark.parametrize("fast_mode", [False, True])
def test_forward_mode_is_checked(fast_mode):
    real = flambeau.rand(3, dtype=flambeau.float64, requires_grad=True)
    number = flambeau.rand(2, dtype=flambeau.complex128, requires_grad=True)
    options = {"check_forward_ad": True, "fast_mode": fast_mode}
    assert gradcheck(lambda x, z: (x.sum() * z, z.abs(), x > 0), (real, number), **options)
    assert gradcheck(WrongTangent.apply, (real,), fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="in forward mode"):
        gradcheck(WrongTangent.apply, (real,), **options)
    assert gradgradcheck(
        lambda x, z: x.sum() * z * z,
        (real, number),
        check_fwd_over_rev=True,
        check_rev_over_rev=False,
        fast_mode=fast_mode,
    )


def test_flags_that_contradict_each_other():
    x = flambeau.ones(1, dtype=flambeau.float64, requires_grad=True)
    with pytest.raises(AssertionError, match="at least one"):
        gradcheck(lambda t: t, (x,), check_backward_ad=False)
    with pytest.raises(AssertionError, match="requires check_forward_ad"):
        gradcheck(lambda t: t, (x,), check_batched_forward_grad=True)
    with pytest.raises(AssertionError, match="at least one"):
        gradgradcheck(lambda t: t, (x,), check_rev_over_rev=False)
