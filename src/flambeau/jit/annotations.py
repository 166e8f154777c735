"""Types that programs import from here for their annotations."""

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035 - the names are what is asked for

__all__ = ["Any", "Dict", "List", "Optional", "Tuple", "Union"]
