"""Muon: momentum whose matrices are made orthogonal by a Newton-Schulz iteration (Jordan et al., 2024), for the matrices inside blocks. Then every row
is divided by how long it has been of late, so that all neurons learn alike (Li et al., 2025, "NorMuon")."""
import torch

# One odd quintic a step, the best for singular values from 0.001 on (Amsel et al., 2025, "The Polar Express"). Three steps are enough here.
STEPS = [(8.28721, -23.59589, 17.30039), (4.10706, -2.94785, 0.54484), (3.94869, -2.90890, 0.55182)]
# The share of a new step in the mean square of a row.
RECENT = 0.05


def orthogonal(g, kind):
    """Each of the matrices [n, rows, columns], by products of numbers of a `kind`."""
    tall = g.shape[1] > g.shape[2]
    x = g.mT if tall else g
    # A view of a turned matrix is multiplied four times as slowly as a copy.
    x = (x / (torch.linalg.matrix_norm(x, keepdim=True) * 1.01 + 1e-7)).to(kind).contiguous()
    for a, b, c in STEPS:
        s = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(s, s, s, beta=b, alpha=c), x, beta=a)
    return (x.mT if tall else x).float()


class Muon(torch.optim.Optimizer):
    def __init__(self, weights, lr=0.02, momentum=0.95, decay=0.01, kind=torch.bfloat16, side=1, apply=map):
        """`apply` maps a function over parts of the weights, `side` of them at once."""
        self.kind, self.side, self.apply = kind, side, apply
        super().__init__(weights, {"lr": lr, "momentum": momentum, "decay": decay})

    def momentum(self, weight, share):
        """The gradient with those that came before; keeps them."""
        state = self.state[weight]
        if "speed" not in state:
            state["speed"] = torch.zeros_like(weight)
        return weight.grad.lerp(state["speed"].lerp_(weight.grad, 1 - share), share)

    def evened(self, weight, update):
        """The update, whose size stays, with rows as long as each other over the steps; keeps their mean squares."""
        state = self.state[weight]
        squares = update.square().mean(-1, keepdim=True)
        if "rows" not in state:
            state["rows"] = squares.clone()
        even = update / (state["rows"].lerp_(squares, RECENT).sqrt() + 1e-10)
        return even.mul_(torch.linalg.matrix_norm(update) / (torch.linalg.matrix_norm(even) + 1e-10))

    @torch.no_grad()
    def change(self, group, weights):
        """One step of weights of one shape."""
        rows, columns = weights[0].shape
        updates = orthogonal(torch.stack([self.momentum(weight, group["momentum"]) for weight in weights]), self.kind)
        for weight, update in zip(weights, updates):
            weight.mul_(1 - group["lr"] * group["decay"])
            weight.add_(self.evened(weight, update), alpha=-group["lr"] * max(1, rows / columns) ** 0.5)

    def step(self):
        for group in self.param_groups:
            alike = {}
            for weight in group["params"]:
                if weight.grad is not None:
                    alike.setdefault(weight.shape, []).append(weight)
            parts = [weights[at :: self.side] for weights in alike.values() for at in range(min(self.side, len(weights)))]
            list(self.apply(lambda part: self.change(group, part), parts))
