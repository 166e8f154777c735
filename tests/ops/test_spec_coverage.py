"""Every public function has a spec (tests/ops/specs), or stands in the table below with what tests it instead."""

import inspect
import re
from pathlib import Path

import pytest

import flambeau
from flambeau.testing.opcheck import resolve
from flambeau.testing.opspec import load_specs

TESTS = Path(__file__).resolve().parents[1]
SPECS = load_specs(Path(__file__).parent / "specs")
NAMES = {spec.name for spec in SPECS}
NAMESPACES = (
    *("", "nn.functional", "linalg", "special", "fft"),
    *("signal", "signal.windows", "masked"),
)

# What is no function of tensors, by the test that covers it: a file or folder that mentions each name.
ELSEWHERE = {
    "autograd": """is_anomaly_check_nan_enabled is_anomaly_enabled is_grad_enabled is_inference
        is_inference_mode_enabled""",
    "amp": """autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache get_autocast_cpu_dtype
        get_autocast_dtype get_autocast_gpu_dtype is_autocast_cache_enabled is_autocast_cpu_enabled
        is_autocast_enabled set_autocast_cache_enabled set_autocast_cpu_dtype set_autocast_cpu_enabled
        set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype""",
    "test_determinism.py": """are_deterministic_algorithms_enabled get_deterministic_debug_mode
        is_deterministic_algorithms_warn_only_enabled set_deterministic_debug_mode use_deterministic_algorithms""",
    "core/test_random.py": "fork_rng get_rng_state initial_seed manual_seed seed set_rng_state",
    "core/test_promotion.py": "can_cast promote_types result_type",
    "test_settings.py": """from_file get_float32_matmul_precision is_warn_always_enabled set_float32_matmul_precision
        set_flush_denormal set_warn_always compiled_with_cxx11_abi get_device_module""",
    "test_memory.py": "get_num_interop_threads get_num_threads set_num_interop_threads set_num_threads",
    "bindings": """from_dlpack to_dlpack get_default_device get_default_dtype set_default_device set_default_dtype
        from_numpy""",
    "test_type_info.py": "get_device is_storage is_tensor set_default_tensor_type typename",
    "test_printing.py": "get_printoptions set_printoptions",
    "archive": "load save",
    "quantized": """dequantize fake_quantize_per_channel_affine fake_quantize_per_tensor_affine quantize_per_channel
        quantize_per_tensor quantize_per_tensor_dynamic quantized_batch_norm quantized_max_pool1d
        quantized_max_pool2d""",
    "sparse": """ccol_indices_copy col_indices_copy crow_indices_copy indices_copy row_indices_copy values_copy
        resize_as_sparse_ hspmm smm sspaddmm sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor
        sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor""",
    "ops/test_create.py": "broadcast_shapes frombuffer",
    "test_compiler.py": "compile",
    "func": "vmap",
    "test_futures.py": "wait",
    "test_legacy.py": "DisableTorchFunction DisableTorchFunctionSubclass",
    "test_docs.py": "verify",
}


def functions():
    """(name below flambeau, function) of everything public that can be called and is no class."""
    for namespace in NAMESPACES:
        module = resolve(namespace) if namespace else flambeau
        for name in sorted(set(getattr(module, "__all__", None) or dir(module))):
            function = None if name.startswith("_") else getattr(module, name, None)
            if (
                callable(function)
                and not isinstance(function, type)
                and not inspect.ismodule(function)
            ):
                yield f"{namespace}.{name}" if namespace else name, function


def has_spec(name, function, tested):
    """By its name, as another name of one that has, or as the in-place form that the spec's suite runs."""
    last = name.rpartition(".")[2]
    if name in NAMES or f"Tensor.{last}" in NAMES or id(function) in tested:
        return True
    base = dict(functions()).get(name[:-1]) if last.endswith("_") else None
    return base is not None and hasattr(flambeau.Tensor, last) and has_spec(name[:-1], base, tested)


def test_every_function_has_a_spec():
    tested = {id(resolve(name)) for name in NAMES}
    excused = {name for names in ELSEWHERE.values() for name in names.split()}
    tested |= {id(getattr(flambeau, name)) for name in excused}
    missing = [name for name, function in functions() if not has_spec(name, function, tested)]
    missing = [name for name in missing if name not in excused]
    assert not missing, (
        f"write specs in tests/ops/specs, or say in ELSEWHERE what tests them: {missing}"
    )


@pytest.mark.parametrize("place", ELSEWHERE)
def test_what_is_tested_elsewhere_is_mentioned_there(place):
    path = TESTS / place
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    text = "\n".join(file.read_text() for file in files)
    names = ELSEWHERE[place].split()
    assert [name for name in names if not re.search(rf"\b{name}\b", text)] == []


def test_nothing_is_excused_that_has_a_spec():
    assert [name for names in ELSEWHERE.values() for name in names.split() if name in NAMES] == []


def test_error_cases_say_which_message(spec):
    assert spec.errors and all(case.match for case in spec.errors)
