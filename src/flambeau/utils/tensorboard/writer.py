"""SummaryWriter, with which training scripts log numbers, texts and images for TensorBoard."""

import os
import socket
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any

import numpy as np

from . import _summaries
from ._records import FileWriter

__all__ = ["FileWriter", "SummaryWriter"]


class SummaryWriter:
    """Logs to event files in a folder, which TensorBoard shows.

    Needs neither TensorBoard nor protobuf. There is no add_graph, add_embedding, add_mesh or add_video.

    Args:
        log_dir: the folder; None: runs/ and a name of time and host.
        comment: end of that name; without effect with log_dir.
        purge_step: TensorBoard hides events of this step and later ones that were logged before (after a crash).
        max_queue, flush_secs, filename_suffix: see FileWriter.
    Example:
        >>> from flambeau.utils.tensorboard import SummaryWriter
        >>> import tempfile
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_scalar("loss", 0.5, 1)
    """

    def __init__(
        self,
        log_dir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            now = datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")
        self.log_dir = log_dir
        self.purge_step = purge_step
        self.max_queue = max_queue
        self.flush_secs = flush_secs
        self.filename_suffix = filename_suffix
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] | None = None
        self._get_file_writer()

    def _get_file_writer(self) -> FileWriter:
        """The file of this writer; a new one after close()."""
        if self.all_writers is None or self.file_writer is None:
            self.file_writer = self._open(self.log_dir)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                self.file_writer.add_event(
                    b"\x3a\x02\x08\x01", self.purge_step
                )  # session log: start
                self.purge_step = None
        return self.file_writer

    def _open(self, folder: str) -> FileWriter:
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    def get_logdir(self) -> str:
        """The folder."""
        return self.log_dir

    def _add(self, summary: bytes, step: Any, walltime: float | None) -> None:
        self._get_file_writer().add_summary(summary, step, walltime)

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Log a number; double_precision keeps 64 bits (with new_style)."""
        self._add(
            _summaries.scalar(tag, scalar_value, new_style, double_precision), global_step, walltime
        )

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Log several numbers as curves of one diagram: each in a folder (and event file) of its own."""
        walltime = time.time() if walltime is None else walltime
        base = self._get_file_writer().get_logdir()
        assert self.all_writers is not None
        for tag, value in tag_scalar_dict.items():
            folder = f"{base}/{main_tag.replace('/', '_')}_{tag}"
            if folder not in self.all_writers:
                self.all_writers[folder] = self._open(folder)
            summary = _summaries.scalar(main_tag, value)
            self.all_writers[folder].add_summary(summary, global_step, walltime)

    def add_tensor(
        self, tag: str, tensor: Any, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Log the values of a tensor."""
        self._add(_summaries.tensor(tag, tensor), global_step, walltime)

    def add_text(
        self,
        tag: str,
        text_string: str,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Log a text, which is shown as Markdown."""
        self._add(_summaries.text(tag, text_string), global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Log how values are distributed; bins is "tensorflow" or what numpy.histogram takes."""
        self._add(_summaries.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_histogram_raw(
        self,
        tag: str,
        min: float,
        max: float,
        num: int,
        sum: float,
        sum_squares: float,
        bucket_limits: Sequence[float],
        bucket_counts: Sequence[float],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Log a histogram by its parts.

        Raises:
            ValueError: bucket_limits and bucket_counts differ in length.
        """
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        summary = _summaries.histogram_raw(
            tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts
        )
        self._add(summary, global_step, walltime)

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Log an image: floating point in [0, 1] or uint8; dataformats names its dims."""
        self._add(_summaries.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Log a batch of images as one, eight in a row."""
        value = _summaries.array_of(img_tensor) if not isinstance(img_tensor, list) else img_tensor
        if isinstance(value, list):
            value = np.stack([_summaries.array_of(item) for item in value])
        self._add(_summaries.image(tag, value, dataformats), global_step, walltime)

    def add_figure(
        self,
        tag: str,
        figure: Any,
        global_step: int | None = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """Log a figure of matplotlib, or a list of them, and close it."""
        drawn = []
        for item in figure if isinstance(figure, list) else [figure]:
            from matplotlib.backends.backend_agg import FigureCanvasAgg

            canvas = FigureCanvasAgg(item)
            canvas.draw()
            drawn.append(np.asarray(canvas.buffer_rgba())[..., :3])
            if close:
                from matplotlib import pyplot

                pyplot.close(item)
        self.add_images(tag, np.stack(drawn), global_step, walltime, "NHWC")

    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: int | None = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """Log a sound: one channel, values in [-1, 1], sample_rate in Hz."""
        self._add(_summaries.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Log precision and recall of predicted probabilities for binary labels."""
        count = min(num_thresholds, 127)  # more would need a field that TensorBoard reads as signed
        summary = _summaries.pr_curve(tag, labels, predictions, count, weights)
        self._add(summary, global_step, walltime)

    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Any,
        false_positive_counts: Any,
        true_negative_counts: Any,
        false_negative_counts: Any,
        precision: Any,
        recall: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Log a precision and recall curve by its parts."""
        parts = (
            true_positive_counts,
            false_positive_counts,
            true_negative_counts,
            false_negative_counts,
        )
        summary = _summaries.pr_curve_raw(tag, *parts, precision, recall, min(num_thresholds, 127))
        self._add(summary, global_step, walltime)

    def add_hparams(
        self,
        hparam_dict: Mapping[str, Any],
        metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Mapping[str, Sequence[Any]] | None = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """Log the settings of a run with the metrics it reached, in a folder of its own.

        Raises:
            TypeError: hparam_dict or metric_dict is no dict.
            ValueError: a setting is no number, text, bool or tensor of one number.
        """
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        summaries = _summaries.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = os.path.join(self._get_file_writer().get_logdir(), run_name or str(time.time()))
        with SummaryWriter(log_dir=folder) as writer:
            for summary in summaries:
                writer._add(summary, global_step, None)
            for name, value in metric_dict.items():
                writer.add_scalar(name, value, global_step)

    def flush(self) -> None:
        """Write out all events so far."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """Write out and close the files."""
        for writer in (self.all_writers or {}).values():
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> "SummaryWriter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
