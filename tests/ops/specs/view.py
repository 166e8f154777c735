"""Views: other shapes and strides over the same memory."""

from dataclasses import replace

import numpy as np

from flambeau.testing.opspec import ALL, Case, OpSpec, Shape, case_samples

SOME = ("bool", "int32", "float32", "float64", "complex64")


def view(name, reference, *cases, errors, dtypes=SOME, **options):
    return OpSpec(
        name,
        reference,
        case_samples(*cases),
        dtypes=dtypes,
        errors=errors,
        inplace=False,
        **options,
    )


def bad_dim(name, *arguments):
    return [
        Case(
            args=(np.zeros((2, 3)), *arguments),
            raises=IndexError,
            match=f"{name}|Dimension out of range",
        )
    ]


def reshape(x, *shape):
    return x.reshape(shape[0] if shape and isinstance(shape[0], tuple) else shape)


def flatten(x, start_dim=0, end_dim=-1):
    if x.ndim == 0:
        return x.reshape(1)
    end = end_dim % x.ndim
    return x.reshape(*x.shape[:start_dim], -1, *x.shape[end + 1 :])


def select(x, dim, index):
    return np.take(x, index, dim)


def narrow(x, dim, start, length):
    return np.take(
        x, range(start % max(x.shape[dim], 1), start % max(x.shape[dim], 1) + length), dim
    )


def squeeze(x, dim=None):
    dims = range(x.ndim) if dim is None else dim if isinstance(dim, tuple) else (dim,)
    return np.squeeze(x, tuple(d for d in dims if x.ndim and x.shape[d] == 1))


def unfold(x, dimension, size, step):
    windows = np.lib.stride_tricks.sliding_window_view(x, size, dimension)
    return np.take(windows, range(0, windows.shape[dimension], step), dimension)


def expand(x, *sizes):
    sizes = sizes[0] if isinstance(sizes[0], tuple) else sizes
    lead = len(sizes) - x.ndim
    return np.broadcast_to(
        x, [x.shape[i - lead] if size == -1 else size for i, size in enumerate(sizes)]
    )


def diagonal(x, offset=0, dim1=0, dim2=1):
    return np.diagonal(x, offset, dim1, dim2)


SPECS = [
    view(
        "reshape",
        reshape,
        ((2, 3), (3, 2)),
        ((2, 3), (-1,)),
        ((6,), (2, 1, 3)),
        ((0, 3), (3, 0)),
        ((), (1, 1)),
        ((4, 6), (2, 2, 6)),
        errors=[Case(args=(np.zeros(5), (2, 3)), match="reshape|invalid for input")],
        dtypes=ALL,
    ),
    view(
        "Tensor.view",
        reshape,
        ((2, 3), 3, 2),
        ((2, 3), (-1,)),
        ((6,), 2, 1, 3),
        ((0, 3), 3, 0),
        views=False,
        errors=[Case(args=(np.zeros((2, 3)).T, 6), match="view")],
    ),
    view(
        "flatten",
        flatten,
        ((2, 3, 4),),
        ((2, 3, 4), 1),
        ((2, 3, 4), 0, 1),
        ((),),
        errors=bad_dim("flatten", 3),
    ),
    view(
        "transpose",
        np.swapaxes,
        ((2, 3), 0, 1),
        ((2, 3, 4), -1, 0),
        ((2, 3, 4), 1, 1),
        errors=bad_dim("transpose", 0, 2),
    ),
    view(
        "permute",
        lambda x, dims: x.transpose(dims),
        ((2, 3, 4), (2, 0, 1)),
        ((2, 3), (-1, 0)),
        ((), ()),
        errors=[Case(args=(np.zeros((2, 3)), (0, 0)), match="permute")],
    ),
    view(
        "movedim",
        np.moveaxis,
        ((2, 3, 4), 0, 2),
        ((2, 3, 4), (0, 1), (1, 2)),
        errors=bad_dim("movedim", 0, 2),
    ),
    view(
        "t",
        np.transpose,
        ((2, 3),),
        ((5,),),
        ((),),
        errors=[Case(args=(np.zeros((2, 3, 4)),), match="t")],
    ),
    view(
        "squeeze",
        squeeze,
        ((1, 3, 1),),
        ((1, 3, 1), 0),
        ((1, 3, 1), 1),
        ((1, 3, 1), (0, 2)),
        ((),),
        errors=bad_dim("squeeze", 2),
    ),
    view(
        "unsqueeze",
        np.expand_dims,
        ((2, 3), 0),
        ((2, 3), 1),
        ((2, 3), -1),
        ((), 0),
        errors=bad_dim("unsqueeze", 3),
    ),
    view(
        "select",
        select,
        ((2, 3), 0, 1),
        ((2, 3), 1, -1),
        ((4,), 0, 2),
        errors=[Case(args=(np.zeros((2, 3)), 0, 2), raises=IndexError, match="select")],
    ),
    view(
        "narrow",
        narrow,
        ((5,), 0, 1, 3),
        ((4, 3), 1, 0, 2),
        ((4, 3), 0, 4, 0),
        ((5,), 0, -2, 2),
        errors=[Case(args=(np.zeros(5), 0, 3, 3), match="exceeds dimension size")],
    ),
    view(
        "diagonal",
        diagonal,
        ((3, 4),),
        ((3, 4), 1),
        ((3, 4), -1),
        ((2, 3, 4), 0, 1, 2),
        ((2, 3), 5),
        errors=[Case(args=(np.zeros((2, 3)), 0, 1, 1), match="diagonal")],
    ),
    view(
        "Tensor.unfold",
        unfold,
        ((6,), 0, 3, 1),
        ((2, 7), 1, 3, 2),
        errors=[Case(args=(np.zeros(5), 0, 6, 1), match="maximum size|unfold")],
    ),
    view(
        "Tensor.expand",
        expand,
        ((3,), 2, 3),
        ((2, 1), (2, 4)),
        ((1,), (0,)),
        ((2, 1), (-1, 3)),
        ((), (2, 2)),
        errors=[Case(args=(np.zeros(3), 2), match="expand")],
    ),
    view(
        "broadcast_to",
        np.broadcast_to,
        ((3,), (2, 3)),
        ((2, 1), (2, 4)),
        errors=[Case(args=(np.zeros(3), (2,)), match="expanded size")],
    ),
    view(
        "unflatten",
        lambda x, dim, sizes: x.reshape(*x.shape[:dim], *sizes, *x.shape[dim + 1 :]),
        ((2, 6), 1, (2, 3)),
        ((4,), 0, (2, 2)),
        errors=[Case(args=(np.zeros(5), 0, (2, 3)), match="unflatten")],
    ),
    view("swapaxes", np.swapaxes, ((2, 3), 0, 1), errors=bad_dim("swapaxes|transpose", 0, 2)),
    view(
        "ravel", np.ravel, ((2, 3),), ((),), errors=[Case(args=(), raises=TypeError, match="input")]
    ),
    view(
        "atleast_2d",
        np.atleast_2d,
        ((),),
        ((3,),),
        ((2, 3),),
        ((2, 3, 4),),
        method=False,
        errors=[Case(args=("text",), raises=(TypeError, AttributeError), match="Tensor|attribute")],
    ),
]

NOT_TENSOR = [Case(args=("text",), raises=(TypeError, AttributeError), match="argument|attribute")]


def strides_of(x, size, stride, storage_offset=None):
    flat = np.ascontiguousarray(x).reshape(-1)[storage_offset or 0 :]
    places = sum(
        np.arange(n).reshape((-1,) + (1,) * (len(size) - d - 1)) * stride[d]
        for d, n in enumerate(size)
    )
    return flat[places]


def sliced(x, dim=0, start=None, end=None, step=1):
    return x[(slice(None),) * dim + (slice(start, end, step),)]


def strided_scatter(x, src, size, stride, storage_offset=None):
    flat = np.array(x).reshape(-1)
    flat[strides_of(np.arange(flat.size), size, stride, storage_offset)] = src
    return flat.reshape(x.shape)


def as_complex(x):
    return x[..., 0] + 1j * x[..., 1]


# Strides count elements of the memory, which only a contiguous tensor has in the order of its values.
DENSE = {"views": False}

SPECS += [
    view("adjoint", lambda x: np.swapaxes(x.conj(), -1, -2), ((2, 3),), ((2, 3, 4),),
         errors=[Case(args=(np.zeros(2),), match="adjoint|dim")]),
    view("atleast_1d", np.atleast_1d, ((),), ((3,),), ((2, 3),), method=False, errors=NOT_TENSOR),
    view("atleast_3d", np.atleast_3d, ((),), ((3,),), ((2, 3),), ((2, 3, 4, 1),), method=False,
         errors=NOT_TENSOR),
    view("swapdims", np.swapaxes, ((2, 3), 0, 1), ((2, 3, 4), -1, 0),
         errors=bad_dim("swapdims|transpose", 0, 2)),
    view("detach", np.copy, ((2, 3),), ((),), grad=False, errors=NOT_TENSOR),
    view("resolve_conj", np.copy, ((2, 3),), ((),), errors=NOT_TENSOR),
    view("resolve_neg", np.copy, ((2, 3),), ((),), errors=NOT_TENSOR),
    view("as_strided", strides_of, ((3, 4), (2, 2), (4, 1)), ((3, 4), (2, 3), (1, 2), 1),
         ((12,), (3, 3), (1, 1)), ((5,), (), (), 3),
         errors=[Case(args=(np.zeros(4), (3,), (2,)), match="out of bounds|storage")], **DENSE),
    view("as_strided_scatter", strided_scatter, ((3, 4), Shape((2, 2)), (2, 2), (4, 1)),
         ((12,), Shape((3,)), (3,), (2,), 1),
         errors=[Case(args=(np.zeros(4), np.zeros(3), (3,), (2,)), match="out of bounds|storage")],
         **DENSE),
    view("broadcast_tensors", lambda *x: tuple(np.broadcast_arrays(*x)),
         ((2, 1), Shape((3,))), ((), Shape((2, 3))),
         method=False, errors=[Case(args=(np.zeros(2), np.zeros(3)), match="broadcast")]),
    view("slice_copy", sliced, ((5,),), ((5,), 0, 1, 4), ((4, 5), 1, None, -1, 2),
         errors=bad_dim("slice_copy|slice", 2)),
    view("view_copy", reshape, ((2, 3), (3, 2)), ((4,), (2, -1)),
         errors=[Case(args=(np.zeros((2, 3)), (4,)), match="view|invalid for input")], **DENSE),
    view("alias_copy", np.copy, ((2, 3),), ((),), errors=NOT_TENSOR),
    OpSpec("view_as_real_copy", lambda x: np.stack([x.real, x.imag], -1), case_samples(((2, 3),), ((),)),
           dtypes=("complex64", "complex128"), errors=[Case(args=(np.zeros(2),), match="complex")]),
    OpSpec("view_as_complex_copy", as_complex, case_samples(((3, 2),), ((2,),)), views=False,
           result_dtype={"float32": "complex64", "float64": "complex128"}.get,
           errors=[Case(args=(np.zeros(3),), match="size 2|last dim")]),
]  # fmt: skip

BY_NAME = {spec.name: spec for spec in SPECS}
# The same values in memory of their own.
SPECS += [
    replace(BY_NAME[name], name=f"{name.rpartition('.')[2]}_copy")
    for name in (
        *("diagonal", "permute", "select", "squeeze", "t", "transpose", "unsqueeze"),
        *("as_strided", "detach", "Tensor.unfold"),
    )
] + [
    replace(BY_NAME["narrow"], name="narrow_copy"),
    view("expand_copy", expand, ((3,), (2, 3)), ((2, 1), (-1, 3)), ((), (2, 2)),
         errors=[Case(args=(np.zeros(3), (2,)), match="expand")]),
]  # fmt: skip
