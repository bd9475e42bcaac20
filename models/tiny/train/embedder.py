"""Tries the chat model as an embedder: trains a copy to put questions beside the passages that answer them, and writes it as GGUF.

What a text means is the mean over its tokens of what the last layer holds. A batch of questions against a batch of passages, each
question's own against all others (InfoNCE; van den Oord et al., 2018). Not shipped: docs/decisions/tiny-model.md has its figures.
"""
import argparse
import random
import sys
import time
from pathlib import Path

import torch
import torch.nn.functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from generate import noise  # noqa: E402
from generate.kinds.reading import NOT_THERE, Page, one  # noqa: E402
from train.model import Model, Shape, shipped  # noqa: E402
from train.tokens import load  # noqa: E402

TEMPERATURE = 0.05
FOLDER = Path(__file__).resolve().parents[3] / "build" / "tiny"


def pairs(r):
    """(question, passage) without end."""
    while True:
        page = Page(r, r.randint(1, 4))
        question, answer = one(r, page)
        if answer != NOT_THERE:
            yield noise.question(r, question), page.text


def meaning(model, tokenizer, texts):
    """Unit vectors, [texts, width]."""
    encoded = [e.ids for e in tokenizer.encode_batch(list(texts), add_special_tokens=False)]
    ids = torch.zeros(len(encoded), max(map(len, encoded)), dtype=torch.long)
    real = torch.zeros(ids.shape)
    for row, tokens in enumerate(encoded):
        ids[row, : len(tokens)] = torch.tensor(tokens)
        real[row, : len(tokens)] = 1
    with torch.autocast("cpu", dtype=torch.bfloat16):
        hidden = model.hidden(ids)
    return F.normalize((hidden.float() * real[..., None]).sum(1), dim=-1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", default=str(FOLDER), help="folder of tokenizer and checkpoints")
    parser.add_argument("--name", default="model", help="checkpoint to start from")
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--batch", type=int, default=48)
    parser.add_argument("--rate", type=float, default=3e-4)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(1)
    saved = torch.load(Path(given.work) / f"{given.name}.pt", map_location="cpu", weights_only=True)
    tokenizer = load(Path(given.work) / "tokenizer.json")
    model = Model(Shape(**saved["shape"]))
    model.load_state_dict(shipped(saved))
    optimizer = torch.optim.AdamW(model.parameters(), lr=given.rate)
    source, began, step, right = pairs(random.Random(11)), time.time(), 0, []
    while (spent := (time.time() - began) / 60) < given.minutes:
        for group in optimizer.param_groups:
            group["lr"] = given.rate * (1 - spent / given.minutes)
        questions, passages = zip(*(next(source) for _ in range(given.batch)))
        likeness = meaning(model, tokenizer, questions) @ meaning(model, tokenizer, passages).T / TEMPERATURE
        own = torch.arange(given.batch)
        loss = (F.cross_entropy(likeness, own) + F.cross_entropy(likeness.T, own)) / 2
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        step += 1
        right.append((likeness.argmax(1) == own).float().mean().item())
        if step % 50 == 0:
            print(f"{spent:.1f} min, {step} steps, loss {loss.item():.3f}, own passage first {sum(right) / len(right):.3f}", flush=True)
            right = []
    torch.save({"shape": saved["shape"], "seen": saved["seen"], "model": model.state_dict()}, Path(given.work) / "embedder.pt")


if __name__ == "__main__":
    main()
