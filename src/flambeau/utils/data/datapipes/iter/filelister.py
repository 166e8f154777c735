"""FileLister: paths of files in folders."""

from collections.abc import Sequence

from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import get_file_pathnames_from_root
from .utils import IterableWrapperIterDataPipe

__all__ = ["FileListerIterDataPipe"]


@functional_datapipe("list_files")
class FileListerIterDataPipe(IterDataPipe):
    """Yields the paths of files.

    Args:
        root: folder, list of folders, or a pipe of them.
        masks: shell pattern or patterns that names must fit.
        recursive: also in folders below.
        abspath: absolute paths.
        non_deterministic: in the order of the file system, not sorted.
        length: what len() says; -1 is unknown.
    """

    def __init__(
        self,
        root=".",
        masks="",
        *,
        recursive=False,
        abspath=False,
        non_deterministic=False,
        length=-1,
    ):
        super().__init__()
        if isinstance(root, str):
            root = [root]
        if not isinstance(root, IterDataPipe):
            if not isinstance(root, Sequence):
                root = list(root)
            root = IterableWrapperIterDataPipe(root)
        self.datapipe = root
        self.masks = masks
        self.recursive = recursive
        self.abspath = abspath
        self.non_deterministic = non_deterministic
        self.length = length

    def __iter__(self):
        for path in self.datapipe:
            yield from get_file_pathnames_from_root(
                path, self.masks, self.recursive, self.abspath, self.non_deterministic
            )

    def __len__(self):
        if self.length == -1:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
        return self.length
