"""Operators in CUDA graphs: each is work of the host that the graph runs in its place."""

import ctypes
import traceback

import torch

from . import memory

_FAILED = 719  # cudaErrorLaunchFailure
_pieces = []  # by number; graphs may run them for as long as the process lives


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_size_t), ctypes.c_void_p)
def _run(number, _):
    try:
        with torch.no_grad():
            _pieces[number[0]][1]()
    except Exception:
        traceback.print_exc()
        return _FAILED
    return 0


_issue = ctypes.CDLL("libptxloom-runtime.so").plrt_work_issue
_issue.argtypes = (
    ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t,
    ctypes.c_bool,
)  # fmt: skip


def is_capturing():
    """Whether work of the current stream goes into a graph."""
    return torch._C._cuda_isCurrentStreamCapturing()


def _shape_only(value):
    if isinstance(value, torch.Tensor) and value.is_cuda:
        return memory.like(value, "meta")
    if isinstance(value, (list, tuple)):
        return [_shape_only(v) for v in value]
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device("meta")
    return value


def shapes(compute, name, args, kwargs):
    """The results' shapes as meta tensors, without computing anything."""
    try:
        return compute(*map(_shape_only, args), **{k: _shape_only(v) for k, v in kwargs.items()})
    except NotImplementedError as error:
        raise RuntimeError(
            f"ptxloom: {name} cannot be captured in a CUDA graph: the shapes of its results"
            " depend on values"
        ) from error


def placed(result, device):
    """A tensor of a device for each meta tensor."""
    if isinstance(result, torch.Tensor) and result.is_meta:
        return memory.like(result, device)
    if isinstance(result, (list, tuple)):
        return type(result)(placed(r, device) for r in result)
    return result


def views(made):
    """Of the host over these tensors; keeps none of them alive, as graphs own their memory."""
    if isinstance(made, torch.Tensor):
        return memory.host_view(made)
    return [views(m) for m in made] if isinstance(made, (list, tuple)) else None


def fill(into, result):
    """What was computed into such views."""
    if isinstance(into, torch.Tensor):
        into.copy_(result)
    elif into is not None:
        for i, r in zip(into, result):
            fill(i, r)


def issue(name, index, piece):
    """Adds piece() to what the current stream captures."""
    number, label = ctypes.c_size_t(len(_pieces)), name.encode()
    _pieces.append((label, piece))
    status = _issue(
        label, torch._C._cuda_getCurrentRawStream(index), ctypes.cast(_run, ctypes.c_void_p),
        ctypes.addressof(number), ctypes.sizeof(number), False,
    )  # fmt: skip
    if status:
        raise RuntimeError(f"ptxloom: {name} cannot be captured in a CUDA graph (error {status})")
