"""Batched linear algebra that the multivariate distributions share."""

import flambeau


def batch_mv(matrix, vector):
    """Products of matrices (..., m, n) and vectors (..., n); batches broadcast."""
    return flambeau.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def half_log_det(factor):
    """Half the log determinant of L L^T for a Cholesky factor L."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def batch_mahalanobis(factor, vector):
    """Squared length of L^-1 x for Cholesky factors (..., n, n) and vectors (..., n) of more or equally many dims.

    Sample dims that the factors lack become columns of one right-hand side, so that no factor is copied.
    """
    extra = vector.dim() - 1 - (factor.dim() - 2)
    if extra <= 0:
        solved = flambeau.linalg.solve_triangular(factor, vector.unsqueeze(-1), upper=False)
        return solved.squeeze(-1).pow(2).sum(-1)
    sample_shape = vector.shape[:extra]
    columns = vector.reshape((-1,) + vector.shape[extra:]).movedim(0, -1)  # (batch, n, samples)
    solved = flambeau.linalg.solve_triangular(factor, columns, upper=False)
    squares = solved.pow(2).sum(-2).movedim(-1, 0)  # (samples, batch)
    return squares.reshape(sample_shape + squares.shape[1:])


def precision_to_scale_tril(precision):
    """Cholesky factor of the inverse, from the factor of the matrix with reversed rows and columns.

    P = U U^T for an upper triangular U, so P^-1 = U^-T U^-1, and U^-T is lower triangular.
    """
    flipped = flambeau.linalg.cholesky(flambeau.flip(precision, (-2, -1)))
    lower = flambeau.flip(flipped, (-2, -1)).mT
    identity = flambeau.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return flambeau.linalg.solve_triangular(lower, identity, upper=False)


def capacitance_tril(factor, diag):
    """Cholesky factor of I + W^T D^-1 W: what remains of W W^T + D in the smaller dimension."""
    gram = flambeau.matmul(factor.mT / diag.unsqueeze(-2), factor)
    identity = flambeau.eye(gram.shape[-1], dtype=gram.dtype, device=gram.device)
    return flambeau.linalg.cholesky(gram + identity)


def lowrank_log_det(diag, capacitance):
    """Log determinant of W W^T + D, by the matrix determinant lemma."""
    return 2 * half_log_det(capacitance) + diag.log().sum(-1)


def lowrank_mahalanobis(factor, diag, vector, capacitance):
    """x^T (W W^T + D)^-1 x, by the Woodbury identity."""
    projected = batch_mv(factor.mT / diag.unsqueeze(-2), vector)
    return (vector.pow(2) / diag).sum(-1) - batch_mahalanobis(capacitance, projected)


def trace_of_square(matrix):
    """Trace of X X^T for matrices (..., m, n)."""
    return matrix.pow(2).flatten(-2).sum(-1)
