"""PyTorch's operators on emulated GPUs, computed on the host.

PyTorch's wheels carry their operators as machine code only, which ptxloom cannot run. This package
computes them with PyTorch's own CPU operators, in place, in the memory of the emulated devices.
Kernels of the user (CUDA, Triton, Numba, CuPy, torch.compile's) are emulated as ever.

``PTXLOOM_TORCH`` chooses: ``auto`` (default) takes the host where the wheel has no PTX, ``host``
always, ``own`` never.
"""

import os
import sys

__all__ = ["enable", "enabled"]

_CHOICES = ("auto", "host", "own")
_state = {"enabled": False}


def enabled():
    """Whether operators of CUDA tensors are computed on the host."""
    return _state["enabled"]


def enable():
    """Computes operators of CUDA tensors on the host from now on. Calling it again does nothing."""
    if _state["enabled"]:
        return
    _state["enabled"] = True
    from . import operators

    operators.register()
    print(
        "ptxloom: PyTorch's operators run on the host, they are not emulated; kernels of your own"
        " are (PTXLOOM_TORCH=own: neither)",
        file=sys.stderr,
    )


def _emulated():
    return "libptxloom" in os.environ.get("LD_PRELOAD", "")


def _choice():
    choice = os.environ.get("PTXLOOM_TORCH") or "auto"
    if choice not in _CHOICES:
        raise RuntimeError(
            f"PTXLOOM_TORCH={choice} is not known; it is one of {', '.join(_CHOICES)}"
        )
    return choice


def _has_ptx():
    """Whether the wheel's kernels were built with PTX, which can be emulated."""
    import torch

    return "compute_" in (torch._C._cuda_getArchFlags() or "")


def _at_cuda_start(choice):
    if choice == "host" or not _has_ptx():
        enable()


def autoload():
    """Called by ``import torch`` (entry point ``torch.backends``); waits for CUDA's first use."""
    if not _emulated():
        return
    choice = _choice()
    if choice == "own":
        return
    import torch

    if torch.version.cuda:
        torch.cuda._lazy_call(lambda: _at_cuda_start(choice))
