"""Starting weights that can already copy: the circuits whose discovery takes an untrained model most of its tokens.

Heads that look at the token before (and the one before that), induction heads that find where the last one or two tokens stood and
copy what followed (Olsson et al., 2022, describe them as training finds them), and a bag of the last words. Written by hand, then trained.
"""
import torch

# The residual stream at the start: what the token is, the three before it, a bag of the last ones, a one for every token, what may follow.
CODE, BEFORE, BEFORE2, BEFORE3 = slice(0, 64), slice(64, 102), slice(102, 130), slice(130, 146)
BAG, ONE, FOUND = slice(146, 186), 186, slice(187, 251)
# Tokens that stand everywhere have their codes apart, so that a bag of words leaves them out.
CONTENT, COMMON, ROLE = 48, slice(48, 62), 62
# The code has a dimension of its own for the token where attention rests that finds nothing.
REST = 63
# Of a head's dimensions the first turn fast and tell distance, the others turn slowly and can hold content.
SLOW, FILL = 26, 20
DISTANCE = (0.55, 0.25, 0.1, 0.06, 0.04)
REST_SHARE = 0.55


def at_distance(phase):
    """A head's query (`phase` tokens back) or key (0) for a constant."""
    out = torch.zeros(64)
    for pair, share in enumerate(DISTANCE):
        angle = torch.tensor(-phase * 1e8 ** (-pair / 32))
        out[2 * pair], out[2 * pair + 1] = share**0.5 * torch.cos(angle), share**0.5 * torch.sin(angle)
    return out


NEAR = (5, 6, 7)


def near():
    """A query that prefers the last dozen of tokens, to a key that has the same; turned around, one that avoids them."""
    out = torch.zeros(64)
    for pair in NEAR:
        out[2 * pair] = 3**-0.5
    return out


def rows(head):
    return slice(64 * head, 64 * head + 64)


def look_back(block, project, gather, scale):
    """Heads 0 to 2: the tokens one, two and three before; head 3: a bag of the last words."""
    for kv in range(2):
        block.k.weight[rows(kv), ONE] += 2 * at_distance(0) + 0.7 * near()
        block.v.weight[rows(kv), CODE] += scale * torch.eye(64)
    block.q.weight[rows(0), ONE] += 2 * at_distance(1)
    block.q.weight[rows(1), ONE] += 2 * at_distance(2)
    block.q.weight[rows(2), ONE] += 2 * at_distance(3)
    block.q.weight[rows(3), ONE] += 2 * near()
    for head, (to, size) in enumerate(((BEFORE, 38), (BEFORE2, 28), (BEFORE3, 16))):
        block.o.weight[to, rows(head)] += scale * project[:size]
    block.o.weight[BAG, rows(3)] += 2 * scale * gather


def induce(block, project, to, scale):
    """Head 0 finds what followed the last two tokens before, head 2 what followed the last three; both write it to `to`."""
    q, k = block.q.weight, block.k.weight
    # Keys hold the tokens before, queries the token itself and those before it; the last slow pair is for the place of rest.
    for kv, head, parts in ((0, 0, (20, 16)), (1, 2, (14, 12, 10))):
        at = SLOW
        for size, before, here in zip(parts, (BEFORE, BEFORE2, BEFORE3), (None, BEFORE, BEFORE2)):
            k[64 * kv + at : 64 * kv + at + size, before.start : before.start + size] += 2 * torch.eye(size)
            if here is None:
                q[64 * head + at : 64 * head + at + size, CODE] += 2 * project[:size]
            else:
                q[64 * head + at : 64 * head + at + size, here.start : here.start + size] += 2 * torch.eye(size)
            at += size
    keep = torch.eye(64)
    keep[REST, REST] = 0
    for kv, head in ((0, 0), (1, 2)):
        k[64 * kv + 63, REST] += 6.0
        q[64 * head + 63, ONE] += 2 * REST_SHARE
        block.v.weight[rows(kv), CODE] += scale * keep
        block.o.weight[to, rows(head)] += scale * keep


def forget(block, scale):
    """Head 1 takes the token's own code away, so that what was copied remains; where an answer begins it rests."""
    block.k.weight[rows(0), ONE] += 1.2 * at_distance(0)
    block.q.weight[rows(1), ONE] += 2 * at_distance(0)
    block.q.weight[64 + 63, BEFORE.start] += 8.0
    block.o.weight[CODE, rows(1)] -= scale * torch.eye(64)


def point(block, project, scale):
    """Where an answer begins, every head copies; elsewhere it rests. Head 0 looks at earlier texts whose last words are those of the
    question, the others anywhere: which words they look for is left to training."""
    q, k = block.q.weight, block.k.weight
    slow = lambda head: slice(64 * head + SLOW, 64 * head + SLOW + 36)
    k[slow(0), BAG.start : BAG.start + 36] += 2 * torch.eye(36)
    k[rows(0), ONE] += 0.33 * near()
    k[slow(1), BEFORE.start : BEFORE.start + 36] += 0.33 * torch.eye(36)
    k[slow(1), CODE] += 0.33 * project[2:38]
    q[slow(0), BAG.start : BAG.start + 36] += 2 * torch.eye(36)
    q[rows(0), ONE] -= 0.8 * near()
    keep = torch.eye(64)
    keep[REST, REST] = 0
    keep[COMMON, COMMON] = 0
    for kv in range(2):
        # Keeps a bag that is nearly empty small.
        k[64 * kv + FILL, ONE] += 1.0
        k[64 * kv + 63, REST] += 4.0
        block.v.weight[rows(kv), CODE] += scale * keep
    for head in range(4):
        if head > 0:
            # Spreads the attention until training finds something better.
            q[64 * head + FILL, ONE] += 0.5
        q[64 * head + 63, ONE] += 2.0
        q[64 * head + 63, BEFORE.start] -= 2.0
        block.o.weight[CODE, rows(head)] += scale * keep


def quieten(block):
    """Makes what is random in a block's attention small beside the circuits that come into it."""
    for weight in (block.q.weight, block.k.weight, block.v.weight):
        weight *= 0.1
    # What is read where nothing is found must be nothing.
    block.v.weight *= 0.1
    block.q_norm.fill_(4.0)


def liken(block, heads):
    """Queries of these heads begin near the key of like content."""
    for head in heads:
        block.q.weight[rows(head)] = 0.3 * block.q.weight[rows(head)] + block.k.weight[rows(head // 2)]


@torch.no_grad()
def build(model, rest, role, common):
    """Puts the circuits into a model of width 256 with four heads on two. `rest` is the token that begins a turn, `role` the one before an
    answer's line break, `common` are those that stand everywhere."""
    codes = torch.randn(model.shape.vocabulary, 64)
    codes[:, CONTENT:] = 0
    codes[common] = 0
    codes[common, COMMON] = torch.randn(len(common), COMMON.stop - COMMON.start)
    codes /= codes.norm(dim=-1, keepdim=True)
    codes[rest] = codes[role] = 0
    codes[role, ROLE] = 1
    codes[rest, REST] = 1
    size = model.shape.scale
    model.embedding.weight[:, CODE] = size * codes
    model.embedding.weight[:, ONE] = size
    # Its first row says whether the token is the role, the others say which of the rest it is.
    project = torch.zeros(64, 64)
    project[0, ROLE] = 1
    project[1:63, :ROLE] = torch.linalg.qr(torch.randn(ROLE, ROLE))[0]
    gather = torch.linalg.qr(torch.randn(CONTENT, CONTENT))[0][:40] @ torch.eye(64)[:CONTENT]
    blocks = model.blocks
    for number in (0, 1, len(blocks) - 2, len(blocks) - 1):
        quieten(blocks[number])
    # What a head writes is the product of two matrices, and as long as what embeddings hold.
    size = size**0.5
    look_back(blocks[0], project, gather, 0.32 * size)
    induce(blocks[1], project, FOUND, 0.3 * size)
    point(blocks[-2], project, 0.5 * size)
    induce(blocks[-1], project, CODE, 0.6 * size)
    forget(blocks[-1], 0.25 * size)
    for block in blocks[2:-2]:
        liken(block, range(4))
