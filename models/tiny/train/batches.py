"""Batches of like lengths from the stream of dialogues, so that little is padding."""
import random

import torch

from generate import names
from generate.mix import stream
from train.tokens import encode, pieces

POOL = 1536
STEP = 16


def pooled(tokenizer, seed, longest, progress=lambda: 1.0):
    """Lists of (ids, said, kind), sorted by length, a pool at a time; `longest` is asked each time."""
    names.PIECES[:] = pieces(tokenizer)
    dialogues = stream(seed, progress)
    while True:
        pool = []
        while len(pool) < POOL:
            dialogue = next(dialogues)
            ids, said = encode(tokenizer, dialogue)
            if len(ids) <= longest():
                pool.append((ids, said, dialogue.kind))
        pool.sort(key=lambda one: len(one[0]))
        yield pool


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


def batches(tokenizer, seed, size, longest, progress):
    """(ids, said) without end; `size` tokens each, padding included."""
    r = random.Random(seed)
    for pool in pooled(tokenizer, seed, longest, progress):
        cuts = list(cut(pool, size))
        r.shuffle(cuts)
        for batch in cuts:
            yield tensors(batch)
