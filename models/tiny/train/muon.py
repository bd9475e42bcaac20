"""Muon: momentum whose matrices are made orthogonal by a Newton-Schulz iteration (Jordan et al., 2024), for the matrices inside blocks."""
import torch

# The quintic of the method's description; five steps bring singular values near one.
A, B, C = 3.4445, -4.7750, 2.0315
STEPS = 5


def orthogonal(g):
    x = g.T if g.shape[0] > g.shape[1] else g
    x = x / (x.norm() + 1e-7)
    for _ in range(STEPS):
        s = x @ x.T
        x = A * x + (B * s + C * (s @ s)) @ x
    return x.T if g.shape[0] > g.shape[1] else x


class Muon(torch.optim.Optimizer):
    def __init__(self, weights, lr=0.02, momentum=0.95, decay=0.01):
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
                update = orthogonal(weight.grad.lerp(speed, group["momentum"]))
                weight.mul_(1 - group["lr"] * group["decay"])
                weight.add_(update, alpha=-group["lr"] * max(1, weight.shape[0] / weight.shape[1]) ** 0.5)
