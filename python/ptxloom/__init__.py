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
    CountedKernel, CountedLaunch, CountedLine, Device, Error, Fault, Finding, Kernel, Module, Place,
    clear_counters, clear_findings, counters, expect_metric, findings, metric)

__version__ = "0.1.0"
__all__ = [
    "CountedKernel", "CountedLaunch", "CountedLine", "Device", "Error", "Fault", "Finding",
    "Kernel", "Module", "Place", "clear_counters", "clear_findings", "command", "counters",
    "expect_metric", "findings", "library", "metric",
]
