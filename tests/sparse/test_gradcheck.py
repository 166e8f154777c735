"""as_sparse_gradcheck."""

import pytest

import flambeau
from flambeau import tensor

gradcheck = flambeau.sparse.as_sparse_gradcheck(flambeau.autograd.gradcheck)


def leaf():
    return tensor([[0.0, 1], [2, 3]], dtype=flambeau.float64).to_sparse().requires_grad_()


def test_functions_to_sparse_tensors():
    assert gradcheck(lambda x: x.to_sparse_csr(), leaf())
    assert gradcheck(lambda x: x * 2 + x, (leaf(),), masked=True)


def test_wrong_gradients_are_found():
    class Wrong(flambeau.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    with pytest.raises(RuntimeError, match="Jacobian"):
        gradcheck(Wrong.apply, (leaf(),), masked=True)
