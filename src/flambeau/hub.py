"""Models from folders with a hubconf.py, and checkpoints from URLs, kept in a cache folder.

Code is only taken from local folders: nothing is downloaded and run.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlparse

__all__ = [
    "download_url_to_file",
    "get_dir",
    "help",
    "list",
    "load",
    "load_state_dict_from_url",
    "set_dir",
]

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # name-1234abcd.pth: the start of its SHA-256

_dir: str | None = None


def _get_torch_home() -> str:
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch")))


def get_dir() -> str:
    """Return the cache folder: the one that was set, $TORCH_HOME/hub, or ~/.cache/torch/hub."""
    if _dir is not None:
        return _dir
    return os.path.join(_get_torch_home(), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Set the cache folder."""
    global _dir
    _dir = os.path.expanduser(d)


def _hubconf(repo_or_dir: str, source: str) -> ModuleType:
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source != "local":
        raise NotImplementedError(
            f"hub: expected source='local' and a folder, got source={source!r} and {repo_or_dir!r}. "
            "Clone the repository and give its folder."
        )
    path = Path(repo_or_dir) / "hubconf.py"
    if not path.is_file():
        raise FileNotFoundError(f"hub: expected a folder with hubconf.py, got {repo_or_dir}")
    spec = importlib.util.spec_from_file_location("hubconf", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))  # hubconf.py imports its neighbours
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    missing = [
        name
        for name in getattr(module, "dependencies", [])
        if importlib.util.find_spec(name) is None
    ]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    return module


def _entrypoint(module: ModuleType, name: str) -> Callable[..., Any]:
    function = getattr(module, name, None)
    if not callable(function):
        raise RuntimeError(f"Cannot find callable {name} in hubconf")
    return function  # type: ignore[no-any-return]


def list(repo_or_dir: str, *args: Any, source: str = "github", **kwargs: Any) -> Any:
    """Return the names of the entry points of a folder's hubconf.py; source must be "local"."""
    module = _hubconf(repo_or_dir, source)
    return [name for name in dir(module) if callable(getattr(module, name)) and name[0] != "_"]


def help(
    repo_or_dir: str, model: str, *args: Any, source: str = "github", **kwargs: Any
) -> str | None:
    """Return the docstring of an entry point."""
    return _entrypoint(_hubconf(repo_or_dir, source), model).__doc__


def load(
    repo_or_dir: str,
    model: str,
    *args: Any,
    source: str = "github",
    trust_repo: Any = None,
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: Any,
) -> Any:
    """Return what an entry point of a folder's hubconf.py makes.

    Args:
        repo_or_dir: the folder.
        model: name of the entry point, a function in hubconf.py.
        args, kwargs: its arguments.
        source: must be "local".
        trust_repo, force_reload, verbose, skip_validation: accepted; they are about downloads.
    Raises:
        NotImplementedError: for another source than "local".
    """
    return _entrypoint(_hubconf(repo_or_dir, source), model)(*args, **kwargs)


def download_url_to_file(
    url: str, dst: str, hash_prefix: str | None = None, progress: bool = True
) -> None:
    """Download a file; it appears under its name when it is complete.

    Raises:
        RuntimeError: its SHA-256 does not start with hash_prefix.
    """
    folder = os.path.dirname(os.path.abspath(dst))
    digest = hashlib.sha256()
    handle, partial = tempfile.mkstemp(dir=folder, suffix=".partial")
    try:
        with os.fdopen(handle, "wb") as file, urllib.request.urlopen(url) as response:
            while chunk := response.read(1 << 20):
                file.write(chunk)
                digest.update(chunk)
        if hash_prefix and not digest.hexdigest().startswith(hash_prefix):
            raise RuntimeError(
                f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")'
            )
        os.replace(partial, dst)
    except BaseException as error:
        os.unlink(partial)
        if type(error) is urllib.error.URLError:
            raise urllib.error.URLError(
                f"{error.reason} (downloading {url}). Without a network, put the file at {dst}"
            ) from error
        raise


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = True,
) -> Any:
    """Return the checkpoint behind a URL, from the cache folder if it was downloaded before.

    With check_hash the name ends in the start of the file's SHA-256, as in name-1234abcd.pth.
    """
    from .serialization import load as load_file

    folder = model_dir or os.path.join(get_dir(), "checkpoints")
    os.makedirs(folder, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        match = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, path, match[1] if match else None, progress)
    return load_file(path, map_location=map_location, weights_only=weights_only)
