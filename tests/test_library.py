"""Ops that a program defines: called under torch.ops, with a gradient of their own."""

import pytest

import flambeau
from flambeau import Tensor, library


def test_custom_op_with_gradient_and_fake():
    @library.custom_op("tests::cube", mutates_args=())
    def cube(x: Tensor, scale: float = 1.0) -> Tensor:
        return x**3 * scale

    @cube.register_fake
    def _(x, scale=1.0):
        return flambeau.empty_like(x)

    x = flambeau.tensor([1.0, 2.0], requires_grad=True)
    assert flambeau.ops.tests.cube(x.detach(), 2.0).tolist() == [2.0, 16.0]
    with pytest.raises(RuntimeError, match="register_autograd"):
        cube(x).sum().backward()

    def setup(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.scale = inputs[1]

    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2 * ctx.scale, None

    library.register_autograd("tests::cube", backward, setup_context=setup)
    cube(x, 2.0).sum().backward()
    assert x.grad.tolist() == [6.0, 24.0]
    assert cube(flambeau.zeros(3, device="meta")).shape == (3,)


def test_library_defines_and_implements():
    lib = library.Library("tests2", "DEF")
    lib.define("plus_one(Tensor x) -> Tensor")
    with pytest.raises(NotImplementedError, match="tests2::plus_one"):
        flambeau.ops.tests2.plus_one(flambeau.ones(1))
    lib.impl("plus_one", lambda x: x + 1, "CompositeImplicitAutograd")
    x = flambeau.ones(1, requires_grad=True)
    flambeau.ops.tests2.plus_one(x).backward()
    assert x.grad.tolist() == [1.0]
    assert flambeau.ops.tests2.plus_one.default(x).item() == 2.0


def test_missing_namespace_is_an_attribute_error():
    assert not hasattr(flambeau.ops, "no_such_namespace")
    with pytest.raises(ValueError, match="namespace::name"):
        library.custom_op("name", lambda x: x, mutates_args=())
