"""Learning on several cores."""
import random

import torch
from torch.multiprocessing import get_context

from train.loss import gradients


class Side:
    """A process that finds what its batches teach while this one does so with others: weights and gradients lie where both see them. Threads would wait for
    each other, since compiled code keeps the interpreter."""

    def __init__(self, model, weights, given, number):
        self.gradients = [torch.zeros_like(weight).share_memory_() for weight in weights]
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        context.Process(target=beside, args=(theirs, model.share_memory(), self.gradients, given, number), daemon=True).start()
        theirs.close()

    def begin(self, batch):
        self.pipe.send([x.numpy() for x in batch])

    def end(self):
        return self.gradients, self.pipe.recv()


def beside(pipe, model, shared, given, number):
    """Writes the gradients of each batch that comes and answers with its losses, until nobody asks any more."""
    alone(given.seed + number)
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    if given.compile:
        model.compile()
    try:
        while True:
            batch = [torch.from_numpy(x) for x in pipe.recv()]
            found, losses = gradients(model, weights, batch, given)
            for each, gradient in zip(shared, found):
                each.copy_(gradient)
            pipe.send(losses)
    except (EOFError, BrokenPipeError):
        pass


def alone(seed):
    """For a process that has one core."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    random.seed(seed)
