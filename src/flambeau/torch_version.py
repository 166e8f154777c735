"""The type of torch.__version__: text that compares as a version with text, tuples and packaging's Version."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

__all__ = ["TorchVersion"]

_PATTERN = re.compile(
    r"v?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<pre>a|b|c|rc|alpha|beta|pre|preview)[-_.]?(?P<pre_number>\d*))?"
    r"(?:[-_.]?(?P<post>post|rev|r)[-_.]?(?P<post_number>\d*))?"
    r"(?:[-_.]?(?P<dev>dev)[-_.]?(?P<dev_number>\d*))?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?",
    re.IGNORECASE,
)
_PRE = {"a": "a", "alpha": "a", "b": "b", "beta": "b"}  # every other word means rc


def _key(text: str) -> tuple[Any, ...] | None:
    """A tuple that orders versions as PEP 440 says; None for text that is no version."""
    match = _PATTERN.fullmatch(text.strip())
    if match is None:
        return None
    release = [int(part) for part in match["release"].split(".")]
    while len(release) > 1 and release[-1] == 0:
        release.pop()
    pre: tuple[Any, ...] = ("z",)  # a release comes after its pre-releases
    if match["pre"]:
        pre = (_PRE.get(match["pre"].lower(), "rc"), int(match["pre_number"] or 0))
    elif match["dev"] and not match["post"]:
        pre = ("",)  # a development release comes before them
    post = int(match["post_number"] or 0) if match["post"] else -1
    dev = int(match["dev_number"] or 0) if match["dev"] else float("inf")
    local = re.split("[-_.]", match["local"].lower()) if match["local"] else []
    parts = [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in local]
    return tuple(release), pre, post, dev, parts


class TorchVersion(str):
    """A version as text, e.g. TorchVersion("1.10.0") > (1, 9) and TorchVersion("1.10.0") > "1.9".

    Compared with text that is no version, it is plain text.
    """

    __slots__ = ()

    def _pair(self, other: Any) -> tuple[Any, Any]:
        if isinstance(other, Iterable) and not isinstance(other, str):
            other = ".".join(str(part) for part in other)
        other = str(other)
        mine, theirs = _key(self), _key(other)
        if mine is None or theirs is None:
            return str(self), other
        return mine, theirs

    def __eq__(self, other: object) -> bool:
        mine, theirs = self._pair(other)
        return bool(mine == theirs)

    def __lt__(self, other: Any) -> bool:
        mine, theirs = self._pair(other)
        return bool(mine < theirs)

    def __le__(self, other: Any) -> bool:
        return not self > other

    def __gt__(self, other: Any) -> bool:
        mine, theirs = self._pair(other)
        return bool(mine > theirs)

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__
