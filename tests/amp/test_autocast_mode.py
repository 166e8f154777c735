"""autocast regions: which dtype each op computes in, gradients, cached casts, nesting, custom Functions."""

import warnings

import pytest

import flambeau as torch
from flambeau import nn
from flambeau.amp import custom_bwd, custom_fwd
from flambeau.nn import functional as F

BF16, F16, F32, F64 = torch.bfloat16, torch.float16, torch.float32, torch.float64


@pytest.fixture
def x():
    torch.manual_seed(0)
    return torch.randn(4, 4)


def test_products_run_in_the_lower_dtype_and_others_do_not(x):
    images = torch.randn(1, 2, 6, 6)
    with torch.autocast("cpu"):
        lower = [
            x @ x,
            torch.mm(x, x),
            torch.addmm(x, x, x),
            F.linear(x, x),
            torch.einsum("ij,jk", x, x),
            F.conv2d(images, torch.randn(3, 2, 3, 3)),
            F.conv2d(images, torch.randn(3, 2, 3, 3), padding="same"),
            F.conv_transpose2d(images, torch.randn(2, 3, 3, 3)),
            F.prelu(x, torch.ones(1)),
            F.scaled_dot_product_attention(images, images, images),
            nn.LSTM(4, 5)(x)[0],
            nn.MultiheadAttention(4, 2)(x, x, x)[0],
        ]
        kept = [
            x + x,
            torch.softmax(x, -1),
            torch.mv(x, x[0]),
            torch.dot(x[0], x[0]),
            torch.cdist(x, x),
            F.layer_norm(x, (4,)),
            nn.GRU(4, 5)(x)[0],
            nn.Bilinear(4, 4, 2)(x, x),
            x.clone().addmm_(x, x),
            torch.mm(x, x, out=torch.empty(4, 4)),
        ]
    assert [t.dtype for t in lower] == [BF16] * len(lower)
    assert [t.dtype for t in kept] == [F32] * len(kept)
    assert (x @ x).dtype == F32


def test_sensitive_ops_run_in_float32(x):
    low = x.bfloat16()
    target = torch.tensor([0, 1, 2, 3])
    with torch.autocast("cpu"):
        results = [
            F.cross_entropy(low, target),
            F.nll_loss(low, target),
            F.mse_loss(low, low),
            F.binary_cross_entropy_with_logits(low, low),
            F.margin_ranking_loss(low[0], low[0], low[0].sign()),
            F.pad(low[None], (1, 1), mode="reflect"),
            torch.prod(low),
            low.prod(),
            torch.trace(low),
            torch.cdist(low, low),
            torch.quantile(low, 0.5),
            torch.linalg.inv(low.float() + 4 * torch.eye(4)),
            torch.linalg.svdvals(low),
            torch.fft.fft(low).real,
        ]
        assert F.softmax(low, -1).dtype == BF16
        assert F.pad(low, (1, 1)).dtype == BF16
    assert [t.dtype for t in results] == [F32] * len(results)


def test_promoting_ops_take_the_widest_dtype(x):
    low = x.bfloat16()
    with torch.autocast("cpu"):
        assert torch.cat([x, low]).dtype == F32
        assert torch.stack([low, low]).dtype == BF16
        assert torch.cat([low, x.double()]).dtype == F64
        assert torch.index_copy(low, 0, torch.tensor([0]), x[:1]).dtype == F32


def test_float64_and_complex_are_left_alone(x):
    with torch.autocast("cpu"):
        assert (x.double() @ x.double()).dtype == F64
        assert (x.to(torch.complex64) @ x.to(torch.complex64)).dtype == torch.complex64
        with pytest.raises(RuntimeError, match="same dtype"):
            torch.mm(x.double(), x)


def test_float16_and_the_default_dtype(x):
    with torch.autocast("cpu", dtype=F16):
        assert (x @ x).dtype == F16
        assert torch.get_autocast_dtype("cpu") == F16
    assert torch.get_autocast_dtype("cpu") == BF16


def test_gradients_have_the_parameters_dtype_and_pytorchs_values():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    x = torch.linspace(-1, 1, 6).reshape(2, 3)
    with torch.autocast("cpu"):
        loss = F.mse_loss(model(x), torch.ones(2, 2))
    loss.backward()
    assert loss.dtype == F32
    assert all(p.grad.dtype == F32 for p in model.parameters())
    # PyTorch 2.13, same seed and input.
    torch.testing.assert_close(loss.item(), LOSS, rtol=1e-6, atol=0)
    torch.testing.assert_close(
        model[0].weight.grad, torch.tensor(WEIGHT_GRAD), rtol=1e-6, atol=1e-7
    )


LOSS = 0.9814582467079163
WEIGHT_GRAD = [
    [0.0, 0.0, 0.0],
    [0.33984375, 0.20410156, 0.06787109],
    [0.0, 0.0, 0.0],
    [0.0, 0.0, 0.0],
]


def test_backward_inside_the_region_gives_the_same_gradients(x):
    def gradient(inside):
        weight = torch.ones(4, 4, requires_grad=True)
        with torch.autocast("cpu"):
            loss = (x @ weight).float().square().sum()
            if inside:
                loss.backward()
        if not inside:
            loss.backward()
        return weight.grad

    assert torch.equal(gradient(True), gradient(False))


def test_a_parameter_is_cast_once_and_again_after_a_change(x):
    weight = nn.Parameter(torch.ones(4, 4))

    def source(result):
        return result.grad_fn.next_functions[1][0]

    with torch.autocast("cpu"):
        first, second = x @ weight, x @ weight
        assert source(first) is source(second)
        with torch.no_grad():
            weight.mul_(2)
        third = x @ weight
        assert source(third) is not source(first)
        assert torch.equal(third, first * 2)
    with torch.autocast("cpu", cache_enabled=False):
        assert source(x @ weight) is not source(x @ weight)
    with torch.autocast("cpu"):
        assert source(x @ weight) is not source(third)


def test_a_cast_made_under_no_grad_does_not_stop_gradients(x):
    weight = nn.Parameter(torch.ones(4, 4))
    with torch.autocast("cpu"):
        with torch.no_grad():
            assert not (x @ weight).requires_grad
        (x @ weight).float().sum().backward()
    assert weight.grad is not None


def test_casts_of_inference_mode_stay_there(x):
    weight = nn.Parameter(torch.ones(4, 4))
    with torch.autocast("cpu"):
        with torch.inference_mode():
            assert torch.equal(x @ weight, x @ weight)
        other = x.clone().requires_grad_()
        with torch.no_grad():
            assert not (x @ weight).is_inference()
        (other @ weight).float().sum().backward()
    assert weight.grad is not None


def test_nested_and_disabled_regions(x):
    with torch.autocast("cpu"):
        with torch.autocast("cpu", enabled=False):
            assert not torch.is_autocast_enabled("cpu")
            assert (x @ x).dtype == F32
            with torch.autocast("cpu", dtype=F16):
                assert (x @ x).dtype == F16
        assert (x @ x).dtype == BF16
    assert not torch.is_autocast_enabled("cpu")


def test_the_region_ends_when_its_body_raises(x):
    with pytest.raises(ZeroDivisionError), torch.autocast("cpu"):
        raise ZeroDivisionError
    assert not torch.is_autocast_enabled("cpu")
    with torch.autocast("cpu"):
        with pytest.raises(RuntimeError):
            torch.linalg.inv(torch.ones(2, 2))
        assert torch.is_autocast_enabled("cpu")


def test_as_a_decorator_and_reentered(x):
    region = torch.amp.autocast("cpu")

    @region
    def product(depth):
        return (x @ x) if depth == 0 else product(depth - 1)

    assert product(3).dtype == BF16
    assert product.__name__ == "product"
    assert (x @ x).dtype == F32


def test_other_devices_and_dtypes_disable_the_region(x):
    with (
        pytest.warns(UserWarning, match="CUDA is not available"),
        torch.autocast("cuda"),
    ):
        assert (x @ x).dtype == F32
        assert not torch.is_autocast_enabled()
    with (
        pytest.warns(UserWarning, match="target dtype is not supported"),
        torch.autocast("cpu", dtype=F32),
    ):
        assert (x @ x).dtype == F32
    with pytest.raises(RuntimeError, match="device"):
        torch.autocast("abacus")
    with pytest.raises(ValueError, match="device_type"):
        torch.autocast(0)


def test_deprecated_names_warn(x):
    with pytest.warns(FutureWarning, match="torch.amp.autocast"):
        region = torch.cpu.amp.autocast()
    with region:
        assert (x @ x).dtype == BF16
    with pytest.warns(FutureWarning), warnings.catch_warnings():
        warnings.simplefilter("always")
        torch.cuda.amp.autocast(enabled=False)
    with pytest.warns(DeprecationWarning, match="is_autocast_enabled"):
        assert not torch.is_autocast_cpu_enabled()


def test_switches(x):
    torch.set_autocast_enabled("cpu", True)
    try:
        assert (x @ x).dtype == BF16
        assert not torch.is_autocast_enabled("cuda")
    finally:
        torch.set_autocast_enabled("cpu", False)
        torch.clear_autocast_cache()
    assert torch.is_autocast_cache_enabled()


def test_custom_functions_cast_their_inputs_and_keep_the_mode(x):
    class Product(torch.autograd.Function):
        @staticmethod
        @custom_fwd(device_type="cpu", cast_inputs=F32)
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            assert a.dtype == F32
            return a @ b

        @staticmethod
        @custom_bwd(device_type="cpu")
        def backward(ctx, grad):
            a, b = ctx.saved_tensors
            return grad @ b.mT, a.mT @ grad

    class Inner(torch.autograd.Function):
        @staticmethod
        @custom_fwd(device_type="cpu")
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return (a @ a).float()

        @staticmethod
        @custom_bwd(device_type="cpu")
        def backward(ctx, grad):
            product = ctx.saved_tensors[0] @ ctx.saved_tensors[0]
            assert product.dtype == BF16
            return grad

    weight = x.clone().requires_grad_()
    with torch.autocast("cpu"):
        result = Product.apply(x.bfloat16(), weight)
        inner = Inner.apply(weight)
    assert result.dtype == F32
    result.sum().backward()
    inner.sum().backward()
    assert weight.grad.dtype == F32


def test_state_can_be_set_by_function():
    with pytest.warns(DeprecationWarning):
        before = torch.get_autocast_cpu_dtype()
    with pytest.warns(DeprecationWarning):
        assert torch.get_autocast_gpu_dtype() is F16
    torch.set_autocast_dtype("cpu", F16)
    assert torch.get_autocast_dtype("cpu") is F16
    with pytest.warns(DeprecationWarning):
        torch.set_autocast_cpu_dtype(before)
    assert torch.get_autocast_dtype("cpu") is before
    with pytest.warns(DeprecationWarning):
        torch.set_autocast_gpu_dtype(F16)
    with pytest.warns(DeprecationWarning):
        torch.set_autocast_cpu_enabled(True)
    assert torch.is_autocast_enabled("cpu")
    torch.set_autocast_enabled("cpu", False)
    torch.set_autocast_cache_enabled(False)
    assert not torch.is_autocast_cache_enabled()
    torch.set_autocast_cache_enabled(True)


def test_nesting_is_counted():
    depth = torch.autocast_increment_nesting()
    assert torch.autocast_increment_nesting() == depth + 1
    assert torch.autocast_decrement_nesting() == depth
    torch.autocast_decrement_nesting()
