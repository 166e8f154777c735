"""SummaryWriter: records for TensorBoard, through the tensorboard package, which is an optional dependency."""

from __future__ import annotations

import json
import os
import socket
import time
from typing import Any

import numpy as np

import flambeau

try:
    from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2
    from tensorboard.compat.proto.summary_pb2 import HistogramProto
    from tensorboard.plugins.custom_scalar import layout_pb2
    from tensorboard.plugins.hparams import api_pb2
    from tensorboard.plugins.hparams import plugin_data_pb2 as hparams_data
    from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData
    from tensorboard.plugins.text.plugin_data_pb2 import TextPluginData
    from tensorboard.summary.writer.event_file_writer import EventFileWriter
except ImportError as error:
    raise ImportError(
        "flambeau.utils.tensorboard: expected the package tensorboard, which is not installed or incomplete "
        f"({error}). Install it: pip install tensorboard"
    ) from error

__all__ = ["FileWriter", "SummaryWriter"]

_Summary = summary_pb2.Summary


def _array(value: Any) -> Any:
    """NumPy array of a tensor, array, number or list."""
    if isinstance(value, flambeau.Tensor):
        value = value.detach()
        if value.dtype == flambeau.bfloat16:
            value = value.float()
        return value.numpy()
    return np.asarray(value)


def _scalar(value: Any, what: str) -> float:
    array = _array(value)
    if array.size != 1:
        raise ValueError(f"{what}: expected one number, got an array of shape {array.shape}")
    return float(array.reshape(-1)[0])


class FileWriter:
    """Writes events to a file in a folder.

    Args:
        log_dir: folder.
        max_queue: events to hold before the caller waits.
        flush_secs: seconds between writes.
        filename_suffix: end of the file's name.
    """

    def __init__(
        self, log_dir: Any, max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = ""
    ) -> None:
        self.event_writer = EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """The folder."""
        return str(self.event_writer.get_logdir())

    def add_event(self, event: Any, step: Any = None, walltime: float | None = None) -> None:
        """Write an event."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(_scalar(step, "global_step"))
        self.event_writer.add_event(event)

    def add_summary(
        self, summary: Any, global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Write a summary."""
        self.add_event(event_pb2.Event(summary=summary), global_step, walltime)

    def flush(self) -> None:
        """Write what is held."""
        self.event_writer.flush()

    def close(self) -> None:
        """Write what is held and close the file."""
        self.event_writer.close()

    def reopen(self) -> None:
        """Go on after close()."""
        self.event_writer.reopen()


def _png(image: Any) -> bytes:
    """A PNG of an array (height, width, channels) of uint8."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            "add_image: expected the package Pillow. Install it: pip install pillow"
        ) from error
    import io

    stream = io.BytesIO()
    Image.fromarray(image[:, :, 0] if image.shape[2] == 1 else image).save(stream, "PNG")
    return stream.getvalue()


def _pixels(tensor: Any, dataformats: str) -> Any:
    """(height, width, channels) as uint8; floats are in [0, 1]. Several images (N) become one grid."""
    array = _array(tensor)
    formats = dataformats.upper()
    if sorted(formats) != sorted(set(formats)) or array.ndim != len(formats):
        raise AssertionError(
            f"size of input tensor and input format are different. "
            f"tensor shape: {array.shape}, input_format: {dataformats}"
        )
    floating = array.dtype.kind == "f"
    if formats == "HW":
        array = array[:, :, None]
        formats = "HWC"
    order = "NHWC" if "N" in formats else "HWC"
    array = array.transpose([formats.index(letter) for letter in order])
    if "N" in formats:
        array = _grid(array)
    if array.shape[2] == 1:
        array = np.repeat(array, 3, 2)
    return (array * 255.0).clip(0, 255).astype(np.uint8) if floating else array.astype(np.uint8)


def _grid(images: Any, columns: int = 8) -> Any:
    count, height, width, channels = images.shape
    columns = min(count, columns)
    rows = -(-count // columns)
    grid = np.zeros((rows * height, columns * width, channels), images.dtype)
    for i, image in enumerate(images):
        y, x = divmod(i, columns)
        grid[y * height : (y + 1) * height, x * width : (x + 1) * width] = image
    return grid


def _image_summary(tag: str, pixels: Any) -> Any:
    height, width, channels = pixels.shape
    image = _Summary.Image(
        height=height, width=width, colorspace=channels, encoded_image_string=_png(pixels)
    )
    return _Summary(value=[_Summary.Value(tag=tag, image=image)])


def _default_bins() -> list[float]:
    """Edges that grow by a tenth, to both sides of zero."""
    edges, value = [], 1e-12
    while value < 1e20:
        edges.append(value)
        value *= 1.1
    return [-edge for edge in reversed(edges)] + [0.0] + edges


def _histogram(values: Any, bins: Any, max_bins: int | None) -> Any:
    flat = _array(values).reshape(-1).astype(np.float64)
    if flat.size == 0:
        raise ValueError("The input has no element.")
    if bins == "tensorflow":
        bins = _default_bins()
    counts, limits = np.histogram(flat, bins=bins)
    if max_bins is not None and len(counts) > max_bins:
        step = len(counts) // max_bins
        padding = -len(counts) % step
        counts = np.pad(counts, (0, padding)).reshape(-1, step).sum(1)
        limits = np.append(limits[:-1][::step], limits[-1])
    # Without the empty ends, but one on each side that says where they begin.
    filled = np.flatnonzero(counts)
    first, last = (filled[0], filled[-1] + 1) if len(filled) else (0, len(counts))
    kept = [0.0, *counts[first:last].tolist()] if first == 0 else counts[first - 1 : last].tolist()
    edges = limits[first : last + 1].tolist()
    return HistogramProto(
        min=flat.min(),
        max=flat.max(),
        num=len(flat),
        sum=flat.sum(),
        sum_squares=flat.dot(flat),
        bucket_limit=edges,
        bucket=kept,
    )


class SummaryWriter:
    """Writes scalars, histograms, images and more for TensorBoard.

    Args:
        log_dir: folder; by default runs/<date>_<host><comment>.
        comment: end of the default folder's name.
        purge_step: after a crash: TensorBoard forgets what was written from this step on.
        max_queue, flush_secs, filename_suffix: as FileWriter takes them.
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
            now = time.strftime("%b%d_%H-%M-%S")
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
        if self.file_writer is None:
            self.file_writer = self._new_writer(self.log_dir)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                step = self.purge_step
                self.file_writer.add_event(event_pb2.Event(file_version="brain.Event:2"), step)
                session = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
                self.file_writer.add_event(event_pb2.Event(session_log=session), step)
                self.purge_step = None
        return self.file_writer

    def _new_writer(self, folder: Any) -> FileWriter:
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    def get_logdir(self) -> Any:
        """The folder."""
        return self.log_dir

    def _add(self, summary: Any, step: Any, walltime: float | None) -> None:
        self._get_file_writer().add_summary(summary, step, walltime)

    def _add_plugin(
        self, tag: str, plugin: str, content: bytes, tensor: Any, step: Any, walltime: float | None
    ) -> None:
        data = summary_pb2.SummaryMetadata.PluginData(plugin_name=plugin, content=content)
        metadata = summary_pb2.SummaryMetadata(plugin_data=data)
        value = _Summary.Value(tag=tag, metadata=metadata, tensor=tensor)
        self._add(_Summary(value=[value]), step, walltime)

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: Any = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Write a number.

        Args:
            tag: its name; parts before a slash group.
            scalar_value: number, or tensor or array of one element.
            global_step: step.
            walltime: seconds since the epoch; now, if not given.
            new_style, double_precision: write it as a tensor, of float64.
        """
        value = _scalar(scalar_value, "add_scalar")
        if not (new_style or double_precision):
            summary = _Summary(value=[_Summary.Value(tag=tag, simple_value=value)])
            self._add(summary, global_step, walltime)
            return
        field = {"double_val": [value]} if double_precision else {"float_val": [value]}
        kind = "DT_DOUBLE" if double_precision else "DT_FLOAT"
        self._add_plugin(
            tag, "scalars", b"", tensor_pb2.TensorProto(dtype=kind, **field), global_step, walltime
        )

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: dict[str, Any],
        global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Write several numbers for one plot, each to a folder of its own."""
        self._get_file_writer()
        assert self.all_writers is not None
        for tag, value in tag_scalar_dict.items():
            folder = os.path.join(str(self.log_dir), main_tag.replace("/", "_") + "_" + tag)
            if folder not in self.all_writers:
                self.all_writers[folder] = self._new_writer(folder)
            number = _Summary.Value(tag=main_tag, simple_value=_scalar(value, "add_scalars"))
            self.all_writers[folder].add_summary(_Summary(value=[number]), global_step, walltime)

    def add_tensor(
        self, tag: str, tensor: Any, global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Write a tensor of floats."""
        array = _array(tensor).astype(np.float32)
        dims = [tensor_shape_pb2.TensorShapeProto.Dim(size=size) for size in array.shape]
        proto = tensor_pb2.TensorProto(
            dtype="DT_FLOAT",
            float_val=array.reshape(-1).tolist(),
            tensor_shape=tensor_shape_pb2.TensorShapeProto(dim=dims),
        )
        self._add_plugin(tag, "tensor", b"", proto, global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: Any = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Write how values are distributed.

        Args:
            bins: "tensorflow", or what numpy.histogram takes.
            max_bins: put neighbours together until there are no more than this.
        """
        histogram = _histogram(values, bins, max_bins)
        self._add(_Summary(value=[_Summary.Value(tag=tag, histo=histogram)]), global_step, walltime)

    def add_histogram_raw(
        self, tag: str, min: Any, max: Any, num: Any, sum: Any, sum_squares: Any, bucket_limits: Any,
        bucket_counts: Any, global_step: Any = None, walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Write a histogram that was counted elsewhere."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        histogram = HistogramProto(
            min=min, max=max, num=num, sum=sum, sum_squares=sum_squares,
            bucket_limit=_array(bucket_limits).tolist(), bucket=_array(bucket_counts).tolist(),
        )  # fmt: skip
        self._add(_Summary(value=[_Summary.Value(tag=tag, histo=histogram)]), global_step, walltime)

    def add_image(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:  # fmt: skip
        """Write an image: uint8, or floats in [0, 1]; dataformats names the dims (CHW, HWC or HW)."""
        self._add(_image_summary(tag, _pixels(img_tensor, dataformats)), global_step, walltime)

    def add_images(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:  # fmt: skip
        """Write several images as one grid, eight in a row."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_figure(
        self, tag: str, figure: Any, global_step: Any = None, close: bool = True,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Write a figure (or a list of them) of Matplotlib."""
        figures = figure if isinstance(figure, list) else [figure]
        drawn = []
        for each in figures:
            from matplotlib.backends import backend_agg

            canvas = backend_agg.FigureCanvasAgg(each)
            canvas.draw()
            drawn.append(np.asarray(canvas.buffer_rgba())[:, :, :3])
            if close:
                import matplotlib.pyplot as plt

                plt.close(each)
        if isinstance(figure, list):
            self.add_image(tag, np.stack(drawn), global_step, walltime, dataformats="NHWC")
        else:
            self.add_image(tag, drawn[0], global_step, walltime, dataformats="HWC")

    def add_audio(
        self, tag: str, snd_tensor: Any, global_step: Any = None, sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Write a sound of one channel, values in [-1, 1], sample_rate in Hz."""
        import io
        import wave

        samples = _array(snd_tensor).reshape(-1)
        stream = io.BytesIO()
        with wave.open(stream, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(sample_rate)
            scaled = (samples.clip(-1, 1) * 32767).astype("<i2")
            file.writeframes(scaled.tobytes())
        audio = _Summary.Audio(
            sample_rate=sample_rate,
            num_channels=1,
            length_frames=len(samples),
            encoded_audio_string=stream.getvalue(),
            content_type="audio/wav",
        )
        self._add(_Summary(value=[_Summary.Value(tag=tag, audio=audio)]), global_step, walltime)

    def add_text(
        self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Write a text (Markdown)."""
        content = TextPluginData(version=0).SerializeToString()
        shape = tensor_shape_pb2.TensorShapeProto(
            dim=[tensor_shape_pb2.TensorShapeProto.Dim(size=1)]
        )
        tensor = tensor_pb2.TensorProto(
            dtype="DT_STRING", string_val=[text_string.encode("utf_8")], tensor_shape=shape
        )
        self._add_plugin(tag + "/text_summary", "text", content, tensor, global_step, walltime)

    def add_pr_curve(
        self, tag: str, labels: Any, predictions: Any, global_step: Any = None,
        num_thresholds: int = 127, weights: Any = None, walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Write precision and recall over thresholds.

        Args:
            labels: 0 or 1 for each sample.
            predictions: probability of 1 for each sample.
            num_thresholds: number of thresholds, 127 at most.
            weights: of the samples.
        """
        num_thresholds = min(num_thresholds, 127)
        truth, score = _array(labels).reshape(-1), _array(predictions).reshape(-1)
        weight = np.ones(len(truth)) if weights is None else _array(weights).reshape(-1)
        bucket = np.int32(np.floor(score * (num_thresholds - 1)))
        area = (0, num_thresholds - 1)
        tp, _ = np.histogram(bucket, num_thresholds, area, weights=truth * weight)
        fp, _ = np.histogram(bucket, num_thresholds, area, weights=(1 - truth) * weight)
        tp, fp = np.cumsum(tp[::-1])[::-1], np.cumsum(fp[::-1])[::-1]
        tn, fn = fp[0] - fp, tp[0] - tp
        smallest = 1e-7
        precision = tp / np.maximum(smallest, tp + fp)
        recall = tp / np.maximum(smallest, tp + fn)
        rows = np.stack((tp, fp, tn, fn, precision, recall))
        dims = [tensor_shape_pb2.TensorShapeProto.Dim(size=size) for size in rows.shape]
        tensor = tensor_pb2.TensorProto(
            dtype="DT_FLOAT",
            float_val=rows.reshape(-1).tolist(),
            tensor_shape=tensor_shape_pb2.TensorShapeProto(dim=dims),
        )
        content = PrCurvePluginData(version=0, num_thresholds=num_thresholds).SerializeToString()
        self._add_plugin(tag, "pr_curves", content, tensor, global_step, walltime)

    def add_custom_scalars(self, layout: dict[str, dict[str, list[Any]]]) -> None:
        """Write which scalars share a chart: {category: {chart: [kind, [tags]]}}, kind "Multiline" or "Margin"."""
        categories = []
        for name, charts in layout.items():
            made = []
            for title, (kind, tags) in charts.items():
                if kind == "Margin":
                    series = layout_pb2.MarginChartContent.Series(
                        value=tags[0], lower=tags[1], upper=tags[2]
                    )
                    content = layout_pb2.MarginChartContent(series=[series])
                    made.append(layout_pb2.Chart(title=title, margin=content))
                else:
                    lines = layout_pb2.MultilineChartContent(tag=tags)
                    made.append(layout_pb2.Chart(title=title, multiline=lines))
            categories.append(layout_pb2.Category(title=name, chart=made))
        proto = layout_pb2.Layout(category=categories)
        tensor = tensor_pb2.TensorProto(
            dtype="DT_STRING",
            string_val=[proto.SerializeToString()],
            tensor_shape=tensor_shape_pb2.TensorShapeProto(),
        )
        self._add_plugin("custom_scalars__config__", "custom_scalars", b"", tensor, None, None)

    def add_hparams(
        self, hparam_dict: dict[str, Any], metric_dict: dict[str, Any],
        hparam_domain_discrete: dict[str, list[Any]] | None = None, run_name: str | None = None,
        global_step: Any = None,
    ) -> None:  # fmt: skip
        """Write the hyper-parameters of a run and its results, to a folder of their own."""
        if not isinstance(hparam_dict, dict) or not isinstance(metric_dict, dict):
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        folder = os.path.join(str(self.log_dir), run_name or str(time.time()))
        with SummaryWriter(log_dir=folder) as writer:
            for summary in _hparam_summaries(
                hparam_dict, metric_dict, hparam_domain_discrete or {}
            ):
                writer._get_file_writer().add_summary(summary)
            for name, value in metric_dict.items():
                writer.add_scalar(name, value, global_step)

    def add_graph(self, model: Any, input_to_model: Any = None, **options: Any) -> None:
        """Not offered: TensorBoard's graph format is not written."""
        raise NotImplementedError(
            "add_graph: graphs are not written for TensorBoard. Print flambeau.fx.symbolic_trace(model).graph instead."
        )

    def add_embedding(
        self, mat: Any, metadata: Any = None, label_img: Any = None, **options: Any
    ) -> None:
        """Write points for the projector: their coordinates and labels.

        Args:
            mat: shape (points, dims). metadata: a label for each point. options: tag, global_step.
        """
        if label_img is not None:
            raise NotImplementedError(
                "add_embedding: label images are not written; leave label_img out."
            )
        tag = options.get("tag", "default")
        step = options.get("global_step") or 0
        matrix = _array(mat)
        folder = os.path.join(str(self.log_dir), f"{int(step):05d}", tag)
        os.makedirs(folder, exist_ok=True)
        np.savetxt(os.path.join(folder, "tensors.tsv"), matrix, delimiter="\t", fmt="%.8g")
        lines = [
            "embeddings {",
            f'tensor_name: "{tag}:{int(step):05d}"',
            f"tensor_path: {json.dumps(os.path.join(f'{int(step):05d}', tag, 'tensors.tsv'))}",
        ]
        if metadata is not None:
            if len(metadata) != len(matrix):
                raise AssertionError("#labels should equal with #data points")
            with open(os.path.join(folder, "metadata.tsv"), "w", encoding="utf-8") as file:
                file.writelines(f"{label}\n" for label in metadata)
            path = os.path.join(f"{int(step):05d}", tag, "metadata.tsv")
            lines.append(f"metadata_path: {json.dumps(path)}")
        with open(os.path.join(str(self.log_dir), "projector_config.pbtxt"), "a") as file:
            file.write("\n".join([*lines, "}\n"]))

    def flush(self) -> None:
        """Write what is held."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """Write what is held and close the files; writing again opens new ones."""
        for writer in (self.all_writers or {}).values():
            writer.flush()
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()


def _hparam_summaries(
    hparams: dict[str, Any], metrics: dict[str, Any], discrete: dict[str, list[Any]]
) -> list[Any]:
    """Experiment, start and end of a session, as the plugin wants them."""
    infos, start = [], hparams_data.SessionStartInfo()
    for name, value in hparams.items():
        if value is None:
            continue
        if isinstance(value, bool):
            start.hparams[name].bool_value = value
            kind = "DATA_TYPE_BOOL"
        elif isinstance(value, str):
            start.hparams[name].string_value = value
            kind = "DATA_TYPE_STRING"
        elif isinstance(value, (int, float, np.number, flambeau.Tensor)):
            start.hparams[name].number_value = _scalar(value, "add_hparams")
            kind = "DATA_TYPE_FLOAT64"
        else:
            raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")
        info = api_pb2.HParamInfo(name=name, type=getattr(api_pb2.DataType, kind))
        for option in discrete.get(name, ()):
            info.domain_discrete.values.add(**{_VALUE_FIELDS[kind]: option})
        infos.append(info)
    metric_infos = [api_pb2.MetricInfo(name=api_pb2.MetricName(tag=name)) for name in metrics]
    experiment = api_pb2.Experiment(hparam_infos=infos, metric_infos=metric_infos)
    end = hparams_data.SessionEndInfo(status=api_pb2.Status.STATUS_SUCCESS)
    version = 0
    contents = {
        "_hparams_/experiment": hparams_data.HParamsPluginData(
            experiment=experiment, version=version
        ),
        "_hparams_/session_start_info": hparams_data.HParamsPluginData(
            session_start_info=start, version=version
        ),
        "_hparams_/session_end_info": hparams_data.HParamsPluginData(
            session_end_info=end, version=version
        ),
    }
    summaries = []
    for tag, content in contents.items():
        data = summary_pb2.SummaryMetadata.PluginData(
            plugin_name="hparams", content=content.SerializeToString()
        )
        value = _Summary.Value(tag=tag, metadata=summary_pb2.SummaryMetadata(plugin_data=data))
        summaries.append(_Summary(value=[value]))
    return summaries


_VALUE_FIELDS = {
    "DATA_TYPE_BOOL": "bool_value",
    "DATA_TYPE_STRING": "string_value",
    "DATA_TYPE_FLOAT64": "number_value",
}
