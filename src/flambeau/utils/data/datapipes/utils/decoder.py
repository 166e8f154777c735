"""Decoders of files by extension, for RoutedDecoder: text, JSON, images, video, audio, MATLAB."""

import io
import json
import os.path

import flambeau

from .common import StreamWrapper

__all__ = [
    "Decoder",
    "ImageHandler",
    "MatHandler",
    "audiohandler",
    "basichandlers",
    "extension_extract_fn",
    "handle_extension",
    "imagehandler",
    "imagespecs",
    "mathandler",
    "videohandler",
]


def basichandlers(extension, data):
    """Text, numbers, JSON, pickles and tensors.

    Pickles are read with the rules of flambeau.load: data, no code. Returns None for other extensions.
    """
    if extension in ("txt", "text", "transcript"):
        return data.decode("utf-8")
    if extension in ("cls", "cls2", "class", "count", "index", "inx", "id"):
        try:
            return int(data)
        except ValueError:
            return None
    if extension in ("json", "jsn"):
        return json.loads(data)
    if extension in ("pyd", "pickle"):
        return _unpickled(data)
    if extension == "pt":
        return flambeau.load(io.BytesIO(data))
    return None


def _unpickled(data):
    # By the rules of flambeau.load: a file that comes by in a stream must not run code.
    from flambeau.serialization import safe_pickle

    return safe_pickle(data)


def handle_extension(extensions, f):
    """A handler that calls f(data) for files with one of the extensions, given as text with spaces."""
    wanted = [extension.split(".") for extension in extensions.lower().split()]

    def handler(extension, data):
        parts = extension.lower().split(".")
        for target in wanted:
            if len(target) <= len(parts) and parts[-len(target) :] == target:
                return f(data)
        return None

    return handler


# Name -> kind of array, dtype, mode of Pillow.
imagespecs = {
    "l8": ("numpy", "uint8", "l"),
    "rgb8": ("numpy", "uint8", "rgb"),
    "rgba8": ("numpy", "uint8", "rgba"),
    "l": ("numpy", "float", "l"),
    "rgb": ("numpy", "float", "rgb"),
    "rgba": ("numpy", "float", "rgba"),
    "torchl8": ("torch", "uint8", "l"),
    "torchrgb8": ("torch", "uint8", "rgb"),
    "torchrgba8": ("torch", "uint8", "rgba"),
    "torchl": ("torch", "float", "l"),
    "torchrgb": ("torch", "float", "rgb"),
    "torch": ("torch", "float", "rgb"),
    "torchrgba": ("torch", "float", "rgba"),
    "pill": ("pil", None, "l"),
    "pil": ("pil", None, "rgb"),
    "pilrgb": ("pil", None, "rgb"),
    "pilrgba": ("pil", None, "rgba"),
}


class ImageHandler:
    """Images as arrays, tensors or Pillow images; floats are in [0, 1], tensors have channels first."""

    def __init__(self, imagespec):
        if imagespec not in imagespecs:
            raise AssertionError(f"unknown image specification: {imagespec}")
        self.imagespec = imagespec

    def __call__(self, extension, data):
        if extension.lower() not in ("jpg", "jpeg", "png", "ppm", "pgm", "pbm", "pnm"):
            return None
        import numpy as np

        try:
            from PIL import Image
        except ImportError as error:
            raise ModuleNotFoundError(
                "Package `PIL` is required to be installed for default image decoder."
                "Please use `pip install Pillow` to install the package"
            ) from error
        kind, dtype, mode = imagespecs[self.imagespec]
        with io.BytesIO(data) as stream:
            image = Image.open(stream)
            image.load()
        image = image.convert(mode.upper())
        if kind == "pil":
            return image
        array = np.array(image)
        if array.dtype != np.uint8:
            raise TypeError(f"expected an image of 8 bits per channel, got {array.dtype}")
        if dtype == "float":
            array = array.astype("f") / 255.0
        if kind == "numpy":
            return array
        if array.ndim == 2:
            array = array[:, :, None]
        return flambeau.from_numpy(np.ascontiguousarray(array.transpose(2, 0, 1)))


def imagehandler(imagespec):
    """An ImageHandler."""
    return ImageHandler(imagespec)


def videohandler(extension, data):
    """Video files, through flambeau.vision."""
    if extension not in ("mp4", "ogv", "mjpeg", "avi", "mov", "h264", "mpg", "webm", "wmv"):
        return None
    import tempfile

    try:
        from flambeau.vision.io import read_video
    except ImportError as error:
        raise ModuleNotFoundError(
            "Package `torchvision` is required to be installed for default video file loader."
        ) from error
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, f"file.{extension}")
        with open(name, "wb") as file:
            file.write(data)
        return read_video(name)


def audiohandler(extension, data):
    """Audio files, through flambeau.audio."""
    if extension not in ("flac", "mp3", "sox", "wav", "m4a", "ogg", "wma"):
        return None
    import tempfile

    try:
        from flambeau.audio import load
    except ImportError as error:
        raise ModuleNotFoundError(
            "Package `torchaudio` is required to be installed for default audio file loader."
        ) from error
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, f"file.{extension}")
        with open(name, "wb") as file:
            file.write(data)
        return load(name)


class MatHandler:
    """MATLAB files, through SciPy."""

    def __init__(self, **loadmat_kwargs):
        try:
            import scipy.io as sio
        except ImportError as error:
            raise ModuleNotFoundError(
                "Package `scipy` is required to be installed for mat file."
                "Please use `pip install scipy` or `conda install scipy` to install the package"
            ) from error
        self.sio = sio
        self.loadmat_kwargs = loadmat_kwargs

    def __call__(self, extension, data):
        if extension != "mat":
            return None
        with io.BytesIO(data) as stream:
            return self.sio.loadmat(stream, **self.loadmat_kwargs)


def mathandler(**loadmat_kwargs):
    """A MatHandler."""
    return MatHandler(**loadmat_kwargs)


def extension_extract_fn(pathname):
    """The last extension of a path, without the dot."""
    return os.path.splitext(pathname)[1].removeprefix(".")


class Decoder:
    """Decodes the values of a dict, or of (path, data), by the first handler that knows the extension."""

    def __init__(self, *handler, key_fn=extension_extract_fn):
        self.handlers = list(handler) or []
        self.key_fn = key_fn

    def add_handler(self, *handler):
        """Try more handlers, after those there are."""
        if not handler:
            return
        if not self.handlers:
            self.handlers = list(handler)
        else:
            self.handlers.extend(handler)

    @staticmethod
    def _is_stream_handle(data):
        stream = data.file_obj if isinstance(data, StreamWrapper) else data
        return isinstance(stream, (io.BufferedIOBase, io.RawIOBase))

    def decode1(self, key, data):
        """What the first handler that wants it makes of data; data itself if none does."""
        if not data:
            return data
        if self._is_stream_handle(data):
            stream = data
            data = stream.read()
            stream.close()
        for handler in self.handlers:
            result = handler(key, data)
            if result is not None:
                return result
        return data

    def decode(self, data):
        """A dict of decoded values; keys are paths, or names that end like one."""
        result = {}
        if isinstance(data, tuple) and data and isinstance(data[0], str):
            data = {data[0]: data[1]}
        for key, value in data.items() if isinstance(data, dict) else data:
            if key.startswith("__"):
                if isinstance(value, bytes):
                    value = value.decode("utf-8")
                result[key] = value
                continue
            result[key] = self.decode1(self.key_fn(key), value)
        return result

    def __call__(self, data):
        return self.decode(data)
