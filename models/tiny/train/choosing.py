"""Starting weights that choose: circuits which find the tool, and the label, that a text is nearest to in meaning, around vectors of meaning learned
beforehand (`finding.py`). A model learns the likes of them from some hundred million tokens only, so they are set by hand and training leaves them as they
are; what is free in every block learns around them.

Block 1 marks what each line and each item of a list begins with, and whose turn it is. Block 2 lets every token find those of the system's turn that
mean the same, and takes over what lines they stand in; where an answer begins, it looks which line was the last one. Block 3 sums where a tool's name
begins what the user's tokens found, and where an answer begins what the last line is about. Block 4 finds the item of a list that is about the same,
and units of block 5, whose gates are learned, say it where labels are asked for.
"""
from dataclasses import dataclass

import torch

from train.circuits import BEFORE, BEFORE2, BEFORE3, CODE, CONTENT, ONE, REST, ROLE, SLOW, at_distance, forget, induce, liken, look_back, point, quieten, rows

# The residual stream behind that of `circuits.py`: what a token means among tools, what its line begins with, what lines it has found, whose turn it is,
# how willingly it finds nothing, what it is about, what its item begins with.
MEANING, LINE, VOTES, TURN, WEIGHT, THEME, ITEM = slice(187, 223), slice(223, 271), slice(271, 319), slice(319, 323), 323, slice(324, 360), slice(360, 384)
# The rest of what a line begins with, where that is a common token: its line is told apart, but not found.
PLAIN = slice(384, 394)
# What is not read any more holds something else: which line was the last one, what it is about.
LAST, ASKED = MEANING, slice(271, 307)
WIDTH, SIZE = 416, 36
# Dimensions of a code that say what kind of token it is.
COMMON, QUOTE, SPACE, SEPARATOR, NEWLINE = slice(48, 58), 58, 59, 60, 61
ROLES = ("system", "user", "tool", "assistant")
SEPARATORS = (",", ":", "|", "/", ";", "or", "-")
# Units of the last feed-forward part.
SAYING = slice(0, 24)
# How long vectors of meaning are beside the code, and so weights.
LENGTH, WEIGHTS = 0.25, 0.1
# Products that fall with the distance, [(pair of dimensions, share, phase)]: within a hundred tokens, and at every scale up to 1,200.
LOCAL = ((6, 0.5, 0.7), (7, 0.5, 0.7))
FAR = ((6, 0.004, 1.925), (7, 0.01, 0.398), (8, 0.05, 1.876), (9, 0.262, 1.813), (10, 0.385, 0.494), (11, 0.267, 0.91), (12, 0.022, 1.193))
# How long a mark of a token before is where it stands: frozen weights and embeddings keep it so.
MARK, TURN_LENGTH, ANSWER = 10.8, 5.25, 14.6


@dataclass
class Marks:
    """Tokens that circuits are built around."""

    rest: int
    """Begins a turn."""
    role: int
    """Names the answering role."""
    common: list
    """The most frequent ones."""
    lines: list
    """End a line."""
    space: int
    separators: list
    roles: list
    quote: int
    """Opens a tool's name."""
    name: int
    """Stands three tokens before it."""


def marks(tokenizer, common):
    opening = tokenizer.encode('{"name": "x').ids
    ends = [token for token in range(tokenizer.get_vocab_size()) if tokenizer.decode([token], skip_special_tokens=False).endswith("\n")]
    ids = lambda texts: [token for text in texts if (token := tokenizer.token_to_id(text)) is not None]
    space = tokenizer.encode(" ").ids[0]
    rest, role = ids(["<|im_start|>", "assistant"])
    return Marks(rest, role, [token for token in common if token not in (rest, role)], ends, space, ids(SEPARATORS), ids(ROLES), opening[-2], opening[1])


def fading(kernel, query):
    """A query's or a key's part whose product falls with their distance."""
    out = torch.zeros(64)
    for pair, share, phase in kernel:
        phase = torch.tensor(phase if query else 0.0)
        out[2 * pair], out[2 * pair + 1] = share**0.5 * torch.cos(phase), share**0.5 * torch.sin(phase)
    return out


def clear(block, *heads):
    """Makes room for heads, and for what those read that share their keys."""
    for head in heads:
        block.q.weight[rows(head)] = 0
        block.k.weight[rows(head // 2)] = 0
        block.v.weight[rows(head // 2)] = 0
        block.o.weight[:, rows(head)] = 0


def spans(block, codes, roles, some, scale):
    """Head 0: what the line begins with; head 1: what the item begins with, which stands behind a separator and a space; head 2: whose turn it is."""
    clear(block, 0, 1, 2)
    k, q, v, o = (part.weight for part in (block.k, block.q, block.v, block.o))
    for kv, head, flag, kernel in ((0, 0, BEFORE.start + 1, LOCAL), (1, 2, BEFORE.start + 2, FAR)):
        k[64 * kv + 62, flag] += 80 / MARK
        k[rows(kv), ONE] += 6.0 * fading(kernel, False)
        k[64 * kv + 61, ONE] += 4.0
        q[64 * head + 62, ONE] += 9.0
        q[rows(head), ONE] += 8.0 * fading(kernel, True)
        q[64 * head + 61, ONE] -= 8.0
    k[60, REST] += 12.0
    q[60, REST] += 30.0
    q[64 + 60, REST] += 60.0
    k[64 + 62, REST] -= 8.0
    k[59, BEFORE2.start + 3] += 80 / MARK
    k[58, BEFORE.start + 4] += 80 / MARK
    q[64 + 58 : 64 + 60, ONE] += 9.0
    q[64 + 61, ONE] -= 22.0
    q[rows(1), ONE] += 8.0 * fading(LOCAL, True)
    v[0:CONTENT, :CONTENT] += scale * torch.eye(CONTENT)
    v[CONTENT:COMMON.stop, COMMON] += scale * torch.eye(COMMON.stop - CONTENT)
    o[PLAIN, CONTENT:COMMON.stop] += scale * torch.eye(COMMON.stop - CONTENT)
    o[LINE, 0:CONTENT] += scale * torch.eye(CONTENT)
    o[ITEM, 64 : 64 + CONTENT] += 1.4 * scale * some
    v[64:68, CODE] += scale * torch.linalg.pinv(codes[roles]).T
    o[TURN, 128:132] += 0.3 * scale * torch.eye(4)
    block.q_norm.fill_(3.0)
    for loud in (slice(12, 26), slice(58, 63)):
        block.q_norm[loud] = 24.0
        # Heads that are free begin as soft there as elsewhere.
        for head in (3, 4, 5):
            block.q.weight[rows(head)][loud] /= 8


def match(block, gains, lines, scale):
    """Head 0: tokens of the system's turn that mean the same, and so their lines. Head 2: what the line of the fourth token before begins with."""
    clear(block, 0, 2)
    k, q, v, o = (part.weight for part in (block.k, block.q, block.v, block.o))
    long, flag, ask, sharp = gains
    at = slice(SLOW, SLOW + SIZE)
    k[at, MEANING] += long / LENGTH * torch.eye(SIZE)
    q[at, MEANING] += long / LENGTH * torch.eye(SIZE)
    k[62, ONE] += flag
    q[62, ONE] += ask
    # What stands elsewhere is not found. Marks are weighed against marks: what all of them stand in may grow.
    k[24, TURN.start + 1 : TURN.stop] -= 300 / TURN_LENGTH
    q[24, ONE] += 0.3
    k[63, REST] += 60.0
    q[63, WEIGHT] += 1 / WEIGHTS
    # Those of the system's turn look for nothing, nor do those where attention rests.
    q[63, TURN.start] += 500 / TURN_LENGTH
    q[63, REST] += 50.0
    v[0:CONTENT, LINE] += scale * torch.eye(CONTENT)
    o[VOTES, 0:CONTENT] += scale * torch.eye(CONTENT)
    k[rows(1), ONE] += 2 * at_distance(0)
    q[rows(2), ONE] += 2 * at_distance(4)
    v[64 : 64 + SIZE, LINE], v[64 : 64 + SIZE, PLAIN] = scale * lines[:, :CONTENT], scale * lines[:, CONTENT:]
    o[LAST, 128 : 128 + SIZE] += 0.5 * scale * torch.eye(SIZE)
    block.q_norm.fill_(sharp)


def tally(block, project, codes, name, lines, scale):
    """Head 0: where a tool's name begins, the sum of what the tokens of the user's turn found. Head 2: what the last line is about."""
    clear(block, 0, 2)
    k, q, v, o = (part.weight for part in (block.k, block.q, block.v, block.o))
    at = slice(SLOW, SLOW + SIZE)
    # Turns of others count against, since what is small beside its place is else found everywhere.
    k[62, TURN] -= 120.0
    k[62, TURN.start + 1] += 160.0
    k[rows(0), TURN] += (50.0 / TURN_LENGTH * fading(FAR, False))[:, None]
    k[61, TURN] += 30.0 / TURN_LENGTH
    k[63, REST] += 60.0
    q[62, ONE] += 2.0
    q[rows(0), ONE] += 3.0 * fading(FAR, True)
    # Elsewhere it rests, behind other quotes, too.
    q[63, ONE] += 30.0
    q[63, QUOTE] -= 24.0
    third = project[:16] @ codes[name]
    q[63, BEFORE3] -= 8.0 * third / third.square().sum()
    v[0:CONTENT, VOTES] += scale * torch.eye(CONTENT)
    o[:CONTENT, 0:CONTENT] += 2.0 * scale * torch.eye(CONTENT)
    k[64 + SLOW : 64 + SLOW + SIZE, LINE], k[64 + SLOW : 64 + SLOW + SIZE, PLAIN] = 30.0 * lines[:, :CONTENT], 30.0 * lines[:, CONTENT:]
    q[128 + SLOW : 128 + SLOW + SIZE, LAST] += 60.0 * torch.eye(SIZE)
    k[rows(1), TURN] += (40.0 / TURN_LENGTH * fading(FAR, False))[:, None]
    q[rows(2), ONE] += 3.0 * fading(FAR, True)
    v[64 : 64 + SIZE, THEME] += scale / LENGTH * torch.eye(SIZE)
    o[ASKED, 128 : 128 + SIZE] += scale * torch.eye(SIZE)
    block.q_norm.fill_(4.0)


def choose(block, gains, lines, scale):
    """Head 2: where an answer begins, items that are about the same as the last line, but those in it; what they begin with takes the place of what this
    token's own item does."""
    clear(block, 2)
    block.o.weight[:, rows(3)] = 0
    k, q, v, o = (part.weight for part in (block.k, block.q, block.v, block.o))
    short, sharp = gains
    k[64 + SLOW : 64 + SLOW + SIZE, THEME] += 1 / LENGTH * torch.eye(SIZE)
    k[64 + 62, ONE] += short
    q[128 + SLOW : 128 + SLOW + SIZE, ASKED] += 10.0 * torch.eye(SIZE)
    k[64 + 18 : 64 + 26, LINE], k[64 + 18 : 64 + 26, PLAIN] = 4.0 * lines[:8, :CONTENT], 4.0 * lines[:8, CONTENT:]
    q[128 + 18 : 128 + 26, LAST] -= 2.0 * torch.eye(SIZE)[:8]
    k[64 + 63, REST] += 60.0
    q[128 + 63, ONE] += 30.0
    q[128 + 63, BEFORE.start] -= 300 / ANSWER
    v[64:88, ITEM] += scale * torch.eye(24)
    block.o.weight[ITEM], block.down.weight[ITEM] = 0, 0
    o[ITEM, 128:152] += 6.0 * scale * torch.eye(24)


def speak(block, some):
    """The first units of the feed-forward part say what was chosen: what they read and write is set, how loud they are in what kind of prompt is learned."""
    block.o.weight[ITEM] = 0
    for weight in (block.gate.weight[SAYING], block.up.weight[SAYING], block.down.weight[:, SAYING]):
        weight.zero_()
    block.gate.weight[SAYING, BEFORE.start] = 5.0 / ANSWER
    block.up.weight[SAYING, ITEM] = torch.eye(24)
    block.down.weight[:CONTENT, SAYING] = 0.5 * some.T


def parts(model):
    """[(weight, places)]: what training leaves as it is, beside the whole first block."""
    marks = (slice(BEFORE.start, BEFORE.start + 5), slice(BEFORE2.start, BEFORE2.start + 5), BEFORE3, slice(QUOTE, 64), ONE)
    held = {0: (*marks, MEANING, LINE, PLAIN, VOTES, TURN, WEIGHT, THEME, ITEM), 3: (*marks, LINE, PLAIN, LAST, ASKED, THEME, ITEM)}
    out = [(model.embedding.weight, [(slice(None), slot) for slot in held[0]])]
    for number in (1, 2, 3):
        block, slots = model.blocks[number], [(slot,) for slot in held[3 if number == 3 else 0]]
        out += [(block.o.weight, [*slots, *((slice(None), rows(head)) for head in ((0, 1, 2) if number == 1 else (0, 2)))]), (block.down.weight, slots), (block.q_norm, [(slice(None),)])]
        out += [(block.k.weight, [(slice(0, 128),)]), (block.v.weight, [(slice(0, 128),)])]
        out += [(block.q.weight, [(rows(head),) for head in ((0, 1, 2) if number == 1 else (0, 2))])]
    fifth, last = model.blocks[4:]
    out += [(fifth.q.weight, [(rows(2),)]), (fifth.k.weight, [(rows(1),)]), (fifth.v.weight, [(slice(64, 88),)]), (fifth.o.weight, [(slice(None), slice(128, 152)), (ITEM,)]), (fifth.down.weight, [(ITEM,)])]
    return [*out, (last.o.weight, [(ITEM,)]), (last.up.weight, [(SAYING,)]), (last.down.weight, [(slice(None), SAYING)])]


class Kept:
    """Keeps the circuits as they are while all else is trained; only how loud the one that chooses tools speaks is learned, by Adam on its logarithm."""

    RATE = 0.02
    # While all around them is noise at first, they would only fall silent.
    PATIENCE = 200

    def __init__(self, model, marks):
        # The first block only looks back: what stands before a token has to stay as long as it is.
        model.blocks[0].requires_grad_(False).still = True
        masks = {}
        for weight, places in [*parts(model), (model.embedding.weight, [([marks.rest, *marks.roles, marks.quote, marks.name],)])]:
            _, mask = masks.setdefault(id(weight), (weight, torch.ones_like(weight)))
            for place in places:
                mask[place] = 0
        self.masks = list(masks.values())
        self.spoken, self.place = model.blocks[3].o.weight, (slice(None), rows(0))
        self.hold()

    def hold(self, steps=0):
        """Takes the weights as they are, after so many steps, for what is to be kept."""
        self.steps = steps
        self.parts = [(weight, mask, weight.detach() * (1 - mask)) for weight, mask in self.masks]
        self.start = self.spoken.detach()[self.place].clone()
        self.loud, self.mean, self.square = torch.zeros(3)

    @torch.no_grad()
    def before(self, factor):
        """Before a step: takes the gradients of what is kept away, and learns how loud it is."""
        self.steps += 1
        if self.steps > self.PATIENCE:
            slope = (self.spoken.grad[self.place] * self.start).sum() * self.loud.exp()
            self.mean.lerp_(slope, 0.1)
            self.square.lerp_(slope**2, 0.02)
            self.loud -= factor * self.RATE * self.mean / (self.square.sqrt() + 1e-12)
        for weight, mask, _ in self.parts:
            weight.grad.mul_(mask)

    @torch.no_grad()
    def after(self):
        """After a step: puts it back."""
        for weight, mask, held in self.parts:
            weight.mul_(mask).add_(held)
        self.spoken[self.place] = self.start * self.loud.exp()


@torch.no_grad()
def build(model, marks, meaning):
    """Puts all circuits into a model of width 416 with six heads on three; `meaning` is what `finding.py` has learned."""
    shape, size = model.shape, model.shape.scale
    codes = torch.randn(shape.vocabulary, 64)
    codes[:, CONTENT:] = 0
    codes[marks.common] = 0
    codes[marks.common, COMMON] = torch.randn(len(marks.common), COMMON.stop - COMMON.start)
    codes /= codes.norm(dim=-1, keepdim=True)
    codes[[marks.rest, marks.role]] = 0
    codes[marks.role, ROLE] = codes[marks.rest, REST] = codes[marks.space, SPACE] = codes[marks.quote, QUOTE] = 1
    codes[marks.lines, NEWLINE] = 1
    codes[marks.separators, SEPARATOR] = 1
    embedding = model.embedding.weight
    embedding[:, CODE], embedding[:, ONE] = size * codes, size
    found, about, weight = meaning["meaning"].clone(), meaning["theme"].clone(), meaning["weight"].clone()
    found[[marks.rest, *marks.roles, *marks.lines]] = about[[marks.rest, *marks.roles, *marks.lines]] = 0
    weight[marks.lines] = 4
    embedding[:, MEANING], embedding[:, THEME], embedding[:, WEIGHT] = size * LENGTH * found, size * LENGTH * about, size * WEIGHTS * weight
    for slot in (BEFORE, BEFORE2, BEFORE3, LINE, PLAIN, VOTES, TURN, ITEM):
        embedding[:, slot] = 0
    # Its first rows say what kind of token it is, the others which one.
    project = torch.zeros(64, 64)
    for row, kind in enumerate((ROLE, NEWLINE, REST, SEPARATOR, SPACE)):
        project[row, kind] = 1
    project[5:, :SPACE] = torch.linalg.qr(torch.randn(SPACE, SPACE))[0]
    gather, some = (torch.linalg.qr(torch.randn(CONTENT, CONTENT))[0][:count] for count in (40, 24))
    lines = torch.linalg.qr(torch.randn(COMMON.stop, COMMON.stop))[0][:SIZE]
    blocks = model.blocks
    for number in (0, 4, 5):
        quieten(blocks[number])
    for block in blocks[2:4]:
        liken(block, (4, 5))
    # What a head writes is the product of two matrices, and as long as what embeddings hold.
    size = size**0.5
    look_back(blocks[0], project, gather @ torch.eye(64)[:CONTENT], 0.32 * size)
    spans(blocks[1], codes, marks.roles, some, 0.5 * size)
    match(blocks[2], meaning["match"], lines, 0.5 * size)
    tally(blocks[3], project, codes, marks.name, lines, 0.5 * size)
    point(blocks[4], project, 0.5 * size)
    choose(blocks[4], meaning["choose"], lines, 0.5 * size)
    induce(blocks[5], project, CODE, 0.6 * size, skip=5)
    forget(blocks[5], 0.25 * size)
    speak(blocks[5], some)
