"""Event files: records, checksums, and the messages in them, read back by a reader of their bytes."""

import struct
import zlib

import pytest

import flambeau
from flambeau.utils.tensorboard import SummaryWriter
from flambeau.utils.tensorboard._records import masked_crc


def records(folder):
    """The messages of the folder's one event file, with their checksums verified."""
    (path,) = folder.glob("events.out.tfevents.*")
    data, found = path.read_bytes(), []
    while data:
        (length,), (check,) = struct.unpack("<Q", data[:8]), struct.unpack("<I", data[8:12])
        assert check == masked_crc(data[:8])
        body = data[12 : 12 + length]
        assert struct.unpack("<I", data[12 + length : 16 + length]) == (masked_crc(body),)
        found.append(parse(body))
        data = data[16 + length :]
    return found


def varint(data, at):
    value, shift = 0, 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if not data[at - 1] & 0x80:
            return value, at


def parse(data):
    """Field number to list of values: numbers, and bytes of fields with a length."""
    fields, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            (value,), at = struct.unpack("<d", data[at : at + 8]), at + 8
        elif key & 7 == 5:
            (value,), at = struct.unpack("<f", data[at : at + 4]), at + 4
        else:
            length, at = varint(data, at)
            value, at = data[at : at + length], at + length
        fields.setdefault(key >> 3, []).append(value)
    return fields


def only_value(folder):
    """Event and value of the one summary that was written."""
    version, event = records(folder)
    assert version[3] == [b"brain.Event:2"]
    (summary,) = event[5]
    (value,) = parse(summary)[1]
    return event, parse(value)


def test_checksum():
    # The CRC-32C of nine digits is the check value of its definition.
    crc = 0xE3069283
    assert masked_crc(b"123456789") == (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


@pytest.mark.parametrize(
    "number", [1.5, 3, flambeau.tensor([1.5]), flambeau.tensor(2.0, dtype=flambeau.bfloat16)]
)
def test_scalar(tmp_path, number):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss/train", number, 7, walltime=12.25)
    event, value = only_value(tmp_path)
    assert event[1] == [12.25] and event[2] == [7]
    assert value == {1: [b"loss/train"], 2: [float(number)]}


def test_scalar_of_several_numbers_is_refused(tmp_path):
    with SummaryWriter(tmp_path) as writer, pytest.raises(AssertionError, match="one number"):
        writer.add_scalar("loss", flambeau.ones(2))


def test_scalars_get_folders(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalars("loss/all", {"train": 1.0, "test": 2.0}, 1)
    for name, expected in (("train", 1.0), ("test", 2.0)):
        assert only_value(tmp_path / f"loss_all_{name}")[1] == {1: [b"loss/all"], 2: [expected]}


def test_text(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_text("note", "**bold**")
    _, value = only_value(tmp_path)
    assert value[1] == [b"note/text_summary"]
    assert parse(value[8][0])[8] == [b"**bold**"]
    assert parse(parse(value[9][0])[1][0])[1] == [b"text"]


def test_histogram(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("weights", flambeau.tensor([1.0, 1.5, 4.0]), bins=3)
    _, value = only_value(tmp_path)
    histogram = parse(value[5][0])
    assert [histogram[i][0] for i in range(1, 6)] == [1.0, 4.0, 3.0, 6.5, 19.25]
    assert struct.unpack("<4d", histogram[6][0]) == (1.0, 2.0, 3.0, 4.0)
    assert struct.unpack("<4d", histogram[7][0]) == (0.0, 2.0, 0.0, 1.0)


def test_histogram_of_default_edges_keeps_the_used_ones(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("weights", flambeau.tensor([-1.0, 0.0, 1.0]))
        with pytest.raises(ValueError, match="at least one"):
            writer.add_histogram("none", flambeau.ones(0))
    histogram = parse(only_value(tmp_path)[1][5][0])
    counts = struct.unpack(f"<{len(histogram[7][0]) // 8}d", histogram[7][0])
    assert sum(counts) == 3 and counts[0] == 0 and counts[1] == 1 and counts[-1] == 1


@pytest.mark.parametrize(
    ("shape", "layout", "size"),
    [((3, 2, 5), "CHW", (2, 5)), ((2, 5), "HW", (2, 5)), ((9, 1, 2, 5), "NCHW", (4, 40))],
)
def test_image(tmp_path, shape, layout, size):
    with SummaryWriter(tmp_path) as writer:
        writer.add_image("picture", flambeau.full(shape, 0.5), dataformats=layout)
    image = parse(only_value(tmp_path)[1][4][0])
    assert (image[1][0], image[2][0], image[3][0]) == (*size, 3)
    png = image[4][0]
    start = png.index(b"IDAT")
    (length,) = struct.unpack(">I", png[start - 4 : start])
    lines = zlib.decompress(png[start + 4 : start + 4 + length])
    assert len(lines) == size[0] * (1 + 3 * size[1]) and lines[1] == 127


def test_precision_and_recall(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_pr_curve(
            "pr", flambeau.tensor([1, 0, 1]), flambeau.tensor([0.9, 0.4, 0.2]), num_thresholds=3
        )
    values = struct.unpack("<18f", parse(only_value(tmp_path)[1][8][0])[5][0])
    assert values[:3] == (2.0, 1.0, 0.0) and values[3:6] == (1.0, 0.0, 0.0)


def test_settings_and_metrics(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_hparams({"lr": 0.1, "kind": "adam"}, {"accuracy": 0.9}, run_name="run")
        with pytest.raises(TypeError, match="dictionary"):
            writer.add_hparams([], {})
        with pytest.raises(ValueError, match="value should be one of"):
            writer.add_hparams({"lr": [1]}, {})
    events = records(tmp_path / "run")[1:]
    tags = [parse(parse(event[5][0])[1][0])[1][0] for event in events]
    assert tags == [
        b"_hparams_/experiment", b"_hparams_/session_start_info", b"_hparams_/session_end_info", b"accuracy",
    ]  # fmt: skip


def test_writer_opens_a_new_file_after_close(tmp_path):
    writer = SummaryWriter(tmp_path)
    writer.close()
    writer.add_scalar("later", 1.0)
    writer.close()
    assert len(list(tmp_path.iterdir())) == 2


def test_folder_without_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with SummaryWriter(comment="_try") as writer:
        assert writer.get_logdir().startswith("runs") and writer.log_dir.endswith("_try")


def test_sound_and_tensor(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_audio("tone", flambeau.linspace(-1, 1, 8), sample_rate=8000)
        writer.add_tensor("values", flambeau.arange(3, dtype=flambeau.float64))
    _, sound, tensor = records(tmp_path)
    wav = parse(parse(parse(sound[5][0])[1][0])[6][0])
    assert wav[1] == [8000.0] and wav[4][0][:4] == b"RIFF"
    stored = parse(parse(parse(tensor[5][0])[1][0])[8][0])
    assert struct.unpack("<3d", stored[6][0]) == (0.0, 1.0, 2.0)
