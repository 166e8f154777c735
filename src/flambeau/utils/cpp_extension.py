"""Extensions in C++ against PyTorch's own headers: they can't be built here, and every way to try says so."""

from typing import Any, NoReturn

__all__ = [
    "BuildExtension",
    "CUDAExtension",
    "CppExtension",
    "include_paths",
    "is_ninja_available",
    "library_paths",
    "load",
    "load_inline",
    "verify_ninja_availability",
]

CUDA_HOME = None
ROCM_HOME = None
IS_HIP_EXTENSION = False


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"{name}: extensions that are compiled against PyTorch's C++ headers can't be built or loaded: Flambeau has "
        "other internals. Use an implementation in Python, or register an op with flambeau.library."
    )


def load(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError: PyTorch's C++ headers aren't there to compile against."""
    _refuse("load")


def load_inline(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError: PyTorch's C++ headers aren't there to compile against."""
    _refuse("load_inline")


def CppExtension(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError: PyTorch's C++ headers aren't there to compile against."""
    _refuse("CppExtension")


def CUDAExtension(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError: there is neither CUDA nor PyTorch's C++ headers."""
    _refuse("CUDAExtension")


class BuildExtension:
    """Raises NotImplementedError when setuptools makes it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("BuildExtension")

    @classmethod
    def with_options(cls, **options: Any) -> type:
        """The class itself: its options don't matter."""
        return cls


def include_paths(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError: there are no headers to include."""
    _refuse("include_paths")


def library_paths(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise NotImplementedError: there are no libraries to link with."""
    _refuse("library_paths")


def is_ninja_available() -> bool:
    """Whether the build tool ninja is there."""
    import shutil

    return shutil.which("ninja") is not None


def verify_ninja_availability() -> None:
    """RuntimeError if ninja isn't there."""
    if not is_ninja_available():
        raise RuntimeError("Ninja is required to load C++ extensions")
