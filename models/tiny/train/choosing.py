"""Circuits that choose: they find the tool, and the label, that a text is nearest to in meaning, around vectors of meaning learned beforehand
(`finding.py`). A model learns the likes of them from some hundred million tokens only, so they are set by hand and never trained.

They have dimensions of the residual stream and heads of their own, beside those that are learned, and meet these in two places only: in what is said, and
in how loud the label is, which a learned gate tells. So they are computed without a way back, which costs little, and nothing can wear them away.

Block 0 marks what stands before a token. Block 1 finds what each line and each item of a list begins with, and whose turn it is. Block 2 lets every token
find those of the system's turn that mean the same, and takes over what lines they stand in; where an answer begins, it looks which line was the last one.
Block 3 sums where a tool's name begins what the user's tokens found, and where an answer begins what the last line is about. Block 4 finds the item of
a list that is about the same. The last feed-forward part says it.
"""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from train.attention import Rms, attend, narrowed, turn
from train.circuits import SLOW, at_distance, rows

SIZE = 36
ROLES = ("system", "user", "tool", "assistant")
SEPARATORS = (",", ":", "|", "/", ";", "or", "-")


def places(**sizes):
    """Slices, one behind the other."""
    ends = torch.tensor(list(sizes.values())).cumsum(0).tolist()
    return {name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends)}


# The stream: what the token is, frequent ones apart, so that they are not said; a one for every token, what kind it is, what kind stands before it, whose turn
# it is; what it means among tools and how willingly it finds nothing, what it is about; what its line and its item begin with, what lines it has found,
# what item was chosen. What is said is written over what the token is, so that this stands in blocks of 32 of its own: 8 bits hold one scale for each.
AT = places(content=48, gap=16, common=8, one=1, kind=10, mark=6, turn=4, weight=1, gap2=2, meaning=SIZE, theme=SIZE, line=56, item=24, votes=48, chosen=24)
CONTENT, COMMON, ONE, TURN, WEIGHT, MEANING, THEME, LINE, ITEM, VOTES, CHOSEN = (
    AT[name] for name in ("content", "common", "one", "turn", "weight", "meaning", "theme", "line", "item", "votes", "chosen")
)
CODE = (CONTENT.stop - CONTENT.start) + (COMMON.stop - COMMON.start)
# What is not read any more holds something else: which line was the last one, what it is about.
LAST, ASKED = MEANING, slice(VOTES.start, VOTES.start + SIZE)
NEWLINE, REST, SEPARATOR, SPACE, QUOTE, NAME = range(AT["kind"].start, AT["kind"].start + 6)
ROLE = slice(NAME + 1, NAME + 1 + len(ROLES))
# The token before was a role's name, ended a line, began a turn, was a space; the one before that was a separator; the third before opened a call.
AFTER_ROLE, AFTER_LINE, AFTER_REST, AFTER_SPACE, AFTER_SEPARATOR, AFTER_NAME = range(AT["mark"].start, AT["mark"].stop)
WIDTH = CHOSEN.stop
# Keys and values of each block, and heads that share one of them.
HEADS = ((2, 2), (2, 2), (2, 1), (2, 1), (1, 1))
# The block whose first head finds a tool's name.
TALLY = 3
# How sharp attention has to be in these blocks, which the heads beside share: `sharpen` sets it.
SHARP = {1: 3.0, 2: 3.39, 3: 4.0, 4: 4.0}
SHARPEST, SHARPEST_AT = 24.0, (slice(12, 26), slice(58, 63))
# How long vectors of meaning are beside the code, and so weights.
LENGTH, WEIGHTS = 0.25, 0.1
# Products that fall with the distance, [(pair of dimensions, share, phase)]: within a hundred tokens, and at every scale up to 1,200.
LOCAL = ((6, 0.5, 0.7), (7, 0.5, 0.7))
FAR = ((6, 0.004, 1.925), (7, 0.01, 0.398), (8, 0.05, 1.876), (9, 0.262, 1.813), (10, 0.385, 0.494), (11, 0.267, 0.91), (12, 0.022, 1.193))
# What is learned: how loud a tool's name is said at the start, and a label.
LOUD, LOUD_LABEL = 60.0, 4.0
# Its gate at the start: open where an answer begins, by their difference, and shut elsewhere.
BEGINNING, SHUT = 13.0, 9.0


@dataclass
class Marks:
    """Tokens that circuits are built around."""

    rest: int
    """Begins a turn."""
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
    [rest], roles = ids(["<|im_start|>"]), ids(ROLES)
    return Marks(rest, [token for token in common if token not in (rest, roles[-1])], ends, tokenizer.encode(" ").ids[0], ids(SEPARATORS), roles, opening[-2], opening[1])


def fading(kernel, query):
    """A query's or a key's part whose product falls with their distance."""
    out = torch.zeros(64)
    for pair, share, phase in kernel:
        phase = torch.tensor(phase if query else 0.0)
        out[2 * pair], out[2 * pair + 1] = share**0.5 * torch.cos(phase), share**0.5 * torch.sin(phase)
    return out


class Heads(nn.Module):
    """Attention of one block on the circuits' stream. What it reads is about as long there as it was written."""

    def __init__(self, kv, group):
        super().__init__()
        self.kv, self.group = kv, group
        for name, shape in (("q", (64 * kv * group, WIDTH)), ("k", (64 * kv, WIDTH)), ("v", (64 * kv, WIDTH)), ("o", (WIDTH, 64 * kv * group))):
            self.register_buffer(name, torch.zeros(shape))

    def forward(self, c, q_norm, turns, epsilon):
        """What its heads found, [b, t, 64 * heads]."""
        b, t, _ = c.shape
        q, k, v = (F.linear(c, weight).view(b * t, -1, 64) for weight in (self.q, self.k, self.v))
        q, k = turn(Rms.apply(q, epsilon) * q_norm, turns), turn(Rms.apply(k, epsilon), turns)
        return attend(*(narrowed(each).view(b, t, -1, 64) for each in (q, k, v)))


class Choosing(nn.Module):
    """The circuits. What they read is divided by how long the learned part of the stream is at that token, as the norm of the whole divides it: `lengths`,
    what these are in the mean, makes up for it."""

    def __init__(self, vocabulary, width):
        super().__init__()
        self.register_buffer("embedding", torch.zeros(vocabulary, WIDTH))
        self.register_buffer("some", torch.zeros(24, 48))
        # At the start of each block, before the last feed-forward part, at the end.
        self.register_buffer("lengths", torch.ones(len(HEADS) + 2))
        self.heads = nn.ModuleList(Heads(*heads) for heads in HEADS)
        # Logarithms of how loud a tool's name and a label are said.
        self.loud = nn.Parameter(torch.tensor([LOUD, LOUD_LABEL]).log())
        self.gate = nn.Parameter(torch.zeros(width))

    @torch.no_grad()
    def found(self, ids, lengths, blocks, turns):
        """What was found for a tool's name and, before its gate, for a label, and where an answer begins: [b, t, 48], [b, t, 24], [b, t]. `lengths`
        [b, t, 1] of the learned part of the stream at each block."""
        c = narrowed(self.embedding)[ids]
        for number, (heads, length, block) in enumerate(zip(self.heads, lengths, blocks)):
            y = heads(c * (self.lengths[number] / length).to(c.dtype), block.q_norm, turns, block.shape.epsilon)
            if number == TALLY:
                tool = y[..., :48]
            c = c + F.linear(y, heads.o)
        return tool, c[..., CHOSEN], c[..., AFTER_ROLE]

    def said(self, found, y, length, end):
        """What the last norm holds for it, [n, 48]: `y` [n, width] is what the last feed-forward part reads, `length` [n, 1] how long the stream is before that, `end` behind it."""
        tool, item, begins = found
        share = self.lengths[-2] / length
        gate = F.silu((y.float() * self.gate).sum(-1, keepdim=True) + share * (BEGINNING * begins[..., None] - SHUT))
        return (self.loud[0].exp() * tool + self.loud[1].exp() * gate * share * item @ self.some) * (self.lengths[-1] / end)

    @property
    def codes(self):
        """[vocabulary, 48]"""
        return self.embedding[:, CONTENT]


def look_back(heads):
    """Heads 0 to 2: the kinds of the tokens one, two and three before."""
    for kv in range(2):
        heads.k[rows(kv), ONE] = 2 * at_distance(0)[:, None]
        heads.v[64 * kv : 64 * kv + 10, AT["kind"]] = torch.eye(10)
    for head in range(3):
        heads.q[rows(head), ONE] = 2 * at_distance(head + 1)[:, None]
    kind = lambda which: which - AT["kind"].start
    for mark, which in ((AFTER_ROLE, ROLE.stop - 1), (AFTER_LINE, NEWLINE), (AFTER_REST, REST), (AFTER_SPACE, SPACE)):
        heads.o[mark, kind(which)] = 1
    heads.o[AFTER_SEPARATOR, 64 + kind(SEPARATOR)] = 1
    heads.o[AFTER_NAME, 128 + kind(NAME)] = 1


def spans(heads, some):
    """Head 0: what the line begins with; head 1: what the item begins with, which stands behind a separator and a space; head 2: whose turn it is."""
    k, q, v, o = heads.k, heads.q, heads.v, heads.o
    one = ONE.start
    for kv, head, flag, kernel in ((0, 0, AFTER_LINE, LOCAL), (1, 2, AFTER_REST, FAR)):
        k[64 * kv + 62, flag] = 8.0
        k[rows(kv), one] += 6.0 * fading(kernel, False)
        k[64 * kv + 61, one] += 4.0
        q[64 * head + 62, one] += 9.0
        q[rows(head), one] += 8.0 * fading(kernel, True)
        q[64 * head + 61, one] -= 8.0
    k[60, REST] = 12.0
    q[60, REST] = 30.0
    q[64 + 60, REST] = 60.0
    k[64 + 62, REST] = -8.0
    k[59, AFTER_SEPARATOR] = 8.0
    k[58, AFTER_SPACE] = 8.0
    q[64 + 58 : 64 + 60, one] += 9.0
    q[64 + 61, one] -= 22.0
    q[rows(1), one] += 8.0 * fading(LOCAL, True)
    v[:48, CONTENT] = torch.eye(48)
    v[48:CODE, COMMON] = torch.eye(CODE - 48)
    o[LINE, :CODE] = torch.eye(CODE)
    o[ITEM, 64 : 64 + 48] = 1.4 * some
    v[64:68, ROLE] = torch.eye(4)
    o[TURN, 128:132] = torch.eye(4)


def match(heads, gains, lines):
    """Head 0: tokens of the system's turn that mean the same, and so their lines. Head 1: what the line of the fourth token before begins with."""
    k, q, v, o = heads.k, heads.q, heads.v, heads.o
    one = ONE.start
    long, flag, ask, _ = gains
    at = slice(SLOW, SLOW + SIZE)
    k[at, MEANING] = long / LENGTH * torch.eye(SIZE)
    q[at, MEANING] = long / LENGTH * torch.eye(SIZE)
    k[62, one] = flag
    q[62, one] = ask
    # What stands elsewhere is not found.
    k[24, TURN.start + 1 : TURN.stop] = -34.0
    q[24, one] = 0.3
    k[63, REST] = 60.0
    q[63, WEIGHT] = 1 / WEIGHTS
    # Those of the system's turn look for nothing, nor do those where attention rests.
    q[63, TURN.start] = 56.0
    q[63, REST] = 50.0
    v[:48, LINE.start : LINE.start + 48] = torch.eye(48)
    o[VOTES, :48] = torch.eye(48)
    k[rows(1), one] = 2 * at_distance(0)
    q[rows(1), one] = 2 * at_distance(4)
    v[64 : 64 + SIZE, LINE] = lines
    o[LAST, 64 : 64 + SIZE] = torch.eye(SIZE)


def tally(heads, lines):
    """Head 0: where a tool's name begins, the sum of what the tokens of the user's turn found. Head 1: what the last line is about."""
    k, q, v, o = heads.k, heads.q, heads.v, heads.o
    one = ONE.start
    at = slice(SLOW, SLOW + SIZE)
    # Turns of others count against, since what is small beside its place is else found everywhere.
    k[62, TURN] = -71.0
    k[62, TURN.start + 1] = 24.0
    k[rows(0), TURN] += (5.6 * fading(FAR, False))[:, None]
    k[61, TURN] += 3.4
    k[63, REST] = 60.0
    q[62, one] = 2.0
    q[rows(0), one] += 3.0 * fading(FAR, True)
    # Elsewhere it rests, behind other quotes, too.
    q[63, one] = 30.0
    q[63, QUOTE] = -24.0
    q[63, AFTER_NAME] = -9.0
    v[:48, VOTES] = torch.eye(48)
    k[64 + SLOW : 64 + SLOW + SIZE, LINE] = 52.0 * lines
    q[64 + SLOW : 64 + SLOW + SIZE, LAST] = 64.0 * torch.eye(SIZE)
    k[rows(1), TURN] += (4.5 * fading(FAR, False))[:, None]
    q[rows(1), one] += 3.0 * fading(FAR, True)
    v[64 : 64 + SIZE, THEME] = torch.eye(SIZE) / LENGTH
    o[ASKED, 64 : 64 + SIZE] = torch.eye(SIZE)


def choose(heads, gains, lines):
    """Items that are about the same as the last line, but those in it, and what they begin with."""
    k, q, v, o = heads.k, heads.q, heads.v, heads.o
    k[SLOW : SLOW + SIZE, THEME] = torch.eye(SIZE) / LENGTH
    k[62, ONE] = gains[0]
    q[SLOW : SLOW + SIZE, ASKED] = 10.0 * torch.eye(SIZE)
    k[18:26, LINE] = 7.0 * lines[:8]
    q[18:26, LAST] = -2.1 * torch.eye(SIZE)[:8]
    k[63, REST] = 60.0
    v[:24, ITEM] = torch.eye(24)
    o[CHOSEN, :24] = torch.eye(24)


@torch.no_grad()
def sharpen(blocks):
    """Sets how sharp attention is in the blocks of circuits, for all of their heads; those that are learned begin as soft in the sharpest dimensions as elsewhere."""
    for number, sharp in SHARP.items():
        blocks[number].q_norm.fill_(sharp)
    q = blocks[1].q.weight.view(-1, 64, blocks[1].q.weight.shape[1])
    for at in SHARPEST_AT:
        blocks[1].q_norm[at] = SHARPEST
        q[:, at] /= SHARPEST / SHARP[1]


def hold(model):
    """Keeps it so while all else is trained."""
    for number in SHARP:
        model.blocks[number].q_norm.requires_grad_(False)


@torch.no_grad()
def build(model, marks, meaning):
    """Sets all circuits of a new model; `meaning` is what `finding.py` has learned."""
    sharpen(model.blocks)
    choosing = model.choosing
    embedding = choosing.embedding
    vocabulary = len(embedding)
    embedding[:, CONTENT] = torch.randn(vocabulary, 48)
    embedding[marks.common] = 0
    embedding[marks.common, COMMON] = torch.randn(len(marks.common), CODE - 48)
    embedding /= embedding.norm(dim=-1, keepdim=True)
    embedding[[marks.rest, marks.roles[-1]]] = 0
    embedding[:, ONE] = 1
    for tokens, kind in ((marks.lines, NEWLINE), (marks.rest, REST), (marks.separators, SEPARATOR), (marks.space, SPACE), (marks.quote, QUOTE), (marks.name, NAME)):
        embedding[tokens, kind] = 1
    embedding[marks.roles, ROLE] = torch.eye(len(ROLES))
    found, about, weight = meaning["meaning"].clone(), meaning["theme"].clone(), meaning["weight"].clone()
    silent = [marks.rest, *marks.roles, *marks.lines]
    found[silent] = about[silent] = 0
    weight[marks.lines] = 4
    embedding[:, MEANING], embedding[:, THEME], embedding[:, WEIGHT] = LENGTH * found, LENGTH * about, WEIGHTS * weight[:, None]
    choosing.some.copy_(torch.linalg.qr(torch.randn(48, 48))[0][:24])
    lines = torch.linalg.qr(torch.randn(CODE, CODE))[0][:SIZE]
    look_back(choosing.heads[0])
    spans(choosing.heads[1], choosing.some)
    match(choosing.heads[2], meaning["match"], lines)
    tally(choosing.heads[3], lines)
    choose(choosing.heads[4], meaning["choose"], lines)
