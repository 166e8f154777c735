"""Orthogonal factors and spectra: QR, Householder products, SVD, eigenvalues, pseudo-inverse, least squares."""

from .. import _C
from ._differentiate import differentiate
from .join import cat
from .linalg_ops import (
    broadcast_batches,
    eye_like,
    linalg_solve_raw,
    linalg_solve_triangular,
    named,
)
from .registry import composite, native

__all__ = ["geqrf", "orgqr", "ormqr", "pinverse", "qr", "svd"]

# QR

geqrf = native(
    "geqrf(Tensor input) -> (Tensor a, Tensor tau)",
    return_type="geqrf",
    methods=("geqrf",),
    out=True,
    doc="""QR as LAPACK leaves it: R in the upper triangle, Householder vectors below, and their factors tau.

    Differentiable in input, column by column; linalg.qr is the faster way to a gradient.
    """,
)


def _reflection(x, tau):
    """beta, v and tau with H^H x = beta e_1 for x (*, m, 1); the identity where LAPACK chose tau = 0."""
    from .linalg_norms import linalg_vector_norm
    from .ternary import where

    none = tau == 0
    alpha, rest = x[..., 0, :], x[..., 1:, :]
    norm = linalg_vector_norm(x, 2, [-2, -1]).unsqueeze(-1)
    real = alpha.real if alpha.is_complex() else alpha
    beta = where(real.detach() < 0, norm, -norm).to(x.dtype)
    safe_beta = beta.masked_fill(none, 1.0)
    difference = (alpha - beta).masked_fill(none, 1.0)
    factor = ((safe_beta - alpha) / safe_beta).masked_fill(none, 0.0)
    v = (rest / difference.unsqueeze(-1)).masked_fill(none.unsqueeze(-1), 0.0)
    return where(none, alpha, beta), v, factor


def _plain_geqrf(input, tau):
    m, n = input.shape[-2:]
    batch = tuple(input.shape[:-2])
    work, upper, lower, factors = input, [], [], []
    for i in range(min(m, n)):
        beta, v, factor = _reflection(work[..., :1], tau[..., i : i + 1])
        full = cat([beta.new_ones((*batch, 1, 1)), v], -2)
        rest = work[..., 1:]
        rest = rest - (factor.conj().unsqueeze(-1) * full) @ (full.mH @ rest)
        row = cat([beta.unsqueeze(-1), rest[..., :1, :]], -1)
        upper.append(cat([row.new_zeros((*batch, 1, i)), row], -1))
        lower.append(cat([v.new_zeros((*batch, i + 1, 1)), v], -2))
        factors.append(factor)
        work = rest[..., 1:, :]
    rows, k = cat(upper, -2), len(upper)
    if m > k:
        rows = cat([rows, rows.new_zeros((*batch, m - k, n))], -2)
    columns = cat(lower, -1)
    if n > k:
        columns = cat([columns, columns.new_zeros((*batch, m, n - k))], -1)
    return rows + columns, cat(factors, -1)


@geqrf.vjp("input")
def _(grad_a, grad_tau, input, tau):
    if input.numel() == 0:
        return input * 0
    return differentiate(
        lambda x: _plain_geqrf(x, tau.detach()), (input,), (True,), (grad_a, grad_tau)
    )[0]


linalg_qr = native(
    "linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)",
    return_type="linalg_qr",
    out=True,
    doc="""A = Q R with orthonormal Q and upper triangular R.

    Args:
        A: float or complex, shape (*, m, n).
        mode: "reduced" (Q (*, m, k), R (*, k, n), k = min(m, n)), "complete" (Q (*, m, m), R (*, m, n)), "r" (R only).
    Differentiable in A, except in mode "r", and in mode "complete" with m > n; supports second derivatives.
    """,
)


def _square_qr_grad(Q, R, grad_Q, grad_R):
    """A of as many columns as R has rows (m >= n)."""
    inner = None
    if grad_R is not None:
        inner = grad_R @ R.mH
    if grad_Q is not None:
        inner = -(Q.mH @ grad_Q) if inner is None else inner - Q.mH @ grad_Q
    inner = inner.triu()
    inner = inner + inner.mH
    # the diagonal counted twice, and is real
    inner = inner - 0.5 * inner.diagonal(0, -2, -1).diag_embed()
    grad = Q @ inner
    if grad_Q is not None:
        grad = grad + grad_Q
    return linalg_solve_triangular(R.mH, grad, upper=False, left=False)


@linalg_qr.vjp("A")
def _(grad_Q, grad_R, Q, R, A, mode):
    m, n = A.shape[-2:]
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
            "linalg.qr(A, mode='reduced') if you are going to require gradients"
        )
    if mode == "complete" and m > n:
        raise RuntimeError(
            f"The QR decomposition is not differentiable when mode='complete' and nrows > ncols, got {m} and {n}."
        )
    if m >= n:
        return _square_qr_grad(Q, R, grad_Q, grad_R)
    # A = [A1 A2], R = [R1 R2]: R2 = Q^H A2 depends on Q as well.
    first, second = R[..., :m], A[..., m:]
    if grad_R is None:
        return cat([_square_qr_grad(Q, first, grad_Q, None), second * 0], -1)
    g2 = grad_R[..., m:]
    through = second @ g2.mH
    grad_Q = through if grad_Q is None else grad_Q + through
    return cat([_square_qr_grad(Q, first, grad_Q, grad_R[..., :m]), Q @ g2], -1)


@composite(methods=("qr",), out=True)
def qr(input, some=True):
    """(Q, R), reduced if some; older form of linalg.qr."""
    return named("qr", "Q R", linalg_qr(input, "reduced" if some else "complete"))


linalg_householder_product = native(
    "linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
    methods=("orgqr",),
    out=True,
    doc="""First n columns of the product of Householder reflectors H_i = I - tau_i v_i v_i^H.

    Args:
        input: shape (*, m, n), m >= n; column i below its diagonal holds v_i, which starts with an implicit 1.
        tau: shape (*, k), k <= n.
    Returns:
        Shape (*, m, n). Differentiable in both; supports second derivatives.
    """,
)


def _reflectors(input, tau):
    """The vectors v_i (*, m, 1) and factors of input and tau."""
    m = input.shape[-2]
    k = tau.shape[-1]
    lower = input[..., :, :k].tril(-1) + eye_like(input, m)[:, :k]
    return [(lower[..., :, i : i + 1], tau[..., i : i + 1].unsqueeze(-1)) for i in range(k)]


def _plain_householder(input, tau):
    m, n = input.shape[-2:]
    product = eye_like(input, m)[:, :n].expand(input.shape)
    for v, factor in reversed(_reflectors(input, tau)):
        product = product - (factor * v) @ (v.mH @ product)
    return (product,)


@linalg_householder_product.vjp
def _(grad, input, tau, needs):
    return differentiate(_plain_householder, (input, tau), needs, (grad,))


orgqr = linalg_householder_product


linalg_ormqr_raw = native(
    "linalg_ormqr_raw(Tensor input, Tensor tau, Tensor other, bool left, bool transpose) -> Tensor",
    doc="LAPACK's ormqr, for one batch shape.",
)


@linalg_ormqr_raw.vjp
def _(grad, input, tau, other, left, transpose, needs):
    grad_other = linalg_ormqr_raw(input, tau, grad, left, not transpose) if needs[2] else None
    if not (needs[0] or needs[1]):
        return None, None, grad_other

    def plain(reflectors, factors):
        result = other
        pairs = _reflectors(reflectors, factors)
        # Q = H_1 ... H_k; from the left, the last factor acts first
        for v, factor in pairs if left == transpose else reversed(pairs):
            factor = factor.conj() if transpose else factor
            if left:
                result = result - (factor * v) @ (v.mH @ result)
            else:
                result = result - (result @ v) @ (factor * v.mH)
        return (result,)

    return (*differentiate(plain, (input, tau), needs[:2], (grad,)), grad_other)


@composite(methods=("ormqr",), out=True)
def ormqr(input, tau, other, left=True, transpose=False):
    """Q other (or other Q; Q^H if transpose), with Q the m by m product of the reflectors of geqrf's result."""
    if input.dim() < 2 or other.dim() < 2:
        raise RuntimeError(
            f"torch.ormqr: input must have at least 2 dimensions, got {tuple(input.shape)}."
        )
    side = other.shape[-2] if left else other.shape[-1]
    if side != input.shape[-2]:
        raise RuntimeError(
            f"torch.ormqr: other.shape[{-2 if left else -1}] must be equal to input.shape[-2], got {side}."
        )
    if tau.shape[-1] > input.shape[-1] or tau.shape[-1] != min(side, input.shape[-1]):
        raise RuntimeError(
            "torch.ormqr: tau.shape[-1] must be equal to min(other.shape[-2], input.shape[-1]), "
            f"got {tau.shape[-1]} and {min(side, input.shape[-1])}."
        )
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(
            f"torch.ormqr: expected a floating point or complex input, got {input.dtype}."
        )
    return linalg_ormqr_raw(input, tau, other, left, transpose)


# SVD

linalg_svd_raw = native(
    "linalg_svd_raw(Tensor A, bool full_matrices, bool compute_uv) -> (Tensor U, Tensor S, Tensor Vh)",
    doc="LAPACK's gesdd; U and Vh are empty unless compute_uv.",
)


def _skew(x):
    return x - x.mH


def quotient(x, divisor):
    """x / divisor, and 0 for 0 / 0: vectors that a loss ignores do no harm where spectra are degenerate."""
    both = (x == 0) & (divisor == 0)
    return x / divisor.masked_fill(both, 1.0).to(x.dtype)


@linalg_svd_raw.vjp("A")
def _(grad_U, grad_S, grad_Vh, U, S, Vh, A, compute_uv):
    if not compute_uv:
        U, S, Vh = linalg_svd_raw(A, False, True)
        return (U * grad_S.unsqueeze(-2).to(U.dtype)) @ Vh
    return _svd_grad(grad_U, grad_S, grad_Vh, U, S, Vh, A)


def _svd_grad(gU, gS, gVh, U, S, Vh, A):
    m, n = A.shape[-2:]
    k = min(m, n)
    # The extra columns of full matrices get no gradient.
    U, Vh = U[..., :, :k], Vh[..., :k, :]
    gU = None if gU is None else gU[..., :, :k]
    gVh = None if gVh is None else gVh[..., :k, :]
    if gU is None and gVh is None:
        return None if gS is None else (U * gS.unsqueeze(-2).to(U.dtype)) @ Vh
    complex_input = A.is_complex()
    UhgU = None if gU is None else _skew(U.mH @ gU)
    VhgV = None if gVh is None else _skew(Vh @ gVh.mH)
    if complex_input:
        _check_gauge(UhgU, VhgV)
    # s_j^2 - s_i^2, as a product: close values keep their digits
    E = (S.unsqueeze(-2) - S.unsqueeze(-1)) * (S.unsqueeze(-2) + S.unsqueeze(-1))
    E = E + eye_like(E, k)  # the diagonal of the skew parts is zero, or handled below
    Sc = S.to(A.dtype)
    inner = 0
    if UhgU is not None:
        inner = inner + quotient(UhgU, E) * Sc.unsqueeze(-2)
    if VhgV is not None:
        inner = inner + Sc.unsqueeze(-1) * quotient(VhgV, E)
    if complex_input:
        inner = inner - inner.diagonal(0, -2, -1).diag_embed()
        if UhgU is not None and VhgV is not None:
            inner = inner + quotient(UhgU.diagonal(0, -2, -1), 2 * S).diag_embed()
    if gS is not None:
        inner = inner + gS.to(A.dtype).diag_embed()
    if m > k and gU is not None:
        scaled = quotient(gU, S.unsqueeze(-2))
        return (U @ inner + scaled - U @ (U.mH @ scaled)) @ Vh
    if n > k and gVh is not None:
        scaled = quotient(gVh, S.unsqueeze(-1))
        return U @ (inner @ Vh + scaled - (scaled @ Vh.mH) @ Vh)
    return U @ (inner @ Vh)


def _check_gauge(UhgU, VhgV):
    """The phase of complex singular vectors is arbitrary; a loss that depends on it has no gradient."""
    total = 0
    for part in (UhgU, VhgV):
        if part is not None:
            total = total + part.diagonal(0, -2, -1).imag.detach()
    if total.numel() and float(total.abs().max()) > 1e-2:
        raise RuntimeError(
            "svd_backward: The singular vectors in the complex case are specified up to multiplication by e^{i phi}. "
            "The specified loss function depends on this quantity, so it is ill-defined."
        )


@composite(out=True)
def linalg_svd(A, full_matrices=True, *, driver=None):
    """A = U diag(S) Vh, singular values descending.

    Args:
        A: float or complex, shape (*, m, n).
        full_matrices: U (*, m, m) and Vh (*, n, n), instead of (*, m, k) and (*, k, n) with k = min(m, n).
        driver: has to be None on the CPU.
    Raises:
        LinAlgError: no convergence, or values that are not finite.
    Differentiable in A where singular values are distinct.
    """
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        )
    return named("linalg_svd", "U S Vh", linalg_svd_raw(A, full_matrices, True))


@composite(out=True)
def linalg_svdvals(A, *, driver=None):
    """Singular values of A, descending. Differentiable even where they coincide."""
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svdvals: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        )
    return linalg_svd_raw(A, False, False)[1]


@composite(methods=("svd",), out=True)
def svd(input, some=True, compute_uv=True):
    """(U, S, V) with input = U diag(S) V^H; older form of linalg.svd. Zeros for U and V unless compute_uv."""
    if compute_uv:
        U, S, Vh = linalg_svd_raw(input, not some, True)
        return named("svd", "U S V", (U, S, Vh.mH))
    m, n = input.shape[-2:]
    batch = tuple(input.shape[:-2])
    S = linalg_svdvals(input)
    return named(
        "svd", "U S V", (input.new_zeros((*batch, m, m)), S, input.new_zeros((*batch, n, n)))
    )


# Eigenvalues

linalg_eigh_raw = native(
    "linalg_eigh_raw(Tensor A, str UPLO, bool compute_v) -> (Tensor eigenvalues, Tensor eigenvectors)",
    doc="LAPACK's syevd and heevd; eigenvectors are empty unless compute_v.",
)


@linalg_eigh_raw.vjp("A")
def _(grad_eigenvalues, grad_eigenvectors, eigenvalues, eigenvectors, A, UPLO, compute_v):
    L, V = eigenvalues, eigenvectors
    if not compute_v:
        L, V = linalg_eigh_raw(A, UPLO, True)
    gL, gV = grad_eigenvalues, grad_eigenvectors if compute_v else None
    if gV is None:
        return (V * gL.unsqueeze(-2).to(V.dtype)) @ V.mH
    inner = V.mH @ gV
    if A.is_complex():
        _check_eigenvector_gauge(inner, "linalg_eigh_backward")
    inner = 0.5 * _skew(inner)
    E = L.unsqueeze(-2) - L.unsqueeze(-1)
    n = L.shape[-1]
    inner = quotient(inner, E + eye_like(E, n))
    inner = inner - inner.diagonal(0, -2, -1).diag_embed()
    if gL is not None:
        inner = inner + gL.to(V.dtype).diag_embed()
    return V @ (inner @ V.mH)


def _check_eigenvector_gauge(inner, name):
    phase = inner.diagonal(0, -2, -1).imag.detach()
    if phase.numel() and float(phase.abs().max()) > 1e-2:
        raise RuntimeError(
            f"{name}: The eigenvectors in the complex case are specified up to multiplication by e^{{i phi}}. "
            "The specified loss function depends on this quantity, so it is ill-defined."
        )


@composite(out=True)
def linalg_eigh(A, UPLO="L"):
    """Eigenvalues (real, ascending) and orthonormal eigenvectors of Hermitian matrices (*, n, n).

    Args:
        A: float or complex; only the triangle that UPLO ("L" or "U") names is read.
    Differentiable in A where eigenvalues are distinct.
    """
    return named("linalg_eigh", "eigenvalues eigenvectors", linalg_eigh_raw(A, UPLO, True))


@composite(out=True)
def linalg_eigvalsh(A, UPLO="L"):
    """Eigenvalues (real, ascending) of Hermitian matrices. Differentiable even where they coincide."""
    return linalg_eigh_raw(A, UPLO, False)[0]


linalg_eig_raw = native(
    "linalg_eig_raw(Tensor A, bool compute_v) -> (Tensor eigenvalues, Tensor eigenvectors)",
    doc="LAPACK's geev, always complex; eigenvectors are empty unless compute_v.",
)


@linalg_eig_raw.vjp("A")
def _(grad_eigenvalues, grad_eigenvectors, eigenvalues, eigenvectors, A, compute_v):
    L, V = eigenvalues, eigenvectors
    if not compute_v:
        L, V = linalg_eig_raw(A, True)
    gL, gV = grad_eigenvalues, grad_eigenvectors if compute_v else None
    if gV is None:
        return linalg_solve_raw(V.mH, gL.unsqueeze(-1) * V.mH, False)[0]
    VhgV = V.mH @ gV
    diagonal = VhgV.diagonal(0, -2, -1)
    _check_eigenvector_gauge(VhgV, "linalg_eig_backward")
    # eigenvectors have unit norm
    inner = VhgV - V.mH @ (V * diagonal.real.unsqueeze(-2).to(V.dtype))
    conjugate = L.conj()
    E = conjugate.unsqueeze(-2) - conjugate.unsqueeze(-1)
    inner = quotient(inner, E + eye_like(E, L.shape[-1]))
    inner = inner - inner.diagonal(0, -2, -1).diag_embed()
    if gL is not None:
        inner = inner + gL.diag_embed()
    return linalg_solve_raw(V.mH, inner @ V.mH, False)[0]


@composite(out=True)
def linalg_eig(A):
    """Eigenvalues and unit eigenvectors of square matrices, complex, in no particular order."""
    return named("linalg_eig", "eigenvalues eigenvectors", linalg_eig_raw(A, True))


@composite(out=True)
def linalg_eigvals(A):
    """Eigenvalues of square matrices, complex, in no particular order."""
    return linalg_eig_raw(A, False)[0]


# Pseudo-inverse and least squares


def rank_threshold(A, S, atol, rtol):
    """max(atol, rtol * largest singular value) per matrix; the default is max(m, n) * eps * largest."""
    from ..type_info import finfo

    eps = finfo(S.dtype).eps
    if rtol is None:
        positive = atol is not None and (
            bool((atol > 0).any()) if hasattr(atol, "dim") else atol > 0
        )
        rtol = 0.0 if positive else eps * max(A.shape[-2:])
    largest = S.abs().amax(-1) if S.shape[-1] else S.sum(-1)
    threshold = rtol * largest
    if atol is not None:
        threshold = threshold.maximum(
            atol.to(threshold.dtype) if hasattr(atol, "dim") else threshold * 0 + atol
        )
    return threshold


def _pinv_value(A, atol, rtol, hermitian):
    if hermitian:
        L, V = linalg_eigh(A)
        cut = rank_threshold(A, L, atol, rtol).unsqueeze(-1)
        inverted = (1 / L).masked_fill(L.abs() <= cut, 0.0)
        return (V * inverted.unsqueeze(-2).to(V.dtype)) @ V.mH
    U, S, Vh = linalg_svd(A, False)
    cut = rank_threshold(A, S, atol, rtol).unsqueeze(-1)
    inverted = (1 / S).masked_fill(S <= cut, 0.0)
    return (Vh.mH * inverted.unsqueeze(-2).to(Vh.dtype)) @ U.mH


linalg_pinv_raw = native(
    "linalg_pinv_raw(Tensor A, Tensor value) -> Tensor",
    doc="`value`, the pseudo-inverse of A computed without a graph, with the gradient of pinv attached.",
)


@linalg_pinv_raw.vjp("A")
def _(grad, result, A):
    # Through the SVD the gradient is infinite where singular values coincide; the identities of the pseudo-inverse
    # (Golub and Pereyra, 1973) have no such poles: dP = -P dA P + P P^H dA^H (I - A P) + (I - P A) dA^H P^H P.
    P, Ph, gh = result, result.mH, grad.mH
    m, n = A.shape[-2:]
    if m <= n:
        K = gh @ P
        K_Ph = K @ Ph
        return -((P @ K).mH) + K_Ph - (A @ P) @ K_Ph + (Ph @ P) @ (gh - K @ A)
    K = P @ gh
    Ph_K = Ph @ K
    return -((K @ P).mH) + (gh - A @ K) @ P @ Ph + Ph_K - (Ph_K @ P) @ A


@linalg_pinv_raw.vjp("value")
def _(grad):
    return None  # computed without a graph


@composite(out=True)
def linalg_pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None):
    """Moore-Penrose pseudo-inverse.

    Args:
        A: float or complex, shape (*, m, n).
        rcond: older name of rtol.
        hermitian: A is Hermitian; uses eigenvalues.
        atol, rtol: singular values up to max(atol, rtol * largest) count as zero; numbers or one per matrix.
    Returns:
        Shape (*, n, m). Differentiable in A, where the rank is constant.
    """
    rtol = rcond if rtol is None else rtol
    if A.numel() == 0:
        return A.mH * 1
    if not _C._is_differentiated(A):
        return _pinv_value(A, atol, rtol, hermitian)
    return linalg_pinv_raw(A, _pinv_value(A.detach(), atol, rtol, hermitian))


@composite(methods=("pinverse",))
def pinverse(input, rcond=1e-15):
    """Pseudo-inverse; older form of linalg.pinv."""
    return linalg_pinv(input, rcond)


linalg_lstsq_raw = native(
    "linalg_lstsq_raw(Tensor input, Tensor other, float rcond, str driver) "
    "-> (Tensor solution, Tensor rank, Tensor singular_values, Tensor info)",
    non_differentiable="linalg_lstsq_solution carries the gradient",
    doc="LAPACK's gels, gelsy, gelsd or gelss; the solution has max(m, n) rows, whose tail holds residuals. info is -1 "
    "for matrices that are not finite.",
)

linalg_lstsq_solution = native(
    "linalg_lstsq_solution(Tensor input, Tensor other, Tensor solution, float rcond) -> Tensor",
    doc="`solution`, computed by LAPACK without a graph, with the gradient of pinv(input) @ other attached.",
)


@linalg_lstsq_solution.vjp
def _(grad, input, other, rcond, needs):
    wanted = (needs[0], needs[1])
    grads = differentiate(
        lambda a, b: (linalg_pinv(a, rtol=rcond) @ b,), (input, other), wanted, (grad,)
    )
    return (*grads, None)


def _check_lstsq(A, B, driver):
    name = "torch.linalg.lstsq"
    if A.dim() < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions, got {tuple(A.shape)}.")
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(
            f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got {driver}."
        )
    vector = B.dim() == A.dim() - 1
    if B.dim() < 1 or B.dim() < A.dim() - 1 or (vector and tuple(B.shape) != tuple(A.shape[:-1])):
        raise RuntimeError(
            f"{name}: expected B of shape (*, m, k), or a vector of shape {tuple(A.shape[:-1])} for each matrix, "
            f"got A {tuple(A.shape)} and B {tuple(B.shape)}."
        )
    if not vector and B.shape[-2] != A.shape[-2]:
        raise RuntimeError(
            f"{name}: input.size(-2) should match other.size(-2), got {tuple(A.shape)} and {tuple(B.shape)}."
        )
    if A.dtype != B.dtype:
        raise RuntimeError(
            f"{name}: expected input and other of the same dtype, got {A.dtype} and {B.dtype}."
        )
    return vector


def _raise_lstsq(info, driver):
    from ..errors import LinAlgError

    if bool((info < 0).any()):
        raise LinAlgError(
            "torch.linalg.lstsq: The least squares solution could not be computed because the input matrix contains "
            "non-finite values."
        )
    if bool((info > 0).any()):
        reason = (
            "the input matrix does not have full rank"
            if driver == "gels"
            else "the singular value decomposition did not converge"
        )
        raise LinAlgError(
            "torch.linalg.lstsq: The least squares solution could not be computed because "
            f"{reason}."
        )


@composite()
def linalg_lstsq(A, B, rcond=None, *, driver=None):
    """Least-squares solution X of A X = B.

    Args:
        A: float or complex, shape (*, m, n).
        B: shape (*, m, k), or a (batch of) vector(s) of A's shape without its last dim.
        rcond: singular values below rcond * largest count as zero; max(m, n) * eps by default.
        driver: gels (full rank), gelsy (default), gelsd or gelss.
    Returns:
        (solution, residuals, rank, singular_values); what the driver does not compute is empty.
    Raises:
        LinAlgError: A is not finite, or does not have full rank (gels).
    Differentiable in A, B, where the rank is constant.
    """
    vector = _check_lstsq(A, B, driver)
    driver = driver or "gelsy"
    matrix, right = broadcast_batches(A, B.unsqueeze(-1) if vector else B)
    m, n = A.shape[-2:]
    from ..type_info import finfo

    tolerance = float(finfo(A.dtype).eps * max(m, n)) if rcond is None else float(rcond)
    x, rank, values, info = linalg_lstsq_raw(matrix.detach(), right.detach(), tolerance, driver)
    _raise_lstsq(info, driver)
    full = driver == "gels" or (rank.numel() != 0 and bool((rank == n).all()))
    differentiable = _C._is_differentiated(A) or _C._is_differentiated(B)
    solution = x[..., :n, :]
    if differentiable:
        solution = linalg_lstsq_solution(
            matrix, right, solution, 0.0 if driver == "gels" else tolerance
        )
    residuals = x.real.new_zeros((0,))
    if m > n and full and driver != "gelsy":
        remainder = matrix @ solution - right if differentiable else x[..., n:, :]
        residuals = remainder.abs().pow(2).sum(-2)
    elif differentiable:
        residuals = solution.abs().reshape(-1)[:0]
    empty = rank.new_zeros((0,))
    return named(
        "linalg_lstsq",
        "solution residuals rank singular_values",
        (
            solution.squeeze(-1) if vector else solution,
            residuals,
            empty if driver == "gels" else rank,
            values if driver in ("gelsd", "gelss") else values.new_zeros((0,)),
        ),
    )
