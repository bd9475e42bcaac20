"""What a batch teaches: the loss, and the gradients of all weights."""
import torch

from train.tokens import DECIDED, GIVEN

# Of the tokens that are given, this share is learned too, with this weight: for their words, not their content.
GIVEN_SHARE, GIVEN_WEIGHT = 0.05, 0.3
# The first token of an answer and those of a tool's name decide what follows from them.
DECIDED_WEIGHT = 3.0
# Places that are learned are filled up to a multiple of this, so that products have few shapes: oneDNN makes code for each of them.
FILLED = 256


class Surprise(torch.autograd.Function):
    """Cross entropies of hidden [n, width] @ embedding.T against target [n]: their weighted sum, each of them [n], and the likeliest tokens [n]. What goes
    back is computed on the way, so that no [n, vocabulary] is kept for it."""

    @staticmethod
    def forward(ctx, hidden, embedding, target, weights):
        device = hidden.device.type
        kind = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else hidden.dtype
        hidden, embedding, target = hidden.to(kind), embedding.to(kind), target[:, None]
        logits = (hidden @ embedding.T).float()
        wanted, (top, likeliest) = logits.gather(1, target), logits.max(-1, keepdim=True)
        chances = logits.sub_(top).exp_()
        total = chances.sum(-1, keepdim=True)
        losses, likeliest = (total.log() + top - wanted)[:, 0], likeliest[:, 0]
        grad = chances.mul_(weights[:, None] / total).scatter_add_(1, target, -weights[:, None]).to(kind)
        ctx.save_for_backward((grad @ embedding).float(), (grad.T @ hidden).float())
        ctx.mark_non_differentiable(losses, likeliest)
        return (losses * weights).sum(), losses, likeliest

    @staticmethod
    def backward(ctx, grad, *_):
        hidden, embedding = ctx.saved_tensors
        return hidden * grad, embedding * grad, None, None


def filled(chosen):
    """The places [b, t], and first ones that are not chosen, up to a multiple."""
    missing = -int(chosen.sum()) % FILLED
    return chosen | ((~chosen).flatten().cumsum(0) <= missing).view(chosen.shape)


def loss_of(model, ids, said):
    """The loss; and of what the model says the mean loss, how many deciding tokens come out right, and of how many."""
    target, mine = ids[:, 1:], said[:, 1:]
    chosen = (mine > GIVEN) | ((mine == GIVEN) & (torch.rand(mine.shape, device=mine.device) < GIVEN_SHARE))
    weights = chosen * torch.where(mine == DECIDED, DECIDED_WEIGHT, torch.where(mine == GIVEN, GIVEN_WEIGHT, 1.0))
    chosen = filled(chosen)
    target, mine, weights = target[chosen], mine[chosen], weights[chosen]
    loss, losses, likeliest = Surprise.apply(model.hidden(ids[:, :-1], chosen), model.vocabulary, target, weights / weights.sum())
    hits = (likeliest == target)[mine == DECIDED]
    return loss, (losses[mine > GIVEN].mean().item(), hits.sum().item(), len(hits))


def precision(given):
    """Products and what they give in bfloat16; weights and the sums along the layers in 32 bits."""
    return torch.autocast(given.device, dtype=torch.bfloat16, enabled=not given.f32)


def gradients(model, weights, batch, given):
    ids, said = (x.to(given.device) for x in batch)
    with precision(given):
        loss, found = loss_of(model, ids, said)
    return torch.autograd.grad(loss, weights), found
