"""Tensors of a compiler, of which there are none; tensors without data are on the device meta."""

from .fake_tensor import FakeTensor, FakeTensorMode, is_fake

__all__ = ["FakeTensor", "FakeTensorMode", "is_fake"]
