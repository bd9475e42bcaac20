"""Muon: momentum whose matrices are made orthogonal by a Newton-Schulz iteration (Jordan et al., 2024), for the matrices inside blocks."""
import torch

# One odd quintic a step, the best for singular values from 0.001 on (Amsel et al., 2025, "The Polar Express"). Three steps are enough here.
STEPS = [(8.28721, -23.59589, 17.30039), (4.10706, -2.94785, 0.54484), (3.94869, -2.90890, 0.55182)]


def orthogonal(g, kind):
    """By products of numbers of a `kind`."""
    x = g.T if g.shape[0] > g.shape[1] else g
    x = (x / (x.norm() * 1.01 + 1e-7)).to(kind)
    for a, b, c in STEPS:
        s = x @ x.T
        x = torch.addmm(x, torch.addmm(s, s, s, beta=b, alpha=c), x, beta=a)
    return (x.T if g.shape[0] > g.shape[1] else x).float()


class Muon(torch.optim.Optimizer):
    def __init__(self, weights, lr=0.02, momentum=0.95, decay=0.01, kind=torch.bfloat16):
        self.kind = kind
        super().__init__(weights, {"lr": lr, "momentum": momentum, "decay": decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is None:
                    continue
                state = self.state[weight]
                if "speed" not in state:
                    state["speed"] = torch.zeros_like(weight)
                speed = state["speed"]
                speed.lerp_(weight.grad, 1 - group["momentum"])
                update = orthogonal(weight.grad.lerp(speed, group["momentum"]), self.kind)
                weight.mul_(1 - group["lr"] * group["decay"])
                weight.add_(update, alpha=-group["lr"] * max(1, weight.shape[0] / weight.shape[1]) ** 0.5)
