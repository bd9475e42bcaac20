"""What tokens mean, learned from the hand-written requests for tools and texts with labels alone: a bag of vectors, without any order.

Singular vectors of which token comes with which tool or label, then trained so that a text lies nearer to its own tool or label than to those beside it
(Wu et al., 2018, "StarSpace: Embed All The Things!"). No part of the model: docs/decisions/tiny-model.md says what it shows.
"""
import argparse
import json
import random
import re
import sys
from collections import Counter
from pathlib import Path

import torch
import torch.nn.functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from generate.labelled import SETS  # noqa: E402
from generate.toolboxes import BOXES  # noqa: E402
from train.tokens import load  # noqa: E402

TINY = Path(__file__).resolve().parents[1]
FOLDER = TINY.parents[1] / "build" / "tiny"
BATCH, BESIDE, SHARPNESS, LEFT_OUT = 128, 5, 15, 0.2


def groups():
    """[[(what names one thing, texts that mean it)] of what lies near each other]: the tools of each box, the labels of each set."""
    tools = [[([f"{name} {told}" for name in one.names for told in one.descriptions], one.asks) for one in box.families] for box in BOXES]
    return tools + [[(names, texts) for names, _, texts in one.labels] for one in SETS]


class Meaning:
    """Vectors of tokens, [vocabulary, size]."""

    def __init__(self, tokenizer, near, size):
        self.tokenizer, self.near, self.known = tokenizer, near, {}
        things = [one for group in near for one in group]
        counts = torch.zeros(tokenizer.get_vocab_size(), len(things))
        for column, (names, texts) in enumerate(things):
            found = Counter(token for text in [*names[:4], *texts] for token in self.tokens(text))
            counts[list(found), column] = torch.tensor(list(found.values()), dtype=torch.float)
        # Positive pointwise mutual information of tokens and things; tokens of many things count less.
        expected = counts.sum(1, keepdim=True) * counts.sum(0, keepdim=True) / counts.sum()
        left, values, _ = torch.svd_lowrank((counts / expected.clamp_min(1e-9)).clamp_min(1).log(), q=size, niter=4)
        things_of = (counts > 0).sum(1, keepdim=True)
        rare = (len(things) / things_of.clamp_min(1)).log() * (things_of > 1)
        self.vectors = (F.normalize(left * values.sqrt(), dim=1) * rare).requires_grad_()

    def tokens(self, text):
        """Ids of the tokens of its words, each once; slots and what stands in them are left out."""
        if text not in self.known:
            said = re.sub(r"\{[^}]*\}", " ", text).split(" => ")[0]
            words = re.findall(r"[a-z][a-z']*", re.sub(r"([a-z])([A-Z])", r"\1 \2", said).replace("_", " ").lower())
            self.known[text] = sorted({token for word in words for token in self.tokenizer.encode(word).ids})
        return self.known[text]

    def of(self, bags):
        """Unit vectors of bags of tokens, [bags, size]."""
        starts = torch.tensor([0, *map(len, bags)]).cumsum(0)[:-1]
        return F.normalize(F.embedding_bag(torch.tensor(sum(bags, []) or [0]), self.vectors, starts, mode="sum"), dim=1, eps=1e-6)

    def train(self, r, rounds, rate):
        """Each text against the names of its own thing, of those beside it, and of all in the batch."""
        pairs = [(group, at, text) for group in self.near for at, (_, texts) in enumerate(group) for text in texts]
        optimizer, steps = torch.optim.Adam([self.vectors], lr=rate), int(rounds * len(pairs) / BATCH)
        for step in range(steps):
            optimizer.param_groups[0]["lr"] = rate * (1 - step / steps)
            texts, names, ends = [], [], [0]
            for group, at, text in r.sample(pairs, BATCH):
                whole = self.tokens(text)
                texts.append([token for token in whole if r.random() > LEFT_OUT] or whole)
                beside = r.sample([one for one in range(len(group)) if one != at], min(BESIDE, len(group) - 1))
                names += [self.tokens(r.choice(group[one][0])) for one in [at, *beside]]
                ends.append(len(names))
            likeness = SHARPNESS * self.of(texts) @ self.of(names).T
            near = torch.stack([likeness[row, begin] - likeness[row, begin:end].logsumexp(0) for row, (begin, end) in enumerate(zip(ends, ends[1:]))])
            loss = F.cross_entropy(likeness, torch.tensor(ends[:-1])) - near.mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    @torch.no_grad()
    def chosen(self, text, names):
        """Which of the names is nearest."""
        own, *others = self.of([self.tokens(one) for one in [text, *names]])
        return int(torch.stack([own @ other for other in others]).argmax())


def items(name):
    return [json.loads(line) for line in (TINY / "dev" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def right(meaning):
    """Shares of the development items: the right tool by names and descriptions, the right label."""
    tools = [one for one in items("tools") if one["call"] and one["call"][0] in [name for name, _, _ in one["tools"]]]
    found = [one["tools"][meaning.chosen(one["ask"], [f"{name} {told}" for name, told, _ in one["tools"]])][0] == one["call"][0] for one in tools]
    labels = [one["labels"][meaning.chosen(one["text"], one["labels"])] == one["answer"] for one in items("labels")]
    return f"{sum(found) / len(found):.3f} of {len(found)} tools, {sum(labels) / len(labels):.3f} of {len(labels)} labels"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", default=str(FOLDER), help="folder of the tokenizer")
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--rounds", type=float, default=3, help="how often each text is learned")
    parser.add_argument("--rate", type=float, default=3e-3)
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    meaning = Meaning(load(Path(given.work) / "tokenizer.json"), groups(), given.size)
    print(f"singular vectors: {right(meaning)}", flush=True)
    meaning.train(random.Random(1), given.rounds, given.rate)
    print(f"trained: {right(meaning)}")


if __name__ == "__main__":
    main()
