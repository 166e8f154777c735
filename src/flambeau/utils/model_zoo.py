"""The older name of flambeau.hub's downloads."""

from ..hub import load_state_dict_from_url as load_url

__all__ = ["load_url"]
