"""Scaled dot-product attention by its formula: what CUDA has as fused kernels.

Shapes are those of PyTorch's operators: batch, heads, positions, features. Keys and values may have
fewer heads, each then serves several of the queries'. Products of 16-bit types add up in float.
"""

import math

import torch

_HALVES = (torch.float16, torch.bfloat16)


def _wide(tensor):
    return tensor.float() if tensor.dtype in _HALVES else tensor


def _spread(tensor, heads):
    """Keys or values with as many heads as the queries."""
    tensor = _wide(tensor)
    return tensor.repeat_interleave(heads // tensor.size(1), 1)


def _gathered(grad, like):
    """The gradient of _spread: sums over the queries' heads that a head serves."""
    groups = grad.size(1) // like.size(1)
    if groups > 1:
        grad = grad.unflatten(1, (like.size(1), groups)).sum(2)
    return grad.to(like.dtype)


def _scores(query, key, bias, causal, scale):
    scores = _wide(query) @ _spread(key, query.size(1)).transpose(-2, -1) * scale
    if bias is not None:
        scores = scores + _wide(bias)
    if causal:
        keep = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        scores = scores.masked_fill(~keep, -math.inf)
    return scores


def _kept(shape, dropout, seed):
    """What dropout multiplies with; the same for the same seed."""
    generator = torch.Generator()
    generator.manual_seed(int(seed))
    return torch.empty(shape).bernoulli_(1 - dropout, generator=generator) / (1 - dropout)


def _heads_inside(tensor):
    """In the order of memory that CUDA's kernels give: positions before heads."""
    return tensor.transpose(1, 2).contiguous().transpose(1, 2)


def _forward(query, key, value, bias, dropout, causal, scale):
    scale = scale or 1 / math.sqrt(query.size(-1))
    scores = _scores(query, key, bias, causal, scale)
    sums = scores.logsumexp(-1)
    weights = (scores - sums.unsqueeze(-1)).exp().nan_to_num(0.0)
    seed = torch.randint(1 << 62, ())
    if dropout:
        weights = weights * _kept(weights.shape, dropout, seed)
    result = (weights @ _spread(value, query.size(1))).to(query.dtype)
    return _heads_inside(result), sums.float(), seed


def _backward(grad, query, key, value, bias, sums, seed, dropout, causal, scale):
    scale = scale or 1 / math.sqrt(query.size(-1))
    scores = _scores(query, key, bias, causal, scale)
    weights = (scores - scores.logsumexp(-1, keepdim=True)).exp().nan_to_num(0.0)
    kept = _kept(weights.shape, dropout, seed) if dropout else 1
    grad = _wide(grad)
    of_value = (weights * kept).transpose(-2, -1) @ grad
    of_weights = grad @ _spread(value, query.size(1)).transpose(-2, -1) * kept
    of_scores = weights * (of_weights - (of_weights * weights).sum(-1, keepdim=True))
    of_query = of_scores @ _spread(key, query.size(1)) * scale
    of_key = of_scores.transpose(-2, -1) @ _wide(query) * scale
    grads = of_query.to(query.dtype), _gathered(of_key, key), _gathered(of_value, value)
    return (*map(_heads_inside, grads), of_scores)


def efficient(query, key, value, bias, with_sums, dropout=0.0, causal=False, *, scale=None):
    """aten::_scaled_dot_product_efficient_attention"""
    result, sums, seed = _forward(query, key, value, bias, dropout, causal, scale)
    return result, sums if with_sums else sums[..., :0], seed, torch.zeros((), dtype=torch.long)


def efficient_backward(
    grad, query, key, value, bias, out, sums, seed, offset, dropout, mask, causal=False, *, scale=None
):
    """aten::_scaled_dot_product_efficient_attention_backward"""
    bias = bias if bias is not None and bias.numel() else None
    *grads, of_scores = _backward(
        grad, query, key, value, bias, sums, seed, dropout, causal, scale
    )
    of_bias = None
    if mask[3] and bias is not None:
        of_bias = of_scores.sum_to_size(bias.shape).to(bias.dtype)
    return (*grads, of_bias)


def flash(query, key, value, dropout=0.0, causal=False, with_mask=False, *, scale=None):
    """aten::_scaled_dot_product_flash_attention"""
    return cudnn(query, key, value, None, True, dropout, causal, with_mask, scale=scale)


def flash_backward(
    grad, query, key, value, out, sums, starts_q, starts_k, rows, columns, dropout, causal, seed,
    offset, *, scale=None
):  # fmt: skip
    """aten::_scaled_dot_product_flash_attention_backward"""
    return _backward(grad, query, key, value, None, sums, seed, dropout, causal, scale)[:3]


def cudnn(
    query, key, value, bias, with_sums, dropout=0.0, causal=False, with_mask=False, *, scale=None
):
    """aten::_scaled_dot_product_cudnn_attention"""
    result, sums, seed = _forward(query, key, value, bias, dropout, causal, scale)
    none = torch.empty(0, dtype=torch.int32)
    offset = torch.zeros((), dtype=torch.long)
    return (
        result, sums, none, none, query.size(2), key.size(2), seed, offset,
        torch.empty(0, dtype=query.dtype),
    )  # fmt: skip


def cudnn_backward(
    grad, query, key, value, out, sums, seed, offset, bias, starts_q, starts_k, rows, columns,
    dropout, causal, *, scale=None
):  # fmt: skip
    """aten::_scaled_dot_product_cudnn_attention_backward"""
    return _backward(grad, query, key, value, bias, sums, seed, dropout, causal, scale)[:3]
