"""What each add_ method of SummaryWriter stores: summaries as bytes of TensorBoard's Summary message."""

import io
import struct
import wave
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from ._records import blob, double, doubles, integer, single

_FLOAT, _DOUBLE, _STRING = 1, 2, 7  # TensorFlow's DataType
_HPARAM_STRING, _HPARAM_NUMBER = 1, 3  # TensorBoard's DataType; truth values are stored as numbers


def array_of(value: Any) -> "np.ndarray[Any, Any]":
    """A tensor, array, number or sequence as an array; bfloat16 as float32."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = (value.float() if "bfloat16" in str(value.dtype) else value).numpy()
    return np.asarray(value)


def number_of(value: Any) -> float:
    """The one number that a tensor, array or number holds."""
    array = array_of(value).squeeze()
    if array.ndim:
        raise AssertionError(f"expected a value of one number, got one of shape {array.shape}")
    return float(array)


def _value(tag: str, content: bytes, metadata: bytes = b"") -> bytes:
    return blob(1, blob(1, tag) + content + (blob(9, metadata) if metadata else b""))


def _plugin(name: str, content: bytes = b"") -> bytes:
    return blob(1, blob(1, name) + (blob(2, content) if content else b""))


def _shape(sizes: Sequence[int]) -> bytes:
    return blob(2, b"".join(blob(2, integer(1, size)) for size in sizes))


def scalar(tag: str, value: Any, new_style: bool = False, double_precision: bool = False) -> bytes:
    """A number."""
    number = number_of(value)
    if not new_style:
        return _value(tag, single(2, number))
    if double_precision:
        content = integer(1, _DOUBLE) + doubles(6, [number])
    else:
        content = integer(1, _FLOAT) + blob(5, struct.pack("<f", number))
    return _value(tag, blob(8, content), _plugin("scalars"))


def text(tag: str, string: str) -> bytes:
    """A text, shown as Markdown."""
    content = integer(1, _STRING) + _shape((1,)) + blob(8, string)
    return _value(f"{tag}/text_summary", blob(8, content), _plugin("text"))


def tensor(tag: str, value: Any) -> bytes:
    """Values of a tensor, as float32 or float64."""
    array = array_of(value)
    wide = array.dtype == np.float64
    content = integer(1, _DOUBLE if wide else _FLOAT) + _shape(array.shape)
    # The fields of numbers, double_val and float_val, both packed.
    content += blob(6 if wide else 5, array.astype("<f8" if wide else "<f4").tobytes())
    return _value(tag, blob(8, content), _plugin("tensor"))


@cache
def _default_edges() -> "np.ndarray[Any, Any]":
    """Edges that grow by a tenth from 1e-12 to 1e20, on both sides of 0."""
    positive, edge = [], 1e-12
    while edge < 1e20:
        positive.append(edge)
        edge *= 1.1
    return np.array([-edge for edge in reversed(positive)] + [0.0] + positive)


def histogram(tag: str, values: Any, bins: Any, max_bins: int | None = None) -> bytes:
    """How many values fall between edges; bins is "tensorflow" or what numpy.histogram takes.

    Raises:
        ValueError: there are no values.
    """
    array = array_of(values).reshape(-1).astype(np.float64)
    if array.size == 0:
        raise ValueError("add_histogram: expected at least one value, got none.")
    edges = _default_edges() if isinstance(bins, str) and bins == "tensorflow" else bins
    counts, limits = np.histogram(array, bins=edges)
    if max_bins is not None and len(counts) > max_bins:
        stride = len(counts) // max_bins
        rest = len(counts) % stride
        padded = np.pad(counts, (0, stride - rest if rest else 0))
        counts = padded.reshape(-1, stride).sum(-1)
        limits = np.append(limits[:-1:stride], limits[-1])
    used = np.flatnonzero(counts)
    first, last = (int(used[0]), int(used[-1])) if used.size else (0, 0)
    # A bucket is stored with its upper edge; the one before the first gives that one's lower edge.
    counts = np.append(counts[first - 1] if first else 0, counts[first : last + 1])
    limits = limits[first : last + 2]
    return histogram_raw(
        tag, array.min(), array.max(), array.size, array.sum(), array @ array, limits, counts
    )


def histogram_raw(
    tag: str, low: Any, high: Any, number: Any, total: Any, squares: Any, limits: Any, counts: Any
) -> bytes:
    """A histogram whose parts are given."""
    parts = [double(i + 1, float(v)) for i, v in enumerate((low, high, number, total, squares))]
    parts += [doubles(6, array_of(limits).tolist()), doubles(7, array_of(counts).tolist())]
    return _value(tag, blob(5, b"".join(parts)))


def image(tag: str, value: Any, dataformats: str = "CHW") -> bytes:
    """An image, or several side by side (formats with N): float in [0, 1], or uint8."""
    pixels = image_grid(array_of(value), dataformats)
    if pixels.dtype != np.uint8:
        pixels = (pixels.astype(np.float32) * 255).clip(0, 255).astype(np.uint8)
    height, width, channels = pixels.shape
    content = integer(1, height) + integer(2, width) + integer(3, channels) + blob(4, png(pixels))
    return _value(tag, blob(4, content))


def image_grid(array: "np.ndarray[Any, Any]", dataformats: str) -> "np.ndarray[Any, Any]":
    """Images of any layout as one of shape (height, width, 3), or 4 channels where there are four."""
    order = dataformats.upper()
    if len(set(order)) != len(order) or len(order) != array.ndim or set(order) - set("NCHW"):
        raise AssertionError(
            f"expected dataformats that name the {array.ndim} dims of the image by N, C, H, W, got {dataformats}"
        )
    for name in "CN":
        if name not in order:
            array, order = array[None], name + order
    array = array.transpose([order.index(name) for name in "NHWC"])
    count, height, width, channels = array.shape
    if channels == 1:
        array, channels = np.repeat(array, 3, axis=3), 3
    columns = min(count, 8)
    rows = -(-count // columns)
    grid = np.zeros((rows * columns, height, width, channels), array.dtype)
    grid[:count] = array
    grid = grid.reshape(rows, columns, height, width, channels).transpose(0, 2, 1, 3, 4)
    return np.ascontiguousarray(grid.reshape(rows * height, columns * width, channels))


def png(pixels: "np.ndarray[Any, Any]") -> bytes:
    """A PNG file of uint8 pixels, shape (height, width, 3 or 4)."""
    height, width, channels = pixels.shape
    lines = np.zeros((height, 1 + width * channels), np.uint8)  # 0 in front: no filter
    lines[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, {3: 2, 4: 6}[channels], 0, 0, 0)
    out = b"\x89PNG\r\n\x1a\n"
    for name, data in (
        (b"IHDR", header),
        (b"IDAT", zlib.compress(lines.tobytes())),
        (b"IEND", b""),
    ):
        out += struct.pack(">I", len(data)) + name + data
        out += struct.pack(">I", zlib.crc32(name + data))
    return out


def audio(tag: str, value: Any, sample_rate: int) -> bytes:
    """A sound in [-1, 1] as a mono WAV file of 16 bits."""
    samples = array_of(value).squeeze().astype(np.float32)
    if samples.ndim != 1:
        raise AssertionError("input tensor should be 1 dimensional.")
    file = io.BytesIO()
    with wave.open(file, "wb") as wav:
        wav.setnchannels(1)
        wav.setsampwidth(2)
        wav.setframerate(sample_rate)
        wav.writeframes((samples.clip(-1, 1) * 32767).astype("<i2").tobytes())
    content = single(1, sample_rate) + integer(2, 1) + integer(3, samples.size)
    return _value(tag, blob(6, content + blob(4, file.getvalue()) + blob(5, "audio/wav")))


def pr_curve(
    tag: str, labels: Any, predictions: Any, thresholds: int, weights: Any = None
) -> bytes:
    """True and false decisions, precision and recall at thresholds from 0 to 1."""
    positive = array_of(labels).reshape(-1).astype(bool)
    buckets = np.floor(array_of(predictions).reshape(-1) * (thresholds - 1)).astype(np.int64)
    weight = np.ones(positive.shape) if weights is None else array_of(weights).reshape(-1)

    def at_least(chosen: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
        counts = np.bincount(buckets[chosen], weight[chosen], minlength=thresholds)
        return counts[::-1].cumsum()[::-1]

    tp, fp = at_least(positive), at_least(~positive)
    precision = tp / np.maximum(1e-7, tp + fp)
    recall = tp / np.maximum(1e-7, tp[0])
    return pr_curve_raw(tag, tp, fp, fp[0] - fp, tp[0] - tp, precision, recall, thresholds)


def pr_curve_raw(
    tag: str, tp: Any, fp: Any, tn: Any, fn: Any, precision: Any, recall: Any, thresholds: int
) -> bytes:
    """A curve whose parts are given, one value per threshold."""
    rows = np.stack([array_of(row) for row in (tp, fp, tn, fn, precision, recall)])
    content = integer(1, _FLOAT) + _shape(rows.shape)
    content += blob(5, rows.astype("<f4").tobytes())
    return _value(tag, blob(8, content), _plugin("pr_curves", integer(2, thresholds)))


def hparams(
    hparam_dict: Mapping[str, Any],
    metric_dict: Mapping[str, Any],
    domains: Mapping[str, Sequence[Any]] | None = None,
) -> tuple[bytes, bytes, bytes]:
    """Three summaries: the experiment's settings and metrics by name, a session's start with values, and its end."""
    infos, values = b"", b""
    for name, value in hparam_dict.items():
        if value is None:
            continue
        kind, content = _setting(value)
        info = blob(1, name) + integer(4, kind)
        if domains and name in domains:
            items = b"".join(blob(1, _setting(item)[1]) for item in domains[name])
            info += blob(5, items)
        infos += blob(4, info)
        values += blob(1, blob(1, name) + blob(2, content))
    infos += b"".join(blob(5, blob(1, blob(2, name))) for name in metric_dict)
    return (
        _value("_hparams_/experiment", b"", _plugin("hparams", blob(2, infos))),
        _value("_hparams_/session_start_info", b"", _plugin("hparams", blob(3, values))),
        _value("_hparams_/session_end_info", b"", _plugin("hparams", blob(4, integer(1, 1)))),
    )


def _setting(value: Any) -> tuple[int, bytes]:
    """The type of a setting, and its value as a google.protobuf.Value."""
    if isinstance(value, str):
        return _HPARAM_STRING, blob(3, value)
    if isinstance(value, int | float) or hasattr(value, "detach"):
        return _HPARAM_NUMBER, double(2, number_of(value))
    raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")
