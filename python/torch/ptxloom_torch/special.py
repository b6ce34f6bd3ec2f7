"""Operators that PyTorch has for CUDA alone, by formulas on host tensors."""

import torch

from . import attention

_aten = torch.ops.aten


def _softmax(of):
    def compute(tensor, dim, half_to_float):
        return of(tensor.float() if half_to_float else tensor, dim, False)

    return compute


def _softmax_backward(of):
    def compute(grad, output, dim, input_dtype):
        result = of(grad, output, dim, grad.dtype)
        return result if result.dtype == input_dtype else result.to(input_dtype)

    return compute


def _lstm_cell(input_gates, hidden_gates, cell, input_bias=None, hidden_bias=None):
    gates = input_gates + hidden_gates
    if input_bias is not None:
        gates = gates + input_bias + hidden_bias
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    new_cell = f * cell + i * g
    return o * new_cell.tanh(), new_cell, torch.cat((i, f, g, o), 1)


def _lstm_cell_backward(grad_hidden, grad_cell, cell, new_cell, workspace, has_bias):
    i, f, g, o = workspace.chunk(4, 1)
    squashed = new_cell.tanh()
    zero = torch.zeros_like(new_cell)
    grad_hidden = zero if grad_hidden is None else grad_hidden
    inner = (zero if grad_cell is None else grad_cell) + grad_hidden * o * (1 - squashed**2)
    grad_gates = torch.cat(
        (
            inner * g * i * (1 - i),
            inner * cell * f * (1 - f),
            inner * i * (1 - g**2),
            grad_hidden * squashed * o * (1 - o),
        ),
        1,
    )
    bias = grad_gates.sum(0) if has_bias else torch.empty(0, dtype=grad_gates.dtype)
    return grad_gates, inner * f, bias


def _gru_cell(input_gates, hidden_gates, hidden, input_bias=None, hidden_bias=None):
    if input_bias is not None:
        input_gates, hidden_gates = input_gates + input_bias, hidden_gates + hidden_bias
    ir, iz, i_new = input_gates.chunk(3, 1)
    hr, hz, h_new = hidden_gates.chunk(3, 1)
    reset, update = (ir + hr).sigmoid(), (iz + hz).sigmoid()
    new = (i_new + reset * h_new).tanh()
    workspace = torch.cat((reset, update, new, hidden, h_new), 1)
    return new + update * (hidden - new), workspace


def _gru_cell_backward(grad, workspace, has_bias):
    reset, update, new, hidden, h_new = workspace.chunk(5, 1)
    grad_update = grad * (hidden - new) * update * (1 - update)
    grad_new = grad * (1 - update) * (1 - new**2)
    grad_reset = grad_new * h_new * reset * (1 - reset)
    of_input = torch.cat((grad_reset, grad_update, grad_new), 1)
    of_hidden = torch.cat((grad_reset, grad_update, grad_new * reset), 1)
    none = torch.empty(0, dtype=grad.dtype)
    biases = (of_input.sum(0), of_hidden.sum(0)) if has_bias else (none, none)
    return (of_input, of_hidden, grad * update, *biases)


def _rms_norm(tensor, shape, weight, eps):
    dims = tuple(range(-len(shape), 0))
    wide = tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor
    eps = torch.finfo(wide.dtype).eps if eps is None else eps
    scale = (wide.square().mean(dims, keepdim=True) + eps).rsqrt()
    result = wide * scale
    return (result if weight is None else result * weight).to(tensor.dtype), scale


def _rms_norm_backward(grad, tensor, shape, scale, weight, mask):
    dims = tuple(range(-len(shape), 0))
    outer = tuple(range(tensor.dim() - len(shape)))
    normal = tensor * scale
    inner = grad if weight is None else grad * weight
    of_input = scale * (inner - normal * (inner * normal).mean(dims, keepdim=True))
    if not mask[1] or weight is None:
        return of_input.to(tensor.dtype), None
    of_weight = grad * normal
    of_weight = of_weight.sum(outer) if outer else of_weight
    return of_input.to(tensor.dtype), of_weight.to(weight.dtype)


def _cudnn_batch_norm(tensor, weight, bias, mean, var, training, momentum, eps):
    out = _aten.native_batch_norm(tensor, weight, bias, mean, var, training, momentum, eps)
    return (*out, torch.empty(0, dtype=torch.uint8))


def _cudnn_batch_norm_backward(tensor, grad, weight, mean, var, save_mean, save_var, eps, reserve):
    return _aten.native_batch_norm_backward(
        grad, tensor, weight, mean, var, save_mean, save_var, True, eps, [True, True, True]
    )


def _wider(of, tensors):
    """A product with an element type of its own: operands in that type."""

    def compute(*args, **kwargs):
        kwargs.setdefault("out", None)
        wide = [a.to(args[tensors]) for a in args[:tensors]]
        return of(*wide, *args[tensors + 1 :], **kwargs)

    return compute


def _no(*args, **kwargs):
    return False


# Operators whose answer needs no tensor.
VALUES = {
    "aten::_use_cudnn_ctc_loss": _no,
    "aten::_use_cudnn_ctc_loss.Tensor": _no,
    "aten::_use_miopen_ctc_loss": _no,
    "aten::_use_miopen_ctc_loss.Tensor": _no,
}

# Operators computed on host tensors.
COMPUTED = {
    "aten::_softmax": _softmax(_aten._softmax),
    "aten::_log_softmax": _softmax(_aten._log_softmax),
    "aten::_softmax_backward_data": _softmax_backward(_aten._softmax_backward_data),
    "aten::_log_softmax_backward_data": _softmax_backward(_aten._log_softmax_backward_data),
    "aten::_thnn_fused_lstm_cell": _lstm_cell,
    "aten::_thnn_fused_lstm_cell_backward_impl": _lstm_cell_backward,
    "aten::_thnn_fused_gru_cell": _gru_cell,
    "aten::_thnn_fused_gru_cell_backward": _gru_cell_backward,
    "aten::_fused_rms_norm": _rms_norm,
    "aten::_fused_rms_norm_backward": _rms_norm_backward,
    "aten::cudnn_batch_norm": _cudnn_batch_norm,
    "aten::cudnn_batch_norm_backward": _cudnn_batch_norm_backward,
    "aten::_scaled_dot_product_efficient_attention": attention.efficient,
    "aten::_scaled_dot_product_efficient_attention_backward": attention.efficient_backward,
    "aten::_scaled_dot_product_flash_attention": attention.flash,
    "aten::_scaled_dot_product_flash_attention_backward": attention.flash_backward,
    "aten::_scaled_dot_product_cudnn_attention": attention.cudnn,
    "aten::_scaled_dot_product_cudnn_attention_backward": attention.cudnn_backward,
}
for _product, _operands in (("mm", 2), ("bmm", 2), ("addmm", 3), ("baddbmm", 3)):
    for _overload in ("dtype", "dtype_out"):
        COMPUTED[f"aten::{_product}.{_overload}"] = _wider(getattr(torch, _product), _operands)
