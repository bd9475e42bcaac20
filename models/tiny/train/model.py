"""A Qwen3-shaped language model: grouped-query attention with normed queries and keys, RoPE, SwiGLU, RMSNorm, tied embeddings."""
from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import nn

from train.attention import Rms, attend, narrowed, rms, rope_table, turn
from train.choosing import Choosing


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
    # Whether circuits that choose stand beside what is learned: `choosing.py`.
    chooses: bool = False

    def record(self):
        return asdict(self)


def shipped(saved):
    """The weights of a checkpoint that are worth using: the mean over its last tokens, where it has one."""
    return saved.get("mean", saved["model"])


class Block(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        q, kv = shape.heads * shape.head_width, shape.kv_heads * shape.head_width
        # How sharp attention is; every other norm is without weights, since the matrix after it can hold them.
        self.q_norm = nn.Parameter(torch.full((shape.head_width,), 1.5))
        self.q, self.k, self.v = (nn.Linear(shape.width, n, bias=False) for n in (q, kv, kv))
        self.o = nn.Linear(q, shape.width, bias=False)
        self.gate, self.up = (nn.Linear(shape.width, shape.feed_forward, bias=False) for _ in range(2))
        self.down = nn.Linear(shape.feed_forward, shape.width, bias=False)

    def forward(self, x, turns, parts, chosen=None):
        """The stream [b, t, width] to what the feed-forward part reads and the stream behind it, both [b, t, width], or [n, width] with what `chosen`
        [b, t] takes, and how long the stream was between, [..., 1]."""
        b, t, width = x.shape
        before, behind = parts
        q, k, v = before(x.view(-1, width), self.q.weight, self.k.weight, self.v.weight, self.q_norm, turns, self.shape.epsilon)
        y = attend(*(each.view(b, t, -1, self.shape.head_width) for each in (q, k, v)))
        if chosen is not None:
            x, y = x[chosen], y[chosen]
        found = behind(x.view(-1, width), y.view(-1, y.shape[-1]), self.o.weight, self.gate.weight, self.up.weight, self.down.weight, self.shape.epsilon)
        return [each.view(*x.shape[:-1], -1) for each in found]


def before(x, q, k, v, norm, turns, epsilon):
    """What attention of a block takes of the stream [n, width]: queries, keys and values, [n, heads, d] each, turned by `turns` [n, d / 2, 2]."""
    y = narrowed(rms(x, epsilon))
    q, k, v = (F.linear(y, weight).unflatten(-1, (-1, len(norm))) for weight in (q, k, v))
    return narrowed(turn(rms(q.float(), epsilon) * norm, turns)), narrowed(turn(rms(k.float(), epsilon), turns)), v


def behind(x, y, o, gate, up, down, epsilon):
    """The stream [n, width] with what attention gave, y [n, heads * d], and the feed-forward part: what that reads, the stream behind it, and how long it was before."""
    x = x + F.linear(y, o)
    z = narrowed(rms(x, epsilon))
    return z, x + F.linear(narrowed(F.silu(F.linear(z, gate).float()) * F.linear(z, up).float()), down), length(x)


def length(x):
    return torch.linalg.vector_norm(x.detach(), dim=-1, keepdim=True)


class Model(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.choosing = Choosing(shape.vocabulary, shape.width) if shape.chooses else None
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.register_buffer("turns", rope_table(shape, shape.context), persistent=False)
        self.parts = before, behind
        self.start()

    @torch.no_grad()
    def measure(self, ids, share):
        """Tells the circuits how long the stream is in the mean, by dialogues [b, t], which count by this share."""
        lengths, _, end, between = self.through(ids)
        found = torch.stack([one.log().mean().exp() for one in (*lengths, between, length(end))])
        self.choosing.lengths.lerp_(found, share)

    def start(self):
        nn.init.normal_(self.embedding.weight, std=0.02 * self.shape.scale)
        for name, weight in self.named_parameters():
            if weight.ndim == 2 and "embedding" not in name:
                nn.init.normal_(weight, std=0.5 * weight.shape[1] ** -0.5)
            if name.endswith(("o.weight", "down.weight")):
                nn.init.zeros_(weight)

    def compile(self):
        """Makes what lies around attention few passes over memory; takes a minute and a C++ compiler, and pays off in minutes."""
        torch._dynamo.config.recompile_limit = 64
        self.parts = [torch.compile(part, dynamic=True) for part in self.parts]

    def turned(self, ids):
        """The turns of the places of [b, t], [b * t, head_width / 2, 2]."""
        return self.turns[: ids.shape[1]].repeat(len(ids), 1, 1)

    def through(self, ids, chosen=None):
        """How long the stream is at the start of each block but the last; what the last feed-forward part reads, the stream behind it, and how long it was before."""
        turns, lengths = self.turned(ids), []
        x = self.embedding(ids)
        for block in self.blocks[:-1]:
            lengths.append(length(x))
            _, x, _ = block(x, turns, self.parts)
        return lengths, *self.blocks[-1](x, turns, self.parts, chosen)

    def hidden(self, ids, chosen=None):
        """What the logits are made of, [b, t, width]; with a mask `chosen` [b, t] only of its places, [n, width], without the work for the rest.
        What circuits say stands behind it."""
        lengths, y, end, between = self.through(ids, chosen)
        hidden = Rms.apply(end, self.shape.epsilon) / self.shape.scale
        if self.choosing is None:
            return hidden
        found = self.choosing.found(ids, lengths, self.blocks, self.turned(ids))
        if chosen is not None:
            found = [one[chosen] for one in found]
        return torch.cat([hidden, self.choosing.said(found, y, between, length(end))], -1)

    @property
    def vocabulary(self):
        """What logits are products with, [vocabulary, as wide as `hidden`]."""
        return self.embedding.weight if self.choosing is None else torch.cat([self.embedding.weight, self.choosing.codes], -1)

    def logits(self, hidden):
        return hidden @ self.vocabulary.T

    def forward(self, ids):
        return self.logits(self.hidden(ids))
