"""Switches of compute backends that PyTorch programs set. Those of GPUs are inert; the CPU's answer truthfully."""

from . import cuda, cudnn, mkl, mkldnn, mps, openmp

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]
