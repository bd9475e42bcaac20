"""The learned part and the circuits beside it (`choosing.py`) as matrices of one model, as any runtime computes it: dimensions of the stream, heads and units
of the circuits stand behind those that are learned.

What circuits hold is made so small that the norm of the whole is that of the learned part; the weights of the norms make up for it.
"""
import torch
import torch.nn.functional as F

from train.choosing import AFTER_ROLE, BEGINNING, CHOSEN, CONTENT, HEADS, ONE, SHUT, TALLY, WIDTH
from train.model import shipped

# How long a one of the circuits is in the stream, and what a token is beside it, which is said as if it were an answer.
UNIT, OWN = 0.01, 0.02
# Rows of 8 bits come in pieces of as many.
PIECE = 32


def plain(saved):
    """Shape, matrices and norms of a checkpoint without circuits: its norms are without weights, and the last one divides by the length of embeddings."""
    shape = saved["shape"]
    one = torch.ones(shape["width"])
    norms = {f"blocks.{block}.{part}": one for block in range(shape["layers"]) for part in ("attn_norm", "ffn_norm")}
    return shape, shipped(saved), {**norms, "output_norm": one / shape["scale"]}


def spread(rows, kv, group):
    """Queries' rows of heads [kv * group * 64, n] with room for two heads on each of two keys, [256, n]."""
    out = torch.zeros(2, 2, 64, rows.shape[1])
    out[:kv, :group] = rows.view(kv, group, 64, rows.shape[1])
    return out.view(256, -1)


def below(rows, count):
    """With rows of nothing below, `count` in all."""
    return F.pad(rows, (0, 0, 0, count - len(rows)))


def attention(weights, number):
    """q, k, v and o of a block with the heads of its circuits, of which the last block has none."""
    own = {part: weights[f"blocks.{number}.{part}.weight"] for part in ("q", "k", "v", "o")}
    kv, group = HEADS[number] if number < len(HEADS) else (0, 0)
    q, k, v, o = (weights.get(f"choosing.heads.{number}.{part}", torch.zeros(0, WIDTH)) for part in ("q", "k", "v", "o"))
    o = UNIT * (o if kv else o.T)
    if number == TALLY:
        o[CONTENT, :48] = UNIT * weights["choosing.loud"][0].exp() * torch.eye(48)
    theirs = {"q": spread(q, kv, group), "k": below(k, 128), "v": below(v, 128), "o": spread(o.T, kv, group).T}
    return {part: torch.block_diag(own[part], theirs[part]) for part in own}


def feeding(weights, number, last, units):
    """gate, up and down of a block, of which the last says the label."""
    own = {part: weights[f"blocks.{number}.{part}.weight"] for part in ("gate", "up", "down")}
    learned = {part: below(rows, units) for part, rows in (("gate", own["gate"]), ("up", own["up"]), ("down", own["down"].T))}
    gate, up, down = (torch.zeros(units, WIDTH) for _ in range(3))
    if last:
        begin, count = len(own["gate"]), CHOSEN.stop - CHOSEN.start
        said = slice(begin, begin + count)
        learned["gate"][said] = weights["choosing.gate"]
        gate[said, AFTER_ROLE], gate[said, ONE] = BEGINNING, -SHUT
        up[said, CHOSEN] = torch.eye(count)
        down[said, CONTENT] = UNIT * weights["choosing.loud"][1].exp() * weights["choosing.some"]
    return {"gate": torch.cat([learned["gate"], gate], 1), "up": torch.cat([learned["up"], up], 1), "down": torch.cat([learned["down"], down], 1).T}


def joined(saved):
    """As `plain`, of a checkpoint with circuits."""
    shape, weights = saved["shape"], shipped(saved)
    layers, width, scale = shape["layers"], shape["width"], shape["scale"]
    units = -(-(shape["feed_forward"] + CHOSEN.stop - CHOSEN.start) // PIECE) * PIECE
    root = (width + WIDTH) ** 0.5
    embedding = UNIT * weights["choosing.embedding"]
    embedding[:, CONTENT] *= OWN
    out = {"embedding.weight": torch.cat([weights["embedding.weight"], embedding], 1)}

    def norm(own, length, content):
        theirs = torch.full((WIDTH,), float(length) / (UNIT * root))
        theirs[CONTENT] *= content
        return torch.cat([torch.full((width,), own * width**0.5 / root), theirs])

    norms = {}
    for number in range(layers):
        parts = {**attention(weights, number), **feeding(weights, number, number == layers - 1, units)}
        out |= {f"blocks.{number}.{part}.weight": values for part, values in parts.items()}
        out[f"blocks.{number}.q_norm"] = weights[f"blocks.{number}.q_norm"]
        norms[f"blocks.{number}.attn_norm"] = norm(1, weights["choosing.lengths"][number] if number < len(HEADS) else 0, 1 / OWN if number < 2 else 0)
        norms[f"blocks.{number}.ffn_norm"] = norm(1, weights["choosing.lengths"][-2] if number == layers - 1 else 0, 0)
    norms["output_norm"] = norm(1 / scale, 0, 0)
    norms["output_norm"][width:][CONTENT] = weights["choosing.lengths"][-1] / (UNIT**2 * OWN * root)
    heads, kv = (2 * shape[name] for name in ("heads", "kv_heads"))
    return {**shape, "width": width + WIDTH, "heads": heads, "kv_heads": kv, "feed_forward": units}, out, norms


def whole(saved):
    """(shape, matrices and query norms by their names in `model.py`, weights of the other norms)."""
    return joined(saved) if saved["shape"].get("chooses") else plain(saved)
