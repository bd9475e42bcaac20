"""Batches of like lengths from the stream of dialogues, so that little is padding; a process of its own makes them while others are learned."""
import os
import random
from multiprocessing import get_context

import torch

from generate import names
from generate.mix import stream
from train.tokens import encode, pieces

POOL = 1536
STEP = 32


def pooled(tokenizer, dialogues, longest):
    """A pool of (ids, said, kind) of at most `longest` tokens each, sorted by length."""
    pool = []
    while len(pool) < POOL:
        dialogue = next(dialogues)
        ids, said = encode(tokenizer, dialogue)
        if len(ids) <= longest:
            pool.append((ids, said, dialogue.kind))
    return sorted(pool, key=lambda one: len(one[0]))


def cut(pool, size):
    batch, longest = [], 0
    for one in pool:
        length = -(-len(one[0]) // STEP) * STEP
        if batch and max(longest, length) * (len(batch) + 1) > size:
            yield batch
            batch, longest = [], 0
        batch.append(one)
        longest = max(longest, length)
    if batch:
        yield batch


def tensors(batch):
    """(ids, said), padded with token 0, which nothing that comes before can see."""
    length = -(-max(len(ids) for ids, _, _ in batch) // STEP) * STEP
    ids = torch.zeros(len(batch), length, dtype=torch.long)
    said = torch.full((len(batch), length), -1, dtype=torch.int8)
    for row, (tokens, mine, _) in enumerate(batch):
        ids[row, : len(tokens)] = torch.tensor(tokens)
        said[row, : len(tokens)] = torch.tensor(mine, dtype=torch.int8)
    return ids, said


def steps(pool, size, side):
    """What is learned in one step each: `side` batches of nearly the same shape, `size` tokens each at most, padding included."""
    cuts = list(cut(pool, size))
    return [[tensors(batch) for batch in cuts[at : at + side]] for at in range(len(cuts) % side, len(cuts), side)]


def make(pipe, tokenizer, seed, size, side):
    """Answers each (progress, longest) with the steps of a pool, until nobody asks any more."""
    if hasattr(os, "nice"):
        os.nice(19)
    names.PIECES[:] = pieces(tokenizer)
    r, progress = random.Random(seed), 0.0
    dialogues = stream(seed, lambda: progress)
    try:
        while True:
            progress, longest = pipe.recv()
            made = steps(pooled(tokenizer, dialogues, longest), size, side)
            r.shuffle(made)
            pipe.send([[(ids.numpy(), said.numpy()) for ids, said in step] for step in made])
    except (EOFError, BrokenPipeError):
        pass


def batches(tokenizer, seed, size, side, state):
    """Steps without end, [(ids, said)] of `side` batches each; `state` gives (progress, longest) for each pool, which is made one pool ahead."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    context.Process(target=make, args=(theirs, tokenizer, seed, size, side), daemon=True).start()
    theirs.close()
    ours.send(state())
    while True:
        made = ours.recv()
        ours.send(state())
        for step in made:
            yield [(torch.from_numpy(ids), torch.from_numpy(said)) for ids, said in step]
