"""A few extreme eigenpairs of large symmetric matrices, by locally optimal block preconditioned conjugate gradients."""

from .. import _C
from .linalg_norms import linalg_vector_norm
from .linalg_ops import linalg_cholesky_ex, linalg_solve_triangular
from .linalg_spectral import linalg_eigh
from .matmul import matmul
from .registry import composite

__all__ = ["lobpcg"]

_EPS = {_C.float32: 1.2e-07, _C.float64: 2.23e-16}


@composite()
def lobpcg(
    A,
    k=None,
    B=None,
    X=None,
    n=None,
    iK=None,
    niter=None,
    tol=None,
    largest=None,
    method=None,
    tracker=None,
    ortho_iparams=None,
    ortho_fparams=None,
    ortho_bparams=None,
):
    """The k largest (or smallest) eigenvalues of A x = e B x, and their vectors.

    Each step is a Rayleigh-Ritz projection onto the span of the approximations X, their preconditioned residuals W and
    the last directions P.

    Args:
        A: float or complex, symmetric or Hermitian, shape (*, m, m); one matrix may be sparse.
        k: number of pairs; the columns of X by default, or 1.
        B: positive-definite, shape of A; None is the identity.
        X: first approximations, shape (*, m, n); drawn from a normal distribution by default.
        n: columns of the drawn X; k by default. More columns than k may converge faster.
        iK: preconditioner, shape of A: an approximation of A's inverse.
        niter: most iterations; 1000 by default, -1 for no limit.
        tol: relative residual that counts as converged; the square root of the dtype's precision by default.
        largest: which end of the spectrum; True by default.
        method: "ortho" (default) orthonormalises the basis of every step, "basic" solves the generalised problem of
            the Gram matrices as in the paper, which is cheaper and fails sooner.
        tracker: called after every step with an object of fields X, E, R, S, ivars, fvars, tvars, bvars, iparams,
            fparams, bparams, named as in PyTorch; setting bvars["force_stop"] ends the iteration.
        ortho_iparams, ortho_fparams, ortho_bparams: accepted for PyTorch's sake.
    Returns:
        (E, X): eigenvalues (*, k), the wanted end first, and vectors (*, m, k) with X^H B X = 1.
    Raises:
        ValueError: m < 3 n.
    Random unless X is given. Differentiable in A and B, through the whole spectrum (dense).
    References:
        Knyazev, "Toward the Optimal Preconditioned Eigensolver", SIAM J. Sci. Comput. 23 (2001), 517-541.
        Stathopoulos, Wu, "A Block Orthogonalization Procedure with Constant Synchronization Requirements", 2002
        (the orthonormalisation).
    """
    method = "ortho" if method is None else method
    if method not in ("basic", "ortho"):
        raise ValueError(f"lobpcg: expected method to be 'basic' or 'ortho', got {method!r}.")
    if A.dim() < 2 or A.shape[-1] != A.shape[-2]:
        raise ValueError(f"lobpcg: expected square matrices A, got shape {tuple(A.shape)}.")
    largest = True if largest is None else largest
    k = (1 if X is None else X.shape[-1]) if k is None else k
    n = (k if n is None else n) if X is None else X.shape[-1]
    m = A.shape[-1]
    if m < 3 * n:
        raise ValueError(
            f"LPBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than 3 x the number of "
            f"requested eigenpairs (={n})"
        )
    if not 0 < k <= n:
        raise ValueError(f"lobpcg: expected 0 < k <= n, got k {k} and n {n}.")
    if X is None:
        from .random import randn

        X = randn((*A.shape[:-2], m, n), dtype=A.dtype, device=A.device)
    elif tuple(X.shape[:-1]) != (*A.shape[:-2], m):
        raise ValueError(
            f"lobpcg: expected X of shape {(*A.shape[:-2], m, n)}, got {tuple(X.shape)}."
        )
    options = {
        "m": m,
        "n": n,
        "k": k,
        "niter": 1000 if niter is None else niter,
        "tol": _EPS.get(A.real.dtype if A.is_complex() else A.dtype, 1.2e-07) ** 0.5
        if tol is None
        else tol,
        "largest": largest,
        "method": method,
        "tracker": tracker,
    }
    if not (_C._is_differentiated(A) or (B is not None and _C._is_differentiated(B))):
        return _solve_all(A, B, X, iK, options)
    from ..autograd import Function

    global _Differentiable
    if _Differentiable is None:
        _Differentiable = _define_function(Function)
    return _Differentiable.apply(A, B, X, iK, options)


def _solve_all(A, B, X, iK, options):
    """One run per matrix of the batch."""
    from ..autograd import no_grad
    from .join import stack

    with no_grad():
        if A.dim() == 2:
            return _Iteration(A, B, X, iK, options).run()
        batch, m = tuple(A.shape[:-2]), A.shape[-1]

        def matrices(t):
            if t is None:
                return [None] * A.reshape(-1, m, m).shape[0]
            return list(t.expand((*batch, *t.shape[-2:])).reshape(-1, *t.shape[-2:]))

        results = [
            _Iteration(*parts, options).run()
            for parts in zip(*map(matrices, (A, B, X, iK)), strict=True)
        ]
        k = options["k"]
        if not results:
            return A.new_zeros((*batch, k)), A.new_zeros((*batch, m, k))
        values = stack([E for E, _ in results]).reshape((*batch, k))
        return values, stack([V for _, V in results]).reshape((*batch, m, k))


def _gram(left, right):
    return matmul(left.mH, right)


class _Iteration:
    """The state of the iteration on one matrix; what trackers see."""

    def __init__(self, A, B, X, iK, options):
        self.A, self.B, self.iK, self.X = A, B, iK, X
        self.method, self.tracker = options["method"], options["tracker"]
        self.iparams = {name: options[name] for name in ("m", "n", "k", "niter")}
        self.fparams = {"tol": options["tol"]}
        self.bparams = {"largest": options["largest"]}
        self.ivars = {"istep": 0, "converged_count": 0, "iterations_left": options["niter"]}
        self.fvars, self.tvars, self.bvars = {}, {}, {"force_stop": False}
        self.E = self.R = None
        self.S = X
        self.P = X[:, :0]

    def run(self):
        """Iterate until the first k pairs have converged; the best pairs, sorted."""
        self._start()
        while not self._stopped():
            self._step()
            self._measure()
        k = self.iparams["k"]
        return self.E[:k], self.X[:, :k]

    def _times_B(self, X):
        return X if self.B is None else matmul(self.B, X)

    def _start(self):
        X = self.X
        size = linalg_vector_norm(X)
        self.fvars["X_norm"] = float(size)
        self.fvars["A_norm"] = float(linalg_vector_norm(matmul(self.A, X)) / size)
        self.fvars["B_norm"] = float(linalg_vector_norm(self._times_B(X)) / size)
        basis = self._orthonormal(X)
        if basis.shape[1] < X.shape[1]:
            raise ValueError("lobpcg: expected X with linearly independent columns.")
        self._project(basis)
        self._measure()

    def _stopped(self):
        left = self.iparams["niter"] - self.ivars["istep"]
        self.ivars["iterations_left"] = left
        done = self.ivars["converged_count"] >= self.iparams["k"]
        return done or self.bvars["force_stop"] or (self.iparams["niter"] >= 0 and left <= 0)

    def _measure(self):
        """Residuals, and how many of the first pairs have converged."""
        BX = self._times_B(self.X)
        self.R = matmul(self.A, self.X) - BX * self.E.to(self.X.dtype)
        scale = self.fvars["A_norm"] + self.E.abs() * self.fvars["B_norm"]
        rerr = linalg_vector_norm(self.R, 2, [0]) / (
            linalg_vector_norm(self.X, 2, [0]) * scale
        ).masked_fill(scale == 0, 1.0)
        self.tvars["rerr"] = rerr
        good = (rerr < self.fparams["tol"]).tolist()
        count = good.index(False) if False in good else len(good)
        # Pairs may swap places; what has converged stays counted, as PyTorch does.
        self.ivars["converged_count"] = max(count, self.ivars["converged_count"])
        if self.tracker is not None:
            self.tracker(self)

    def _step(self):
        self.ivars["istep"] += 1
        active = slice(self.ivars["converged_count"], None)
        W = self.R[:, active]
        if self.iK is not None:
            W = matmul(self.iK, W)
        from .join import cat

        if self.method == "basic":
            # Scaled, the Gram matrix is well conditioned until the columns are nearly dependent.
            sizes = linalg_vector_norm(W, 2, [0], True)
            W = W / sizes.masked_fill(sizes == 0, 1.0)
            self._project_gram(cat([self.X, W, self.P], 1))
        else:
            known = cat([self.X, self._orthonormal(self.P, self.X)], 1)
            self._project(cat([known, self._orthonormal(W, known)], 1))

    def _orthonormal(self, columns, against=None):
        """A B-orthonormal basis of `columns` without its part in span(against), which is orthonormal itself.

        Twice is enough for the projection; the basis is that of the Gram matrix's eigenvectors, without those whose
        eigenvalue is rounding noise.
        """
        eps = _EPS.get(columns.real.dtype if columns.is_complex() else columns.dtype, 1.2e-07)
        for _ in range(3):
            if columns.shape[1] == 0:
                return columns
            sizes = linalg_vector_norm(columns, 2, [0], True)
            columns = columns / sizes.masked_fill(sizes == 0, 1.0)
            if against is not None:
                columns = columns - matmul(against, _gram(self._times_B(against), columns))
            gram = _gram(columns, self._times_B(columns))
            values, vectors = linalg_eigh(gram)
            keep = values > max(float(values[-1]), eps) * eps * 10
            if not bool(keep.any()):
                return columns[:, :0]
            values, vectors = values[keep], vectors[:, keep]
            columns = matmul(columns, vectors * values.rsqrt().to(vectors.dtype))
        return columns

    def _choose(self, values, vectors):
        """The n wanted pairs, the end of the spectrum first."""
        n = self.iparams["n"]
        if self.bparams["largest"]:
            return values[-n:].flip(0), vectors[:, -n:].flip(1)
        return values[:n], vectors[:, :n]

    def _project(self, basis):
        """Rayleigh-Ritz in an orthonormal basis whose first n columns span X."""
        n = self.iparams["n"]
        values, vectors = linalg_eigh(_gram(basis, matmul(self.A, basis)))
        self.E, Z = self._choose(values, vectors)
        self.S = basis
        self.X = matmul(basis, Z)
        self.P = matmul(basis[:, n:], Z[n:])

    def _project_gram(self, basis):
        """Rayleigh-Ritz in any basis, by the Cholesky factor of its Gram matrix."""
        n = self.iparams["n"]
        gram = _gram(basis, self._times_B(basis))
        diagonal = gram.diagonal()
        scale = (diagonal.real if diagonal.is_complex() else diagonal).rsqrt()
        scale = scale.masked_fill(~scale.isfinite(), 0.0).to(gram.dtype)
        L, info = linalg_cholesky_ex(gram * scale.unsqueeze(-1) * scale)
        if int(info) != 0:  # dependent columns: the careful way, once
            X = self._orthonormal(basis[:, :n])
            from .join import cat

            return self._project(cat([X, self._orthonormal(basis[:, n:], X)], 1))
        M = _gram(basis, matmul(self.A, basis)) * scale.unsqueeze(-1) * scale
        M = linalg_solve_triangular(L, M, upper=False)
        M = linalg_solve_triangular(L, M.mH, upper=False)
        values, vectors = linalg_eigh(M)
        self.E, Z = self._choose(values, vectors)
        Z = linalg_solve_triangular(L.mH, Z, upper=True) * scale.unsqueeze(-1)
        self.S = basis
        self.X = matmul(basis, Z)
        self.P = matmul(basis[:, n:], Z[n:])
        return None


_Differentiable = None


def _define_function(Function):
    """autograd is imported with the first call that needs it."""
    from ._differentiate import differentiate

    class Lobpcg(Function):
        _jvp_from_backward = True

        @staticmethod
        def forward(ctx, A, B, X, iK, options):
            values, vectors = _solve_all(A, B, X, iK, options)
            ctx.save_for_backward(A, B, vectors)
            ctx.largest = options["largest"]
            return values, vectors

        @staticmethod
        def backward(ctx, grad_values, grad_vectors):
            A, B, vectors = ctx.saved_tensors

            def pairs(a, b=None):
                return _dense_pairs(a, b, vectors.detach(), ctx.largest)

            if B is None:
                (grad_A,) = differentiate(pairs, (A,), (True,), (grad_values, grad_vectors))
                return grad_A, None, None, None, None
            needs = tuple(ctx.needs_input_grad[:2])
            grads = differentiate(pairs, (A, B), needs, (grad_values, grad_vectors))
            return (*grads, None, None, None)

    return Lobpcg


def _dense_pairs(A, B, vectors, largest):
    """The same pairs from the whole spectrum, with the signs of `vectors`; differentiable in A and B."""
    k = vectors.shape[-1]
    A = 0.5 * (A + A.mH)
    if B is not None:
        B = 0.5 * (B + B.mH)
        L = linalg_cholesky_ex(B)[0]
        A = linalg_solve_triangular(L, A, upper=False)
        A = linalg_solve_triangular(L, A.mH, upper=False).mH
    values, found = linalg_eigh(A)
    values, found = (
        values[..., -k:] if largest else values[..., :k],
        (found[..., -k:] if largest else found[..., :k]),
    )
    if largest:
        values, found = values.flip(-1), found.flip(-1)
    if B is not None:
        found = linalg_solve_triangular(L.mH, found, upper=True)
    overlap = (found.detach().conj() * (vectors if B is None else matmul(B.detach(), vectors))).sum(
        -2, keepdim=True
    )
    return values, found * overlap.sgn()
