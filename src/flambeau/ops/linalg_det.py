"""Determinants and their logarithms."""

from .. import _C
from .linalg_ops import eye_like, linalg_inv_ex
from .registry import composite, native

__all__ = ["det", "logdet", "slogdet"]

linalg_det = native(
    "linalg_det(Tensor A) -> Tensor",
    methods=("det",),
    out=True,
    doc="""Determinant of square matrices (*, n, n), by LU.

    Differentiable in A, singular matrices included; supports second derivatives. Third ones are NaN at singular and
    nearly singular matrices.
    """,
)


@linalg_det.vjp("A")
def _(grad, result, A):
    if A.shape[-1] <= 1:
        return grad.unsqueeze(-1).unsqueeze(-1).expand(A.shape)
    again = _C._records_derivatives()
    inverse, info = linalg_inv_ex(A)
    # The inverse does not exist for singular matrices; its derivative loses all digits for nearly singular ones.
    bad = _nearly_singular(A, inverse, info) if again else (info != 0) | (result == 0)
    if bool(bad.any()):
        from ..autograd import Function

        global _CofactorProduct
        if _CofactorProduct is None:
            _CofactorProduct = _define_cofactor_product(Function)
        return _CofactorProduct.apply(grad, A)
    return (grad * result.conj()).unsqueeze(-1).unsqueeze(-1) * inverse.mH


def _nearly_singular(A, inverse, info):
    """Whether the condition number is above eps^-1/4: A^-1 X A^-1 then loses more than half of the digits."""
    from ..type_info import finfo
    from .linalg_norms import linalg_matrix_norm

    condition = linalg_matrix_norm(A.detach(), 1) * linalg_matrix_norm(inverse.detach(), 1)
    # not <=: NaN counts as singular
    return (info != 0) | ~(condition <= finfo(A.dtype).eps ** -0.25)


def _left_out(S):
    """Products of all values of S (*, n) but those of row and column: (*, n, n), the diagonal leaves one out."""
    n = S.shape[-1]
    zero = S == 0
    logs = S.masked_fill(zero, 1.0).log()
    zeros = zero.to(S.dtype)
    diagonal = eye_like(S, n)

    def remaining(x):  # sum without the entries of row and column
        total = x.sum(-1, keepdim=True).unsqueeze(-1)
        return total - x.unsqueeze(-1) - x.unsqueeze(-2) * (1 - diagonal)

    return remaining(logs).exp().masked_fill(remaining(zeros) > 0.5, 0.0)


def _singular_frame(A):
    """Orthogonal U and Vh, phase c and products of singular values with A = U diag(S) Vh, det A = c det diag(S)."""
    from .linalg_spectral import linalg_svd

    U, S, Vh = linalg_svd(A)
    phase = (linalg_det(U) * linalg_det(Vh)).conj().unsqueeze(-1).unsqueeze(-1)
    return U, Vh, phase, _left_out(S)


_CofactorProduct = None


def _define_cofactor_product(Function):
    """grad times the conjugate cofactors of A, and its derivative, for matrices of any rank.

    With D = U^H A Vh^H diagonal, the cofactors of D are the products of all S but one, and their derivative along E is
    sum_j P_ij E_jj on the diagonal and -P_ij E_ij off it, P_ij the products of all S but two. No inverse is needed.
    """

    class CofactorProduct(Function):
        _jvp_from_backward = True

        @staticmethod
        def forward(ctx, grad, A):
            U, Vh, phase, products = _singular_frame(A)
            ctx.save_for_backward(grad, A, U, Vh, phase, products)
            single = products.diagonal(0, -2, -1).unsqueeze(-2).to(U.dtype)
            return grad.unsqueeze(-1).unsqueeze(-1) * (phase * ((U * single) @ Vh))

        @staticmethod
        def backward(ctx, cotangent):
            grad, A, U, Vh, phase, products = ctx.saved_tensors
            single = products.diagonal(0, -2, -1)
            if _C.is_grad_enabled():
                cofactors = CofactorProduct.apply(grad.detach() * 0 + 1, A)
            else:
                cofactors = phase * ((U * single.unsqueeze(-2).to(U.dtype)) @ Vh)
            grad_grad = (cofactors.conj() * cotangent).sum((-2, -1))
            direction = U.mH @ (cotangent * grad.conj().unsqueeze(-1).unsqueeze(-1)) @ Vh.mH
            pairs = (products - single.diag_embed()).to(U.dtype)
            along = direction.diagonal(0, -2, -1)
            change = (pairs @ along.unsqueeze(-1)).squeeze(-1).diag_embed() - pairs * direction
            grad_A = phase * (U @ change.mH @ Vh)
            return grad_grad, Undefined.apply(grad_A, A) if _C.is_grad_enabled() else grad_A

    class Undefined(Function):
        """The value, whose derivative in A is not known here: NaN, where a constant would give 0."""

        _jvp_from_backward = True

        @staticmethod
        def forward(ctx, value, A):
            return value.clone()

        @staticmethod
        def backward(ctx, cotangent):
            return cotangent, cotangent * float("nan")

    return CofactorProduct


det = linalg_det

linalg_slogdet = native(
    "linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)",
    return_type="linalg_slogdet",
    methods=("slogdet",),
    out=True,
    doc="""Sign (of modulus 1, complex for complex A) and logarithm of the modulus of the determinant.

    A singular matrix gives (0, -inf). Differentiable in A; supports second derivatives.
    """,
)


@linalg_slogdet.vjp("A")
def _(grad_sign, grad_logabsdet, sign, A):
    if A.is_complex():
        weight = 0.0 if grad_logabsdet is None else grad_logabsdet.to(A.dtype)
        if grad_sign is not None:
            # d sign = i sign Im(tr(A^-1 dA))
            weight = weight - 1j * (grad_sign.conj() * sign).imag
        weight = weight.unsqueeze(-1).unsqueeze(-1)
    elif grad_logabsdet is None:
        return None
    else:
        weight = grad_logabsdet.unsqueeze(-1).unsqueeze(-1)
    return weight * linalg_inv_ex(A)[0].mH


slogdet = linalg_slogdet


@composite(methods=("logdet",))
def logdet(input):
    """Logarithm of the determinant; NaN where it is negative."""
    sign, logabsdet = linalg_slogdet(input)
    if input.is_complex():
        return sign.log() + logabsdet
    return logabsdet.masked_fill(sign == -1, float("nan"))
