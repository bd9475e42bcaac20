"""A Qwen3-shaped language model: grouped-query attention with normed queries and keys, RoPE, SwiGLU, RMSNorm, tied embeddings."""
from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import nn

from train.attention import Rms, attend, narrowed, rope_table, turn
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

    def attended(self, x, turns, chosen=None):
        """[b, t, width] to the same, or to [n, width] with what `chosen` [b, t] takes, behind attention."""
        s = self.shape
        b, t, _ = x.shape
        y = narrowed(Rms.apply(x, s.epsilon))
        q = turn(Rms.apply(self.q(y).view(b, t, s.heads, s.head_width), s.epsilon) * self.q_norm, turns)
        k = turn(Rms.apply(self.k(y).view(b, t, s.kv_heads, s.head_width), s.epsilon), turns)
        v = self.v(y).view(b, t, s.kv_heads, s.head_width)
        y = attend(q, k, v)
        if chosen is not None:
            x, y = x[chosen], y[chosen]
        return x + self.o(y)

    def fed(self, x):
        """What its feed-forward part reads, and the stream behind it."""
        y = narrowed(Rms.apply(x, self.shape.epsilon))
        return y, x + self.down(F.silu(self.gate(y)) * self.up(y))

    def forward(self, x, turns, chosen=None):
        return self.fed(self.attended(x, turns, chosen))[1]


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
        self.start()

    @torch.no_grad()
    def measure(self, ids, share):
        """Tells the circuits how long the stream is in the mean, by dialogues [b, t], which count by this share."""
        lengths, _, end, x = self.through(ids)
        found = torch.stack([one.log().mean().exp() for one in (*lengths, length(x), length(end))])
        self.choosing.lengths.lerp_(found, share)

    def start(self):
        nn.init.normal_(self.embedding.weight, std=0.02 * self.shape.scale)
        for name, weight in self.named_parameters():
            if weight.ndim == 2 and "embedding" not in name:
                nn.init.normal_(weight, std=0.5 * weight.shape[1] ** -0.5)
            if name.endswith(("o.weight", "down.weight")):
                nn.init.zeros_(weight)

    def through(self, ids, chosen=None):
        """How long the stream is at the start of each block but the last; what the last feed-forward part reads, the stream behind it, and that before it."""
        turns, lengths = self.turns[: ids.shape[1]], []
        x = self.embedding(ids)
        for block in self.blocks[:-1]:
            lengths.append(length(x))
            x = block(x, turns)
        x = self.blocks[-1].attended(x, turns, chosen)
        return lengths, *self.blocks[-1].fed(x), x

    def hidden(self, ids, chosen=None):
        """What the logits are made of, [b, t, width]; with a mask `chosen` [b, t] only of its places, [n, width], without the work for the rest.
        What circuits say stands behind it."""
        lengths, y, end, x = self.through(ids, chosen)
        hidden = Rms.apply(end, self.shape.epsilon) / self.shape.scale
        if self.choosing is None:
            return hidden
        found = self.choosing.found(ids, lengths, self.blocks, self.turns[: ids.shape[1]])
        if chosen is not None:
            found = [one[chosen] for one in found]
        return torch.cat([hidden, self.choosing.said(found, y, length(x), length(end))], -1)

    @property
    def vocabulary(self):
        """What logits are products with, [vocabulary, as wide as `hidden`]."""
        return self.embedding.weight if self.choosing is None else torch.cat([self.embedding.weight, self.choosing.codes], -1)

    def logits(self, hidden):
        return hidden @ self.vocabulary.T

    def forward(self, ids):
        return self.logits(self.hidden(ids))
