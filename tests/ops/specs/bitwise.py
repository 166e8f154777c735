"""Bit operations."""

import numpy as np

from flambeau.testing.opspec import INTEGERS, Case, OpSpec, binary_samples, unary_samples


def bitwise(name, reference, samples, dtypes=("bool", *INTEGERS)):
    return OpSpec(
        name,
        reference,
        samples,
        dtypes=dtypes,
        grad=False,
        errors=[
            Case(
                args=(np.zeros(2), np.zeros(2)),
                match=name,
                raises=(RuntimeError, NotImplementedError),
            )
        ],
    )


SPECS = [
    bitwise("bitwise_and", np.bitwise_and, binary_samples(-100, 100, numbers=(5,))),
    bitwise("bitwise_or", np.bitwise_or, binary_samples(-100, 100, numbers=(5,))),
    bitwise("bitwise_xor", np.bitwise_xor, binary_samples(-100, 100, numbers=(5,))),
    bitwise(
        "bitwise_left_shift",
        np.left_shift,
        binary_samples(-5, 5, other_low=0, other_high=4, numbers=(2,)),
        INTEGERS,
    ),
    bitwise(
        "bitwise_right_shift",
        np.right_shift,
        binary_samples(-99, 99, other_low=0, other_high=4, numbers=(2,)),
        INTEGERS,
    ),
    OpSpec(
        "bitwise_not",
        np.invert,
        unary_samples(-100, 100),
        dtypes=("bool", *INTEGERS),
        grad=False,
        errors=[
            Case(
                args=(np.zeros(2),), match="bitwise_not", raises=(RuntimeError, NotImplementedError)
            )
        ],
    ),
]
