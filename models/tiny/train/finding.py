"""Learns the vectors of meaning around which `choosing.py` builds its circuits, by doing what these will do: from bags of words (`meaning.py`) to vectors
with which the words of a request find the tool that it means, and others with which a text finds its label among what else the prompt says.

A few minutes on one core. Writes `meaning.pt`: meaning [vocabulary, 36], weight [vocabulary] (how willingly a token finds nothing), match (how long
vectors are beside the marks, how strong those are in keys and in queries, how sharp attention is), theme [vocabulary, 36], choose (how short a key may
be, how sharp attention is).
"""
import argparse
import random
import re
import sys
import time
from functools import lru_cache
from itertools import islice
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

TINY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TINY))
from generate.chat import TOOLS_FOOT, TOOLS_HEAD, signature, tool  # noqa: E402
from generate.kinds.tools import tools  # noqa: E402
from generate.labelled import SETS  # noqa: E402
from train.choosing import SIZE  # noqa: E402
from train.meaning import FOLDER, Meaning, groups, items  # noqa: E402
from train.tokens import load  # noqa: E402
from train.train import starting  # noqa: E402

BATCH, LEFT_OUT, LABELS = 64, 0.15, 0.5
ASKING = (
    "Classify the text as one of: ", "Classify each message as one of: ", "Answer with the label only. Labels: ", "You are a classifier. Reply with one of: ", "Which of these fits? ",
    "Say which category the text belongs to: ", "Only give the name of the category: ", "Sort the message into one of these groups: ", "What is this about? Choose from: ", "Pick the topic that fits best: ",
)


class Prompts:
    """Examples: (tokens of what is offered, which offer each belongs to or 0, tokens of what is said, the right offer from 1 on)."""

    def __init__(self, tokenizer):
        self.ids = lru_cache(50_000)(lambda text: tuple(tokenizer.encode(text).ids))

    def example(self, head, offers, foot, said, right):
        parts = [(head, 0), *((text, number) for number, text in enumerate(offers, 1)), (foot, 0)]
        return [token for text, _ in parts for token in self.ids(text)], [number for text, number in parts for _ in self.ids(text)], self.ids(said), right

    def offered(self, system, definitions, said, name):
        head = "system\n" + (system + "\n\n" if system is not None else "") + TOOLS_HEAD
        return self.example(head, ["\n" + signature(one) for one in definitions], TOOLS_FOOT, said, [one.get("function", one)["name"] for one in definitions].index(name) + 1)

    def calls(self, r):
        """Up to three requests of a generated dialogue with the tools that they call."""
        dialogue = tools(r, 1.0)
        system = dialogue.messages[0][1] if dialogue.messages[0][0] == "system" else None
        names = [one.get("function", one)["name"] for one in dialogue.tools or ()]
        found = []
        for (_, said), (role, answer) in zip(dialogue.messages, dialogue.messages[1:]):
            called = re.match(r'.*?<tool_call>\n\{"name": "([^"]+)"', answer, re.S) if role == "assistant" else None
            if called and called[1] in names:
                found.append(self.offered(system, dialogue.tools, said, called[1]))
        return r.sample(found, min(3, len(found)))

    def labelled(self, text, names, right, asking=ASKING[0]):
        return self.example(asking, ["\n" + name for name in names], "", text, right)

    def label(self, r):
        """A hand-written text with some labels of its set."""
        labels = r.choice(SETS).labels
        labels = r.sample(labels, min(len(labels), r.randint(2, 8)))
        right = r.randrange(len(labels))
        text = re.sub(r"\{[^}]*\}", " ", r.choice(labels[right][2])).split(" => ")[0]
        return self.labelled(text, [r.choice(names) for names, _, _ in labels], right + 1, r.choice(ASKING))

    def stream(self, r):
        while True:
            yield from [self.label(r)] if r.random() < LABELS else self.calls(r)

    def development(self):
        """The development items for tools and for labels."""
        known = [one for one in items("tools") if one["call"] and one["call"][0] in [name for name, _, _ in one["tools"]]]
        calls = [self.offered(None, [tool(name, told, {key: {"type": kind} for key, kind in given.items()}) for name, told, given in one["tools"]], one["ask"], one["call"][0]) for one in known]
        return calls, [self.labelled(one["text"], one["labels"], one["labels"].index(one["answer"]) + 1) for one in items("labels")]


def packed(examples):
    """Padded tensors: offered [b, s], offers [b, s] (-1 behind the end), said [b, u], its mask [b, u], right [b] from 0 on."""
    long, wide = max(len(one[0]) for one in examples), max(len(one[2]) for one in examples)
    pad = lambda row, size, fill: torch.tensor([*row, *[fill] * (size - len(row))])
    offered, offers, said = (torch.stack([pad(one[at], size, fill) for one in examples]) for at, size, fill in ((0, long, 0), (1, long, -1), (2, wide, 0)))
    return offered, offers, said, torch.stack([pad([1.0] * len(one[2]), wide, 0.0) for one in examples]), torch.tensor([one[3] for one in examples]) - 1


class Finding(nn.Module):
    def __init__(self, start):
        super().__init__()
        self.meaning, self.theme = nn.Parameter(start.clone()), nn.Parameter(start.clone())
        self.weight = nn.Parameter(torch.zeros(len(start)))
        # Logarithms; the last of each says how much a greater share counts.
        self.match = nn.Parameter(torch.tensor([1.5, 1.5, 1.5, 8.0, 1.0]).log())
        self.choose, self.beside = (nn.Parameter(torch.tensor([1.0, 10.0]).log()) for _ in range(2))

    def votes(self, offered, offers, said, mask):
        """Shares of what each token said finds, summed by offers [b, offers]: attention as `choosing.match` has it."""
        long, flag, ask, sharp, _ = self.match.exp()
        key = torch.cat([long * self.meaning[offered], flag.expand(*offered.shape, 1), torch.zeros(*offered.shape, 1)], -1)
        query = torch.cat([long * self.meaning[said], ask.expand(*said.shape, 1), self.weight[said][..., None]], -1)
        rest = F.one_hot(torch.full((len(offered), 1), key.shape[-1] - 1), key.shape[-1]).float()
        scores = 8 * sharp * F.normalize(query, dim=-1) @ F.normalize(torch.cat([key, rest], 1), dim=-1).mT
        nothing = torch.cat([offers < 0, torch.zeros(len(offers), 1, dtype=torch.bool)], 1)
        shares = scores.masked_fill(nothing[:, None], float("-inf")).softmax(-1) * mask[..., None]
        return self.summed(shares[:, :, :-1].sum(1), offers)

    def near(self, vectors, how, offered, offers, said, mask):
        """Shares of attention by offers [b, offers], of the mean of all that is said, as `choosing.choose` has it."""
        short, sharp = how.exp()
        asked = F.normalize((vectors[said] * mask[..., None]).sum(1), dim=-1, eps=1e-6)
        key = vectors[offered]
        key = key / (key.square().sum(-1, keepdim=True) + short**2).sqrt()
        return self.summed((sharp * torch.einsum("bd,bsd->bs", asked, key)).masked_fill(offers < 0, float("-inf")).softmax(-1), offers)

    @staticmethod
    def summed(shares, offers):
        return torch.zeros(len(offers), int(offers.max()) + 1).scatter_add(1, offers.clamp_min(0), shares)[:, 1:]

    def scores(self, batch):
        """By what tokens find, by themes, and by the mean of what tokens mean, which keeps those in order: [b, offers] each, and the right ones."""
        *given, right = batch
        there = torch.arange(1, int(given[1].max()) + 1) <= given[1].max(1).values[:, None]
        votes = self.match[4].exp() * (self.votes(*given) + 0.02).log()
        near = [(self.near(vectors, how, *given) + 1e-4).log() for vectors, how in ((self.theme, self.choose), (self.meaning, self.beside))]
        return *(one.masked_fill(~there, -1e9) for one in (votes, *near)), right

    @torch.no_grad()
    def right(self, examples, which):
        *scores, right = self.scores(packed(examples))
        return (scores[which].argmax(1) == right).float().mean().item()

    def train_on(self, source, steps, rate):
        optimizer = torch.optim.Adam(self.parameters(), lr=rate)
        for step in range(steps):
            optimizer.param_groups[0]["lr"] = rate * (1 - step / steps)
            examples = list(islice(source, BATCH))
            offered, offers, said, mask, right = packed(examples)
            batch = offered, offers, said, mask * (torch.rand_like(mask) > LEFT_OUT), right
            votes, near, beside, right = self.scores(batch)
            # Labels come as lines of their own, without anything behind them.
            labels = torch.tensor([one[1][-1] != 0 for one in examples])
            loss = F.cross_entropy(votes, right) + 0.5 * F.cross_entropy(beside, right) + (F.cross_entropy(near[labels], right[labels]) if labels.any() else 0)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % (steps // 10) == steps // 10 - 1:
                yield step + 1


def starting_vectors(tokenizer, rounds, rate):
    """Bags of words first; what stands in no sheet is found by itself alone, and what stands everywhere hardly counts."""
    words = Meaning(tokenizer, groups(), SIZE)
    words.train(random.Random(1), rounds, rate)
    learned = words.vectors.detach()
    length = learned.norm(dim=-1, keepdim=True)
    vectors = torch.where(length > 0.05, learned / length[length > 0.05].mean(), 0.7 * F.normalize(torch.randn_like(learned), dim=-1))
    vectors[starting(tokenizer)[2]] *= 0.1
    return vectors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", default=str(FOLDER), help="folder of the tokenizer; meaning.pt is written there")
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--rate", type=float, default=8e-3)
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    began, tokenizer = time.time(), load(Path(given.work) / "tokenizer.json")
    prompts, finding = Prompts(tokenizer), Finding(starting_vectors(tokenizer, 3, 3e-3))
    calls, labels = prompts.development()
    tell = lambda step: print(f"{step}: {finding.right(calls, 0):.3f} of {len(calls)} tools, {finding.right(labels, 1):.3f} of {len(labels)} labels, {time.time() - began:.0f} s", flush=True)
    tell(0)
    for step in finding.train_on(prompts.stream(random.Random(1)), given.steps, given.rate):
        tell(step)
    found = {"meaning": finding.meaning, "weight": finding.weight, "theme": finding.theme, "match": finding.match[:4].exp(), "choose": finding.choose.exp()}
    torch.save({name: value.detach() for name, value in found.items()}, Path(given.work) / "meaning.pt")


if __name__ == "__main__":
    main()
