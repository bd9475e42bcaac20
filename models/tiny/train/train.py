"""Trains the model; `--resume` goes on from the last checkpoint, `--finish TOKENS` lets the rate fall to zero within that many tokens."""
import argparse
import json
import math
import os
import random
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from itertools import islice
from pathlib import Path

# Code for products of a shape is made when that is met first, which takes longer than the product: all of it is kept.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "100000")
import torch  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from generate.mix import stream  # noqa: E402
from train import choosing  # noqa: E402
from train.batches import batches, tensors  # noqa: E402
from train.circuits import build  # noqa: E402
from train.loss import gradients, precision  # noqa: E402
from train.model import Model, Shape  # noqa: E402
from train.muon import Muon  # noqa: E402
from train.side import Side, alone  # noqa: E402
from train.tokens import GIVEN, encode, load  # noqa: E402

HELD_OUT_SEED = 1_000_003
LOGGED, CHECKED = 20, 1000
# What is shipped is a running mean of the weights over about so many tokens, taken every few steps: it leaves out the noise of a constant rate.
MEAN_TOKENS, MEAN_STEPS = 1e6, 8
# Dialogues by which circuits learn every few steps how long the stream is, and how much these count.
MEASURED, MEASURED_STEPS, MEASURED_SHARE = 2, 32, 0.1
FOLDER = Path(__file__).resolve().parents[3] / "build" / "tiny"


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", default=str(FOLDER), help="folder of tokenizer and checkpoints")
    parser.add_argument("--tokens", type=float, default=56e6)
    parser.add_argument("--batch", type=int, default=3072, help="tokens of a step, shared by the threads")
    parser.add_argument("--longest", type=int, default=1280, help="longest dialogue in tokens")
    parser.add_argument("--shortest", type=int, default=288, help="longest dialogue in tokens at the start of the curriculum")
    parser.add_argument("--curriculum", type=float, default=20e6, help="tokens until the mix is the final one")
    parser.add_argument("--decay", type=float, default=0.46, help="share of the tokens in which the rate falls")
    parser.add_argument("--finish", type=float, help="tokens in which the rate falls to zero, from the checkpoint on")
    parser.add_argument("--muon-rate", type=float, default=0.006)
    parser.add_argument("--adam-rate", type=float, default=0.002)
    parser.add_argument("--weight-decay", type=float, default=0.01, help="share of the rate by which a step of Muon shrinks its matrices")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--feed-forward", type=int, default=512)
    parser.add_argument("--meaning", help="file of finding.py: circuits that choose, which are not trained, stand beside what is learned")
    parser.add_argument("--plain", action="store_true", help="start from random weights, without circuits")
    parser.add_argument("--threads", type=int, default=1, help="batches that are learned side by side, each by a process: a step is one update for all of them")
    parser.add_argument("--compile", action="store_true", help="let a C++ compiler join the passes over memory: faster from the third minute on")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--f32", action="store_true", help="multiply in 32 bits: for processors without products of bfloat16, slower on all others")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--name", default="model", help="name of the checkpoint")
    parser.add_argument("--minutes", type=float, default=5, help="between checkpoints")
    return parser.parse_args()


def rate(seen, given, begun):
    """The factor of the learning rates after `seen` tokens: a short warm-up, constant, linear to zero."""
    warm = min(1.0, (seen - begun + given.batch) / (30 * given.batch))
    if given.finish:
        return warm * max(0.0, 1 - (seen - begun) / given.finish)
    return warm * min(1.0, max(0.0, (given.tokens - seen) / (given.decay * given.tokens)))


@torch.no_grad()
def held_out(model, tokenizer, device, count=400, longest=1024):
    """Per kind, the share of dialogues whose every answer comes out exactly, greedily: the argmax of each token given those before."""
    right, all_ = Counter(), Counter()
    examples = []
    source = stream(HELD_OUT_SEED)
    while len(examples) < count:
        dialogue = next(source)
        ids, said = encode(tokenizer, dialogue)
        if len(ids) <= longest:
            examples.append((ids, said, dialogue.kind))
    examples.sort(key=lambda one: len(one[0]))
    for at in range(0, count, 16):
        batch = examples[at : at + 16]
        ids, said = (x.to(device) for x in tensors(batch))
        mine = said[:, 1:] > GIVEN
        hit = torch.ones_like(mine)
        hit[mine] = model.logits(model.hidden(ids[:, :-1], mine)).argmax(-1) == ids[:, 1:][mine]
        for row, (_, _, kind) in enumerate(batch):
            all_[kind] += 1
            right[kind] += bool(hit[row].all())
    return {kind: round(right[kind] / all_[kind], 3) for kind in sorted(all_)}


def starting(tokenizer, dialogues=400, count=60):
    """What circuits are built around: the tokens that begin a turn and name the answering role, and the most frequent ones but digits."""
    counts = Counter()
    for dialogue in islice(stream(3), dialogues):
        counts.update(encode(tokenizer, dialogue)[0])
    begins, role = (tokenizer.token_to_id(text) for text in ("<|im_start|>", "assistant"))
    common = [token for token, _ in counts.most_common(count) if token not in (begins, role) and not tokenizer.id_to_token(token).isdigit()]
    return begins, role, common


class Run:
    def __init__(self, given):
        self.given = given
        self.path = Path(given.work) / f"{given.name}.pt"
        self.tokenizer = load(Path(given.work) / "tokenizer.json")
        self.seen, self.steps, self.begun = 0, 0, 0
        self.side = given.threads if given.device == "cpu" else 1
        self.share = given.batch // self.side
        self.threads = ThreadPoolExecutor(self.side)
        saved = torch.load(self.path, map_location="cpu", weights_only=True) if given.resume and self.path.exists() else None
        shape = Shape(**saved["shape"]) if saved else Shape(
            vocabulary=self.tokenizer.get_vocab_size(), width=given.width, layers=given.layers, feed_forward=given.feed_forward, heads=given.width // 64, kv_heads=max(1, given.width // 128), chooses=bool(given.meaning),
        )
        self.model = Model(shape)
        if not given.plain:
            build(self.model, *starting(self.tokenizer))
        if self.model.choosing:
            if not saved:
                choosing.build(self.model, choosing.marks(self.tokenizer, starting(self.tokenizer)[2]), torch.load(given.meaning, weights_only=True))
            choosing.hold(self.model)
        self.model.to(given.device)
        named = [(name, weight) for name, weight in self.model.named_parameters() if weight.requires_grad]
        self.weights = [weight for _, weight in named]
        matrices = [w for name, w in named if w.ndim == 2 and "embedding" not in name]
        # Rates of Adam go with the size of what they change.
        adam = [{"params": [w], "size": shape.scale if name == "embedding.weight" else 1.0} for name, w in named if w.ndim != 2 or "embedding" in name]
        self.sides = [Side(self.model, self.weights, given, number) for number in range(1, self.side)]
        if given.compile:
            self.model.compile()
        kind = torch.float32 if given.f32 else torch.bfloat16
        self.optimizers = [
            Muon(matrices, lr=given.muon_rate, decay=given.weight_decay, kind=kind, side=self.side, apply=self.threads.map),
            torch.optim.AdamW(adam, lr=given.adam_rate, betas=(0.9, 0.95), weight_decay=0.0),
        ]
        if saved:
            self.seen, self.steps = saved["seen"], saved["steps"]
            self.model.load_state_dict(saved["model"])
            for optimizer, state in zip(self.optimizers, saved.get("optimizers", [])):
                optimizer.load_state_dict(state)
        mean = saved["mean"] if saved and "mean" in saved else self.model.state_dict()
        self.mean = {name: weight.to(given.device, copy=True) for name, weight in mean.items()}
        self.averaged = self.seen
        # A last stretch that was broken off goes on where it stood.
        begun, stretch = saved.get("finish", (0, None)) if saved else (0, None)
        self.begun = begun if given.finish and stretch == given.finish else self.seen

    def save(self):
        record = {
            "shape": self.model.shape.record(), "model": self.model.state_dict(), "mean": self.mean, "optimizers": [o.state_dict() for o in self.optimizers],
            "seen": self.seen, "steps": self.steps, "finish": (self.begun, self.given.finish),
        }
        whole = self.path.with_suffix(".new")
        torch.save(record, whole)
        os.replace(whole, self.path)

    def log(self, **facts):
        line = json.dumps({"time": time.strftime("%H:%M:%S", time.gmtime()), "tokens": self.seen, "steps": self.steps, **facts})
        print(line, flush=True)
        with open(self.path.with_suffix(".jsonl"), "a", encoding="utf-8") as out:
            out.write(line + "\n")

    def step(self, batches):
        factor = rate(self.seen, self.given, self.begun)
        for optimizer, top in zip(self.optimizers, (self.given.muon_rate, self.given.adam_rate)):
            for group in optimizer.param_groups:
                group["lr"] = top * factor * group.get("size", 1.0)
        if self.model.choosing and self.steps % MEASURED_STEPS == 0:
            with precision(self.given):
                self.model.measure(batches[0][0][:MEASURED].to(self.given.device), max(MEASURED_SHARE, MEASURED_STEPS / (MEASURED_STEPS + self.steps)))
        for side, batch in zip(self.sides, batches[1:]):
            side.begin(batch)
        parts, found = zip(gradients(self.model, self.weights, batches[0], self.given), *(side.end() for side in self.sides))
        for weight, *each in zip(self.weights, *parts):
            weight.grad = reduce(torch.Tensor.add_, each).div_(len(each))
        torch.nn.utils.clip_grad_norm_(self.weights, 1.0)
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        self.seen += sum(ids.numel() for ids, _ in batches)
        self.steps += 1
        if self.steps % MEAN_STEPS == 0:
            self.average()
        return found

    def held_out(self, count=400):
        self.log(held_out=held_out(self.model, self.tokenizer, self.given.device, count))

    @torch.no_grad()
    def average(self):
        share = 1 - math.exp((self.averaged - self.seen) / MEAN_TOKENS)
        for name, weight in self.model.state_dict().items():
            self.mean[name].lerp_(weight, share)
        self.averaged = self.seen

    def go(self):
        given = self.given
        end = self.begun + given.finish if given.finish else given.tokens
        progress = lambda: min(1.0, self.seen / given.curriculum)
        state = lambda: (progress(), given.shortest + (given.longest - given.shortest) * progress())
        saved_at = time.time()
        began, before, found = time.time(), self.seen, []
        # A resumed run draws other dialogues than it drew before.
        for step in batches(self.tokenizer, given.seed + self.seen, self.share, self.side, state) if self.seen < end else ():
            found += self.step(step)
            if self.steps % LOGGED == 0:
                losses, hits, counts = zip(*found)
                self.log(loss=round(sum(losses) / len(losses), 3), decided=round(sum(hits) / max(1, sum(counts)), 3), per_s=round((self.seen - before) / (time.time() - began)))
                began, before, found = time.time(), self.seen, []
            if time.time() - saved_at > given.minutes * 60:
                self.save()
                saved_at = time.time()
            if self.steps % CHECKED == 0:
                self.held_out()
            if self.seen >= end:
                break
        self.save()
        self.held_out(1000)


if __name__ == "__main__":
    given = options()
    alone(given.seed)
    Run(given).go()
