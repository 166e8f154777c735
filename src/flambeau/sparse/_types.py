"""torch.sparse.FloatTensor and so on: constructors of one dtype, and what isinstance() asks about."""

from .. import _C
from ._create import sparse_coo_tensor


class _SparseType(type):
    def __instancecheck__(cls, instance):
        return (
            isinstance(instance, _C.TensorBase)
            and instance.is_sparse
            and instance.dtype is cls.dtype
        )

    def __call__(cls, *args):
        """Indices, values and perhaps a size; or sizes, for a tensor without entries."""
        if args and isinstance(args[0], _C.TensorBase):
            return sparse_coo_tensor(*args, dtype=cls.dtype)
        size = args[0] if len(args) == 1 and not isinstance(args[0], int) else args
        return sparse_coo_tensor(tuple(size), dtype=cls.dtype)


def _of(name, dtype):
    doc = f"A sparse_coo tensor of {dtype}."
    attributes = {"dtype": dtype, "__module__": "flambeau.sparse", "__doc__": doc}
    return _SparseType(name, (), attributes)


FloatTensor = _of("FloatTensor", _C.float32)
DoubleTensor = _of("DoubleTensor", _C.float64)
HalfTensor = _of("HalfTensor", _C.float16)
BFloat16Tensor = _of("BFloat16Tensor", _C.bfloat16)
ByteTensor = _of("ByteTensor", _C.uint8)
CharTensor = _of("CharTensor", _C.int8)
ShortTensor = _of("ShortTensor", _C.int16)
IntTensor = _of("IntTensor", _C.int32)
LongTensor = _of("LongTensor", _C.int64)
