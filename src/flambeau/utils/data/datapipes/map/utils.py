"""SequenceWrapper: a sequence or mapping as a DataPipe."""

from ..datapipe import MapDataPipe, copied

__all__ = ["SequenceWrapperMapDataPipe"]


class SequenceWrapperMapDataPipe(MapDataPipe):
    """The items of a sequence or mapping; deepcopy keeps a copy, so that the source is not changed in place."""

    def __init__(self, sequence, deepcopy=True):
        if deepcopy:
            sequence = copied(
                sequence,
                "The input sequence can not be deepcopied, "
                "please be aware of in-place modification would affect source data",
            )
        self.sequence = sequence

    def __getitem__(self, index):
        return self.sequence[index]

    def __len__(self):
        return len(self.sequence)
