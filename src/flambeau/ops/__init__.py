"""Every op, one family per file. Star-imported by the package."""

# ruff: noqa: F403 - the families' __all__ lists say what is exported
from .conv import *
from .convert import *
from .create import *
from .index import *
from .join import *
from .matmul import *
from .pad import *
from .reduce import *
from .registry import verify
from .scatter import *
from .split import *
from .triangle import *
from .view import *
from .view_dtype import *

verify()
