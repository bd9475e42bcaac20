"""A Qwen3-shaped language model: grouped-query attention with normed queries and keys, RoPE, SwiGLU, RMSNorm, tied embeddings."""
from dataclasses import asdict, dataclass
from functools import cache

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Shape:
    vocabulary: int = 4096
    width: int = 256
    layers: int = 8
    heads: int = 4
    kv_heads: int = 2
    head_width: int = 64
    feed_forward: int = 640
    context: int = 2048
    rope_base: float = 1e8
    epsilon: float = 1e-6
    # How long embeddings are: what a step of Muon adds to the residual stream is small beside them. Logits are divided by it again.
    scale: float = 10.0

    def record(self):
        return asdict(self)


def shipped(saved):
    """The weights of a checkpoint that are worth using: the mean over its last tokens, where it has one."""
    return saved.get("mean", saved["model"])


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


def rope_table(shape, length):
    """The turns as complex numbers, [length, head_width / 2]."""
    half = torch.arange(0, shape.head_width, 2).float() / shape.head_width
    angles = torch.outer(torch.arange(length).float(), shape.rope_base**-half)
    return torch.polar(torch.ones_like(angles), angles)


def turn(x, turns):
    """Rotates neighbouring pairs, [b, t, heads, head_width]; the export reorders rows for llama.cpp, which rotates halves."""
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * turns[:, None]).flatten(-2)


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


class Block(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        # Whether its feed-forward part is left out, which then is nothing.
        self.still = False
        q, kv = shape.heads * shape.head_width, shape.kv_heads * shape.head_width
        # How sharp attention is; every other norm is without weights, since the matrix after it can hold them.
        self.q_norm = nn.Parameter(torch.full((shape.head_width,), 1.5))
        self.q, self.k, self.v = (nn.Linear(shape.width, n, bias=False) for n in (q, kv, kv))
        self.o = nn.Linear(q, shape.width, bias=False)
        self.gate, self.up = (nn.Linear(shape.width, shape.feed_forward, bias=False) for _ in range(2))
        self.down = nn.Linear(shape.feed_forward, shape.width, bias=False)

    def forward(self, x, turns, chosen=None):
        """[b, t, width] to the same, or to [n, width] with what `chosen` [b, t] takes."""
        s = self.shape
        b, t, _ = x.shape
        y = narrowed(Rms.apply(x, s.epsilon))
        q = turn(Rms.apply(self.q(y).view(b, t, s.heads, s.head_width), s.epsilon) * self.q_norm, turns)
        k = turn(Rms.apply(self.k(y).view(b, t, s.kv_heads, s.head_width), s.epsilon), turns)
        v = self.v(y).view(b, t, s.kv_heads, s.head_width)
        y = attend(q, k, v)
        if chosen is not None:
            x, y = x[chosen], y[chosen]
        x = x + self.o(y)
        if self.still:
            return x
        y = narrowed(Rms.apply(x, s.epsilon))
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Model(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.register_buffer("turns", rope_table(shape, shape.context), persistent=False)
        self.start()

    def start(self):
        nn.init.normal_(self.embedding.weight, std=0.02 * self.shape.scale)
        for name, weight in self.named_parameters():
            if weight.ndim == 2 and "embedding" not in name:
                nn.init.normal_(weight, std=0.5 * weight.shape[1] ** -0.5)
            if name.endswith(("o.weight", "down.weight")):
                nn.init.zeros_(weight)

    def hidden(self, ids, chosen=None):
        """What the logits are made of, [b, t, width]; with a mask `chosen` [b, t] only of its places, [n, width], without the work for the rest."""
        turns = self.turns[: ids.shape[1]]
        x = self.embedding(ids)
        for block in self.blocks[:-1]:
            x = block(x, turns)
        x = self.blocks[-1](x, turns, chosen)
        return Rms.apply(x, self.shape.epsilon) / self.shape.scale

    def logits(self, hidden):
        return hidden @ self.embedding.weight.T

    def forward(self, ids):
        return self.logits(self.hidden(ids))
