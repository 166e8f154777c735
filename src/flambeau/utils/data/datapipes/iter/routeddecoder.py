"""RoutedDecoder: contents of files decoded by their extensions."""

from collections.abc import Sized

from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import deprecation_warning, validate_pathname_binary_tuple
from ..utils.decoder import Decoder, basichandlers, extension_extract_fn, imagehandler

__all__ = ["RoutedDecoderIterDataPipe"]


@functional_datapipe("routed_decode")
class RoutedDecoderIterDataPipe(IterDataPipe):
    """Yields pairs of path and decoded contents.

    Args:
        datapipe: pairs of path and open binary file.
        handlers: functions (extension, bytes) -> value or None; by default text, JSON, tensors and images.
        key_fn: extension of a path.
    """

    def __init__(self, datapipe, *handlers, key_fn=extension_extract_fn):
        super().__init__()
        self.datapipe = datapipe
        if not handlers:
            handlers = (basichandlers, imagehandler("torch"))
        self.decoder = Decoder(*handlers, key_fn=key_fn)
        deprecation_warning(type(self).__name__, "routed_decode")

    def add_handler(self, *handler):
        """Try more handlers, after those there are."""
        self.decoder.add_handler(*handler)

    def __iter__(self):
        for data in self.datapipe:
            validate_pathname_binary_tuple(data)
            path = data[0]
            yield path, self.decoder(data)[path]

    def __len__(self):
        if isinstance(self.datapipe, Sized):
            return len(self.datapipe)
        raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
