"""Quantizing and reading back: values, parameters, errors, printing, files, and the gradient of fake quantization."""

import copy
import io

import pytest

import flambeau

NAN, INF = float("nan"), float("inf")
VALUES = [-1.05, -0.05, 0.05, 0.15, 0.25, 1.0, 100.0, NAN, INF]


@pytest.mark.parametrize(
    ("dtype", "zero_point", "integers"),
    [
        # Recorded from PyTorch 2.13.
        ("quint8", 3, [0, 2, 4, 4, 6, 13, 255, 255, 255]),
        ("qint8", 0, [-10, 0, 0, 2, 2, 10, 127, 127, 127]),
        ("qint32", 0, [-10, 0, 0, 2, 2, 10, 1000, -(2**31), 2**31 - 1]),
    ],
)
def test_values_per_tensor(dtype, zero_point, integers):
    q = flambeau.quantize_per_tensor(
        flambeau.tensor(VALUES), 0.1, zero_point, getattr(flambeau, dtype)
    )
    assert q.int_repr().tolist() == integers
    assert (
        q.q_scale() == 0.1
        and q.q_zero_point() == zero_point
        and q.qscheme() is flambeau.per_tensor_affine
    )
    expected = (q.int_repr().double() - zero_point).float() * flambeau.tensor(0.1)
    assert flambeau.equal(q.dequantize(), expected)


def test_values_per_channel():
    x = flambeau.arange(12.0).view(3, 4)
    scales, points = flambeau.tensor([0.1, 0.2, 0.3]), flambeau.tensor([0, 5, 1])
    q = flambeau.quantize_per_channel(x, scales, points, 0, flambeau.qint8)
    assert q.int_repr().tolist() == [[0, 10, 20, 30], [25, 30, 35, 40], [28, 31, 34, 38]]
    assert q.q_per_channel_axis() == 0 and q.q_per_channel_scales().dtype is flambeau.float64
    turned = q.t()
    assert turned.q_per_channel_axis() == 1
    assert flambeau.equal(turned.dequantize(), q.dequantize().t())
    with pytest.raises(RuntimeError, match="stay whole"):
        q.reshape(-1)


def test_empty_and_scalar():
    for x in (flambeau.empty(0, 3), flambeau.tensor(1.0)):
        q = flambeau.quantize_per_tensor(x, 0.5, 0, flambeau.quint8)
        assert q.shape == x.shape and flambeau.equal(q.dequantize(), x)


def test_small_dtypes_pack_their_integers():
    q = flambeau.quantize_per_tensor(flambeau.arange(5.0), 0.5, 0, flambeau.quint4x2)
    assert q.int_repr().tolist() == [32, 100, 8]
    assert q.dequantize().tolist() == [0, 1, 2, 3, 4]


def test_dynamic_parameters_cover_the_range():
    q = flambeau.quantize_per_tensor_dynamic(
        flambeau.tensor([-1.0, 0.0, 3.0]), flambeau.quint8, False
    )
    assert q.q_scale() == pytest.approx(4 / 255) and q.q_zero_point() == 64
    assert flambeau.allclose(q.dequantize(), flambeau.tensor([-1.0, 0.0, 3.0]), atol=q.q_scale())


def test_repr():
    q = flambeau.quantize_per_tensor(flambeau.tensor([[-0.1, 0.0, 0.25]]), 0.1, 3, flambeau.quint8)
    assert repr(q) == (
        "tensor([[-0.1000,  0.0000,  0.3000]], size=(1, 3), dtype=torch.quint8,\n"
        "       quantization_scheme=torch.per_tensor_affine, scale=0.1, zero_point=3)"
    )


def test_errors():
    x = flambeau.ones(2)
    with pytest.raises(RuntimeError, match="zero_point between 0 and 255"):
        flambeau.quantize_per_tensor(x, 0.1, 300, flambeau.quint8)
    with pytest.raises(RuntimeError, match="Float Tensor"):
        flambeau.quantize_per_tensor(x.double(), 0.1, 0, flambeau.quint8)
    with pytest.raises(RuntimeError, match="quantized dtype"):
        flambeau.quantize_per_tensor(x, 0.1, 0, flambeau.uint8)
    with pytest.raises(RuntimeError, match="axis between"):
        flambeau.quantize_per_channel(x, x, flambeau.zeros(2).long(), 1, flambeau.qint8)
    with pytest.raises(RuntimeError, match="size of input at axis"):
        flambeau.quantize_per_channel(
            x, flambeau.ones(3), flambeau.zeros(3).long(), 0, flambeau.qint8
        )
    with pytest.raises(RuntimeError, match="quantize_per_tensor"):
        flambeau.zeros(2, dtype=flambeau.qint8)
    with pytest.raises(NotImplementedError, match="expected a quantized tensor"):
        x.int_repr()
    with pytest.raises(TypeError, match="numpy"):
        flambeau.quantize_per_tensor(x, 0.1, 0, flambeau.quint8).numpy()


def test_files_and_copies_keep_values_and_parameters():
    x = flambeau.arange(12.0).view(3, 4)
    tensors = {
        "q": flambeau.quantize_per_tensor(x, 0.1, 3, flambeau.quint8).t(),
        "c": flambeau.quantize_per_channel(
            x, flambeau.ones(3), flambeau.zeros(3).long(), 0, flambeau.qint8
        ),
        "p": flambeau.quantize_per_tensor(flambeau.arange(5.0), 0.5, 0, flambeau.quint4x2),
    }
    buffer = io.BytesIO()
    flambeau.save(tensors, buffer)
    buffer.seek(0)
    for loaded in (flambeau.load(buffer), copy.deepcopy(tensors)):
        for name, tensor in tensors.items():
            assert repr(loaded[name]) == repr(tensor)


def test_fake_quantize():
    # Recorded from PyTorch 2.13.
    x = flambeau.tensor(VALUES[:7], requires_grad=True)
    fake = flambeau.fake_quantize_per_tensor_affine(x, 0.1, 3, 0, 20)
    assert flambeau.allclose(fake, flambeau.tensor([-0.3, 0.0, 0.0, 0.2, 0.2, 1.0, 1.7]))
    fake.sum().backward()
    assert x.grad.tolist() == [0, 1, 1, 1, 1, 1, 0]
    per_channel = flambeau.fake_quantize_per_channel_affine(
        flambeau.ones(2, 3), flambeau.tensor([0.3, 0.4]), flambeau.tensor([0, 0]), 0, -2, 2
    )
    assert flambeau.allclose(per_channel, flambeau.tensor([[0.6], [0.8]]).expand(2, 3))
    with pytest.raises(RuntimeError, match="quant_min <= quant_max"):
        flambeau.fake_quantize_per_tensor_affine(x, 0.1, 3, 20, 0)
    with pytest.raises(RuntimeError, match="zero_point"):
        flambeau.fake_quantize_per_tensor_affine(x, 0.1, 30, 0, 20)
