"""Host tensors over the memory of emulated devices, which the host sees at the same addresses."""

import ctypes

import torch

_HOST = torch.device("cpu")
_runtime = ctypes.CDLL("libptxloom-runtime.so")
_runtime.plrt_host_memory.restype = ctypes.c_void_p
_runtime.plrt_host_memory.argtypes = (ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int)
_cuda = ctypes.CDLL("libcudart.so.%s" % torch.version.cuda.split(".")[0])
_cuda.cudaStreamSynchronize.argtypes = (ctypes.c_void_p,)


def synchronize(index):
    """Waits for what is queued on the current stream of a device."""
    status = _cuda.cudaStreamSynchronize(torch._C._cuda_getCurrentRawStream(index))
    if status:
        torch.cuda.synchronize(index)  # says what went wrong, as PyTorch says it


def _storage(storage):
    """A storage of the host over all of a CUDA storage's bytes; owns nothing."""
    at = _runtime.plrt_host_memory(storage.data_ptr(), storage.nbytes(), 1)
    if not at:
        raise RuntimeError("ptxloom: the memory of a CUDA tensor is not allocated")
    return torch._C._construct_storage_from_data_pointer(at, _HOST, storage.nbytes())


def _strided(tensor):
    """The same elements in the same memory, as a CPU tensor."""
    storage = tensor.untyped_storage()
    if not storage.nbytes():
        return like(tensor, _HOST)
    view = torch.empty(0, dtype=tensor.dtype)
    view.set_(_storage(storage), tensor.storage_offset(), tensor.size(), tensor.stride())
    if tensor.is_conj():
        view = view.conj()
    if tensor.is_neg():
        view = torch._neg_view(view)
    return view


def host_view(tensor):
    """A CPU tensor over the memory of a CUDA tensor, valid as long as that is.

    Sparse tensors get new ones over their indices and values.
    """
    layout = tensor.layout
    if layout == torch.strided:
        return _strided(tensor)
    if layout == torch.sparse_coo:
        return _sparse(tensor, host_view)
    return _compressed(tensor, host_view)


def _sparse(tensor, placed):
    return torch.sparse_coo_tensor(
        placed(tensor._indices()),
        placed(tensor._values()),
        tensor.size(),
        check_invariants=False,
        is_coalesced=tensor.is_coalesced(),
    )


def _compressed(tensor, placed):
    rows = tensor.layout in (torch.sparse_csr, torch.sparse_bsr)
    return torch.sparse_compressed_tensor(
        placed(tensor.crow_indices() if rows else tensor.ccol_indices()),
        placed(tensor.col_indices() if rows else tensor.row_indices()),
        placed(tensor.values()),
        tensor.size(),
        layout=tensor.layout,
        check_invariants=False,
    )


def like(tensor, device):
    """A tensor of a device with the size, the strides and the type of another; not filled."""
    return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=device)


def to_device(result, device):
    """A CUDA tensor with the elements and the layout of a CPU tensor that was computed."""
    if result.layout == torch.sparse_coo:
        return _sparse(result, lambda part: to_device(part, device))
    if result.layout != torch.strided:
        return _compressed(result, lambda part: to_device(part, device))
    placed = like(result, device)
    if result.numel():
        _strided(placed).copy_(result)
    return placed
