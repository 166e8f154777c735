"""Files: listing, opening, reading and decoding."""

import io
import pickle

import pytest

import flambeau
from flambeau.utils.data.datapipes import iter as pipes
from flambeau.utils.data.datapipes.utils.common import StreamWrapper
from flambeau.utils.data.datapipes.utils.decoder import Decoder, handle_extension, imagehandler


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "a.txt").write_text("hello")
    (tmp_path / "below" / "b.txt").write_text("b")
    (tmp_path / "c.json").write_text('{"a": 1}')
    (tmp_path / "d.cls").write_text("7")
    flambeau.save(flambeau.ones(2), tmp_path / "e.pt")
    return tmp_path


def names(pipe, folder):
    return [path.removeprefix(f"{folder}/") for path in pipe]


def test_listing(folder):
    lister = pipes.FileLister(str(folder))
    assert names(lister, folder) == ["a.txt", "c.json", "d.cls", "e.pt"]
    texts = pipes.FileLister([str(folder)], masks=["*.txt"], recursive=True, length=2)
    assert names(texts, folder) == ["a.txt", "below/b.txt"]
    assert len(texts) == 2
    with pytest.warns(UserWarning, match="No such file"), pytest.raises(FileNotFoundError):
        list(pipes.FileLister(str(folder / "missing")))


def test_reading(folder):
    opened = pipes.FileLister(str(folder), masks="*.txt").open_files(mode="b")
    assert [data for _, data in opened.read_from_stream(chunk=2)] == [b"he", b"ll", b"o"]
    with pytest.raises(ValueError, match="Invalid mode"):
        pipes.FileOpener([], mode="w")
    with pytest.raises(ValueError, match="encoding"):
        pipes.FileOpener([], mode="b", encoding="utf8")


def test_decoding(folder):
    opened = pipes.FileLister(str(folder)).open_files(mode="b")
    with pytest.warns(FutureWarning, match="deprecated"):
        decoded = dict(opened.routed_decode())
    values = {path.rpartition("/")[2]: value for path, value in decoded.items()}
    assert values["a.txt"] == "hello"
    assert values["c.json"] == {"a": 1}
    assert values["d.cls"] == 7
    assert values["e.pt"].tolist() == [1.0, 1.0]


def test_decoding_runs_no_code():
    class Hostile:
        def __reduce__(self):
            return print, ("code ran",)

    with pytest.warns(FutureWarning, match="deprecated"):
        pipe = pipes.RoutedDecoder([("x.pickle", io.BytesIO(pickle.dumps(Hostile())))])
    with pytest.raises(pickle.UnpicklingError, match=r"builtins\.print"):
        list(pipe)


def test_images():
    image = pytest.importorskip("PIL.Image")
    stream = io.BytesIO()
    image.new("RGB", (3, 2), (255, 0, 0)).save(stream, "png")
    decoded = Decoder(imagehandler("torchrgb"))({"x.png": stream.getvalue()})["x.png"]
    assert decoded.shape == (3, 2, 3)
    assert decoded[0].min() == 1.0
    with pytest.raises(AssertionError, match="unknown image"):
        imagehandler("xyz")


def test_own_handlers():
    decoder = Decoder(handle_extension("tar.gz", len))
    assert decoder({"x.gz": b"abc"}) == {"x.gz": b"abc"}
    decoder = Decoder(handle_extension("bin", len), key_fn=lambda path: path.rpartition(".")[2])
    assert decoder({"x.bin": b"abc"}) == {"x.bin": 3}


def test_streams_close_with_their_last_child():
    parent = StreamWrapper(io.BytesIO(b"abc"), name="parent")
    children = [StreamWrapper(io.BytesIO(), parent_stream=parent) for _ in range(2)]
    StreamWrapper.close_streams([parent])
    assert not parent.closed
    children[0].close()
    assert not parent.closed
    children[1].close()
    assert parent.closed
    file = io.BytesIO()
    wrapper = StreamWrapper(file)
    del wrapper
    assert file.closed
