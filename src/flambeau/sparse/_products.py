"""Matrix products with sparse factors."""

from .. import _C, ops
from .._extension import payload, register
from ..ops import sparse_parts as native
from ._convert import to_coo, to_dense
from ._payload import Compressed, coalesced, compressed, coo, is_sparse, parts
from ._pointwise import add
from ._shape import transpose


def _by_rows(tensor):
    """Row pointers, columns and values of a sparse matrix."""
    content = parts(tensor)
    if content.layout is _C.sparse_csr and not content.batch_dim:
        return content.compressed, content.plain, content.values
    entries = payload(coalesced(to_coo(tensor)))
    if entries.sparse_dim != 2:
        raise RuntimeError(
            f"mm: expected a matrix with sparse_dim 2, got sparse_dim {entries.sparse_dim}."
        )
    rows, columns = entries.indices
    return native._row_pointers(rows, entries.size[0]), columns, entries.values


def _check_matrices(a, b, name):
    if a.ndim != 2 or b.ndim != 2:
        raise RuntimeError(f"{name}: expected two matrices, got {a.ndim}-d and {b.ndim}-d tensors.")
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]})"
        )
    if a.dtype is not b.dtype:
        raise RuntimeError(f"{name}: expected matrices of one dtype, got {a.dtype} and {b.dtype}.")


@register("sparse", "mm")
def mm(input, mat2):
    _check_matrices(input, mat2, "mm")
    if is_sparse(input) and is_sparse(mat2):
        return _sparse_sparse(input, mat2)
    if is_sparse(input):
        if parts(input).dense_dim and not isinstance(parts(input), Compressed):
            return to_dense(input).mm(mat2)
        return native._csr_mm(*_by_rows(input), mat2)
    # dense @ sparse: transposed twice.
    flipped = transpose(mat2, 0, 1)
    return native._csr_mm(*_by_rows(flipped), input.t()).t().contiguous()


def _sparse_sparse(a, b):
    pointers, columns, values = native._csr_matmul(*_by_rows(a), *_by_rows(b), b.shape[1])
    size = (a.shape[0], b.shape[1])
    layouts = {a.layout, b.layout}
    if layouts == {_C.sparse_coo}:
        rows = native._rows_of(pointers, columns.shape[0])
        return coo(ops.stack([rows, columns]), values, size, True)
    result = compressed(_C.sparse_csr, pointers, columns, values, size)
    if layouts == {_C.sparse_csc}:
        return native.to_sparse(result, layout=_C.sparse_csc)
    return result


@register("sparse", "mv")
def mv(input, vec):
    if input.ndim != 2 or vec.ndim != 1 or is_sparse(vec):
        raise RuntimeError(
            f"mv: expected a sparse matrix and a dense vector, got {input.ndim}-d and {vec.ndim}-d tensors."
        )
    return mm(input, vec.unsqueeze(1)).squeeze(1)


@register("sparse", "matmul")
def matmul(input, other):
    if input.ndim == 2 and other.ndim == 2:
        return mm(input, other)
    if input.ndim == 2 and other.ndim == 1:
        return mv(input, to_dense(other) if is_sparse(other) else other)
    if input.ndim == 1 and other.ndim == 2:
        row = to_dense(input) if is_sparse(input) else input
        return mm(row.unsqueeze(0), other).squeeze(0)
    if input.ndim == 1 and other.ndim == 1:
        return dot(input, other)
    if input.ndim == 3 and other.ndim == 3:
        return bmm(input, other)
    if not is_sparse(input) and other.ndim == 2:
        flat = input.reshape(-1, input.shape[-1])
        return mm(flat, other).reshape(*input.shape[:-1], other.shape[1])
    raise NotImplementedError(
        f"matmul: expected matrices, vectors or two batches with a sparse one, got {input.ndim}-d and {other.ndim}-d "
        "tensors. Use to_dense() first."
    )


@register("sparse", "linear")
def linear(input, weight, bias=None):
    product = matmul(input, transpose(weight, 0, 1) if is_sparse(weight) else weight.t())
    return product if bias is None else product + bias


@register("sparse", "dot", "vdot")
def dot(input, tensor):
    if input.shape != tensor.shape or input.ndim != 1:
        raise RuntimeError(
            f"dot: expected two vectors of one length, got {list(input.shape)} and {list(tensor.shape)}."
        )
    product = input * tensor
    return parts(product).values.sum() if is_sparse(product) else product.sum()


@register("sparse", "bmm")
def bmm(input, mat2):
    if input.ndim != 3 or mat2.ndim != 3 or input.shape[0] != mat2.shape[0]:
        raise RuntimeError(
            f"bmm: expected two batches of matrices, got shapes {list(input.shape)} and {list(mat2.shape)}."
        )
    if is_sparse(mat2):
        return ops.bmm(to_dense(input) if is_sparse(input) else input, to_dense(mat2))
    batch, m, k = input.shape
    if k != mat2.shape[1]:
        raise RuntimeError(
            f"bmm: expected input.shape[2] == mat2.shape[1], got {k} and {mat2.shape[1]}."
        )
    content = payload(coalesced(to_coo(input)))
    if content.sparse_dim != 3:
        return ops.bmm(to_dense(input), mat2)
    # One block-diagonal matrix.
    which, rows, columns = content.indices
    pointers = native._row_pointers(which * m + rows, batch * m)
    flat = mat2.reshape(batch * k, mat2.shape[2])
    return native._csr_mm(pointers, which * k + columns, content.values, flat).reshape(batch, m, -1)


@register("sparse", "addmm")
def addmm(input, mat1, mat2, beta=1, alpha=1):
    product = mm(mat1, mat2)
    if is_sparse(product):
        scaled = product * alpha
        if beta == 0:
            return scaled
        return add(input * beta, scaled)
    product = product if alpha == 1 else product * alpha
    if beta == 0:
        return product
    base = to_dense(input) if is_sparse(input) else input
    return (base if beta == 1 else base * beta) + product


@register("sparse", "addmv")
def addmv(input, mat, vec, beta=1, alpha=1):
    product = mv(mat, vec)
    product = product if alpha == 1 else product * alpha
    return product if beta == 0 else (input if beta == 1 else input * beta) + product


# ---- Composites: their gradients are those of the parts


def _entries(tensor):
    """rows, columns and values of a sparse matrix, the values differentiable."""
    content = parts(tensor)
    if content.layout is _C.sparse_coo:
        tensor = native.coalesce(tensor)
        rows, columns = tensor._indices()
        return native._row_pointers(rows, tensor.shape[0]), rows, columns, native.values(tensor)
    if content.layout is not _C.sparse_csr or content.batch_dim:
        raise RuntimeError(
            f"sparse.mm: expected a matrix of layout sparse_coo or sparse_csr, got {content.layout}."
        )
    rows = native._rows_of(content.compressed, content.nnz)
    return content.compressed, rows, content.plain, native.values(tensor)


def _product(mat1, mat2):
    """sparse @ dense; the gradient of the sparse factor has its indices."""
    if mat1.layout is _C.sparse_coo and mat1.dense_dim():
        raise RuntimeError(
            f"mm: expected a matrix with sparse_dim 2, got sparse_dim {mat1.sparse_dim()}."
        )
    pointers, _, columns, values = _entries(mat1)
    return native._csr_mm(pointers, columns, values, mat2)


def sparse_mm(mat1, mat2):
    """torch.sparse.mm without reduce."""
    _check_matrices(mat1, mat2, "sparse.mm")
    if not is_sparse(mat1):
        if not is_sparse(mat2):
            return ops.mm(mat1, mat2)
        flipped = _product(
            ops.transpose(mat2, 0, 1).to_sparse_csr() if not mat2.is_sparse else mat2.t(), mat1.t()
        )
        return flipped.t()
    if not is_sparse(mat2):
        if mat1.layout not in (_C.sparse_coo, _C.sparse_csr):
            return ops.mm(mat1, mat2)
        return _product(mat1, mat2)
    return (
        _Functions.apply("product", mat1, mat2)
        if (mat1.requires_grad or mat2.requires_grad)
        else ops.mm(mat1, mat2)
    )


def _make_functions():
    from ..autograd import Function

    class SparseProduct(Function):
        """Product of two sparse matrices; gradients are kept at the indices of each factor."""

        @staticmethod
        def forward(ctx, mat1, mat2):
            ctx.save_for_backward(mat1, mat2)
            return ops.mm(mat1, mat2)

        @staticmethod
        def backward(ctx, grad):
            mat1, mat2 = ctx.saved_tensors
            of_first = of_second = None
            if ctx.needs_input_grad[0]:
                of_first = native._mask(ops.mm(grad, _adjoint(mat2)), _pattern(mat1))
            if ctx.needs_input_grad[1]:
                of_second = native._mask(ops.mm(_adjoint(mat1), grad), _pattern(mat2))
            return of_first, of_second

    class SampledAddmm(Function):
        """The gradient of the sparse input is that of the result, whatever its layout."""

        @staticmethod
        def forward(ctx, input, mat1, mat2, beta, alpha):
            ctx.save_for_backward(input, mat1, mat2)
            ctx.factors = beta, alpha
            return _sampled(input, mat1, mat2, beta, alpha)

        @staticmethod
        def backward(ctx, grad):
            input, mat1, mat2 = ctx.saved_tensors
            beta, alpha = (
                complex(x).conjugate() if isinstance(x, complex) else x for x in ctx.factors
            )
            of_first = of_second = None
            kept = native._mask(grad, input.detach())
            if ctx.needs_input_grad[1]:
                of_first = _batched_mm(kept, mat2.mH) * alpha
            if ctx.needs_input_grad[2]:
                of_second = _batched_mm(kept.transpose(-2, -1), mat1.conj()).mT * alpha
            return grad * beta, of_first, of_second, None, None

    return {"product": SparseProduct, "sampled": SampledAddmm}


def _pattern(matrix):
    return matrix.coalesce() if matrix.is_sparse else matrix


def _batched_mm(sparse, dense):
    return sparse @ dense if sparse.ndim == 2 else sparse.to_dense() @ dense


class _Functions:
    """Made on first use: flambeau.autograd stays unloaded until then."""

    made = None

    @classmethod
    def apply(cls, name, *arguments):
        if cls.made is None:
            cls.made = _make_functions()
        return cls.made[name].apply(*arguments)


def _adjoint(matrix):
    flipped = matrix.t()
    return flipped.conj() if flipped.is_complex() else flipped


_REDUCTIONS = {
    "sum": "sum",
    "mean": "mean",
    "amax": "amax",
    "amin": "amin",
    "max": "amax",
    "min": "amin",
}


def reduced_mm(mat1, mat2, reduce):
    """torch.sparse.mm with reduce: products combined by sum, mean, maximum or minimum; empty rows are 0."""
    if reduce not in _REDUCTIONS:
        raise RuntimeError(f"reduce argument must be either sum, mean, amax or amin, got {reduce}")
    if mat1.layout is not _C.sparse_csr or is_sparse(mat2):
        raise RuntimeError(
            "sparse.mm: expected mat1 of layout sparse_csr and a dense mat2 with reduce, got layouts "
            f"{mat1.layout} and {mat2.layout}."
        )
    _check_matrices(mat1, mat2, "sparse.mm")
    pointers, rows, columns, values = _entries(mat1)
    reduce = _REDUCTIONS[reduce]
    if reduce == "sum":
        return native._csr_mm(pointers, columns, values, mat2)
    counts = (pointers[1:] - pointers[:-1]).clamp(min=1).unsqueeze(1)
    if reduce == "mean":
        return native._csr_mm(pointers, columns, values, mat2) / counts.to(values.dtype)
    terms = mat2.index_select(0, columns) * values.unsqueeze(1)  # (nnz, n)
    zeros = terms.new_zeros((mat1.shape[0], mat2.shape[1]))
    best = zeros.index_reduce(0, rows, terms.detach(), reduce, include_self=False)
    # The gradient goes to the first of equal terms.
    hits = terms.detach() == best.index_select(0, rows)
    places = ops.arange(rows.shape[0]).unsqueeze(1).expand(hits.shape)
    first = ops.full_like(best, rows.shape[0], dtype=_C.int64).scatter_reduce(
        0, rows.unsqueeze(1).expand(hits.shape), places.masked_fill(~hits, rows.shape[0]), "amin"
    )
    padded = ops.cat([terms, terms.new_zeros((1, terms.shape[1]))])
    return padded.gather(0, first)


def sparse_addmm(mat, mat1, mat2, beta=1, alpha=1):
    """torch.sparse.addmm: beta * mat + alpha * (mat1 @ mat2), with gradients as in sparse.mm."""
    product = sparse_mm(mat1, mat2)
    product = product if alpha == 1 else product * alpha
    if beta == 0:
        return product
    return (mat if beta == 1 else mat * beta) + product


def sampled_addmm(input, mat1, mat2, beta=1.0, alpha=1.0):
    """torch.sparse.sampled_addmm: beta * input + alpha * (mat1 @ mat2) at the indices of input."""
    if input.layout is not _C.sparse_csr:
        raise RuntimeError(
            f"Expected all tensors to have sparse csr layout, got {input.layout} for 'self'"
        )
    if is_sparse(mat1) or is_sparse(mat2):
        raise RuntimeError("sampled_addmm: expected mat1 and mat2 of layout strided.")
    if (
        mat1.shape[-2:-1] != input.shape[-2:-1]
        or mat2.shape[-1] != input.shape[-1]
        or mat1.shape[-1] != mat2.shape[-2]
    ):
        raise RuntimeError(
            f"sampled_addmm: expected (m, n), (m, k) and (k, n), got {list(input.shape)}, {list(mat1.shape)} and "
            f"{list(mat2.shape)}."
        )
    if not (input.dtype is mat1.dtype is mat2.dtype):
        raise RuntimeError(
            f"sampled_addmm: expected tensors of one dtype, got {input.dtype}, {mat1.dtype} and {mat2.dtype}."
        )
    return _Functions.apply("sampled", input, mat1, mat2, beta, alpha)


def _sampled(input, mat1, mat2, beta, alpha):
    content = parts(input)
    if content.batch_dim:
        found = parts(native._sparse_mask(mat1 @ mat2, input, True)).values
    else:
        rows = native._rows_of(content.compressed, content.nnz)
        found = native._sampled_mm(mat1, mat2.mT, rows, content.plain)
    found = found if alpha == 1 else found * alpha
    return content.with_values(found if beta == 0 else found + content.values * beta)


def sspaddmm(input, mat1, mat2, *, beta=1, alpha=1):
    """beta * input + alpha * (mat1 @ mat2) for sparse input and mat1 and dense mat2, as a sparse matrix."""
    product = hspmm(mat1, mat2)  # rows that are not zero, dense columns
    content = payload(product)
    width = mat2.shape[1]
    count = content.nnz
    rows = content.indices[0].unsqueeze(1).expand(count, width).reshape(-1)
    columns = ops.arange(width).expand(count, width).reshape(-1)
    values = content.values.reshape(-1)
    result = coo(
        ops.stack([rows, columns]), values if alpha == 1 else values * alpha, product.shape
    )
    return result if input is None or beta == 0 else input * beta + result


def hspmm(mat1, mat2):
    """Product of a sparse and a dense matrix: only the rows of mat1 with entries are in the result."""
    _check_matrices(mat1, mat2, "hspmm")
    content = payload(coalesced(to_coo(mat1)))
    rows, columns = content.indices
    kept, inverse = ops.unique(rows, return_inverse=True)
    pointers = native._row_pointers(inverse, kept.shape[0])
    values = native._csr_mm(pointers, columns, content.values, mat2)
    return coo(kept.unsqueeze(0), values, (mat1.shape[0], mat2.shape[1]), True)
