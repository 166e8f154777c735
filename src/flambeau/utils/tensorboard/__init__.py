"""Logs for TensorBoard: SummaryWriter. Not here: the traced graph of a model, embeddings, meshes, videos."""

from ._records import FileWriter, RecordWriter
from .writer import SummaryWriter

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]
