"""Helpers of DataPipes: checks of functions, lists of files, and streams that close themselves."""

import fnmatch
import functools
import inspect
import os
import warnings
from io import IOBase

__all__ = [
    "StreamWrapper",
    "get_file_binaries_from_pathnames",
    "get_file_pathnames_from_root",
    "match_masks",
    "validate_input_col",
    "validate_pathname_binary_tuple",
]


def validate_input_col(fn, input_col):
    """ValueError unless fn can be called with as many arguments as input_col selects."""
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (ValueError, TypeError):
        return  # built-in functions don't always tell
    count = len(input_col) if isinstance(input_col, (list, tuple)) else 1
    required = optional = keyword = 0
    takes_any = False
    for parameter in parameters:
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            if parameter.default is parameter.empty:
                required += 1
            else:
                optional += 1
        elif parameter.kind is parameter.VAR_POSITIONAL:
            takes_any = True
        elif parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty:
            keyword += 1
    name = fn.func.__name__ if isinstance(fn, functools.partial) else getattr(fn, "__name__", fn)
    if keyword:
        raise ValueError(
            f"The function {name} takes {keyword} non-default keyword-only parameters, which is not allowed."
        )
    if required + optional < count and not takes_any:
        raise ValueError(
            f"The function {name} takes {required + optional} parameters, but {count} are required."
        )
    if required > count:
        raise ValueError(
            f"The function {name} takes {required} positional parameters, but {count} are required."
        )


def _is_local_fn(fn):
    if hasattr(fn, "__code__"):
        return "<locals>" in fn.__qualname__ or fn.__name__ == "<lambda>"
    return "<locals>" in type(fn).__qualname__


def _check_unpickable_fn(fn):
    """TypeError unless fn is callable; a warning if it can't be pickled."""
    if not callable(fn):
        raise TypeError(f"A callable function is expected, but {type(fn)} is provided.")
    if isinstance(fn, functools.partial):
        fn = fn.func
    if not _is_local_fn(fn) or _has_dill():
        return
    if getattr(fn, "__name__", "") == "<lambda>" and "<locals>" not in fn.__qualname__:
        warnings.warn(
            "Lambda function is not supported by pickle, please use "
            "regular python function or functools.partial instead.",
            stacklevel=3,
        )
        return
    warnings.warn(
        "Local function is not supported by pickle, please use "
        "regular python function or functools.partial instead.",
        stacklevel=3,
    )


@functools.cache
def _has_dill():
    import importlib.util

    return importlib.util.find_spec("dill") is not None


def match_masks(name, masks):
    """Whether a name fits one of the shell patterns; an empty string fits all."""
    if not masks:
        return True
    return any(
        fnmatch.fnmatch(name, mask) for mask in ([masks] if isinstance(masks, str) else masks)
    )


def get_file_pathnames_from_root(
    root, masks, recursive=False, abspath=False, non_deterministic=False
):
    """Paths of the files below root (or root itself), sorted unless non_deterministic."""

    def fail(error):
        warnings.warn(f"{error.filename} : {error.strerror}", stacklevel=2)
        raise error

    if os.path.isfile(root):
        path = os.path.abspath(root) if abspath else root
        if match_masks(os.path.basename(path), masks):
            yield path
        return
    for path, folders, files in os.walk(root, onerror=fail):
        if abspath:
            path = os.path.abspath(path)
        if not non_deterministic:
            files.sort()
            folders.sort()
        for name in files:
            if match_masks(name, masks):
                yield os.path.join(path, name)
        if not recursive:
            return


def get_file_binaries_from_pathnames(pathnames, mode, encoding=None):
    """Pairs of path and open file."""
    if not isinstance(pathnames, (list, tuple)) and isinstance(pathnames, str):
        pathnames = [pathnames]
    if mode in ("b", "t"):
        mode = "r" + mode
    for pathname in pathnames:
        if not isinstance(pathname, str):
            raise TypeError(f"Expected string type for pathname, but got {type(pathname)}")
        yield pathname, StreamWrapper(open(pathname, mode, encoding=encoding))


def validate_pathname_binary_tuple(data):
    """TypeError unless data is (path, open file)."""
    if not isinstance(data, tuple):
        raise TypeError(f"pathname binary data should be tuple type, but it is type {type(data)}")
    if len(data) != 2:
        raise TypeError(f"pathname binary stream tuple length should be 2, but got {len(data)}")
    if not isinstance(data[0], str):
        raise TypeError(
            f"pathname within the tuple should have string type pathname, but it is type {type(data[0])}"
        )
    if not isinstance(data[1], (IOBase, StreamWrapper)):
        raise TypeError(
            "binary stream within the tuple should have IOBase or"
            f"its subclasses as type, but it is type {type(data[1])}"
        )


def deprecation_warning(name, functional):
    """FutureWarning that a pipe and its functional form were to go."""
    warnings.warn(
        f"`{name}()` and its functional API `.{functional}()` are deprecated since 1.12 and will be removed in 1.13.\n"
        "See https://github.com/pytorch/data/issues/163 for details.",
        FutureWarning,
        stacklevel=3,
    )


class StreamWrapper:
    """An open file that closes when nobody refers to it, or to its children, any more.

    Args:
        file_obj: the file.
        parent_stream: the wrapper of the archive that it is read from; closed with its last child.
        name: for messages.
    """

    def __init__(self, file_obj, parent_stream=None, name=None):
        self.file_obj = file_obj
        self.child_counter = 0
        self.parent_stream = parent_stream
        self.close_on_last_child = False
        self.name = name
        self.closed = False
        if parent_stream is not None:
            if not isinstance(parent_stream, StreamWrapper):
                raise RuntimeError(
                    f"Parent stream should be StreamWrapper, {type(parent_stream)} was given"
                )
            parent_stream.child_counter += 1

    @classmethod
    def close_streams(cls, v, depth=0):
        """Close the wrappers in nested containers, or let them close with their last child."""
        if depth > 10:
            return
        if isinstance(v, StreamWrapper):
            if v.child_counter:
                v.close_on_last_child = True
            else:
                v.close()
        elif isinstance(v, dict):
            for value in v.values():
                cls.close_streams(value, depth + 1)
        elif isinstance(v, (list, tuple)):
            for value in v:
                cls.close_streams(value, depth + 1)

    def __getattr__(self, name):
        if name == "file_obj":  # not set yet: while it is unpickled
            raise AttributeError(name)
        return getattr(self.file_obj, name)

    def close(self, *args, **kwargs):
        """Close the file, and the parent if this was its last child."""
        if self.closed:
            return
        try:
            self.file_obj.close(*args, **kwargs)
        except AttributeError:
            pass
        parent = self.parent_stream
        if parent is not None:
            parent.child_counter -= 1
            if parent.child_counter == 0 and parent.close_on_last_child:
                parent.close()
        self.closed = True

    def autoclose(self):
        """Close now, or when the last child closes."""
        self.close_on_last_child = True
        if self.child_counter == 0:
            self.close()

    def __dir__(self):
        return [*self.__dict__, *dir(StreamWrapper), *dir(self.file_obj)]

    def __del__(self):
        if not self.__dict__.get("closed", True):
            self.close()

    def __iter__(self):
        yield from self.file_obj

    def __next__(self):
        return next(self.file_obj)

    def __repr__(self):
        return (
            f"StreamWrapper<{self.file_obj!r}>"
            if self.name is None
            else f"StreamWrapper<{self.name},{self.file_obj!r}>"
        )

    def __getstate__(self):
        return self.file_obj

    def __setstate__(self, file_obj):
        self.__init__(file_obj)
