"""The module where old programs find Variable, which is another name of Tensor."""

from ._api import Variable, _Engine

ImperativeEngine = _Engine

__all__ = ["ImperativeEngine", "Variable"]
