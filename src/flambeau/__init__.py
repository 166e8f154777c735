"""Flambeau: PyTorch's programming model and libraries, small and fast on CPUs.

The names are PyTorch's. Submodules load when they are first used, so that `import flambeau` stays quick.
"""

import importlib
from math import e, inf, nan, pi

from . import _load  # before anything that imports the extension

# isort: split
from ._C import (
    Generator,
    LinAlgError,
    Size,
    bfloat16,
    bool,
    channels_last,
    channels_last_3d,
    complex32,
    complex64,
    complex128,
    contiguous_format,
    device,
    dtype,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
    from_numpy,
    get_default_device,
    get_default_dtype,
    get_num_threads,
    int8,
    int16,
    int32,
    int64,
    layout,
    memory_format,
    preserve_format,
    qint8,
    qint32,
    quint2x4,
    quint4x2,
    quint8,
    set_default_device,
    set_default_dtype,
    set_num_threads,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .tensor import Tensor  # before ops: results are of this class

# isort: split
from . import ops
from .ops import *
from .random import (
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)

__version__ = "0.1.0"

# Ops that PyTorch has in nn.functional only, or has at top level with other arguments (see _LAZY).
for _name in """
    adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d avg_pool2d avg_pool3d batch_norm
    binary_cross_entropy binary_cross_entropy_with_logits cross_entropy ctc_loss elu elu_ embedding_bag fold
    fractional_max_pool2d fractional_max_pool3d gelu glu hardsigmoid hardswish hardtanh hardtanh_ huber_loss kl_div
    l1_loss leaky_relu leaky_relu_ linear logsigmoid mish mse_loss nll_loss pad relu6 scaled_dot_product_attention silu
    smooth_l1_loss softplus softshrink unfold
""".split():
    globals().pop(_name, None)

half = float16
float = float32
double = float64
short = int16
int = int32
long = int64
cfloat = complex64
cdouble = complex128
chalf = complex32

newaxis = None

# Submodules, imported by the first use of `flambeau.<name>`.
_SUBMODULES = frozenset(
    """
    accelerator amp autograd backends compiler cpu cuda distributed distributions errors export fft func futures fx hub
    jit library linalg masked memory mps mtia multiprocessing nn onnx optim overrides printing profiler quasirandom
    random serialization signal sparse special storage testing torch_version types utils version xpu __config__ _dynamo
    _jit_internal _subclasses
    """.split()
)
# Names of this package that live in a submodule: name -> module.
_LAZY = {
    **dict.fromkeys(
        "no_grad enable_grad set_grad_enabled inference_mode is_grad_enabled is_inference_mode_enabled "
        "is_anomaly_enabled is_anomaly_check_nan_enabled".split(),
        "autograd",
    ),
    **dict.fromkeys(
        """batch_norm binary_cross_entropy_with_logits conv_tbc cosine_embedding_loss ctc_loss embedding_bag
        hinge_embedding_loss kl_div margin_ranking_loss poisson_nll_loss triplet_margin_loss""".split(),
        "nn._functional.top_level",
    ),
    "vmap": "func",
    **dict.fromkeys("save load".split(), "serialization"),
    **dict.fromkeys("set_printoptions get_printoptions".split(), "printing"),
    **dict.fromkeys(
        """finfo iinfo is_storage is_tensor typename set_default_tensor_type get_num_interop_threads
        set_num_interop_threads""".split(),
        "type_info",
    ),
    **dict.fromkeys(
        """TypedStorage UntypedStorage FloatStorage DoubleStorage HalfStorage BFloat16Storage ByteStorage CharStorage
        ShortStorage IntStorage LongStorage BoolStorage ComplexFloatStorage ComplexDoubleStorage""".split(),
        "storage",
    ),
    **dict.fromkeys(
        """FloatTensor DoubleTensor HalfTensor BFloat16Tensor ByteTensor CharTensor ShortTensor IntTensor LongTensor
        BoolTensor ComplexFloatTensor ComplexDoubleTensor""".split(),
        "tensor_types",
    ),
    **dict.fromkeys(
        """use_deterministic_algorithms are_deterministic_algorithms_enabled set_deterministic_debug_mode
        is_deterministic_algorithms_warn_only_enabled get_deterministic_debug_mode""".split(),
        "determinism",
    ),
    **dict.fromkeys(
        """compiled_with_cxx11_abi from_file get_float32_matmul_precision is_warn_always_enabled
        has_lapack has_mkl has_openmp has_spectral set_float32_matmul_precision set_flush_denormal
        set_warn_always""".split(),
        "settings",
    ),
    **dict.fromkeys(
        """autocast autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache get_autocast_cpu_dtype
        get_autocast_dtype get_autocast_gpu_dtype is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled
        set_autocast_cache_enabled set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_dtype
        set_autocast_enabled set_autocast_gpu_dtype""".split(),
        "amp.autocast_mode",
    ),
    **dict.fromkeys(
        "QUInt8Storage QInt8Storage QInt32Storage QUInt4x2Storage QUInt2x4Storage".split(),
        "storage",
    ),
    **dict.fromkeys(
        """dequantize per_channel_affine per_channel_affine_float_qparams per_channel_symmetric per_tensor_affine
        per_tensor_symmetric qscheme quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic
        quantized_batch_norm quantized_max_pool1d quantized_max_pool2d _empty_affine_quantized
        _make_per_channel_quantized_tensor _make_per_tensor_quantized_tensor""".split(),
        "quantized",
    ),
    "compile": "compiler",
    **dict.fromkeys("Stream SymInt".split(), "legacy"),
    **dict.fromkeys("DisableTorchFunction DisableTorchFunctionSubclass".split(), "overrides"),
    "JITException": "jit",
    "Storage": "storage",
    **dict.fromkeys(
        """sparse_coo_tensor sparse_csr_tensor sparse_csc_tensor sparse_bsr_tensor sparse_bsc_tensor
        sparse_compressed_tensor""".split(),
        "sparse",
    ),
    "from_dlpack": "utils.dlpack",
    "to_dlpack": "utils.dlpack",
    "Future": "futures",
    **dict.fromkeys(
        """_assert_async _check _check_index _check_is_size _check_not_implemented _check_tensor_all _check_type
        _check_value _check_with""".split(),
        "_checks",
    ),
    "get_device_module": "settings",
    "fork_rng": "random",
    "wait": "futures",
}


def __getattr__(name):
    if name in _LAZY:
        value = getattr(importlib.import_module(f".{_LAZY[name]}", __package__), name)
    elif name in _SUBMODULES:
        try:
            value = importlib.import_module(f".{name}", __package__)
        except ModuleNotFoundError as error:
            if error.name != f"{__package__}.{name}":
                raise
            raise AttributeError(f"module '{__name__}' has no attribute '{name}'") from None
    elif name.startswith("_foreach_"):
        value = importlib.import_module("._foreach", __package__).find(name)
        if value is None:
            raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    elif name.startswith("_") and callable(vars(ops).get(name)):  # star imports leave these out
        value = vars(ops)[name]
    else:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_LAZY, *_SUBMODULES})
