"""Norms, turns and attention, by themselves: in few passes over memory, which is what a CPU has least of."""
from functools import cache

import torch

# Queries of one product of attention.
PIECE = 128


class Rms(torch.autograd.Function):
    """x / rms(x) in few passes over memory, which is what a CPU has least of."""

    @staticmethod
    def forward(ctx, x, epsilon):
        scale = (torch.linalg.vector_norm(x, dim=-1, keepdim=True).square_() / x.shape[-1] + epsilon).rsqrt_()
        y = x * scale
        ctx.save_for_backward(y, scale)
        return y

    @staticmethod
    def backward(ctx, grad):
        y, scale = ctx.saved_tensors
        mean = (grad * y).mean(-1, keepdim=True)
        return torch.addcmul(grad, y, mean, value=-1).mul_(scale), None


def narrowed(x):
    """As products take it under autocast, which would make it anew for each of several products."""
    device = x.device.type
    return x.to(torch.get_autocast_dtype(device)) if torch.is_autocast_enabled(device) else x


def rms(x, epsilon):
    """x / rms(x); compiled code makes few passes by itself."""
    return x * (x.square().mean(-1, keepdim=True) + epsilon).rsqrt() if torch.compiler.is_compiling() else Rms.apply(x, epsilon)


def rope_table(shape, length):
    """Cosines and sines, [length, head_width / 2, 2]."""
    half = torch.arange(0, shape.head_width, 2).float() / shape.head_width
    angles = torch.outer(torch.arange(length).float(), shape.rope_base**-half)
    return torch.stack([angles.cos(), angles.sin()], -1)


def turn(x, turns):
    """Rotates neighbouring pairs, [n, heads, head_width], by turns [n, head_width / 2, 2]; the export reorders rows for llama.cpp, which rotates halves."""
    pairs, turns = x.float().unflatten(-1, (-1, 2)), turns[:, None]
    if not torch.compiler.is_compiling():
        return torch.view_as_real(torch.view_as_complex(pairs) * torch.view_as_complex(turns)).flatten(-2)
    (left, right), (cos, sin) = pairs.unbind(-1), turns.unbind(-1)
    return torch.stack([left * cos - right * sin, left * sin + right * cos], -1).flatten(-2)


@cache
def ahead(pieces, group, kind, device):
    """Minus infinity where a key lies ahead of a query of the last piece, [PIECE * group, PIECE * pieces]."""
    columns = PIECE * pieces
    return torch.full((PIECE, columns), float("-inf"), dtype=kind, device=device).triu_(1 + columns - PIECE).repeat_interleave(group, 0)


def attend(q, k, v):
    """Causal attention of q [b, t, heads, d] on k and v [b, t, kv_heads, d], [b, t, heads * d]. The heads that share a key are rows of one
    product, and rows are taken a piece at a time, so that what lies ahead of a piece costs nothing: faster here than torch's own attention,
    whose way back is slow on CPUs."""
    b, t, heads, d = q.shape
    kv, group = k.shape[2], heads // k.shape[2]
    q = q.view(b, t, kv, group, d).transpose(1, 2).reshape(b * kv, t * group, d)
    k, v = (x.transpose(1, 2).reshape(b * kv, t, d) for x in (k, v))
    k = k.transpose(1, 2)
    pieces = []
    for start in range(0, t, PIECE):
        end = min(t, start + PIECE)
        later = ahead(-(-t // PIECE), group, q.dtype, q.device)[: (end - start) * group, -PIECE - start : end - start - PIECE or None]
        pieces.append(torch.baddbmm(later, q[:, start * group : end * group], k[:, :, :end], alpha=d**-0.5).softmax(-1) @ v[:, :end])
    return torch.cat(pieces, 1).view(b, kv, t, group, d).transpose(1, 2).reshape(b, t, -1)
