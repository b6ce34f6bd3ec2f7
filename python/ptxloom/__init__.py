"""Run CUDA programs, and single kernels, on machines without a GPU.

>>> import numpy, ptxloom
>>> device = ptxloom.Device("h100")
>>> saxpy = device.load("saxpy.ptx").kernel("saxpy")
>>> x, y = numpy.ones(1000, "f4"), numpy.zeros(1000, "f4")
>>> saxpy.launch(4, 256, 1000, 2.0, x, y)

``python -m ptxloom`` is the command ``ptxloom``.
"""

from ._folders import command, library
from ._library import (
    Device, Error, Fault, Finding, Kernel, Module, Place, clear_findings, findings)

__version__ = "0.1.0"
__all__ = [
    "Device", "Error", "Fault", "Finding", "Kernel", "Module", "Place", "clear_findings",
    "command", "findings", "library",
]
